"""The blend: the one place where the scores of several evidences become one similarity."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pagekin.model.arrays import Floats, Int64s
from pagekin.search.evidence import Evidence, ranked
from pagekin.search.query import Query
from pagekin.search.results import Contribution

_WIDE = 50  # candidates of each evidence, where several are blended


def blended(weights: Sequence[float], similarities: Sequence[Floats]) -> Floats:
    """The weighted sum of similarities, to nine places.

    >>> blended([0.75, 0.25], [np.array([1.0, 0.2]), np.array([0.0, 0.6])]).tolist()
    [0.75, 0.3]
    """
    summed: Floats = sum(weight * each for weight, each in zip(weights, similarities, strict=True))  # type: ignore[assignment]
    return summed.round(9)


class Blend:
    """Evidences and their weights. An evidence of weight 0 does not count, but explains.

    With a single evidence pages come in the order of its scores: several scores may be one similarity of 1.
    """

    def __init__(self, evidences: Sequence[Evidence], weights: Mapping[str, float]) -> None:
        self.evidences = list(evidences)
        self.weights = dict(weights)
        self.active = [each for each in evidences if weights[each.name] > 0.0]
        self._shares = [weights[each.name] for each in self.active]
        self.single = self.active[0] if len(self.active) == 1 else None

    def nearest(self, query: Query, limit: int) -> list[tuple[float, int]]:
        """The most similar nodes with their similarities, the best first; equally similar ones in order of nodes."""
        if self.single:
            return self.single.nearest(query, limit)
        wide = replace(query, min_similarity=0.0)
        nodes = np.unique(np.concatenate([each.candidates(wide, max(_WIDE, limit)) for each in self.active]))
        similar = self.similarities(query, nodes)
        return ranked(query, limit, nodes, similar, similar)

    def _each(self, query: Query, nodes: Int64s) -> list[Floats]:
        return [each.similarities(query, each.scores(query, nodes)) for each in self.active]

    def similarities(self, query: Query, nodes: Int64s) -> Floats:
        similar = self._each(query, nodes)
        return similar[0] if self.single else blended(self._shares, similar)

    def contributions(self, query: Query, nodes: Int64s) -> list[list[Contribution]]:
        """For each node the contribution of every evidence that counts."""
        active = zip(self.active, self._shares, self._each(query, nodes), strict=True)
        columns = [[Contribution(each.name, one, share) for one in similar.tolist()] for each, share, similar in active]
        return [list(row) for row in zip(*columns, strict=True)]

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> Callable[[Int64s], Floats]:
        """A function from sources to rows of scores of all nodes, as answers are ordered."""
        pairs = [each.pair_scores(nodes, query_of) for each in self.active]
        if self.single:
            return pairs[0].scores
        return lambda sources: blended(self._shares, [each.similarities(sources) for each in pairs])
