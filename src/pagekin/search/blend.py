"""The blend: the one place where the scores of several evidences become one similarity.

With a `Scaling` the score of a page is

    S = sum over evidences of weight * score / scale * damping,

where `scale` makes evidences comparable and `damping` lets the text decide between long pages. The similarity is
(S - chance) / (S - chance + 2), and 0 below chance: 0 is what pages drawn at random have in common. Without a scaling,
similarities are weighted sums of similarities.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pagekin.model.arrays import Floats, Int64s, distinct
from pagekin.search.evidence import Evidence, ranked
from pagekin.search.query import Query
from pagekin.search.results import Contribution

_WIDE = 30  # candidates of each evidence, where several are blended
_HALF = 2.0  # the score above chance that is a similarity of one half


@dataclass(frozen=True)
class Scaling:
    """What makes the scores of different evidences comparable, and the same in every collection."""

    scales: Mapping[str, float]  # of each evidence: the mean of its ten best scores, over a sample of pages
    chance: float  # the score that nearly all pairs of pages drawn at random are below
    damping: float  # the length of pages in words at which damped evidences count one half
    length: Floats  # of every node in words

    def damped(self, length: float, nodes: Int64s) -> Floats:
        """What damped evidences count for nodes, given the length of the query."""
        return np.asarray(1.0 / (1.0 + length * self.length[nodes] / self.damping**2))

    def similarities(self, scores: Floats) -> Floats:
        """Blended scores as similarities from 0 to 1, to nine places.

        >>> Scaling({}, 0.5, 500.0, np.empty(0)).similarities(np.array([0.2, 0.5, 2.5, 8.5])).tolist()
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

    def nearest(self, query: Query, limit: int) -> list[tuple[float, int]]:
        """The most similar nodes with their similarities, the best first; equally similar ones in order of nodes."""
        if self.single:
            return self.single.nearest(query, limit)
        wide = replace(query, min_similarity=0.0)
        nodes = distinct(np.concatenate([each.candidates(wide, max(_WIDE, limit)) for each in self.active]))
        scores = self.scores(query, nodes)
        return ranked(query, limit, nodes, scores, self._similarities(scores))

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The scores by which pages are ordered, to nine places."""
        return self.single.scores(query, nodes) if self.single else blended(*self._parts(query, nodes))

    def similarities(self, query: Query, nodes: Int64s) -> Floats:
        """The similarities of nodes, to nine places."""
        if self.single:
            return self.single.similarities(query, self.single.scores(query, nodes))
        return self._similarities(self.scores(query, nodes))

    def _similarities(self, scores: Floats) -> Floats:
        return self.scaling.similarities(scores) if self.scaling else scores

    def _parts(self, query: Query, nodes: Int64s) -> tuple[list[Floats | float], list[Floats]]:
        """For every evidence that counts, the factors of its scores, and the scores."""
        scores = [each.scores(query, nodes) for each in self.active]
        if self.scaling is None:
            similar = [each.similarities(query, one) for each, one in zip(self.active, scores, strict=True)]
            return [self.weights[each.name] for each in self.active], similar
        return self._factors(self.scaling, self.scaling.damped(_length(query, self.scaling.length), nodes)), scores

    def _factors(self, scaling: Scaling, damped: Floats) -> list[Floats | float]:
        factors = [(each.damped, self.weights[each.name] / scaling.scales[each.name]) for each in self.active]
        return [factor * damped if is_damped else factor for is_damped, factor in factors]

    def contributions(self, query: Query, nodes: Int64s) -> list[list[Contribution]]:
        """For each node the contribution of every evidence that counts."""
        factors, columns = self._parts(query, nodes)
        unit = np.ones(len(nodes))
        if self.scaling is not None:
            scores = blended(factors, columns)
            unit = np.divide(self._similarities(scores), scores, out=np.zeros(len(nodes)), where=scores > 0.0)
        shares = [(factor * unit).tolist() for factor in factors]
        return [
            [Contribution(each.name, float(columns[e][k]), shares[e][k]) for e, each in enumerate(self.active)]
            for k in range(len(nodes))
        ]

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
            damped = np.stack([scaling.damped(float(scaling.length[node]), known) for node in known[sources].tolist()])
            return blended(self._factors(scaling, damped), [np.maximum(each.scores(sources), 0.0) for each in pairs])

        return rows


def _length(query: Query, length: Floats) -> float:
    """The length of a query in words; of several pages the mean."""
    if query.outside is not None:
        return float(query.outside.count.sum())
    return float(length[np.array(query.nodes, np.int64)].mean())
