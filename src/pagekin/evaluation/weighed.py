"""Pages by an inner product of weights that come from how often words are on them: Okapi, LinkLearn."""

from __future__ import annotations

import numpy as np

from pagekin.arrays import Int64s, spans
from pagekin.evaluation.references import Counts, ProductSystem
from pagekin.model.bags import Bags, Contents
from pagekin.model.weighting import Weighting


def weighed_system(name: str, bags: Bags, contents: Contents, nodes: Int64s, weighting: Weighting) -> ProductSystem:
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
    counted = Counts(offsets, term, count.astype(np.float32), contents.frequency, *contents.size)
    return ProductSystem(name, counted, np.ones(len(weight)) if weighting.binary else weight, weight)
