"""The nearest pages of many pages, found in blocks by several workers; of all pages, they are written as they come."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.index.answers import answer_columns, answer_rows, write_names
from pagekin.kernels.page_rows import ScoredRows
from pagekin.model.arrays import Array, Bools, Floats, Int64s, offsets_of, spans
from pagekin.search.answer import separate_rows
from pagekin.search.blend import Blend
from pagekin.search.node_store import NodeStore
from pagekin.search.page_block import block_of, row_of
from pagekin.store.columns import Mapper
from pagekin.store.pieces import ColumnFiles, write_scattered
from pagekin.store.stage_files import Columns, Stages

_AT_ONCE = 64  # pages of a block
_BLOCKS = 16  # of a job on an executor: it takes seconds
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


class AllPages(NamedTuple):
    """How the rows of all pages are found: for a block of pages, with a blend of its own."""

    store: NodeStore
    new_blend: Callable[[], Blend]
    limit: int
    rows: "Callable[[AllPages, Int64s], Columns]"

    def nearest(self, pages: Int64s, wanted: Bools) -> tuple[Int64s, Floats]:
        """A row for each of some pages: the nearest pages of those that are wanted, and their similarities.

        Rows are filled up with the page itself and the similarity 0.
        """
        near, similarity = np.repeat(pages[:, np.newaxis], self.limit, axis=1), np.zeros((len(pages), self.limit))
        asked = np.flatnonzero(wanted)
        if len(asked):
            _, found = _nearest(self.store, self.new_blend, self.limit, pages[asked])
            row = row_of(found)
            place = asked[row], np.arange(len(row)) - found.offsets[row]
            near[place], similarity[place] = found.node, found.score
        return near, similarity

    def write(self, stages: Stages, folder: Path, name: str, columns: Sequence[ColumnFiles]) -> None:
        """Write columns with a row for every page.

        Pages of a list of latent vectors are searched together, so their rows are scattered.
        """
        pages, step = len(self.store.nodes) - 1, _AT_ONCE * (_BLOCKS if isinstance(stages.pool, SparkPool) else 1)
        jobs = (range(begin, min(begin + step, pages)) for begin in range(0, pages, step))
        write_scattered(stages, folder, columns, name, _found, self, jobs)


def _found(all_pages: AllPages, places: range) -> dict[str, Array]:
    """The rows of the pages at some places in the order of lists, and these pages."""
    blocks = (range(begin, min(begin + _AT_ONCE, places.stop)) for begin in places[::_AT_ONCE])
    of_blocks = [all_pages.store.pages_by_list[block.start : block.stop] for block in blocks]
    found = [all_pages.rows(all_pages, pages) for pages in of_blocks]
    columns = {name: np.concatenate([rows[name] for rows in found]) for name in found[0]}
    return columns | {"places": np.concatenate(of_blocks)}


def write_answers(folder: Path, store: NodeStore, new_blend: Callable[[], Blend], limit: int, stages: Stages) -> None:
    """Write for every page its nearest pages, whether they and the page have no near-duplicates, and its name."""
    columns = answer_columns(len(store.nodes) - 1, limit)
    AllPages(store, new_blend, limit, _answers).write(stages, folder, "answers", columns)
    write_names(folder, limit, store.catalog.names_inside())


def _answers(all_pages: AllPages, pages: Int64s) -> dict[str, Array]:
    store = all_pages.store
    near, similarity = all_pages.nearest(pages, np.ones(len(pages), bool))
    rows = store.rows_of(near.ravel()).reshape(near.shape)
    rows[near == pages[:, np.newaxis]] = -1
    separate = separate_rows(store.fingerprints, np.column_stack([store.rows_of(pages), rows]))
    return answer_rows(len(store.nodes) - 1, near, similarity, separate)
