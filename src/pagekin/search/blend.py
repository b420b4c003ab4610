"""The blend: the one place where the scores of several evidences become one similarity.

With a `Scaling` the score of a page is

    S = (1 + popularity * damping^2) * sum over evidences of weight * score / scale * factor,

where `scale` makes evidences comparable and `factor` depends on the lengths of both pages: titles, links and BM25 count
more on short pages, shared neighbours on long ones. Among short pages, those that many pages link to come first. The
similarity is
(S - chance) / (S - chance + 2), and 0 below chance: 0 is what pages drawn at random have in common. Without a scaling,
similarities are weighted sums of similarities.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pagekin.kernels.page_rows import PageRows, ScoredRows, best_of_rows, ordered_best
from pagekin.model.arrays import Bools, Floats, Int64s, distinct
from pagekin.search.evidence import Evidence, largest, ranked
from pagekin.search.page_block import PageBlock, row_of, scored_rows, united_rows
from pagekin.search.query import Query
from pagekin.search.results import Contribution

_WIDE = 30  # candidates of each evidence, where several are blended
_PROMISING = 30  # and twice the number wanted: candidates that costly evidences score
_HALF = 2.0  # the score above chance that is a similarity of one half


@dataclass(frozen=True)
class Scaling:
    """What makes the scores of different evidences comparable, and the same in every collection."""

    scales: Mapping[str, float]  # of each evidence: the mean of its ten best scores, over a sample of pages
    chance: float  # the score that nearly all pairs of pages drawn at random are below
    damping: float  # the length of pages in words at which evidences of short pages count one half
    length: Floats  # of every node in words
    popularity: Floats  # of every node: 0 without links to it

    def damping_of(self, length: float | Floats, nodes: Int64s) -> Floats:
        """1 for the shortest pages, near 0 for long ones, given the length of the query, or one for each node."""
        return np.asarray(1.0 / (1.0 + length * self.length[nodes] / self.damping**2))

    def similarities(self, scores: Floats) -> Floats:
        """Blended scores as similarities from 0 to 1, to nine places.

        >>> Scaling({}, 0.5, 500.0, np.empty(0), np.empty(0)).similarities(np.array([0.2, 0.5, 2.5, 8.5])).tolist()
        [0.0, 0.0, 0.5, 0.8]
        """
        above = np.maximum(scores - self.chance, 0.0)
        return np.asarray(above / (above + _HALF)).round(9)


def blended(weights: Sequence[Floats | float], scores: Sequence[Floats]) -> Floats:
    """The weighted sum of scores, to nine places.

    >>> blended([0.75, 0.25], [np.array([1.0, 0.2]), np.array([0.0, 0.6])]).tolist()
    [0.75, 0.3]
    """
    summed: Floats = sum(weight * each for weight, each in zip(weights, scores, strict=True))  # type: ignore[assignment]
    return summed.round(9)


class Blend:
    """Evidences and their weights. An evidence of weight 0 does not count, but explains.

    With a single evidence pages come in the order of its scores: several scores may be one similarity of 1.
    """

    def __init__(
        self, evidences: Sequence[Evidence], weights: Mapping[str, float], scaling: Scaling | None = None
    ) -> None:
        self.evidences = list(evidences)
        self.weights = dict(weights)
        self.active = [each for each in evidences if weights[each.name] > 0.0]
        self.single = self.active[0] if len(self.active) == 1 else None
        self.scaling = None if self.single else scaling
        narrow = self.scaling is not None and any(each.complete for each in self.active)
        self._last: tuple[Query, Int64s, dict[str, Floats]] | None = None  # what `nearest` scored
        self._first = [each for each in self.active if not (narrow and each.costly)]

    def nearest(self, query: Query, limit: int) -> list[tuple[float, int]]:
        """The most similar nodes with their similarities, the best first; equally similar ones in order of nodes.

        If an evidence finds candidates for every page, costly evidences score only the best by the others.
        """
        if self.single:
            return self.single.nearest(query, limit)
        nodes = self._candidates(query, limit)
        columns = {each.name: each.scores(query, nodes) for each in self._first}
        if len(self._first) < len(self.active) and len(nodes) > (most := _PROMISING + 2 * limit):
            best = np.sort(largest(self._sums(query, nodes, columns), nodes, most))
            nodes, columns = nodes[best], {name: column[best] for name, column in columns.items()}
        columns |= {each.name: each.scores(query, nodes) for each in self.active if each.name not in columns}
        self._last = query, nodes, columns
        scores = self._sums(query, nodes, columns)
        return ranked(query, limit, nodes, scores, self._similarities(scores))

    def _candidates(self, query: Query, limit: int) -> Int64s:
        """The best nodes by each of the first evidences that pass the filters, ascending; by all if these are few."""
        query, most = replace(query, min_similarity=0.0), max(_WIDE, limit)
        nodes = np.empty(0, np.int64)
        for some in (self._first, [each for each in self.active if each not in self._first]):
            if len(nodes) < limit:
                nodes = distinct(np.concatenate([nodes, *(each.candidates(query, most) for each in some)]))
                if query.allowed is not None:
                    nodes = np.array(list(filter(query.allowed, nodes.tolist())), np.int64)
        return nodes

    def nearest_for(self, block: PageBlock, limit: int) -> ScoredRows:
        """The same as `nearest` for every page of a block: rows of nodes and their similarities, the best first."""
        if self.scaling is None:
            return self._one_by_one(block, limit)
        rows = self._candidates_for(block, max(_WIDE, limit))
        columns = {each.name: each.scores_for(block, rows) for each in self._first}
        few = np.diff(rows.offsets) < limit
        if len(self._first) < len(self.active):
            sums = ScoredRows(rows.offsets, np.arange(len(rows.node)), self._row_sums(block, rows, columns))
            ends, best = best_of_rows(sums, _PROMISING + 2 * limit)
            best = np.sort(best)
            rows, columns = PageRows(ends, rows.node[best]), {name: column[best] for name, column in columns.items()}
            columns |= {each.name: each.scores_for(block, rows) for each in self.active if each.name not in columns}
        scores = self._row_sums(block, rows, columns)
        ends, best = ordered_best(scores, rows.offsets, limit)
        found = ScoredRows(ends, rows.node[best], self._similarities(scores[best]))
        return self._completed(found, few, block, limit) if len(self._first) < len(self.active) else found

    def _candidates_for(self, block: PageBlock, most: int) -> PageRows:
        """The best nodes by each of the first evidences, ascending."""
        return united_rows([each.candidates_for(block, most) for each in self._first], block)

    def _row_sums(self, block: PageBlock, rows: PageRows, columns: Mapping[str, Floats]) -> Floats:
        assert self.scaling is not None
        some = [each for each in self.active if each.name in columns]
        lengths = self.scaling.length[block.node[row_of(rows)]]
        factors = self._scaled(some, self.scaling, self.scaling.damping_of(lengths, rows.node), rows.node)
        return blended(factors, [columns[each.name] for each in some])

    def scores_for(self, block: PageBlock, rows: PageRows) -> Floats:
        """The same as `scores` for the candidates of every page of a block; several evidences need a scaling."""
        if self.single:
            return self.single.scores_for(block, rows)
        return self._row_sums(block, rows, {each.name: each.scores_for(block, rows) for each in self.active})

    def _completed(self, found: ScoredRows, few: Bools, block: PageBlock, limit: int) -> ScoredRows:
        """Rows in which pages with few candidates by the first evidences are asked for one by one."""
        if not few.any():
            return found
        ends = found.offsets.tolist()
        rows = [(found.node[slice(*row)], found.score[slice(*row)]) for row in pairwise(ends)]
        for k in np.flatnonzero(few).tolist():
            rows[k] = self._asked(block.query_of(int(block.node[k])), limit)
        return scored_rows(rows)

    def _one_by_one(self, block: PageBlock, limit: int) -> ScoredRows:
        return scored_rows([self._asked(query, limit) for query in block.queries])

    def _asked(self, query: Query, limit: int) -> tuple[Int64s, Floats]:
        near = self.nearest(query, limit)
        return np.array([node for _, node in near], np.int64), np.array([similar for similar, _ in near], np.float64)

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The scores by which pages are ordered, to nine places."""
        if self.single:
            return self.single.scores(query, nodes)
        return self._sums(query, nodes, {each.name: each.scores(query, nodes) for each in self.active})

    def similarities(self, query: Query, nodes: Int64s) -> Floats:
        """The similarities of nodes, to nine places."""
        if self.single:
            return self.single.similarities(query, self.single.scores(query, nodes))
        return self._similarities(self.scores(query, nodes))

    def _similarities(self, scores: Floats) -> Floats:
        return self.scaling.similarities(scores) if self.scaling else scores

    def _sums(self, query: Query, nodes: Int64s, columns: Mapping[str, Floats]) -> Floats:
        """The weighted sum of the scores of some evidences, in the order of the blend."""
        some = [each for each in self.active if each.name in columns]
        return blended(self._factors(some, query, nodes), self._units(some, query, columns))

    def _units(self, some: Sequence[Evidence], query: Query, columns: Mapping[str, Floats]) -> list[Floats]:
        """What is summed up: scores or, without a scaling, similarities."""
        if self.scaling is not None:
            return [columns[each.name] for each in some]
        return [each.similarities(query, columns[each.name]) for each in some]

    def _factors(self, some: Sequence[Evidence], query: Query, nodes: Int64s) -> list[Floats | float]:
        if self.scaling is None:
            return [self.weights[each.name] for each in some]
        damping = self.scaling.damping_of(_length(query, self.scaling.length), nodes)
        return self._scaled(some, self.scaling, damping, nodes)

    def _scaled(
        self, some: Sequence[Evidence], scaling: Scaling, damping: Floats, nodes: Int64s
    ) -> list[Floats | float]:
        popular = 1.0 + scaling.popularity[nodes] * damping * damping
        factors = [(each.by_length, self.weights[each.name] / scaling.scales[each.name]) for each in some]
        return [popular * (factor * (each[0] + each[1] * damping)) for each, factor in factors]

    def contributions(self, query: Query, nodes: Int64s) -> list[list[Contribution]]:
        """For each node the contribution of every evidence that counts."""
        factors = self._factors(self.active, query, nodes)
        columns = self._units(self.active, query, self._scored(query, nodes))
        unit = np.ones(len(nodes))
        if self.scaling is not None:
            scores = blended(factors, columns)
            unit = np.divide(self._similarities(scores), scores, out=np.zeros(len(nodes)), where=scores > 0.0)
        shares = [(factor * unit).tolist() for factor in factors]
        parts = zip(self.active, columns, shares, strict=True)
        made = [
            [Contribution(each.name, *both) for both in zip(column.tolist(), share, strict=True)]
            for each, column, share in parts
        ]
        return list(map(list, zip(*made, strict=True)))

    def _scored(self, query: Query, nodes: Int64s) -> dict[str, Floats]:
        """The scores of every evidence that counts, those that `nearest` has just computed if it found the nodes."""
        if self._last is not None and self._last[0] is query:
            _, known, columns = self._last
            place = np.minimum(np.searchsorted(known, nodes), len(known) - 1)
            if len(known) and bool((known[place] == nodes).all()):
                return {name: column[place] for name, column in columns.items()}
        return {each.name: each.scores(query, nodes) for each in self.active}

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> Callable[[Int64s], Floats]:
        """A function from sources to rows of scores of all nodes, as answers are ordered."""
        pairs = [each.pair_scores(nodes, query_of) for each in self.active]
        scaling, known = self.scaling, np.maximum(nodes, 0)
        if self.single:
            return pairs[0].scores
        if scaling is None:
            weights = [self.weights[each.name] for each in self.active]
            return lambda sources: blended(weights, [each.similarities(sources) for each in pairs])

        def rows(sources: Int64s) -> Floats:
            lengths = scaling.length[known[sources]].tolist()
            damping = np.stack([scaling.damping_of(length, known) for length in lengths])
            return blended(
                self._scaled(self.active, scaling, damping, known),
                [np.maximum(each.scores(sources), 0.0) for each in pairs],
            )

        return rows


def _length(query: Query, length: Floats) -> float:
    """The length of a query in words; of several pages the mean."""
    if query.outside is not None:
        return float(query.outside.count.sum())
    return float(length[np.array(query.nodes, np.int64)].mean())
