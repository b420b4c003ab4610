"""Arrays and strings in files: plain `.npy`, one a column, opened memory-mapped. And files of users, opened."""

from __future__ import annotations

import gzip
import hashlib
import math
import mmap
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import MisuseError, StoreError
from pagekin.model.strings import Strings

Array = NDArray[Any]
_CHECKSUM_STEP = 1 << 20
ANY = -1  # length of a column that is known when it is written
_HEAD = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)"
    rb"\{'descr': '(?P<dtype>[<|](?:b1|[iu][1248]|f[48]))', "
    rb"'fortran_order': False, 'shape': \((?P<shape>[0-9]{1,15},(?: [0-9]{1,15})?)\), \} *\n",
    re.DOTALL,
)
_LONGEST_HEAD = 1 << 10


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
        _write_header(file, dtype, shape)
        for chunk in chunks:
            file.write(np.ascontiguousarray(chunk, dtype).data)


def _write_header(file: IO[bytes], dtype: Any, shape: tuple[int, ...]) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


@contextmanager
def writing_columns(folder: Path, columns: dict[str, tuple[Any, tuple[int, ...]]]) -> Iterator[Callable[..., None]]:
    """Columns, given by their types and shapes, that are written side by side: a function that appends to each.

    A length of ANY is that of what comes: the header, which has room for any number, is written once more at the end.
    """
    with ExitStack() as files:
        opened = [files.enter_context((folder / f"{name}.npy").open("wb")) for name in columns]
        lengths = [0] * len(opened)
        for file, (dtype, shape) in zip(opened, columns.values(), strict=True):
            _write_header(file, dtype, (max(shape[0], 0), *shape[1:]))

        def append(*pieces: Array) -> None:
            for k, ((dtype, _), piece) in enumerate(zip(columns.values(), pieces, strict=True)):
                opened[k].write(np.ascontiguousarray(piece, dtype).data)
                lengths[k] += len(piece)

        yield append
        for file, length, (dtype, shape) in zip(opened, lengths, columns.values(), strict=True):
            if shape[0] == ANY:
                file.seek(0)
                _write_header(file, dtype, (length, *shape[1:]))


def sync(folder: Path) -> None:
    """Make sure that the files of a folder are on the disk, and not only on their way."""
    for path in folder.iterdir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def open_array(folder: Path, name: str, kind: Any = None, dimensions: int = 0) -> Array:
    """A column, memory-mapped and read-only; of this kind and so many dimensions, where they are given."""
    path = folder / f"{name}.npy"
    try:
        with path.open("rb") as file:
            array = _map_array(file, path)
    except FileNotFoundError as error:
        raise StoreError(f"{path} is damaged or missing ({error}); build the store again") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror or error}") from error
    demand(kind is None or array.dtype == kind, path, f"it holds {array.dtype}")
    demand(not dimensions or array.ndim == dimensions, path, f"it has {array.ndim} dimensions")
    return array


def _map_array(file: IO[bytes], path: Path) -> Array:
    """The array of an open file.

    numpy's own reader hands the header to Python's parser, which fails when another thread parses at that moment (seen
    in Python 3.11), and gives a `memmap`, whose slices cost several times as much as those of a plain array.
    """
    head = _HEAD.match(file.read(_LONGEST_HEAD))
    demand(head is not None, path, "it does not begin as a column does")
    assert head is not None
    shape = tuple(int(length) for length in head["shape"].split(b",") if length)
    dtype = np.dtype(head["dtype"].decode())
    size = os.fstat(file.fileno()).st_size
    length = math.prod(shape)
    sound = head.end() == 10 + int.from_bytes(head["length"], "little") and head.end() % 64 == 0
    demand(sound and head.end() + length * dtype.itemsize == size, path, "its size is not what it says")
    if not length:  # an empty range cannot be mapped
        return np.empty(shape, dtype)
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype, length, head.end()).reshape(shape)


def demand(holds: bool, path: Path | str, wrong: str) -> None:
    """Refuse a file of which something does not hold that held when it was written."""
    if not holds:
        raise StoreError(f"{path} is damaged ({wrong}); build the store again")


def demand_rows(offsets: Array, length: int, path: Path | str) -> None:
    """Rows must lie in columns of this length, one after the other. Then whoever goes by them never leaves a column."""
    sound = offsets.dtype == np.int64 and offsets.ndim == 1 and len(offsets) > 0
    sound = sound and offsets[0] == 0 and offsets[-1] == length and bool((offsets[1:] >= offsets[:-1]).all())
    demand(sound, path, "rows lie outside of their column")


def write_strings(folder: Path, name: str, strings: Strings) -> None:
    """Write a list of strings as its two columns."""
    write_array(folder, f"{name}.offsets", strings.offsets)
    write_array(folder, f"{name}.data", strings.data)


def open_strings(folder: Path, name: str) -> Strings:
    """A list of strings, memory-mapped."""
    strings = Strings(open_array(folder, f"{name}.offsets"), open_array(folder, f"{name}.data", np.uint8, 1))
    demand_rows(strings.offsets, len(strings.data), folder / f"{name}.offsets.npy")
    return strings


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHECKSUM_STEP):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def opened(file: Path) -> Iterator[IO[bytes]]:
    """A file to read bytes from, unpacked if its name ends in .gz; what goes wrong with it is told."""
    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as stream:
            yield cast(IO[bytes], stream)
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise MisuseError(f"{file} cannot be read: {reason}") from error
