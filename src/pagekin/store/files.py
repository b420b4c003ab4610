"""The columns of a reading in files, named after the part and the column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from pagekin.model.reading import RAGGED_PARTS, Pages, Ragged, Reading, Sources
from pagekin.model.strings import Strings
from pagekin.store.columns import demand_rows, open_array, write_array

Array = NDArray[Any]
Part = TypeVar("Part", bound=Ragged)
Table = TypeVar("Table", Pages, Sources)


def write_table(folder: Path, name: str, table: Pages | Sources) -> None:
    """Write a table of columns and lists of strings."""
    for column, array in _columns_of_table(name, table):
        write_array(folder, column, array)


def open_ragged(folder: Path, name: str, kind: type[Part]) -> Part:
    """A ragged part, memory-mapped."""
    return _ragged_of(partial(open_array, folder), name, kind)


def open_reading(folder: Path) -> Reading:
    """The columns of a reading, memory-mapped."""
    return reading_of(partial(open_array, folder))


def columns_of(reading: Reading) -> Iterator[tuple[str, Array]]:
    """(name, column) of all columns of a reading; its redirects and skips are not columns."""
    yield from _columns_of_table("pages", reading.pages)
    yield from _columns_of_table("sources", reading.sources)
    yield from _columns_of_strings("forms", reading.forms)
    yield from _columns_of_strings("targets", reading.targets)
    for name in RAGGED_PARTS:
        part = getattr(reading, name)
        for each in fields(part):
            yield f"{name}.{each.name}", getattr(part, each.name)


def reading_of(column: Callable[[str], Array]) -> Reading:
    """The reading whose columns `column` finds by their names."""
    return Reading(
        pages=_table_of(column, "pages", Pages),
        sources=_table_of(column, "sources", Sources),
        forms=_strings_of(column, "forms"),
        targets=_strings_of(column, "targets"),
        **{name: _ragged_of(column, name, kind) for name, kind in RAGGED_PARTS.items()},  # type: ignore[arg-type]
    )


def _columns_of_strings(name: str, strings: Strings) -> Iterator[tuple[str, Array]]:
    yield f"{name}.offsets", strings.offsets
    yield f"{name}.data", strings.data


def _columns_of_table(name: str, table: Pages | Sources) -> Iterator[tuple[str, Array]]:
    for each in fields(table):
        value = getattr(table, each.name)
        if isinstance(value, Strings):
            yield from _columns_of_strings(f"{name}.{each.name}", value)
        else:
            yield f"{name}.{each.name}", value


def _strings_of(column: Callable[[str], Array], name: str) -> Strings:
    strings = Strings(column(f"{name}.offsets"), column(f"{name}.data"))
    demand_rows(strings.offsets, len(strings.data), f"{name}.offsets.npy")
    return strings


def _table_of(column: Callable[[str], Array], name: str, kind: type[Table]) -> Table:
    values: dict[str, Any] = {
        each.name: _strings_of(column, f"{name}.{each.name}")
        if each.type == "Strings"
        else column(f"{name}.{each.name}")
        for each in fields(kind)
    }
    return kind(**values)


def _ragged_of(column: Callable[[str], Array], name: str, kind: type[Part]) -> Part:
    columns = {each.name: column(f"{name}.{each.name}") for each in fields(kind)}
    for each, array in columns.items():
        if each != "offsets":
            demand_rows(columns["offsets"], len(array), f"{name}.offsets.npy or {name}.{each}.npy")
    return kind(**columns)
