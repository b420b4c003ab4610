"""The columns of a reading in files, named after the part and the column."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from pagekin.disk import open_array, open_strings, write_array, write_strings
from pagekin.model.reading import RAGGED_PARTS, Pages, Ragged, Reading, Sources
from pagekin.model.strings import Strings

Part = TypeVar("Part", bound=Ragged)


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
