"""Lists of pages around centroids (an inverted file): a search compares the pages of the nearest lists."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.latent.vectors import PageLists, Vectors, exact_products, quantised
from pagekin.model.arrays import Array, Floats, Int64s, UInt32s, offsets_of
from pagekin.store.columns import flat_columns, open_array, write_columns
from pagekin.store.pieces import write_pieces
from pagekin.store.stage_columns import Sums, gathered, grouped
from pagekin.store.stage_files import Stages

FEWEST_PAGES = 4_000  # below this number, every search compares all pages
_ITERATIONS = 6
_SAMPLE = 32  # pages per list from which centroids are computed
_AT_ONCE = 4096
_PAGES = 1 << 16  # of a job
_COLUMNS = 128  # of vectors whose means are computed at a time


class Unordered(NamedTuple):
    """Where the vectors of all pages lie before they are put in the order of their lists."""

    folder: Path  # absolute
    name: str

    @property
    def column(self) -> str:
        return f"{self.name}.unordered"

    def columns(self, vectors: Vectors) -> dict[str, Array]:
        """A piece of the columns."""
        return dict(flat_columns(self.column, vectors))

    def open(self) -> Vectors:
        """All vectors, memory-mapped."""
        row = open_array(self.folder, f"{self.column}.row", np.int8, 2, below=None)
        return Vectors(row, open_array(self.folder, f"{self.column}.norm", np.float32, below=None))

    def files(self) -> list[Path]:
        return [self.folder / f"{self.column}.{name}.npy" for name in ("row", "norm")]


def write_ordered(unordered: Unordered, stages: Stages) -> None:
    """Write the vectors of all pages in the order of their lists, and remove those in the order of pages."""
    folder, name, pages = unordered.folder, unordered.name, unordered.open()
    files, ranges = (
        unordered.files(),
        [range(k, min(k + _PAGES, len(pages.row))) for k in range(0, len(pages.row), _PAGES)],
    )

    lists = page_lists(pages, partial(_listed, stages, unordered, ranges))
    write_columns(folder, {f"{name}.lists": lists})
    del pages  # Windows removes no file that is mapped
    write_pieces(
        stages, folder, f"{name}-ordering", _ordered, unordered, ranges, [*files, folder / f"{name}.lists.page.npy"]
    )
    for file in files:
        file.unlink()


def _listed(
    stages: Stages, unordered: Unordered, ranges: Sequence[range], centroids: Vectors
) -> tuple[Int64s, UInt32s]:
    """The number of pages of each list, and the pages of all lists."""
    name, counts = f"{unordered.name}-listing", {"pages": Sums(len(centroids.row), "number", np.int64)}
    found = gathered(stages, name, _list_of_each, (unordered, centroids), ranges, counts, unordered.files())
    return found["pages"], grouped(stages, f"{name}-pages", _pages_of_lists, found["list"], ranges)


def _list_of_each(inputs: tuple[Unordered, Vectors], some: range) -> dict[str, Array]:
    unordered, centroids = inputs
    pages, rows = unordered.open(), slice(some.start, some.stop)
    nearest = _nearest(Vectors(pages.row[rows], pages.norm[rows]), centroids)
    number, count = np.unique(nearest, return_counts=True)
    return {"list": nearest.astype(np.uint32), "number": number, "pages": count}


def _pages_of_lists(lists: UInt32s, some: range) -> tuple[Int64s, UInt32s]:
    """The lists of some pages, and these pages."""
    return lists[some.start : some.stop].astype(np.int64), np.arange(some.start, some.stop, dtype=np.uint32)


def _ordered(unordered: Unordered, places: range) -> dict[str, Array]:
    """The vectors at some places of the order."""
    pages = unordered.open()
    order = open_array(unordered.folder, f"{unordered.name}.lists.page", np.uint32, below=None)
    some = order[places.start : places.stop] if len(order) else slice(places.start, places.stop)
    return dict(flat_columns(f"{unordered.name}.pages", Vectors(pages.row[some], pages.norm[some])))


def page_lists(pages: Vectors, assign: Callable[[Vectors], tuple[Int64s, UInt32s]] | None = None) -> PageLists:
    """About as many lists as each has pages, by spherical k-means on an evenly spaced sample.

    `assign`, if given, gives the number of pages that are nearest to each centroid, and these pages.

    Centroids are orthogonal to the mean direction of the sample: a centroid in that direction would be the nearest
    one of all pages that are far from the others. They are integers as vectors are, so that products are exact and the
    result is the same everywhere.
    """
    count = math.isqrt(len(pages.row)) if len(pages.row) >= FEWEST_PAGES and pages.row.shape[1] else 0
    if not count:
        none = np.zeros((0, pages.row.shape[1]), np.int8)
        return PageLists(none, np.zeros(1, np.int64), np.zeros(0, np.uint32))
    size = min(_SAMPLE * count, len(pages.row))
    sample = pages.take(np.arange(size) * len(pages.row) // size)
    mean = _mean_direction(sample)
    centroids = _without(mean, sample.take(np.arange(count) * size // count).row.astype(np.float64))
    for _ in range(_ITERATIONS):
        centroids = _without(mean, _centres(sample, _nearest(sample, centroids), centroids))
    if assign is None:
        nearest = _nearest(pages, centroids)
        counts, order = np.bincount(nearest, minlength=count), np.argsort(nearest, kind="stable").astype(np.uint32)
    else:
        counts, order = assign(centroids)
    return PageLists(centroids.row, offsets_of(counts), order)


def _nearest(pages: Vectors, centroids: Vectors) -> Int64s:
    """The centroid with the largest cosine for each page; the first of equal ones."""
    asked = centroids.row.astype(np.float32)
    lengths = np.maximum(centroids.norm, 1.0).astype(np.float64)
    some = range(0, len(pages.row), _AT_ONCE)
    rows = (pages.row[k : k + _AT_ONCE].astype(np.float32) for k in some)
    return np.concatenate([np.argmax(exact_products(each, asked) / lengths, axis=1) for each in rows])


def _mean_direction(pages: Vectors) -> Floats:
    """The mean of the pages as vectors of length 1, with length 1; zeros if it has no direction."""
    inverse = 1.0 / np.maximum(pages.norm, 1.0).astype(np.float64)
    mean = np.array([(column * inverse).sum() for column in pages.row.T])
    return np.asarray(mean / (math.sqrt((mean * mean).sum()) or 1.0), np.float64)


def _without(direction: Floats, vectors: Floats) -> Vectors:
    """The parts of vectors that are orthogonal to a direction, as integers."""
    share = (vectors * direction).sum(axis=1, keepdims=True)
    return quantised(vectors - share * direction)


def _centres(pages: Vectors, nearest: Int64s, before: Vectors) -> Floats:
    """The mean direction of the pages of each list; an empty list keeps its centroid."""
    order = np.argsort(nearest, kind="stable")
    lists, first = np.unique(nearest[order], return_index=True)
    lengths = np.maximum(pages.norm, 1.0)[order, np.newaxis].astype(np.float64)
    centres: Floats = before.row.astype(np.float64)
    for begin in range(0, centres.shape[1], _COLUMNS):
        some = slice(begin, begin + _COLUMNS)
        centres[lists, some] = np.add.reduceat(pages.row[order, some] / lengths, first)
    return centres
