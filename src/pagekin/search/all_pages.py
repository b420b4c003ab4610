"""The nearest pages of many pages, found in blocks by several workers."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from pagekin.kernels.page_rows import ScoredRows
from pagekin.model.arrays import Bools, Floats, Int64s, offsets_of, spans
from pagekin.search.answer import separate_rows
from pagekin.search.blend import Blend
from pagekin.search.node_store import NodeStore
from pagekin.search.page_block import block_of, row_of
from pagekin.store.columns import Mapper

_AT_ONCE = 64  # pages of a block
_TOGETHER = 1 << 12  # pages that are searched in another order than that of their rows


def nearest_of_pages(
    store: NodeStore, new_blend: Callable[[], Blend], pages: Int64s, limit: int, mapper: Mapper = map
) -> Iterator[tuple[Int64s, ScoredRows]]:
    """For block after block its pages, and rows of their nearest pages with similarities, the nearest first.

    Every block gets a blend of its own, since evidences keep what they found last.
    """
    blocks = (pages[begin : begin + _AT_ONCE] for begin in range(0, len(pages), _AT_ONCE))
    return iter(mapper(partial(_nearest, store, new_blend, limit), blocks))


def _nearest(store: NodeStore, new_blend: Callable[[], Blend], limit: int, pages: Int64s) -> tuple[Int64s, ScoredRows]:
    return pages, new_blend().nearest_for(block_of(store, pages), limit)


def nearest_in_order(
    store: NodeStore, new_blend: Callable[[], Blend], pages: Int64s, limit: int, mapper: Mapper = map
) -> Iterator[ScoredRows]:
    """Rows of the nearest pages of some pages with similarities, in the order of the pages.

    Of some thousand pages, those of a list of latent vectors are searched together: they have candidates in common.
    """
    place = np.argsort(store.pages_by_list)
    for begin in range(0, len(pages), _TOGETHER):
        some = pages[begin : begin + _TOGETHER]
        order = np.argsort(place[some], kind="stable")
        found = [rows for _, rows in nearest_of_pages(store, new_blend, some[order], limit, mapper)]
        counts = np.concatenate([np.diff(rows.offsets) for rows in found])
        back = np.argsort(order)
        places = spans(offsets_of(counts)[back], counts[back])
        node, score = (np.concatenate([rows[k] for rows in found])[places] for k in (1, 2))
        yield ScoredRows(offsets_of(counts[back]), node, score)


def nearest_matrices(
    store: NodeStore, new_blend: Callable[[], Blend], pages: Int64s, limit: int, mapper: Mapper = map
) -> tuple[Int64s, Floats]:
    """A row for every page of a collection: the nearest pages of those in `pages`, and their similarities.

    Rows are filled up with the page itself and the similarity 0.
    """
    near = np.repeat(np.arange(len(store.nodes) - 1)[:, np.newaxis], limit, axis=1)
    similarity, wanted = np.zeros(near.shape), np.zeros(len(near), bool)
    wanted[pages] = True
    pages = store.pages_by_list[wanted[store.pages_by_list]]
    for nodes, found in nearest_of_pages(store, new_blend, pages, limit, mapper):
        row = row_of(found)
        place = nodes[row], np.arange(len(row)) - found.offsets[row]
        near[place], similarity[place] = found.node, found.score
    return near, similarity


def separate_answers(store: NodeStore, near: Int64s, mapper: Mapper = map) -> Bools:
    """For each row of `nearest_matrices`, whether the page and its nearest pages have no near-duplicates."""
    blocks = ((begin, near[begin : begin + _AT_ONCE]) for begin in range(0, len(near), _AT_ONCE))
    return np.concatenate([np.empty(0, np.bool_), *mapper(partial(_separate, store), blocks)])


def _separate(store: NodeStore, block: tuple[int, Int64s]) -> Bools:
    first, listed = block
    pages = np.arange(first, first + len(listed))
    rows = store.rows_of(listed.ravel()).reshape(listed.shape)
    rows[listed == pages[:, np.newaxis]] = -1
    return separate_rows(store.fingerprints, np.column_stack([store.rows_of(pages), rows]))
