"""Scales of evidences and the level of chance, measured on a sample of the pages of a collection.

They make a similarity mean the same in every collection: an evidence counts by how much stronger or weaker it is than
is usual among near pages, and 0 is what pages drawn at random have in common.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pagekin.index.index import Index
from pagekin.kernels.page_rows import ordered_best
from pagekin.model.arrays import Int64s
from pagekin.model.strategy import NEIGHBOURS
from pagekin.search.blend import Blend, Scaling
from pagekin.search.evidence import Evidence, evidences
from pagekin.search.node_store import NodeStore
from pagekin.search.options import RelatedOptions
from pagekin.search.page_block import PageBlock, page_rows, united_rows
from pagekin.search.query import Query, bag_of, query_of_nodes

_SAMPLE = 300  # pages
_TEN = 10  # nearest pages of each
_NEAR = 30  # candidates of each evidence, among which they are
_RANDOM = 50  # pages drawn at random for each
_MOST_CHANCE = 1.0
_AT_ONCE = 64  # pages of a block
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
    sample = np.arange(0, pages, max(1, pages // _SAMPLE))
    found = evidences(store, RelatedOptions(), weights)
    finding = found if finder is store else evidences(finder, RelatedOptions(), weights)
    blocks = _blocks(finder, store.index, sample)
    scales = _scales(blocks if finder is store else _blocks(finder, finder.index, sample), finding, blocks, found)
    blend = Blend(found, weights, Scaling(scales, 0.0, strategy.damping, store.length, store.popularity))
    random = np.random.default_rng(strategy.seed).integers(0, max(1, pages), (len(sample), _RANDOM))
    rows = [others[others != node] for node, others in zip(sample.tolist(), random, strict=True)]
    drawn = (page_rows(rows[begin : begin + _AT_ONCE]) for begin in range(0, len(rows), _AT_ONCE))
    scores = [blend.scores_for(*both) for both in zip(blocks, drawn, strict=True)]
    middle, high = np.quantile(np.concatenate([np.zeros(1), *scores]), [0.5, 0.9]).tolist()
    chance = min(middle + 3.0 * (high - middle), _MOST_CHANCE) * max(0.0, 1.0 - _FEW / max(1, pages))
    return {"scales": {**scales, NEIGHBOURS: 1.0}, "chance": round(chance, 6)}


def _blocks(finder: NodeStore, index: Index, sample: Int64s) -> list[PageBlock]:
    """The pages of a sample in blocks, with their bags in an index; any node that has a bag may be found."""

    def query_of(node: int) -> Query:
        return replace(query_of_nodes(finder.index, [node]), bag=bag_of(index, node))

    some = (sample[begin : begin + _AT_ONCE] for begin in range(0, len(sample), _AT_ONCE))
    return [PageBlock(nodes, len(index.bags), query_of) for nodes in some]


def _scales(
    asked: Sequence[PageBlock], finding: Sequence[Evidence], blocks: Sequence[PageBlock], found: Sequence[Evidence]
) -> dict[str, float]:
    """For each evidence of `found` the mean of the best scores among what all of `finding` find in its blocks."""
    sums, counts = dict.fromkeys((each.name for each in found), 0.0), dict.fromkeys((each.name for each in found), 0)
    for asking, block in zip(asked, blocks, strict=True):
        near = united_rows([each.candidates_for(asking, _NEAR) for each in finding], asking)
        for each in found:
            if not each.absolute:
                scores = each.scores_for(block, near)
                best = scores[ordered_best(scores, near.offsets, _TEN)[1]]
                sums[each.name] += float(best.sum())
                counts[each.name] += int(np.count_nonzero(best))
    return {name: round(sums[name] / counts[name], 9) if sums[name] > 0.0 else 1.0 for name in sums}
