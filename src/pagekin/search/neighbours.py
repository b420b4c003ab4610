"""Neighbours as evidence: pages that are near to the same other pages.

Every page has a list of the pages that are nearest to it by the other evidences of the blend. The score of two pages is
the cosine of their lists as sets, each with its own page. On long pages, where words are many and ambiguous, it finds
pages of the same subject; between short pages it says little that links and titles do not say better.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.index.index import value_type
from pagekin.kernels import page_rows
from pagekin.kernels.page_rows import PageRows
from pagekin.kernels.sparse_products import list_cosines
from pagekin.model.arrays import Array, Floats, Int64s, distinct, offsets_of
from pagekin.search.all_pages import AllPages
from pagekin.search.blend import Blend
from pagekin.search.evidence import LONG_PAGES, Evidence, PairScores, SparsePairs
from pagekin.search.node_store import NEIGHBOURS_FILE, NodeStore
from pagekin.search.page_block import PageBlock
from pagekin.search.query import Query
from pagekin.store.columns import write_columns
from pagekin.store.pieces import ColumnFiles
from pagekin.store.stage_files import Stages

LISTED = 20  # neighbours of each page
MOST_PAGES = 200_000  # in a larger collection lists are empty: finding them would take longer than the rest of a build
SHOWN = 3  # shared neighbours that explain a similarity


class Neighbours(Evidence):
    """The cosine of the lists of two pages; of several pages the mean."""

    name = "neighbours"
    absolute = inside_only = True
    by_length = LONG_PAGES

    def __init__(self, store: NodeStore) -> None:
        self._store, self._lists = store, store.neighbours

    def candidates(self, query: Query, n: int) -> Int64s:
        """The neighbours of the pages of a query."""
        lists = [self._members(node) for node in query.nodes if node < len(self._lists)]
        found = np.concatenate([np.empty(0, np.int64), *lists])
        for excluded in query.exclude:
            found = found[found != excluded]
        return found[:n]

    def _members(self, node: int) -> Int64s:
        """The list of a page, the nearest first, then the page itself in every place that is left."""
        return np.append(self._lists[node], node).astype(np.int64)

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        scores, some = np.zeros(len(nodes)), np.empty(len(nodes))
        for node in query.nodes:
            if node < len(self._lists):
                list_cosines(distinct(self._members(node)), self._lists, nodes, some)
                scores += some
        return scores / max(1, len(query.nodes))

    def candidates_for(self, block: PageBlock, n: int) -> PageRows:
        listed = self._lists[block.node, :n].astype(np.int64)
        others = listed != block.node[:, np.newaxis]
        return PageRows(offsets_of(others.sum(axis=1)), listed[others])

    def scores_for(self, block: PageBlock, rows: PageRows) -> Floats:
        scores = np.empty(len(rows.node))
        page_rows.list_cosines(block.node, self._lists, rows, scores)
        return scores

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The pages that are near to the query and to each node, by title, or by URL if they have none."""
        own = [page for node in query.nodes if node < len(self._lists) for page in self._lists[node].tolist()]
        others = [page for page in dict.fromkeys(own) if page not in query.nodes]
        known = np.minimum(nodes, len(self._lists) - 1)
        shared = [
            [page for page in others if page in listed and page != node] if node < len(self._lists) else []
            for node, listed in zip(nodes.tolist(), map(set, self._lists[known].tolist()), strict=True)
        ]
        names = self._store.names_of({page for pages in shared for page in pages[:SHOWN]})
        return [
            {"shared_neighbours": [names[page] for page in pages[:SHOWN]], "count": len(pages)} if pages else {}
            for pages in shared
        ]

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> PairScores:
        """All pairs by an inverted file of the lists."""
        known = (nodes >= 0) & (nodes < len(self._lists))
        node = nodes[known]
        members = np.sort(np.column_stack([self._lists[node], node]).astype(np.uint32), axis=1)
        first = np.ones(members.shape, bool)
        first[:, 1:] = members[:, 1:] != members[:, :-1]
        lengths = np.zeros(len(nodes), np.int64)
        lengths[known] = first.sum(axis=1)
        weight = np.repeat(1.0 / np.sqrt(lengths[known]), lengths[known]).astype(np.float32)
        return SparsePairs(lengths, members[first], weight, len(self._lists))


def write_neighbours(folder: Path, store: NodeStore, new_blend: Callable[[], Blend], stages: Stages) -> None:
    """Write the nearest pages of every page by a blend; short lists are filled up with the page itself.

    Pages without words get none, since neighbours count on long pages.
    """
    pages = len(store.nodes) - 1
    if pages > MOST_PAGES:
        write_columns(folder, {NEIGHBOURS_FILE: np.empty((pages, 0), value_type(pages))})
        return
    column = ColumnFiles(NEIGHBOURS_FILE, np.dtype(value_type(pages)).str, (LISTED,), (0, pages))
    AllPages(store, new_blend, LISTED, _neighbours).write(stages, folder, "neighbours", [column])


def _neighbours(all_pages: AllPages, pages: Int64s) -> dict[str, Array]:
    store = all_pages.store
    near, similarity = all_pages.nearest(pages, (store.length[pages] > 0.0) & (pages < len(store.index.signatures)))
    listed = np.where(similarity > 0.0, near, pages[:, np.newaxis])
    return {NEIGHBOURS_FILE: listed.astype(value_type(len(store.nodes) - 1))}
