"""Lists of pages around centroids (an inverted file): a search compares the pages of the nearest lists."""

import math
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from pagekin.latent.matrix import mapped_file
from pagekin.latent.vectors import PageLists, Vectors, block_size, exact_products, quantised
from pagekin.model.arrays import Floats, Int64s, offsets_of
from pagekin.store.columns import column_writer, write_columns

FEWEST_PAGES = 4_000  # below this number, every search compares all pages
_ITERATIONS = 6
_SAMPLE = 32  # pages per list from which centroids are computed
_AT_ONCE = 4096
_COLUMNS = 128  # of vectors whose means are computed at a time


def write_page_vectors(folder: Path, name: str, shape: tuple[int, int], pieces: Iterable[Vectors]) -> None:
    """Write the vectors of all pages, which come in pieces, in the order of their lists."""
    with TemporaryFile(dir=folder) as spool:
        norms = [np.zeros(0, np.float32)]
        for vectors in pieces:
            spool.write(np.ascontiguousarray(vectors.row).data)
            norms.append(vectors.norm)
        pages = Vectors(mapped_file(spool, np.int8).reshape(shape), np.concatenate(norms))
        lists, size = page_lists(pages), block_size(shape[1])
        order = lists.page if len(lists.page) else np.arange(len(pages.row))
        columns = {f"{name}.pages.row": (np.int8, shape), f"{name}.pages.norm": (np.float32, shape[:1])}
        with column_writer(folder, columns) as append:
            for some in (order[k : k + size] for k in range(0, len(order), size)):
                append(pages.row[some], pages.norm[some])
    write_columns(folder, {f"{name}.lists": lists})


def page_lists(pages: Vectors) -> PageLists:
    """About as many lists as each has pages, by spherical k-means on an evenly spaced sample.

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
    nearest = _nearest(pages, centroids)
    order = np.argsort(nearest, kind="stable").astype(np.uint32)
    return PageLists(centroids.row, offsets_of(np.bincount(nearest, minlength=count)), order)


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
