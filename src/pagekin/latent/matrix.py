"""The matrix A of pages and terms: the weights of terms in the contents of pages, sparse, in a file."""

from __future__ import annotations

import mmap
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from pagekin.bags.weigh import AnyPiece, FoldedBags
from pagekin.kernels.spans import count_values
from pagekin.kernels.sparse_products import multiply, transpose
from pagekin.latent.vectors import inverse_frequencies, term_weights
from pagekin.model.arrays import Array, Float32s, Floats, Int64s, UInt32s, offsets_of
from pagekin.store.columns import Mapper
from pagekin.store.stage_columns import Sums, gathered, ranges_of
from pagekin.store.stage_files import Stages

COLUMNS = 200_000  # terms at most
_JOBS = 16  # in which a matrix is multiplied or transposed
_WORDS = 1 << 20  # looked at at a time
_ROWS = 512  # multiplied in one job where the product comes in pieces
_UNITS = 1 << 16  # of a squared weight; sums up to 2 ** 37 are exact
_ABSENT = np.iinfo(np.uint32).max

Piece = tuple[slice, AnyPiece]


@dataclass(frozen=True)
class PageTerms:
    """The terms that are columns of A."""

    frequency: Int64s  # of each word: the number of pages whose contents have it
    pages: int  # nodes that have pages
    term: UInt32s  # of each column, ascending
    squares: Floats  # of each column: the sum of its squared weights

    @cached_property
    def column(self) -> UInt32s:
        """The column of each word."""
        columns = np.full(len(self.frequency), _ABSENT, np.uint32)
        columns[self.term] = np.arange(len(self.term))
        return columns

    @cached_property
    def _inverse_frequency(self) -> Floats:
        return inverse_frequencies(self.frequency, self.pages)

    def rows(self, numbered: Piece, wanted: Int64s | None = None) -> SparseRows:
        """The rows of the pages of a piece: all of them, or those that are wanted, which are in order."""
        nodes, piece = numbered[0], numbered[1].load()
        rows = np.arange(nodes.start, min(nodes.stop, self.pages))
        number = np.full(len(piece.lengths), -1, np.int64)  # of each wanted row
        kept = np.arange(len(rows))
        if wanted is not None:
            first, last = np.searchsorted(wanted, [nodes.start, nodes.start + len(rows)])
            kept = wanted[first:last] - nodes.start
        number[kept] = np.arange(len(kept))
        entry = np.flatnonzero(piece.count)  # these are words
        column, row = self.column[piece.term[entry]], np.repeat(number, piece.lengths)[entry]
        used = (column != _ABSENT) & (row >= 0)
        entry, column, row = entry[used], column[used], row[used]
        counts = np.bincount(row, minlength=len(kept))
        value = term_weights(piece.content[entry], self._inverse_frequency[piece.term[entry]])
        return SparseRows(offsets_of(counts), column, value.astype(np.float32))


@dataclass(frozen=True)
class SparseRows:
    """Rows of A. The entries of row r are offsets[r] to offsets[r + 1], with their columns ascending."""

    offsets: Int64s
    column: UInt32s
    value: Float32s

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def times(self, dense: Float32s, mapper: Mapper = map) -> Float32s:
        """The product of these rows and a matrix with a row for each column."""
        product = np.zeros((len(self), dense.shape[1]), np.float32)

        def work(rows: tuple[int, int]) -> None:
            multiply(*rows, self.offsets, self.column, self.value, dense, product)

        deque(mapper(work, self.ranges()), maxlen=0)
        return product

    def products(self, dense: Float32s, mapper: Mapper) -> Iterable[Float32s]:
        """The same product in pieces."""

        def work(first: int) -> Float32s:
            return SparseRows(self.offsets[first : first + _ROWS + 1], self.column, self.value).times(dense)

        return mapper(work, range(0, len(self), _ROWS))

    def ranges(self) -> Iterable[tuple[int, int]]:
        """Ranges of rows that have about the same number of entries."""
        wanted = self.offsets[0] + np.arange(_JOBS + 1) * (self.offsets[-1] - self.offsets[0]) // _JOBS
        ends = np.searchsorted(self.offsets, wanted).tolist()
        return pairwise([0, *ends[1:-1], len(self)])


