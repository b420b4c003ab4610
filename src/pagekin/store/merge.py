"""Rows of many readings -> the columns of one store, in a given order, piece by piece.

Each walk opens the readings one after the other, which takes its time, so that it gathers what it can at once; and
nothing is kept of them but what it is after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.spans import copy_spans, count_values, map_spans
from pagekin.kernels.vocabulary import add_strings, copy_table, new_table, sort_spans
from pagekin.model.arrays import Int64s, UInt32s
from pagekin.model.reading import Ragged, Reading
from pagekin.model.strings import Strings

Array = NDArray[Any]
_PIECE = 1 << 27  # bytes that are gathered at a time
_OBJECTS = 1 << 14  # values that become objects at a time


@dataclass(frozen=True)
class Selection:
    """Which rows of which readings, in which order."""

    readings: Sequence[Reading]
    reading: Int64s
    row: Int64s

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def _places(self) -> dict[int, Int64s]:
        """The places of the rows of every reading that is used."""
        return dict(_groups(self.reading))

    def by_reading(self) -> Iterator[tuple[Reading, Int64s, Int64s]]:
        """For every reading that is used: (it, places in the selection, rows in the reading)."""
        for number, places in self._places.items():
            yield self.readings[number], places, self.row[places]

    def rows_of(self, number: int) -> Int64s:
        """The rows of one reading that are used."""
        return self.row[self._places.get(number, np.empty(0, np.int64))]

    def values(self, columns: Mapping[str, Callable[[Reading], Array]]) -> dict[str, Array]:
        """Columns with one value a page, by name."""
        out: dict[str, Array] = {name: np.empty(0, np.int64) for name in columns}
        for reading, places, rows in self.by_reading():
            for name, column in columns.items():
                piece = column(reading)[rows]
                if not len(out[name]):
                    out[name] = np.empty((len(self), *piece.shape[1:]), piece.dtype)
                out[name][places] = piece
        return out

    def strings(self, columns: Mapping[str, Callable[[Reading], Strings]]) -> dict[str, Strings]:
        """Columns of strings, by name."""
        lengths = self.values({name: partial(_lengths, column) for name, column in columns.items()})
        out = {name: _room(_laid_out(lengths[name])) for name in columns}
        for reading, places, rows in self.by_reading():
            for name, column in columns.items():
                strings, room = column(reading), out[name]
                starts = strings.offsets[rows]
                copy_spans(strings.data, starts, strings.offsets[rows + 1] - starts, room.data, room.offsets[places])
        return out

    def offsets(self, parts: Mapping[str, Callable[[Reading], Ragged]]) -> dict[str, Int64s]:
        """The offsets of ragged parts, laid out in the order of the selection."""
        lengths = self.values({name: partial(_lengths, part) for name, part in parts.items()})
        return {name: _laid_out(each) for name, each in lengths.items()}


def _lengths(part: Callable[[Reading], Ragged | Strings], reading: Reading) -> Int64s:
    return np.diff(part(reading).offsets)


def _room(offsets: Int64s) -> Strings:
    return Strings(offsets, np.empty(offsets[-1], np.uint8))


def _groups(numbers: Int64s) -> Iterator[tuple[int, Int64s]]:
    """(number, its places) for every number, in ascending order."""
    order = np.argsort(numbers, kind="stable")
    found, starts = np.unique(numbers[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=False)


def _laid_out(lengths: Int64s) -> Int64s:
    """Where stretches of these lengths begin and end, one after the other."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def gather(
    selection: Selection,
    offsets: Int64s,
    part: Callable[[Reading], Ragged],
    kinds: Mapping[str, type[np.generic]],
    tables: Mapping[str, Sequence[Array]],
) -> Iterator[list[Array]]:
    """The columns of a ragged part in pieces of bounded size; with a table for each reading, numbers are renumbered."""
    most = _PIECE // sum(np.dtype(kind).itemsize for kind in kinds.values())
    begin = 0
    while begin < len(selection):
        # At least one row; then as many as fit.
        end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + most, side="right")) - 1)
        pieces = {name: np.empty(int(offsets[end] - offsets[begin]), kind) for name, kind in kinds.items()}
        for number, places in _groups(selection.reading[begin:end]):
            ragged = part(selection.readings[number])
            rows = selection.row[begin + places]
            starts = ragged.offsets[rows]
            lengths = ragged.offsets[rows + 1] - starts
            target = offsets[begin + places] - offsets[begin]
            for name, piece in pieces.items():
                if name in tables:
                    map_spans(getattr(ragged, name), starts, lengths, tables[name][number], piece, target)
                else:
                    copy_spans(getattr(ragged, name), starts, lengths, piece, target)
        yield list(pieces.values())
        begin = end


