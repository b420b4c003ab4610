"""Evidence: something that makes pages similar, such as shared words or shared links.

An evidence proposes candidates, scores them exactly and explains its scores. `Blend` combines the scores of several,
and nothing else does. An evidence is registered under a name:

    register("titles", lambda store, options: TitleEvidence(store))

and counts in answers and evaluations wherever the weights of a blend name it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

from pagekin.errors import MisuseError
from pagekin.kernels import all_pairs
from pagekin.kernels.page_rows import PageRows
from pagekin.model.arrays import Array, Float32s, Floats, Int64s, UInt32s, offsets_of
from pagekin.search.node_store import NodeStore
from pagekin.search.options import RelatedOptions
from pagekin.search.page_block import PageBlock, page_rows
from pagekin.search.query import Query

ALL_PAGES, SHORT_PAGES, LONG_PAGES = (1.0, 0.0), (0.0, 1.0), (1.0, -1.0)  # values of `Evidence.by_length`
_LIKELY = 4  # the filters see the best pages first: this many times the number wanted, and only if needed all
UNLISTED = -np.inf  # in evaluations, the score of a page that shares nothing with the source


class PairScores(ABC):
    """The scores of all pages of a population, for one source after the other; called from several threads."""

    @abstractmethod
    def scores(self, sources: Int64s) -> Floats:
        """For each source a row of scores, a column for each page; 0 or less where nothing is shared."""

    def similarities(self, sources: Int64s) -> Floats:
        """The same as similarities from 0 to 1. By default scores are similarities."""
        return np.maximum(self.scores(sources), 0.0)


class SparsePairs(PairScores):
    """Inner products of sparse vectors, one for each page of a population, by an inverted file."""

    def __init__(self, lengths: Int64s, column: UInt32s, weight: Float32s, columns: int) -> None:
        self._vectors = offsets_of(lengths), column, weight
        self._inverted = all_pairs.invert(*self._vectors, columns)

    def scores(self, sources: Int64s) -> Floats:
        """The products, to nine places, 0 where they are negative."""
        rows = np.empty((len(sources), len(self._vectors[0]) - 1))
        all_pairs.products(sources, *self._vectors, self._inverted, rows)
        return np.maximum(rows, 0.0).round(9)


class Evidence(ABC):
    """One kind of evidence over one collection. Pages are given by their nodes."""

    name: str
    # How much it counts by the lengths of both pages: constant + slope * damping, where damping is 1 for the shortest
    # pages and near 0 for long ones.
    by_length = ALL_PAGES
    absolute = False  # whether its scores mean the same in every collection, so that no scale is measured
    costly = False  # whether scores take long, so that the other evidences choose the pages to score
    complete = False  # whether it finds candidates for every page with contents
    inside_only = False  # whether it knows nothing of texts from outside: they have no links, and no given vectors
    reasons = ""  # evidences with the same name here give the same reasons: only the first is asked for them

    @abstractmethod
    def candidates(self, query: Query, n: int) -> Int64s:
        """About `n` nodes worth scoring, in any order, none of `query.exclude`."""

    @abstractmethod
    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """A score for each node: the higher, the more similar; 0 where there is no evidence."""

    def similarities(self, query: Query, scores: Floats) -> Floats:
        """Scores of a query as similarities from 0 to 1. By default scores are similarities."""
        return scores

    def nearest(self, query: Query, n: int) -> list[tuple[float, int]]:
        """The `n` best nodes by this evidence alone, with their similarities; ties in order of nodes."""
        nodes = self.candidates(query, n)
        scores = self.scores(query, nodes)
        return ranked(query, n, nodes, scores, self.similarities(query, scores))

    def candidates_for(self, block: PageBlock, n: int) -> PageRows:
        """The same as `candidates` for every page of a block; each row in any order."""
        return page_rows([self.candidates(query, n) for query in block.queries])

    def scores_for(self, block: PageBlock, rows: PageRows) -> Floats:
        """The same as `scores` for the candidates of every page of a block."""
        ends = pairwise(rows.offsets.tolist())
        parts = [self.scores(query, rows.node[slice(*row)]) for query, row in zip(block.queries, ends, strict=True)]
        return np.concatenate([np.empty(0), *parts])

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The reason for each score, as data for an `Explanation`."""
        return [{} for _ in nodes]

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> PairScores:
        """The scores of all pairs of nodes; -1 is a page that this collection does not have."""
        return _OneByOne(self, nodes, query_of)


