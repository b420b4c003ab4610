"""Many pages as queries at once: evidences find and score the candidates of all pages of a block together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pagekin.kernels.page_rows import PageRows, ScoredRows
from pagekin.model.arrays import Floats, Int64s, distinct, offsets_of
from pagekin.search.node_store import NodeStore
from pagekin.search.query import Query, query_of_nodes


@dataclass(frozen=True, eq=False)
class PageBlock:
    """Some pages of a collection. Nodes that may be found are below `below`."""

    node: Int64s
    below: int
    query_of: Callable[[int], Query]

    @cached_property
    def queries(self) -> list[Query]:
        """A query for each page, for evidences that know only queries."""
        return [self.query_of(node) for node in self.node.tolist()]


def block_of(store: NodeStore, nodes: Int64s) -> PageBlock:
    """Pages of a collection as a block; only pages are found, not URLs that are known only from links."""
    pages = len(store.nodes) - 1
    return PageBlock(
        nodes, pages, lambda node: replace(query_of_nodes(store.index, [node]), allowed=lambda near: near < pages)
    )


def page_rows(rows: Sequence[Int64s]) -> PageRows:
    """Rows of candidates as one array.

    >>> page_rows([np.array([3, 1]), np.array([2])])
    PageRows(offsets=array([0, 2, 3]), node=array([3, 1, 2]))
    """
    lengths = np.array([len(row) for row in rows], np.int64)
    return PageRows(offsets_of(lengths), np.concatenate([np.empty(0, np.int64), *rows]))


def scored_rows(rows: Sequence[tuple[Int64s, Floats]]) -> ScoredRows:
    """Rows of candidates and their scores as arrays.

    >>> scored_rows([(np.array([3, 1]), np.array([0.5, 0.25]))])
    ScoredRows(offsets=array([0, 2]), node=array([3, 1]), score=array([0.5 , 0.25]))
    """
    return ScoredRows(
        *page_rows([node for node, _ in rows]), np.concatenate([np.empty(0), *(score for _, score in rows)])
    )


def row_of(rows: PageRows | ScoredRows) -> Int64s:
    """For each candidate the number of its row.

    >>> row_of(PageRows(np.array([0, 2, 2, 3]), np.array([7, 8, 9]))).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(rows.offsets) - 1), np.diff(rows.offsets))


def at_least(score: float, rows: ScoredRows) -> ScoredRows:
    """The candidates with at least a score.

    >>> at_least(0.5, ScoredRows(np.array([0, 1, 3]), np.array([7, 8, 9]), np.array([0.2, 0.9, 0.5])))
    ScoredRows(offsets=array([0, 0, 2]), node=array([8, 9]), score=array([0.9, 0.5]))
    """
    enough = rows.score >= score
    return ScoredRows(offsets_of(enough.astype(np.int64))[rows.offsets], rows.node[enough], rows.score[enough])


def united_rows(found: Sequence[PageRows], block: PageBlock) -> PageRows:
    """The candidates that several evidences have found for the pages of a block, each once in its row, ascending."""
    both = distinct(np.concatenate([row_of(rows) << 32 | rows.node for rows in found]))
    row, node = both >> 32, both & 0xFFFFFFFF
    allowed = (node < block.below) & (node != block.node[row])
    row, node = row[allowed], node[allowed]
    return PageRows(offsets_of(np.bincount(row, minlength=len(block.node))), node)
