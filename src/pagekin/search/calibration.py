"""Scales of evidences and the level of chance, measured on a sample of the pages of a collection.

They make a similarity mean the same in every collection: an evidence counts by how much stronger or weaker it is than
is usual among near pages, and 0 is what pages drawn at random have in common.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from pagekin.model.arrays import distinct
from pagekin.model.strategy import NEIGHBOURS
from pagekin.search.blend import Blend, Scaling
from pagekin.search.evidence import evidences
from pagekin.search.node_store import NodeStore
from pagekin.search.options import RelatedOptions
from pagekin.search.query import Query, bag_of, query_of_nodes

_SAMPLE = 300  # pages
_TEN = 10  # nearest pages of each
_NEAR = 30  # candidates of each evidence, among which they are
_RANDOM = 50  # pages drawn at random for each
_MOST_CHANCE = 1.0
_FEW = 30  # pages among which any two may be related


def calibrate(store: NodeStore) -> dict[str, Any]:
    """The scale of each evidence and the level of chance, for the manifest.

    A scale is the mean of the ten best scores of sampled pages, those that are not 0. It is 1 for an evidence without
    scores, and for one whose scores mean the same everywhere. The level of chance is the median of the scores of random
    pairs, plus three times the distance from there to their 90th percentile: nearly all of them are below, though a
    tenth of all pairs of pages may be related. In a small collection more are, so the level is lowered there, to 0 at
    30 pages. A single evidence needs none of this.
    """
    strategy = store.index.strategy
    weights = strategy.weights_of_evidences()
    if len(weights) == 1:
        return {"scales": {}, "chance": 0.0}
    weights.pop(NEIGHBOURS, None)  # they are found by the others, which are calibrated before
    finder = store.on_disk  # an index in memory has no signatures
    pages = min(len(store.nodes) - 1, len(finder.index.signatures))
    sample = range(0, pages, max(1, pages // _SAMPLE))
    found = evidences(store, RelatedOptions(), weights)
    finding = found if finder is store else evidences(finder, RelatedOptions(), weights)
    scaled = [each for each in found if not each.absolute]
    queries: list[Query] = []
    sums, counts = dict.fromkeys(weights, 0.0), dict.fromkeys(weights, 0)
    for node in sample:
        query = query_of_nodes(finder.index, [node])
        near = distinct(np.concatenate([each.candidates(query, _NEAR) for each in finding]))
        query = replace(query, bag=bag_of(store.index, node))
        queries.append(query)
        for each in scaled:
            best = np.sort(each.scores(query, near))[::-1][:_TEN]
            sums[each.name] += float(best.sum())
            counts[each.name] += int(np.count_nonzero(best))
    scales = {name: round(sums[name] / counts[name], 9) if sums[name] > 0.0 else 1.0 for name in weights}
    blend = Blend(found, weights, Scaling(scales, 0.0, strategy.damping, store.length, store.popularity))
    random = np.random.default_rng(strategy.seed).integers(0, max(1, pages), (len(sample), _RANDOM))
    pairs = [
        blend.scores(query, others[others != query.nodes[0]]) for query, others in zip(queries, random, strict=True)
    ]
    middle, high = np.quantile(np.concatenate([np.zeros(1), *pairs]), [0.5, 0.9]).tolist()
    chance = min(middle + 3.0 * (high - middle), _MOST_CHANCE) * max(0.0, 1.0 - _FEW / max(1, pages))
    return {"scales": {**scales, NEIGHBOURS: 1.0}, "chance": round(chance, 6)}
