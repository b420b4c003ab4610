"""Rows of many readings -> the columns of one store, in a given order, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pagekin.arrays import Int64s, UInt32s
from pagekin.kernels.intern import intern
from pagekin.kernels.runs import copy_runs, count_runs, map_runs
from pagekin.model.reading import Ragged, Reading
from pagekin.model.strings import Strings

Array = NDArray[Any]
_PIECE = 1 << 22  # values that are gathered at a time


@dataclass(frozen=True)
class Selection:
    """Which rows of which readings, in which order."""

    readings: Sequence[Reading]
    reading: Int64s
    row: Int64s

    def __len__(self) -> int:
        return len(self.row)

    def by_reading(self) -> Iterator[tuple[Reading, Int64s, Int64s]]:
        """For every reading that is used: (it, places in the selection, rows in the reading)."""
        for number in np.unique(self.reading).tolist():
            places = np.flatnonzero(self.reading == number)
            yield self.readings[number], places, self.row[places]

    def values(self, column: Callable[[Reading], Array]) -> Array:
        """A column with one value a page."""
        pieces = [(places, column(reading)[rows]) for reading, places, rows in self.by_reading()]
        sample = pieces[0][1] if pieces else np.empty(0, np.int64)
        out = np.empty((len(self), *sample.shape[1:]), sample.dtype)
        for places, piece in pieces:
            out[places] = piece
        return out

    def strings(self, column: Callable[[Reading], Strings]) -> Strings:
        """A column of strings."""
        out: list[bytes] = [b""] * len(self)
        for reading, places, rows in self.by_reading():
            raw = column(reading).all_raw()
            for place, row in zip(places.tolist(), rows.tolist(), strict=True):
                out[place] = raw[row]
        return Strings.of(out)

    def offsets(self, part: Callable[[Reading], Ragged]) -> Int64s:
        """The offsets of a ragged part, laid out in the order of the selection."""
        lengths = self.values(lambda reading: part(reading).lengths()) if len(self) else np.empty(0, np.int64)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def gather(
    selection: Selection,
    offsets: Int64s,
    part: Callable[[Reading], Ragged],
    column: str,
    tables: Sequence[Array] | None = None,
) -> Iterator[Array]:
    """The values of a ragged column in pieces of bounded size; with `tables`, each reading's numbers renumbered."""
    begin = 0
    while begin < len(selection):
        # At least one row; then as many as fit.
        end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + _PIECE, side="right")) - 1)
        piece: Array | None = None
        for number in np.unique(selection.reading[begin:end]).tolist():
            ragged = part(selection.readings[number])
            values = getattr(ragged, column)
            if piece is None:
                piece = np.empty(int(offsets[end] - offsets[begin]), values.dtype)
            places = begin + np.flatnonzero(selection.reading[begin:end] == number)
            rows = selection.row[places]
            starts = ragged.offsets[rows]
            lengths = ragged.offsets[rows + 1] - starts
            target = offsets[places] - offsets[begin]
            if tables is None:
                copy_runs(values, starts, lengths, piece, target)
            else:
                map_runs(values, starts, lengths, tables[number], piece, target)
        assert piece is not None
        yield piece
        begin = end


@dataclass(frozen=True)
class Vocabulary:
    """The strings of all readings as one list, and each reading's numbers in it."""

    strings: Strings
    counts: Int64s
    tables: list[UInt32s]


def unite(
    selection: Selection,
    strings: Callable[[Reading], Strings],
    uses: Sequence[tuple[Callable[[Reading], Ragged], str]],
    order: Callable[[list[bytes], Int64s], list[int]],
) -> Vocabulary:
    """One list out of the lists of all readings, without what no selected page uses, ordered by `order`."""
    used = [_count_uses(selection, number, strings, uses) for number in range(len(selection.readings))]
    words: list[bytes] = []
    counts: list[Int64s] = []
    for reading, count in zip(selection.readings, used, strict=True):
        raw = strings(reading).all_raw()
        kept = np.flatnonzero(count)
        words += [raw[k] for k in kept.tolist()]
        counts.append(count[kept])
    packed = Strings.of(words)
    numbers, first = intern(packed.data, packed.offsets[:-1], packed.offsets[1:])
    totals = np.bincount(
        numbers, weights=np.concatenate([np.empty(0, np.int64), *counts]), minlength=len(first)
    ).astype(np.int64)
    distinct = [words[k] for k in first.tolist()]
    ranking = np.array(order(distinct, totals), np.int64)
    new_number = np.empty(len(distinct), np.uint32)
    new_number[ranking] = np.arange(len(distinct), dtype=np.uint32)
    tables = _tables(used, new_number[numbers])
    return Vocabulary(Strings.of(distinct[k] for k in ranking.tolist()), totals[ranking], tables)


def _count_uses(
    selection: Selection,
    number: int,
    strings: Callable[[Reading], Strings],
    uses: Sequence[tuple[Callable[[Reading], Ragged], str]],
) -> Int64s:
    """How often the selected pages of one reading use each of its strings."""
    reading = selection.readings[number]
    rows = selection.row[selection.reading == number]
    counts = np.zeros(len(strings(reading)), np.int64)
    for part, column in uses:
        ragged = part(reading)
        starts = ragged.offsets[rows]
        count_runs(getattr(ragged, column), starts, ragged.offsets[rows + 1] - starts, counts)
    return counts


def _tables(used: list[Int64s], numbers: UInt32s) -> list[UInt32s]:
    """For each reading, its own numbers -> the united ones."""
    tables = []
    begin = 0
    for counts in used:
        kept = np.flatnonzero(counts)
        table = np.zeros(len(counts), np.uint32)
        table[kept] = numbers[begin : begin + len(kept)]
        tables.append(table)
        begin += len(kept)
    return tables
