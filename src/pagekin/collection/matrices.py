"""A collection as matrices and graphs: for numpy, SciPy, scikit-learn and networkx."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.errors import MisuseError, need
from pagekin.model.arrays import Floats, Int64s
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.page_block import block_of, row_of
from pagekin.search.query import query_of_nodes

_EXTRA = "notebook"
_AT_ONCE = 64  # pages whose neighbours are found together


@dataclass(frozen=True, eq=False)
class TermMatrix:
    """The bags of pages: a row for each page, a column for each term."""

    matrix: Any  # scipy.sparse.csr_array of weights; every row sums to at most 1
    terms: list[str]  # of the columns
    urls: list[str]  # of the rows

    def __repr__(self) -> str:
        return f"<TermMatrix of {len(self.urls):,} pages and {len(self.terms):,} terms>"


def term_matrix(indexed: IndexedStore) -> TermMatrix:
    """The words of all bags; terms that stand for citing pages are left out."""
    need("scipy.sparse", what="a sparse matrix", extra=_EXTRA)
    from scipy.sparse import csr_array

    index, pages = indexed.index, len(indexed.nodes) - 1
    end = int(index.bags.offsets[pages])
    term, weight = np.asarray(index.bags.term[:end]), np.asarray(index.bags.weight[:end])
    words = term < index.words
    row = np.repeat(np.arange(pages), np.diff(index.bags.offsets[: pages + 1]))[words]
    offsets = np.searchsorted(row, np.arange(pages + 1))
    matrix = csr_array((weight[words], term[words].astype(np.int64), offsets), shape=(pages, index.words))
    matrix.sort_indices()
    return TermMatrix(matrix, list(index.terms.shown)[: index.words], page_urls(indexed))


def page_urls(indexed: IndexedStore) -> list[str]:
    """The URLs of all pages, in the order of rows of matrices; pages with a common canonical URL are one."""
    return [url for (url,) in indexed.catalog.each("SELECT url FROM nodes WHERE first_row IS NOT NULL ORDER BY node")]


def similarity_matrix(indexed: IndexedStore, nodes: Sequence[int], options: RelatedOptions) -> Floats:
    """The similarity of each page (row) as a query to each page (column); 1 on the diagonal."""
    blend, columns = indexed.blend(options), np.array(nodes, np.int64)
    rows = [blend.similarities(query_of_nodes(indexed.index, [node]), columns) for node in nodes]
    matrix = np.array(rows, np.float64).reshape(len(nodes), len(nodes))
    matrix[columns[:, np.newaxis] == columns] = 1.0
    return matrix


def kneighbors(
    indexed: IndexedStore, nodes: Sequence[int] | None, n_neighbors: int, options: RelatedOptions
) -> tuple[Floats, Int64s]:
    """Distances (1 - similarity) and places of the nearest pages of each page; rows are filled up with inf and -1."""
    if n_neighbors < 1:
        raise MisuseError(f"n_neighbors is {n_neighbors}; it must be at least 1")
    asked = np.arange(len(indexed.nodes) - 1) if nodes is None else np.array(nodes, np.int64)
    distance, place = np.full((len(asked), n_neighbors), np.inf), np.full((len(asked), n_neighbors), -1)
    for begin in range(0, len(asked), _AT_ONCE):
        found = indexed.blend(options).nearest_for(block_of(indexed, asked[begin : begin + _AT_ONCE]), n_neighbors)
        row = row_of(found)
        column = np.arange(len(row)) - found.offsets[row]
        similar = found.score > 0.0
        place[begin + row[similar], column[similar]] = found.node[similar]
        distance[begin + row[similar], column[similar]] = 1.0 - found.score[similar]
    return distance, place


def link_graph(indexed: IndexedStore) -> Any:
    """The links between pages, as a directed graph of networkx.

    Nodes are URLs with a title; an edge has as weight the number of links, in texts and templates, and in_text.
    """
    need("networkx", what="a graph", extra=_EXTRA)
    import networkx

    pages = len(indexed.nodes) - 1
    columns, anchors = indexed.link_scorers.scorer.links, indexed.reading.anchors
    source = np.repeat(columns.node.astype(np.int64), np.diff(anchors.offsets))
    known = anchors.target < len(indexed.node_of_target)
    in_text = np.unpackbits(columns.counting, count=len(known), bitorder="little").astype(bool)[known]
    source, target = source[known], indexed.node_of_target[anchors.target[known]].astype(np.int64)
    inside = (target < pages) & (target != source)
    pairs, pair = np.unique(source[inside] * pages + target[inside], return_inverse=True)
    weight, from_text = np.bincount(pair), np.bincount(pair, in_text[inside]) > 0
    graph = networkx.DiGraph()
    names = indexed.catalog.each("SELECT url, title FROM nodes WHERE first_row IS NOT NULL ORDER BY node")
    urls = []
    for url, title in names:
        urls.append(url)
        graph.add_node(url, title=title)
    for key, count, counts in zip(pairs.tolist(), weight.tolist(), from_text.tolist(), strict=True):
        graph.add_edge(urls[key // pages], urls[key % pages], weight=count, in_text=counts)
    return graph
