"""Scales of evidences and the level of chance, measured on a sample of the pages of a collection.

They make a similarity mean the same in every collection: an evidence counts by how much stronger or weaker it is than
is usual among near pages, and 0 is what pages drawn at random have in common.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pagekin.index.index import Index
from pagekin.kernels.page_rows import PageRows, ordered_best
from pagekin.model.arrays import Bools, Floats, Int64s, offsets_of
from pagekin.model.strategy import NEIGHBOURS
from pagekin.search.blend import Blend, Scaling
from pagekin.search.evidence import evidences, finders
from pagekin.search.node_store import NodeStore
from pagekin.search.options import RelatedOptions
from pagekin.search.page_block import PageBlock, page_rows, row_of, united_rows
from pagekin.search.query import Query, bag_of, query_of_nodes
from pagekin.store.columns import Mapper

_SAMPLE = 300  # pages, about; at least 250 of 500 pages or more
_TEN = 10  # nearest pages of each
_NEAR = 30  # candidates of each evidence, among which they are
_RANDOM = 50  # pages drawn at random for each
_MOST_CHANCE = 1.0
_AT_ONCE = 32  # pages of a block
_FEW = 30  # pages among which any two may be related


class _Sampled(NamedTuple):
    """Some pages of the sample, and the pages that were drawn for each."""

    node: Int64s
    drawn: PageRows


class _Measured(NamedTuple):
    """What was measured on some pages, by the names of evidences."""

    best: Mapping[str, Floats]  # the best scores of each page
    drawn: Mapping[str, Floats]  # the scores of the pages that were drawn


def calibrate(store: NodeStore, mapper: Mapper = map) -> dict[str, Any]:
    """The scale of each evidence and the level of chance, for the manifest.

    A scale is the mean of the ten best scores of sampled pages among what a search compares, without scores of 0. It is
    1 for an evidence without scores, and for one whose scores mean the same everywhere. The level of chance is the
    median of the scores of random pairs, plus three times the distance from there to their 90th percentile: nearly all
    of them are below, though a tenth of all pairs of pages may be related. In a small collection more are, so the level
    is lowered there, to 0 at 30 pages. A single evidence needs none of this.
    """
    strategy = store.index.strategy
    weights = strategy.weights_of_evidences()
    if len(weights) == 1:
        return {"scales": {}, "chance": 0.0}
    weights.pop(NEIGHBOURS, None)  # they are found by the others, which are calibrated before
    pages = min(len(store.nodes) - 1, len(store.on_disk.index.signatures))
    sampled = _sample(pages, strategy.seed)
    measured = list(mapper(partial(_measure, store, weights), sampled))
    scales = {name: _mean_above_0([each.best[name] for each in measured if name in each.best]) for name in weights}
    scores = list(mapper(partial(_blended, store, weights, scales), zip(sampled, measured, strict=True)))
    middle, high = np.quantile(np.concatenate([np.zeros(1), *scores]), [0.5, 0.9]).tolist()
    chance = min(middle + 3.0 * (high - middle), _MOST_CHANCE) * max(0.0, 1.0 - _FEW / max(1, pages))
    return {"scales": {**scales, NEIGHBOURS: 1.0}, "chance": round(chance, 6)}


def _sample(pages: int, seed: int) -> list[_Sampled]:
    """Evenly spaced pages in blocks, and for each some others at random."""
    sample = np.arange(0, pages, max(1, (pages + _SAMPLE // 3) // _SAMPLE))
    random = np.random.default_rng(seed).integers(0, max(1, pages), (len(sample), _RANDOM))
    rows = [others[others != node] for node, others in zip(sample.tolist(), random, strict=True)]
    some = (slice(begin, begin + _AT_ONCE) for begin in range(0, len(sample), _AT_ONCE))
    return [_Sampled(sample[block], page_rows(rows[block])) for block in some]


def _block(finder: NodeStore, index: Index, nodes: Int64s) -> PageBlock:
    """Pages of a sample with their bags in an index; any node that has a bag may be found."""

    def query_of(node: int) -> Query:
        return replace(query_of_nodes(finder.index, [node]), bag=bag_of(index, node))

    return PageBlock(nodes, len(index.bags), query_of)


def _measure(store: NodeStore, weights: Mapping[str, float], sampled: _Sampled) -> _Measured:
    """The best scores of each evidence among what a search finds, and the scores of the pages that were drawn."""
    finder = store.on_disk  # an index in memory has no signatures
    found = evidences(store, RelatedOptions(), weights)
    finding = found if finder is store else evidences(finder, RelatedOptions(), weights)
    block = _block(finder, store.index, sampled.node)
    asking = block if finder is store else _block(finder, finder.index, sampled.node)
    near = united_rows([each.candidates_for(asking, _NEAR) for each in finders(finding)], asking)
    rows, is_near = _joined(near, sampled.drawn)
    scores = {each.name: each.scores_for(block, rows) for each in found}
    of_near = {each.name: scores[each.name][is_near] for each in found if not each.absolute}
    best = {name: scores[ordered_best(scores, near.offsets, _TEN)[1]] for name, scores in of_near.items()}
    return _Measured(best, {name: each[~is_near] for name, each in scores.items()})


def _blended(
    store: NodeStore, weights: Mapping[str, float], scales: Mapping[str, float], some: tuple[_Sampled, _Measured]
) -> Floats:
    """The blended scores of the pages that were drawn."""
    sampled, measured = some
    scaling = Scaling(scales, 0.0, store.index.strategy.damping, store.length, store.popularity)
    blend = Blend(evidences(store, RelatedOptions(), weights), weights, scaling)
    return blend.scores_of(_block(store, store.index, sampled.node), sampled.drawn, measured.drawn)


def _joined(first: PageRows, second: PageRows) -> tuple[PageRows, Bools]:
    """Rows that have the nodes of both rows, those of the first before those of the second; which are of the first."""
    order = np.argsort(np.concatenate([row_of(first), row_of(second)]), kind="stable")
    lengths = np.diff(first.offsets) + np.diff(second.offsets)
    return PageRows(offsets_of(lengths), np.concatenate([first.node, second.node])[order]), order < len(first.node)


def _mean_above_0(best: list[Floats]) -> float:
    """The mean of the scores that are not 0; 1 without such scores."""
    total, count = sum(float(each.sum()) for each in best), sum(int(np.count_nonzero(each)) for each in best)
    return round(total / count, 9) if total > 0.0 else 1.0
