"""Merge rows of many readings into the columns of one store, in a given order, piece by piece.

Opening a reading takes time, so each pass over the readings collects all that it can, and keeps nothing else in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from pagekin.kernels.spans import copy_spans, count_values, map_spans, strings_of
from pagekin.kernels.vocabulary import (
    NO_STRING,
    add_strings,
    copy_table,
    find_strings,
    new_table,
    places_of_spans,
    sort_spans,
)
from pagekin.model.arrays import Array, Int64s, Strings, UInt32s, offsets_of
from pagekin.model.reading import CheckedReading, Ragged

_PIECE = 1 << 27  # bytes merged at a time, at most
_PIECE_OF_READING = 1 << 18  # the same for each reading: it takes time to open many, and small pieces stay in the cache
_RUN = 1 << 22  # bytes of consecutive rows that are not gathered
_OBJECTS = 1 << 14  # values converted to Python objects at a time
_FEW = 1 / 16  # of the strings of a list, whose places are searched instead of sorting all


@dataclass(frozen=True)
class Selection:
    """Rows of readings, in the order of the store."""

    readings: Sequence[CheckedReading]
    reading: Int64s
    row: Int64s

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def _places(self) -> dict[int, Int64s]:
        """The places in the selection of the rows of every reading that is used."""
        return dict(_groups(self.reading))

    def by_reading(self) -> Iterator[tuple[CheckedReading, Int64s, Int64s]]:
        """(reading, places in the selection, rows in the reading) for every reading that is used."""
        for number, places in self._places.items():
            yield self.readings[number], places, self.row[places]

    def places_of(self, number: int) -> Int64s:
        """The places in the selection of the rows of a reading."""
        return self._places.get(number, np.empty(0, np.int64))

    def rows_of(self, number: int) -> Int64s:
        return self.row[self.places_of(number)]

    def values(self, columns: Mapping[str, Callable[[CheckedReading], Array]]) -> dict[str, Array]:
        out: dict[str, Array] = {name: np.empty(0, np.int64) for name in columns}
        for reading, places, rows in self.by_reading():
            for name, column in columns.items():
                piece = column(reading)[rows]
                if not len(out[name]):
                    out[name] = np.empty((len(self), *piece.shape[1:]), piece.dtype)
                out[name][places] = piece
        return out

    def strings(self, columns: Mapping[str, Callable[[CheckedReading], Strings]]) -> dict[str, Strings]:
        offsets = self.offsets(columns)
        out = {name: Strings(each, np.empty(each[-1], np.uint8)) for name, each in offsets.items()}
        for reading, places, rows in self.by_reading():
            for name, column in columns.items():
                strings, target = column(reading), out[name]
                starts = strings.offsets[rows]
                lengths = strings.offsets[rows + 1] - starts
                copy_spans(strings.data, starts, lengths, target.data, target.offsets[places])
        return out

    def offsets(self, parts: Mapping[str, Callable[[CheckedReading], Ragged | Strings]]) -> dict[str, Int64s]:
        """The offsets of ragged parts or strings in the order of the selection, by name."""
        lengths = {name: lambda reading, part=part: np.diff(part(reading).offsets) for name, part in parts.items()}
        return {name: offsets_of(each) for name, each in self.values(lengths).items()}


def _groups(numbers: Int64s) -> Iterator[tuple[int, Int64s]]:
    """(number, its places) for every distinct number, ascending."""
    order = np.argsort(numbers, kind="stable")
    found, starts = np.unique(numbers[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=False)


def merge_part(
    selection: Selection,
    offsets: Int64s,
    part: str,
    kinds: Mapping[str, type[np.generic]],
    tables: Mapping[str, Sequence[Array]],
) -> Iterator[list[Array]]:
    """The columns of a ragged part in pieces of bounded size; `tables` renumber the values of a column by reading."""
    row_bytes = sum(np.dtype(kind).itemsize for kind in kinds.values())
    piece = min(_PIECE, max(_RUN, _PIECE_OF_READING * len(selection.readings)))
    for begin, last, most in _stretches(selection, offsets, _RUN // row_bytes, piece // row_bytes):
        while begin < last:
            # As many rows as fit, at least one.
            fitting = int(np.searchsorted(offsets, offsets[begin] + most, side="right")) - 1
            end = min(last, max(begin + 1, fitting))
            yield _merged(selection, begin, end, offsets, part, kinds, tables)
            begin = end


def _stretches(selection: Selection, offsets: Int64s, run: int, piece: int) -> Iterator[tuple[int, int, int]]:
    """(first, last, most): stretches of a selection, and the number of values that are merged at a time.

    Rows that are consecutive in one reading, with at least `run` values, are a stretch of their own. Their values need
    not be gathered, and small pieces of them use the same memory again.
    """
    follows = (np.diff(selection.row) == 1) & (np.diff(selection.reading) == 0)
    bounds = np.concatenate([[0], np.flatnonzero(~follows) + 1, [len(selection)]])
    long = np.flatnonzero(np.diff(offsets[bounds]) >= run)
    done = 0
    for first, last in zip(bounds[long].tolist(), bounds[long + 1].tolist(), strict=True):
        yield done, first, piece
        yield first, last, run
        done = last
    yield done, len(selection), piece


def _merged(
    selection: Selection,
    begin: int,
    end: int,
    offsets: Int64s,
    part: str,
    kinds: Mapping[str, type[np.generic]],
    tables: Mapping[str, Sequence[Array]],
) -> list[Array]:
    pieces: dict[str, Array] = {}
    count = int(offsets[end] - offsets[begin])
    for number, places in _groups(selection.reading[begin:end]):
        ragged: Ragged = getattr(selection.readings[number], part)
        rows = selection.row[begin + places]
        starts = ragged.offsets[rows]
        lengths = ragged.offsets[rows + 1] - starts
        target = offsets[begin + places] - offsets[begin]
        consecutive = len(rows) == end - begin and bool((np.diff(rows) == 1).all())
        for name, kind in kinds.items():
            column: Array = getattr(ragged, name)
            if name not in tables and consecutive:
                pieces[name] = column[starts[0] : starts[0] + count]
                continue
            if name not in pieces:
                pieces[name] = np.empty(count, kind)
            if name in tables:
                map_spans(column, starts, lengths, tables[name][number], pieces[name], target)
            else:
                copy_spans(column, starts, lengths, pieces[name], target)
    return list(pieces.values())


class Lexicon:
    """Numbers for strings: equal strings have the same number, a new string gets the next one."""

    def __init__(self) -> None:
        self._table = new_table(0, 0)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def enter(self, strings: Strings, which: Int64s) -> UInt32s:
        """Add some of the strings; return their numbers."""
        starts, ends = strings.offsets[which], strings.offsets[which + 1]
        self._reserve(len(which), int((ends - starts).sum()))
        numbers, self._count = add_strings(strings.data, starts, ends, self._table, self._count)
        return numbers

    def _reserve(self, count: int, size: int) -> None:
        """Make room for more strings; if the table must grow, it doubles, so that it rarely does."""
        table = self._table
        count += self._count
        size += int(table.offsets[self._count])
        if count > len(table.keys) or size > len(table.data):
            larger = new_table(max(count, 2 * len(table.keys)), max(size, 2 * len(table.data)))
            self._table = copy_table(table, self._count, larger)

    def find(self, strings: Strings) -> UInt32s:
        """The number of each string, or NO_STRING."""
        return find_strings(strings.data, strings.offsets[:-1], strings.offsets[1:], self._table)

    def strings(self) -> Strings:
        offsets = self._table.offsets[: self._count + 1]
        return Strings(offsets, self._table.data[: offsets[-1]])


@dataclass(frozen=True)
class FormTable:
    """The merged strings of all readings, and for each reading the new numbers of its strings."""

    strings: Strings
    counts: Int64s
    tables: list[UInt32s]


def order_of(strings: Strings, counts: Int64s | None = None) -> Int64s:
    """The order of strings by descending count, if counts are given, then by their bytes."""
    order = sort_spans(strings.data, strings.offsets[:-1], strings.offsets[1:])
    return order if counts is None else order[np.argsort(-counts[order], kind="stable")]


@dataclass(frozen=True)
class RankedStrings:
    """The distinct strings of an earlier build by descending count, then by their bytes; and those counts."""

    strings: Strings
    counts: Int64s


def merge_strings(selection: Selection, name: str, uses: Mapping[str, str], frequent_first: bool = False) -> FormTable:
    """Merge the strings of all readings that a selected page uses; `uses`: the columns that refer to them, by part."""
    return unite(_used(selection, name, uses), frequent_first)


def merge_ranked(
    selection: Selection, name: str, uses: Mapping[str, str], ranked: RankedStrings
) -> tuple[FormTable, Int64s]:
    """The same, most frequent first, if those of the first reading are `ranked`, by their counts in all of its rows.

    Also return the number in `ranked` of each of the strings, or a larger number.
    """
    used = _used(selection, name, uses, without=True)
    _, dropped = next(used)
    return unite_ranked(ranked, ranked.counts - dropped, used)  # one reading is open at a time


def _used(
    selection: Selection, name: str, uses: Mapping[str, str], without: bool = False
) -> Iterator[tuple[Strings, Int64s]]:
    """The strings of each reading with their counts in the selected rows; or in all others, of the first reading."""
    for number, reading in enumerate(selection.readings):
        strings: Strings = getattr(reading, name)
        rows, counts = selection.rows_of(number), np.zeros(len(strings), np.int64)
        if without and number == 0:
            rows = np.delete(np.arange(len(reading)), rows)
        for part, column in uses.items():
            ragged: Ragged = getattr(reading, part)
            starts = ragged.offsets[rows]
            count_values(getattr(ragged, column), starts, ragged.offsets[rows + 1] - starts, counts)
        yield strings, counts


def unite(lists: Iterable[tuple[Strings, Int64s]], frequent_first: bool = False) -> FormTable:
    """Merge lists of distinct strings with counts; a string with the count 0 is left out.

    >>> united = unite([(Strings.of(["oak", "elm"]), np.array([1, 2])), (Strings.of(["oak", "ash"]), np.array([3, 0]))])
    >>> list(united.strings), united.counts.tolist(), [table.tolist() for table in united.tables]
    (['elm', 'oak'], [2, 4], [[1, 0], [1, 1]])
    """
    lexicon = Lexicon()
    totals = np.zeros(0, np.int64)
    tables = []
    for strings, counts in lists:
        used = np.flatnonzero(counts)
        table = np.zeros(len(counts), np.uint32)
        table[used] = lexicon.enter(strings, used)
        tables.append(table)
        totals = np.concatenate([totals, np.zeros(len(lexicon) - len(totals), np.int64)])
        np.add.at(totals, table[used], counts[used])
    ranking = order_of(lexicon.strings(), totals if frequent_first else None)
    renumbered = inverse(ranking)
    for table in tables:
        if len(ranking):
            table[:] = renumbered[table]
    return FormTable(pick(lexicon.strings(), ranking), totals[ranking], tables)


def unite_ranked(
    ranked: RankedStrings, counts: Int64s, lists: Iterable[tuple[Strings, Int64s]]
) -> tuple[FormTable, Int64s]:
    """`unite` of ranked strings, which have these counts now, and of other lists, most frequent first.

    Only strings whose counts have changed are sorted. Also return the number in `ranked` of each of the strings, or a
    larger number.

    >>> ranked = RankedStrings(Strings.of(["oak", "ash", "elm"]), np.array([3, 1, 1]))
    >>> united, origin = unite_ranked(ranked, np.array([3, 1, 1]), [(Strings.of(["elm", "yew"]), np.array([1, 2]))])
    >>> list(united.strings), united.counts.tolist(), [table.tolist() for table in united.tables]
    (['oak', 'elm', 'yew', 'ash'], [3, 2, 2, 1], [[0, 3, 1], [1, 2]])
    >>> origin.tolist()
    [0, 2, 4, 1]
    """
    others, known, lexicon = unite(lists), len(ranked.strings), Lexicon()
    lexicon.enter(others.strings, np.arange(len(others.strings)))
    strings, totals = join(ranked.strings, others.strings), np.concatenate([counts, others.counts])
    number = np.arange(known, len(strings))  # of each of the others
    found = lexicon.find(ranked.strings)
    both = np.flatnonzero(found != NO_STRING)
    totals[both] += others.counts[found[both]]
    number[found[both]] = both
    is_new = number >= known
    stays = totals[:known] == ranked.counts
    moved = np.concatenate([np.flatnonzero(~stays & (totals[:known] > 0)), number[is_new]])
    moved = moved[order_of(pick(strings, moved), totals[moved])]
    order = np.flatnonzero(stays)
    if len(moved) <= _FEW * known:
        bounds = [np.searchsorted(-totals[order], -totals[moved], side) for side in ("left", "right")]
        place = places_of_spans(strings.data, strings.offsets[:-1], strings.offsets[1:], order, moved, *bounds)
        order = np.insert(order, place, moved)
    else:
        order = np.concatenate([order, moved])
        order = order[order_of(pick(strings, order), totals[order])]
    ranks = np.zeros(len(strings), np.uint32)
    ranks[order] = np.arange(len(order), dtype=np.uint32)
    of_others = ranks[number]
    tables = [ranks[:known], *(of_others[table] if len(number) else table for table in others.tables)]
    return FormTable(pick(strings, order), totals[order], tables), order


def inverse(order: Int64s) -> UInt32s:
    """The place of each number in an order."""
    places = np.empty(len(order), np.uint32)
    places[order] = np.arange(len(order), dtype=np.uint32)
    return places


def pick(strings: Strings, which: Int64s) -> Strings:
    """The strings with these numbers, in this order."""
    return strings_of(strings.data, strings.offsets[which], strings.offsets[which + 1])


def join(one: Strings, other: Strings) -> Strings:
    """The strings of one list, then those of the other."""
    offsets = np.concatenate([one.offsets, other.offsets[1:] + one.offsets[-1]])
    return Strings(offsets, np.concatenate([one.data, other.data]))


@overload
def objects_of(column: Strings) -> Iterator[str]: ...
@overload
def objects_of(column: Array) -> Iterator[int]: ...
def objects_of(column: Strings | Array) -> Iterator[str] | Iterator[int]:
    """The strings or numbers of a long column as Python objects, few of them at a time."""
    for begin in range(0, len(column), _OBJECTS):
        if isinstance(column, Strings):
            offsets = column.offsets[begin : begin + _OBJECTS + 1]
            yield from Strings(offsets - offsets[0], column.data[offsets[0] : offsets[-1]])
        else:
            yield from column[begin : begin + _OBJECTS].tolist()


def lengths_in(offsets: Int64s) -> Iterator[int]:
    """The lengths of many rows as Python objects, few of them at a time."""
    for begin in range(0, len(offsets) - 1, _OBJECTS):
        yield from np.diff(offsets[begin : begin + _OBJECTS + 1]).tolist()