class Lexicon:
    """Strings that get numbers: equal ones the same, new ones the next."""

    def __init__(self) -> None:
        self._table = new_table(0, 0)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def enter(self, strings: Strings, which: Int64s) -> UInt32s:
        """The numbers of some of the strings."""
        starts, ends = strings.offsets[which], strings.offsets[which + 1]
        self._make_room(len(which), int((ends - starts).sum()))
        numbers, self._count = add_strings(strings.data, starts, ends, self._table, self._count)
        return numbers

    def _make_room(self, count: int, size: int) -> None:
        """Let there be room for so many more; if there is not, for twice of all, so that it is rarely needed."""
        table = self._table
        count += self._count
        size += int(table.offsets[self._count])
        if count > len(table.hashes) or size > len(table.data):
            room = new_table(max(count, 2 * len(table.hashes)), max(size, 2 * len(table.data)))
            self._table = copy_table(table, self._count, room)

    def strings(self) -> Strings:
        """All strings by their numbers."""
        offsets = self._table.offsets[: self._count + 1]
        return Strings(offsets, self._table.data[: offsets[-1]])


@dataclass(frozen=True)
class FormTable:
    """The strings of all readings as one list, and each reading's numbers in it."""

    strings: Strings
    counts: Int64s
    tables: list[UInt32s]


Order = Callable[[Strings, Int64s], Int64s]


def alphabetically(strings: Strings, counts: Int64s) -> Int64s:
    """The order of strings by their bytes."""
    return sort_spans(strings.data, strings.offsets[:-1], strings.offsets[1:])


def commonest_first(strings: Strings, counts: Int64s) -> Int64s:
    """The order of strings by their counts; those of one count by their bytes."""
    order = alphabetically(strings, counts)
    return order[np.argsort(-counts[order], kind="stable")]


def unite(
    selection: Selection,
    strings: Callable[[Reading], Strings],
    uses: Sequence[tuple[Callable[[Reading], Ragged], str]],
    order: Order,
) -> FormTable:
    """One list out of the lists of all readings, without what no selected page uses, ordered by `order`."""
    lexicon = Lexicon()
    totals = np.zeros(0, np.int64)
    tables = []
    for number, reading in enumerate(selection.readings):
        counts = _count_uses(selection.rows_of(number), reading, strings, uses)
        used = np.flatnonzero(counts)
        table = np.zeros(len(counts), np.uint32)
        table[used] = lexicon.enter(strings(reading), used)
        tables.append(table)
        if len(lexicon) > len(totals):
            totals = np.concatenate([totals, np.zeros(len(lexicon) - len(totals), np.int64)])
        np.add.at(totals, table[used], counts[used])
    ranking = order(lexicon.strings(), totals)
    renumbered = inverse(ranking)
    for table in tables:
        if len(ranking):
            table[:] = renumbered[table]
    return FormTable(pick(lexicon.strings(), ranking), totals[ranking], tables)


def inverse(order: Int64s) -> UInt32s:
    """The place of each number in an order."""
    places = np.empty(len(order), np.uint32)
    places[order] = np.arange(len(order), dtype=np.uint32)
    return places


def pick(strings: Strings, which: Int64s) -> Strings:
    """Some of the strings, in this order."""
    starts = strings.offsets[which]
    lengths = strings.offsets[which + 1] - starts
    picked = _room(_laid_out(lengths))
    copy_spans(strings.data, starts, lengths, picked.data, picked.offsets[:-1])
    return picked


def join(one: Strings, other: Strings) -> Strings:
    """The strings of one list, then those of the other."""
    offsets = np.concatenate([one.offsets, other.offsets[1:] + one.offsets[-1]])
    return Strings(offsets, np.concatenate([one.data, other.data]))


def stretches(count: int) -> Iterator[tuple[int, int]]:
    """(begin, end) of a few out of `count` at a time: for those who make an object of each."""
    for begin in range(0, count, _OBJECTS):
        yield begin, min(begin + _OBJECTS, count)


def stretch(strings: Strings, begin: int, end: int) -> Strings:
    """Strings `begin` to `end`."""
    offsets = strings.offsets[begin : end + 1]
    return Strings(offsets - offsets[0], strings.data[offsets[0] : offsets[-1]])


@overload
def one_by_one(column: Strings) -> Iterator[str]: ...
@overload
def one_by_one(column: Array) -> Iterator[int]: ...
def one_by_one(column: Strings | Array) -> Iterator[str] | Iterator[int]:
    """The strings or numbers of a long column, of which few are objects at a time."""
    for begin, end in stretches(len(column)):
        yield from stretch(column, begin, end) if isinstance(column, Strings) else column[begin:end].tolist()


def _count_uses(
    rows: Int64s,
    reading: Reading,
    strings: Callable[[Reading], Strings],
    uses: Sequence[tuple[Callable[[Reading], Ragged], str]],
) -> Int64s:
    """How often these rows of a reading use each of its strings."""
    counts = np.zeros(len(strings(reading)), np.int64)
    for part, column in uses:
        ragged = part(reading)
        starts = ragged.offsets[rows]
        count_values(getattr(ragged, column), starts, ragged.offsets[rows + 1] - starts, counts)
    return counts