def page_terms(folded: FoldedBags, stages: Stages) -> PageTerms:
    """Choose the columns of A: the terms of at least two pages but not of all; of too many, those that weigh most."""
    frequency, pages = folded.contents.frequency, len(folded.contents.length)
    words = ranges_of(len(frequency), _WORDS)
    inverse = gathered(stages, "rarity", _inverse, (frequency, pages), words)["word"]
    sums = {"squares": Sums(len(frequency), "term", np.float64)}
    squares = gathered(stages, "squares", _squares, inverse, page_pieces(folded), sums)["squares"]
    terms = np.empty(0, np.int64)
    for some in words:
        on_pages = frequency[some.start : some.stop]
        terms = np.concatenate([terms, some.start + np.flatnonzero((on_pages >= 2) & (on_pages < pages))])
        terms = terms[np.lexsort((terms, -squares[terms]))[:COLUMNS]]
    terms.sort()
    return PageTerms(frequency, pages, terms.astype(np.uint32), squares[terms])


def _inverse(counted: tuple[Int64s, int], words: range) -> dict[str, Array]:
    frequency, pages = counted
    return {"word": inverse_frequencies(frequency[words.start : words.stop], pages)}


def _squares(inverse_frequency: Floats, numbered: Piece) -> dict[str, Array]:
    """Words, and the sum of the squared weights of each in the pages of a piece.

    The squares are rounded, so that their sums are exact, and the same however the pages are divided.
    """
    piece = numbered[1].load()
    entry = np.flatnonzero(piece.count)
    term = piece.term[entry]
    squares = np.square(term_weights(piece.content[entry], inverse_frequency[term]))
    sums = np.bincount(term, np.rint(squares * _UNITS) / _UNITS, len(inverse_frequency))
    words = np.flatnonzero(sums)
    return {"term": words, "squares": sums[words]}


def page_pieces(folded: FoldedBags) -> Iterator[Piece]:
    """The pieces in which there are pages."""
    for nodes, piece in folded.spill.pieces():
        if nodes.start >= len(folded.contents.length):
            break
        yield nodes, piece


@contextmanager
def rows_in_file(folder: Path, pieces: Iterable[SparseRows]) -> Iterator[SparseRows]:
    """All rows as one, memory-mapped from files that exist as long as they are used."""
    with TemporaryFile(dir=folder) as columns, TemporaryFile(dir=folder) as values:
        counts = [np.zeros(0, np.int64)]
        for some in pieces:
            columns.write(some.column.data)
            values.write(some.value.data)
            counts.append(np.diff(some.offsets))
        yield SparseRows(
            offsets_of(np.concatenate(counts)), mapped_file(columns, np.uint32), mapped_file(values, np.float32)
        )


@contextmanager
def transposed_in_file(folder: Path, rows: SparseRows, columns: int, mapper: Mapper) -> Iterator[SparseRows]:
    """The transposed of all rows, memory-mapped from files that exist as long as it is used."""
    counts = np.zeros(columns, np.int64)
    count_values(rows.column, np.zeros(1, np.int64), np.array([len(rows.column)]), counts)
    with TemporaryFile(dir=folder) as numbers, TemporaryFile(dir=folder) as values:
        made = SparseRows(
            offsets_of(counts),
            _room_in_file(numbers, len(rows.column), np.uint32),
            _room_in_file(values, len(rows.column), np.float32),
        )
        ends = made.offsets[:-1].copy()

        def work(some: tuple[int, int]) -> None:
            transpose(*some, rows.offsets, rows.column, rows.value, ends, made.column, made.value)

        deque(mapper(work, made.ranges()), maxlen=0)
        yield made


def _room_in_file(file: IO[bytes], count: int, kind: Any) -> Array:
    """An array that is memory-mapped from an empty file."""
    size = count * np.dtype(kind).itemsize
    file.truncate(size)
    return np.frombuffer(mmap.mmap(file.fileno(), size), kind) if size else np.empty(0, kind)


def mapped_file(file: IO[bytes], kind: Any) -> Array:
    """All that was written to a file, memory-mapped."""
    file.flush()
    if not file.tell():  # an empty file cannot be mapped
        return np.empty(0, kind)
    return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), kind)
