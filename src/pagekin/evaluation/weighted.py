"""Pages by an inner product of weights that come from how often words are on them: Okapi, LinkLearn."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from pagekin.evaluation.baselines import CountMatrix, ProductSystem
from pagekin.evaluation.systems import UNLISTED
from pagekin.model.arrays import Floats, Int64s, spans
from pagekin.model.bags import Bags, Contents
from pagekin.model.projection import Projection
from pagekin.model.weighting import Weighting


class WeightedTextSystem(ProductSystem):
    """Pages by inner products of weights, and by what a projection makes of these, if there is one."""

    def __init__(self, name: str, counts: CountMatrix, asking: Floats, there: Floats) -> None:
        super().__init__(name, counts, asking, there)
        self._counts, self._there = counts, there
        self._inside = np.zeros((len(counts), 0))  # what the projection makes of each page

    def projected(self, projection: Projection, names: Sequence[str]) -> WeightedTextSystem:
        """With a projection, where terms have these names."""
        term, place = projection.places(names)
        row_of = np.full(len(names), -1, np.int64)
        row_of[term] = place
        known = row_of[self._counts.term] >= 0
        page, row = self._counts.rows()[known], row_of[self._counts.term[known]]
        made = copy(self)
        made.name = f"{self.name}, projected"
        columns = [np.bincount(page, self._there[known] * of[row], len(self._counts)) for of in projection.matrix.T]
        made._inside = np.stack(columns, axis=1)
        return made

    def scores(self, sources: Int64s) -> Floats:
        """The sums, to nine places."""
        rows = super().scores(sources)
        if not self._inside.shape[1]:
            return rows
        summed: Floats = (np.maximum(rows, 0.0) + self._inside[sources] @ self._inside.T).round(9)
        return np.where(summed > 0.0, summed, UNLISTED)


def weighted_text_system(
    name: str, bags: Bags, contents: Contents, nodes: Int64s, weighting: Weighting
) -> WeightedTextSystem:
    """Pages by raw inner products of what their words weigh; of `nodes`, -1 is a page without a bag."""
    begin = np.where(nodes >= 0, bags.offsets[nodes], 0)
    counts = np.where(nodes >= 0, bags.offsets[nodes + 1] - begin, 0)
    places, row = spans(begin, counts), np.repeat(np.arange(len(nodes)), counts)
    words = (bags.term[places] < len(contents.frequency)) & (bags.content[places] > 0)
    places, row = places[words], row[words]
    term, count = bags.term[places], bags.content[places]
    weight = weighting.weigh(count, contents.frequency[term], contents.length[nodes[row]], contents.size)
    weight[contents.stopped[term]] = 0.0
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(row, minlength=len(nodes)))])
    counted = CountMatrix(offsets, term, count.astype(np.float32), contents.frequency, *contents.size)
    return WeightedTextSystem(name, counted, np.ones(len(weight)) if weighting.binary else weight, weight)
