"""The columns of a reading in files, named after the part and the column."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pagekin.model.arrays import Array
from pagekin.model.reading import RAGGED_PARTS, Pages, Ragged, Reading, Sources
from pagekin.model.strings import Strings
from pagekin.store.columns import check_offsets, open_array, write_column

Part = TypeVar("Part", bound=Ragged)
Table = TypeVar("Table", Pages, Sources)


def write_table(folder: Path, name: str, table: Pages | Sources) -> None:
    """Write the columns of a table."""
    for each in fields(table):
        write_column(folder, f"{name}.{each.name}", getattr(table, each.name))


def open_ragged(folder: Path, name: str, kind: type[Part]) -> Part:
    """Open a ragged part, memory-mapped."""
    return _ragged_of(partial(open_array, folder), name, kind)


def open_reading(folder: Path) -> Reading:
    """Open the columns of a reading, memory-mapped."""
    return reading_of(partial(open_array, folder))


def columns_of(reading: Reading) -> Iterator[tuple[str, Array]]:
    """(name, column) of all columns of a reading; redirects and skips are not columns."""
    for name in ("pages", "sources", "forms", "targets", *RAGGED_PARTS):
        part = getattr(reading, name)
        values = [(name, part)] if isinstance(part, Strings) else [(f"{name}.{k}", v) for k, v in vars(part).items()]
        for column, value in values:
            if isinstance(value, Strings):
                yield f"{column}.offsets", value.offsets
                yield f"{column}.data", value.data
            else:
                yield column, value


def reading_of(column: Callable[[str], Array]) -> Reading:
    """The reading whose columns `column` returns by name."""
    return Reading(
        pages=_table_of(column, "pages", Pages),
        sources=_table_of(column, "sources", Sources),
        forms=_strings_of(column, "forms"),
        targets=_strings_of(column, "targets"),
        **{name: _ragged_of(column, name, kind) for name, kind in RAGGED_PARTS.items()},  # type: ignore[arg-type]
    )


def _strings_of(column: Callable[[str], Array], name: str) -> Strings:
    strings = Strings(column(f"{name}.offsets"), column(f"{name}.data"))
    check_offsets(strings.offsets, len(strings.data), f"{name}.offsets.npy")
    return strings


def _table_of(column: Callable[[str], Array], name: str, kind: type[Table]) -> Table:
    strings = partial(_strings_of, column)
    kinds = {each.name: strings if each.type == "Strings" else column for each in fields(kind)}
    values: dict[str, Any] = {each: find(f"{name}.{each}") for each, find in kinds.items()}
    return kind(**values)


def _ragged_of(column: Callable[[str], Array], name: str, kind: type[Part]) -> Part:
    columns = {each.name: column(f"{name}.{each.name}") for each in fields(kind)}
    for each, array in columns.items():
        if each != "offsets":
            check_offsets(columns["offsets"], len(array), f"{name}.offsets.npy or {name}.{each}.npy")
    return kind(**columns)