def finders(evidences: Sequence[Evidence]) -> list[Evidence]:
    """The evidences that find candidates: costly ones do not if another finds some for every page."""
    narrow = any(each.complete for each in evidences)
    return [each for each in evidences if not (narrow and each.costly)]


def ranked(query: Query, n: int, nodes: Int64s, scores: Floats, similar: Floats) -> list[tuple[float, int]]:
    """The best `n` nodes that pass the filters and are similar enough, with their similarities; ties in order."""
    enough = np.flatnonzero(similar >= query.min_similarity)
    nodes, scores, similar = nodes[enough], scores[enough], similar[enough]
    allowed = query.allowed or (lambda _: True)
    found: list[tuple[float, int]] = []
    for most in (_LIKELY * n, len(nodes)):  # most queries need only the first
        order = largest(scores, nodes, most)
        pairs = zip(similar[order].tolist(), nodes[order].tolist(), strict=True)
        found = list(islice((each for each in pairs if allowed(each[1])), n))
        if len(found) == n or most >= len(nodes):
            break
    return found


def largest(values: Floats, number: Array, most: int) -> Int64s:
    """The places of the largest values, the largest first; equal ones in the order of their numbers.

    >>> largest(np.array([0.5, 0.9, 0.5]), np.array([7, 3, 5]), 2).tolist()
    [1, 2]
    """
    if len(values) <= most:
        return np.lexsort((number, -values))
    likely = np.flatnonzero(values >= np.partition(values, -most)[-most])
    return likely[np.lexsort((number[likely], -values[likely]))[:most]]


class _OneByOne(PairScores):
    """All pairs by asking an evidence for one source after the other."""

    def __init__(self, evidence: Evidence, nodes: Int64s, query_of: Callable[[int], Query]) -> None:
        self._evidence, self._nodes, self._query_of = evidence, nodes, query_of

    def scores(self, sources: Int64s) -> Floats:
        return self._rows(sources, lambda _, scores: scores)

    def similarities(self, sources: Int64s) -> Floats:
        return self._rows(sources, self._evidence.similarities)

    def _rows(self, sources: Int64s, of: Callable[[Query, Floats], Floats]) -> Floats:
        rows, here = np.zeros((len(sources), len(self._nodes))), self._nodes >= 0
        for row, node in zip(rows, self._nodes[sources].tolist(), strict=True):
            if node >= 0:
                query = self._query_of(node)
                row[here] = of(query, self._evidence.scores(query, self._nodes[here]))
        return rows


Factory = Callable[[NodeStore, RelatedOptions], Evidence]
_REGISTRY: dict[str, Factory] = {}


def register(name: str, factory: Factory) -> None:
    """Make an evidence known by its name; `factory` makes it for a collection and the options of a request."""
    _REGISTRY[name] = factory


def check_names(names: Iterable[str]) -> None:
    """Raise MisuseError if a name is not that of an evidence."""
    for name in names:
        if name not in _REGISTRY:
            raise MisuseError(f"there is no evidence {name!r}; there are {', '.join(_REGISTRY)}")


def evidences(store: NodeStore, options: RelatedOptions, weights: Mapping[str, float]) -> list[Evidence]:
    """The evidences that weights name."""
    check_names(weights)
    return [_REGISTRY[name](store, options) for name in weights]
