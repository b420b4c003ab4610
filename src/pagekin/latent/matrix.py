"""The matrix A of pages and terms: the weights of terms in the contents of pages, sparse, in a file."""

from __future__ import annotations

import mmap
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from pagekin.bags.weigh import FoldedBags, SpilledPiece
from pagekin.kernels.sparse_products import multiply, multiply_transposed
from pagekin.latent.vectors import inverse_frequencies, term_weights
from pagekin.model.arrays import Array, Bools, Float32s, Floats, Int64s, UInt32s, offsets_of
from pagekin.store.columns import Mapper

COLUMNS = 200_000  # terms at most
_GROUPS = 8  # of columns, for as many workers
_ROWS = 512  # multiplied in one job
_ABSENT = np.iinfo(np.uint32).max

Piece = tuple[slice, SpilledPiece]


@dataclass(frozen=True)
class PageTerms:
    """The contents of all pages, and the terms that are columns of A."""

    folded: FoldedBags
    term: UInt32s  # of each column, ascending
    squares: Floats  # of each column: the sum of its squared weights
    mapper: Mapper

    @property
    def pages(self) -> int:
        """The number of nodes that have pages."""
        return len(self.folded.contents.length)

    @cached_property
    def column(self) -> UInt32s:
        """The column of each word."""
        columns = np.full(len(self.folded.contents.frequency), _ABSENT, np.uint32)
        columns[self.term] = np.arange(len(self.term))
        return columns

    @cached_property
    def group(self) -> Int64s:
        """The group of each column, ascending; groups have about the same number of entries."""
        entries = np.cumsum(self.folded.contents.frequency[self.term])
        return (entries - 1) * _GROUPS // entries[-1:]

    @cached_property
    def _inverse_frequency(self) -> Floats:
        return inverse_frequencies(self.folded.contents.frequency, self.pages)

    def rows(self, wanted: Bools | None = None) -> Iterable[SparseRows]:
        """A in pieces: all rows, or those that are wanted."""
        return self.mapper(partial(self._rows, wanted), page_pieces(self.folded))

    def products(self, dense: Float32s) -> Iterable[Float32s]:
        """The product of A and a matrix, in pieces."""
        return self.mapper(lambda numbered: self._rows(None, numbered).times(dense), page_pieces(self.folded))

    def _rows(self, wanted: Bools | None, numbered: Piece) -> SparseRows:
        nodes, piece = numbered
        rows = np.arange(nodes.start, min(nodes.stop, self.pages))
        number = np.full(len(piece.lengths), -1, np.int64)  # of each wanted row
        kept = np.flatnonzero(wanted[rows]) if wanted is not None else np.arange(len(rows))
        number[kept] = np.arange(len(kept))
        entry = np.flatnonzero(piece.count)  # these are words
        column, row = self.column[piece.term[entry]], np.repeat(number, piece.lengths)[entry]
        used = (column != _ABSENT) & (row >= 0)
        entry, column, row = entry[used], column[used], row[used]
        counts = np.bincount(row * _GROUPS + self.group[column], minlength=len(kept) * _GROUPS)
        value = term_weights(piece.content[entry], self._inverse_frequency[piece.term[entry]])
        return SparseRows(offsets_of(counts), column, value.astype(np.float32))


@dataclass(frozen=True)
class SparseRows:
    """Rows of A. The entries of row r in group g are offsets[r * groups + g] to offsets[r * groups + g + 1]."""

    offsets: Int64s
    column: UInt32s
    value: Float32s

    def __len__(self) -> int:
        return (len(self.offsets) - 1) // _GROUPS

    def times(self, dense: Float32s, mapper: Mapper = map) -> Float32s:
        """The product of these rows and a matrix with a row for each column."""
        product = np.zeros((len(self), dense.shape[1]), np.float32)

        def work(first: int) -> None:
            last = min(first + _ROWS, len(self))
            multiply(first, last, _GROUPS, self.offsets, self.column, self.value, dense, product)

        deque(mapper(work, range(0, len(self), _ROWS)), maxlen=0)
        return product

    def products(self, dense: Float32s, mapper: Mapper) -> Iterable[Float32s]:
        """The same product in pieces."""

        def work(first: int) -> Float32s:
            rows = self.offsets[first * _GROUPS : (first + _ROWS) * _GROUPS + 1]
            return SparseRows(rows, self.column, self.value).times(dense)

        return mapper(work, range(0, len(self), _ROWS))

    def transposed_times(self, dense: Float32s, columns: int, mapper: Mapper = map) -> Float32s:
        """The product of the transposed rows and a matrix with a row for each of them."""
        product = np.zeros((columns, dense.shape[1]), np.float32)

        def work(group: int) -> None:
            multiply_transposed(group, _GROUPS, self.offsets, self.column, self.value, dense, product)

        deque(mapper(work, range(_GROUPS)), maxlen=0)
        return product


def page_terms(folded: FoldedBags, mapper: Mapper) -> PageTerms:
    """Choose the columns of A: the terms of at least two pages but not of all; of too many, those that weigh most."""
    frequency, pages = folded.contents.frequency, len(folded.contents.length)
    squares = np.zeros(len(frequency))
    weigh = partial(_squares, inverse_frequencies(frequency, pages))
    for some in mapper(weigh, page_pieces(folded)):
        squares += some
    terms = np.flatnonzero((frequency >= 2) & (frequency < pages))
    terms = np.sort(terms[np.lexsort((terms, -squares[terms]))[:COLUMNS]])
    return PageTerms(folded, terms.astype(np.uint32), squares[terms], mapper)


def _squares(inverse_frequency: Floats, numbered: Piece) -> Floats:
    """For each word, the sum of its squared weights in some pages."""
    _, piece = numbered
    entry = np.flatnonzero(piece.count)
    term = piece.term[entry]
    squares = np.square(term_weights(piece.content[entry], inverse_frequency[term]))
    return np.asarray(np.bincount(term, squares, len(inverse_frequency)), np.float64)


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


def mapped_file(file: IO[bytes], kind: Any) -> Array:
    """All that was written to a file, memory-mapped."""
    file.flush()
    if not file.tell():  # an empty file cannot be mapped
        return np.empty(0, kind)
    return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), kind)
