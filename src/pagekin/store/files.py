"""Arrays in files: plain `.npy`, one a column, named after the part and the column."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import StoreError
from pagekin.model.reading import RAGGED_PARTS, Pages, Ragged, Reading, Sources
from pagekin.model.strings import Strings

Array = NDArray[Any]
Part = TypeVar("Part", bound=Ragged)
_CHECKSUM_STEP = 1 << 20


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn what the disk says into a sentence for the user."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be written: {error.strerror or error}; what was there before is untouched"
        ) from error


def write_array(folder: Path, name: str, array: Array) -> None:
    """Write a whole column."""
    write_chunks(folder, name, array.dtype, array.shape, [array])


def write_chunks(folder: Path, name: str, dtype: Any, shape: tuple[int, ...], chunks: Iterable[Array]) -> None:
    """Write a column piece by piece, through the file system, never through a memory map.

    A full disk is then an error that can be told, not a bus error that kills.
    """
    with (folder / f"{name}.npy").open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for chunk in chunks:
            file.write(np.ascontiguousarray(chunk, dtype).data)


def sync(folder: Path) -> None:
    """Make sure that the files of a folder are on the disk, and not only on their way."""
    for path in folder.iterdir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def open_array(folder: Path, name: str) -> Array:
    """A column, memory-mapped and read-only."""
    path = folder / f"{name}.npy"
    try:
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} is damaged or missing ({error}); build the store again") from error
    return array


def write_strings(folder: Path, name: str, strings: Strings) -> None:
    """Write a list of strings as its two columns."""
    write_array(folder, f"{name}.offsets", strings.offsets)
    write_array(folder, f"{name}.data", strings.data)


def open_strings(folder: Path, name: str) -> Strings:
    """A list of strings, memory-mapped."""
    return Strings(open_array(folder, f"{name}.offsets"), open_array(folder, f"{name}.data"))


def write_table(folder: Path, name: str, table: Pages | Sources) -> None:
    """Write a table of columns and lists of strings."""
    for each in fields(table):
        value = getattr(table, each.name)
        if isinstance(value, Strings):
            write_strings(folder, f"{name}.{each.name}", value)
        else:
            write_array(folder, f"{name}.{each.name}", value)


def open_ragged(folder: Path, name: str, kind: type[Part]) -> Part:
    """A ragged part, memory-mapped."""
    return kind(**{each.name: open_array(folder, f"{name}.{each.name}") for each in fields(kind)})


def open_pages(folder: Path) -> Pages:
    """The table of pages, memory-mapped."""
    return Pages(**_open_columns(folder, "pages", Pages))


def open_sources(folder: Path) -> Sources:
    """The table of sources, memory-mapped."""
    return Sources(**_open_columns(folder, "sources", Sources))


def _open_columns(folder: Path, name: str, kind: type[Pages] | type[Sources]) -> dict[str, Any]:
    return {
        each.name: (open_strings if each.type == "Strings" else open_array)(folder, f"{name}.{each.name}")
        for each in fields(kind)
    }


def write_reading(folder: Path, reading: Reading) -> None:
    """Write all columns of a reading; its redirects and skips are not columns."""
    write_table(folder, "pages", reading.pages)
    write_table(folder, "sources", reading.sources)
    write_strings(folder, "forms", reading.forms)
    write_strings(folder, "targets", reading.targets)
    for name in RAGGED_PARTS:
        part = getattr(reading, name)
        for each in fields(part):
            write_array(folder, f"{name}.{each.name}", getattr(part, each.name))


def open_reading(folder: Path) -> Reading:
    """The columns of a reading, memory-mapped."""
    parts = {name: open_ragged(folder, name, kind) for name, kind in RAGGED_PARTS.items()}
    return Reading(
        pages=open_pages(folder),
        sources=open_sources(folder),
        forms=open_strings(folder, "forms"),
        targets=open_strings(folder, "targets"),
        **parts,  # type: ignore[arg-type]
    )


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHECKSUM_STEP):
            digest.update(chunk)
    return digest.hexdigest()
