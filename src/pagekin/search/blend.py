"""The blend: the one place where the scores of several evidences become one similarity."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pagekin.model.arrays import Floats, Int64s
from pagekin.search.evidence import Evidence, PairScores, ranked
from pagekin.search.query import Query

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
        self.single = self.active[0] if len(self.active) == 1 else None

    def nearest(self, query: Query, limit: int) -> list[tuple[float, int]]:
        """The most similar nodes with their similarities, the best first; equally similar ones in order of nodes."""
        if self.single:
            return self.single.nearest(query, limit)
        wide = replace(query, min_similarity=0.0)
        nodes = np.unique(np.concatenate([each.candidates(wide, max(_WIDE, limit)) for each in self.active]))
        similar = self.similarities(query, nodes)
        return ranked(query, limit, nodes, similar, similar)

    def similarities(self, query: Query, nodes: Int64s) -> Floats:
        similar = [each.similarities(query, each.scores(query, nodes)) for each in self.active]
        return similar[0] if self.single else blended([self.weights[each.name] for each in self.active], similar)

    def contributions(self, query: Query, nodes: Int64s) -> list[list[tuple[str, float, float]]]:
        """For each node (evidence, similarity, weight) of every evidence that counts."""
        rows = [each.similarities(query, each.scores(query, nodes)).tolist() for each in self.active]
        return [
            [(each.name, row[k], self.weights[each.name]) for each, row in zip(self.active, rows, strict=True)]
            for k in range(len(nodes))
        ]

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> Callable[[Int64s], Floats]:
        """A function from sources to rows of scores of all nodes, as answers are ordered."""
        pairs: list[PairScores] = [each.pair_scores(nodes, query_of) for each in self.active]
        if self.single:
            return pairs[0].scores
        weights = [self.weights[each.name] for each in self.active]
        return lambda sources: blended(weights, [each.similarities(sources) for each in pairs])
