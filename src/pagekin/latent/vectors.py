"""Vectors of pages and words in files: small integers, and the lists that narrow a search down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels import int8_products, page_rows
from pagekin.kernels.page_rows import ListedPages, PageRows
from pagekin.model.arrays import Array, Float32s, Floats, Int64s, UInt32s, distinct, offsets_of, spans
from pagekin.store.checks import check, check_finite, check_offsets
from pagekin.store.columns import open_array

DIMENSIONS = 128  # of latent vectors, at most
MOST_DIMENSIONS = 4096  # of any vectors
_LARGEST, _LARGEST_OF_TERM = 127, 7
_LEAST = 1e-30  # shorter vectors count as zeros; their inverse would overflow
_AT_ONCE = 1 << 21  # numbers that numpy compares at a time
_EXACT = 1024  # dimensions up to which float32 holds inner products exactly
# Pages that a search compares at least: this many times the root of the number of all, and this share of all. Of the 50
# nearest pages, .98 to .99 are then found in collections of 4,000 to 15,000 pages.
_ROOTS, _SHARE = 14, 0.05

Int8s: TypeAlias = NDArray[np.int8]
UInt8s: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True)
class Vectors:
    """Vectors of integers from -127 to 127, one per row, and their lengths. A vector of zeros is like no other."""

    row: Int8s
    norm: Float32s

    def take(self, rows: Int64s) -> Vectors:
        """Some of the vectors; zeros for rows that do not exist."""
        here = (rows >= 0) & (rows < len(self.row))
        taken = np.zeros((len(rows), self.row.shape[1]), np.int8)
        taken[here] = self.row[rows[here]]
        return Vectors(taken, self._norms(rows))

    def cosines(self, queries: Vectors, rows: Int64s) -> Floats:
        """The cosine of each of these rows with each query, to nine places; 0 for rows that do not exist."""
        cosines = np.empty((len(rows), len(queries.row)))
        int8_products.cosines(np.ascontiguousarray(queries.row), queries.norm, self.row, self.norm, rows, cosines)
        return cosines

    def _norms(self, rows: Int64s) -> Float32s:
        here = (rows >= 0) & (rows < len(self.norm))
        norm = np.zeros(len(rows), np.float32)
        norm[here] = self.norm[rows[here]]
        return norm


def block_size(dimensions: int) -> int:
    """The number of vectors that numpy compares at a time."""
    return max(1, _AT_ONCE // max(1, dimensions))


def exact_products(a: Float32s, b: Float32s) -> Floats:
    """The inner products of the rows of two matrices of small integers, exactly.

    >>> exact_products(np.full((1, 4096), 127, np.float32), np.full((1, 4096), 127, np.float32)).tolist()
    [[66064384.0]]
    """
    products = np.zeros((len(a), len(b)))
    for begin in range(0, a.shape[1], _EXACT):
        some = slice(begin, begin + _EXACT)
        products += a[:, some] @ b[:, some].T
    return products


def quantised(vectors: Float32s | Floats) -> Vectors:
    """Vectors with their largest component scaled to 127, as integers.

    >>> quantised(np.array([[0.5, -1.0], [0.0, 0.0]])).row.tolist()
    [[64, -127], [0, 0]]
    """
    row = _integers(vectors, _LARGEST)[0]
    return Vectors(row, norms(row))


def norms(row: Int8s) -> Float32s:
    """The length of each vector."""
    return np.asarray(np.sqrt(np.square(row, dtype=np.int32).sum(axis=1)), np.float32)


def _integers(vectors: Float32s | Floats, largest: int) -> tuple[Int8s, Float32s]:
    """Each row as integers up to the largest, and the number by which they must be multiplied."""
    scale = np.abs(vectors).max(axis=1, initial=0.0).astype(np.float64) / largest
    scale[scale < _LEAST] = 0.0
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0)
    return np.rint(vectors * inverse[:, np.newaxis]).astype(np.int8), scale.astype(np.float32)


@dataclass(frozen=True)
class TermVectors:
    """The vectors of some terms, by which texts from outside get theirs.

    A text is a sum over many terms, in which the rounding errors of four bits nearly cancel.
    """

    term: UInt32s  # ascending
    row: UInt8s  # two components in each byte, plus 8; the first is in the lower bits
    scale: Float32s

    @classmethod
    def of(cls, term: UInt32s, vectors: Float32s) -> TermVectors:
        """Terms and their vectors as integers."""
        row, scale = _integers(vectors, _LARGEST_OF_TERM)
        shifted = (np.pad(row, ((0, 0), (0, row.shape[1] % 2))) + 8).astype(np.uint8)
        return cls(term, np.asarray(shifted[:, ::2] | shifted[:, 1::2] << 4, np.uint8), scale)

    def take(self, term: UInt32s, dimensions: int) -> Floats:
        """The first components of the vectors of some terms; zeros for terms that have none."""
        vectors = np.zeros((len(term), 2 * self.row.shape[1]))
        if len(self.term):
            place = np.minimum(np.searchsorted(self.term, term), len(self.term) - 1)
            scale = np.where(self.term[place] == term, self.scale[place], 0.0).astype(np.float64)[:, np.newaxis]
            vectors[:, ::2] = ((self.row[place] & 15) - 8.0) * scale
            vectors[:, 1::2] = ((self.row[place] >> 4) - 8.0) * scale
        return vectors[:, :dimensions]

    def products(self, term: UInt32s, direction: Floats) -> Floats:
        """The inner products of a vector with those of some terms; 0 for terms that have none."""
        even = np.zeros(2 * self.row.shape[1])
        even[: len(direction)] = direction
        products = np.empty(len(term))
        int8_products.half_byte_products(self.term, self.row, self.scale, term, even, products)
        return products


@dataclass(frozen=True)
class PageLists:
    """Lists of pages around centroids. A small collection has none: every search compares all pages."""

    centroid: Int8s
    offsets: Int64s
    page: UInt32s

    @cached_property
    def _centroids(self) -> Vectors:
        return Vectors(self.centroid, norms(self.centroid))

    def nearest_lists(self, queries: Vectors) -> PageRows:
        """For each query a row of the lists whose centroids are nearest, until they have enough pages."""
        enough = _ROOTS * math.isqrt(len(self.page)) + _SHARE * len(self.page)
        near = self._centroids.cosines(queries, np.arange(len(self.centroid)))
        order = np.argsort(-near.T, axis=1, kind="stable")
        pages = np.diff(self.offsets)[order]
        wanted = np.cumsum(pages, axis=1) - pages < enough
        return PageRows(offsets_of(wanted.sum(axis=1)), order[wanted])

    def probe(self, queries: Vectors) -> Int64s:
        """The pages in the lists that are nearest to any of the queries."""
        lists = distinct(self.nearest_lists(queries).node)
        begin = self.offsets[lists]
        return self.page[spans(begin, self.offsets[lists + 1] - begin)].astype(np.int64)


@dataclass(frozen=True)
class PageVectors:
    """The vectors of the pages of a collection, those of a list side by side: the lists are their order."""

    rows: Vectors
    lists: PageLists

    @cached_property
    def _listed(self) -> ListedPages:
        """The lists; in a small collection one list of all pages."""
        pages = len(self.rows.row)
        if len(self.lists.centroid):
            return ListedPages(self.lists.offsets, self.lists.page)
        return ListedPages(np.array([0, pages]), np.arange(pages, dtype=np.uint32))

    @cached_property
    def _row(self) -> Int64s:
        """The row of each node."""
        row = np.zeros(len(self.rows.row), np.int64)
        row[self._listed.page] = np.arange(len(row))
        return row

    def rows_of(self, nodes: Int64s) -> Int64s:
        """The rows of some nodes; -1 for nodes that have none."""
        if not len(self._row):
            return np.full(len(nodes), -1)
        here = (nodes >= 0) & (nodes < len(self._row))
        return np.where(here, self._row[np.where(here, nodes, 0)], -1)

    def take(self, nodes: Int64s) -> Vectors:
        """The vectors of some nodes; zeros for those that have none."""
        return self.rows.take(self.rows_of(nodes))

    def cosines(self, queries: Vectors, nodes: Int64s) -> Floats:
        """The cosine of each of these nodes with each query, to nine places."""
        return self.rows.cosines(queries, self.rows_of(nodes))

    def search(self, queries: Vectors) -> Int64s:
        """The pages that are worth comparing with any of the queries."""
        return self.lists.probe(queries) if len(self.lists.centroid) else np.arange(len(self.rows.row))

    def nearest(self, queries: Vectors, own: Int64s, most: int) -> PageRows:
        """For each query the pages with the largest cosines above 0, the largest first, but not its `own` page."""
        asked = page_rows.QueryVectors(np.ascontiguousarray(queries.row), queries.norm, own)
        probed = self.lists.nearest_lists(queries)
        if not len(self.lists.centroid):
            probed = PageRows(np.arange(len(own) + 1), np.zeros(len(own), np.int64))
        return page_rows.nearest_vectors(asked, self.rows.row, self.rows.norm, self._listed, probed, most)


@dataclass(frozen=True)
class LatentVectors(PageVectors):
    """The vectors of pages, and of their terms."""

    terms: TermVectors

    def of_terms(self, term: UInt32s) -> Floats:
        """The vectors of some terms; zeros for those that have none."""
        return self.terms.take(term, self.rows.row.shape[1])


def term_weights(lead: Float32s | UInt32s, inverse_frequency: Floats) -> Floats:
    """The weights of terms in a page. `lead` counts their occurrences; early ones count more."""
    return np.asarray(np.log1p(20.0 * lead.astype(np.float64)) * inverse_frequency, np.float64)


def inverse_frequencies(frequency: Int64s, pages: int) -> Floats:
    """The natural logarithm of the number of all pages over the number of pages with a term."""
    return np.asarray(np.log(pages / np.maximum(frequency, 1)), np.float64)


def open_latent(folder: Path, pages: int, words: int) -> LatentVectors:
    """Open the latent vectors of these numbers of pages and words, memory-mapped."""
    found = open_page_vectors(folder, "latent", pages, DIMENSIONS)
    term = open_array(folder, "latent.terms.term", np.uint32, below=words)
    check(bool((term[1:] > term[:-1]).all()), folder / "latent.terms.term.npy", "terms are not in order")
    row = _open_rows(folder, "latent.terms.row", len(term), (found.rows.row.shape[1] + 1) // 2, np.uint8)
    terms = TermVectors(term, row, _open_scales(folder, "latent.terms.scale", len(term)))
    return LatentVectors(found.rows, found.lists, terms)


def open_page_vectors(folder: Path, name: str, pages: int, most: int = MOST_DIMENSIONS) -> PageVectors:
    """Open vectors, memory-mapped, and check the numbers of pages and dimensions."""
    row = open_array(folder, f"{name}.pages.row", np.int8, 2, below=None)
    dimensions = row.shape[1]
    check(len(row) == pages and dimensions <= most, folder / f"{name}.pages.row.npy", "it belongs to other pages")
    norm = _open_scales(folder, f"{name}.pages.norm", pages)
    offsets = open_array(folder, f"{name}.lists.offsets", np.int64, below=None)
    page = open_array(folder, f"{name}.lists.page", np.uint32, below=pages)
    check_offsets(offsets, len(page), f"{folder}: {name}.lists.offsets.npy or {name}.lists.page.npy")
    listed = pages if len(offsets) > 1 else 0  # the lists are the order of the vectors
    check(len(page) == listed, folder / f"{name}.lists.page.npy", f"it has {len(page):,} pages")
    centroid = _open_rows(folder, f"{name}.lists.centroid", len(offsets) - 1, dimensions)
    return PageVectors(Vectors(row, norm), PageLists(centroid, offsets, page))


def _open_rows(folder: Path, name: str, count: int, columns: int, kind: Any = np.int8) -> Array:
    matrix = open_array(folder, name, kind, 2, below=None)
    check(matrix.shape == (count, columns), folder / f"{name}.npy", f"it has the shape {matrix.shape}")
    return matrix


def _open_scales(folder: Path, name: str, count: int) -> Float32s:
    """Open a column of finite numbers that are not negative."""
    column = open_array(folder, name, np.float32, below=None)
    check(len(column) == count, folder / f"{name}.npy", f"it has {len(column):,} rows")
    check_finite(column, folder / f"{name}.npy")
    return column
