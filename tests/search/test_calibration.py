"""Scales and the level of chance are those of the definition, page by page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pagekin.model.strategy import PRESETS, Strategy
from pagekin.pipeline import build
from pagekin.search.blend import Blend, Scaling
from pagekin.search.calibration import calibrate
from pagekin.search.evidence import evidences
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.query import query_of_nodes
from store.builders import generated, write_jsonl


def calibrated_by_definition(store: IndexedStore) -> tuple[dict[str, float], float]:
    """The means of the ten best scores of each page, and the level of chance, with a query for each page."""
    strategy, pages = store.index.strategy, len(store.nodes) - 1
    weights = {name: weight for name, weight in strategy.weights_of_evidences().items() if name != "neighbours"}
    found = evidences(store, RelatedOptions(), weights)
    queries = [query_of_nodes(store.index, [node]) for node in range(pages)]
    best: dict[str, list[float]] = {name: [] for name in weights}
    narrow = any(each.complete for each in found)
    finding = [each for each in found if not (narrow and each.costly)]
    for query in queries:
        near = np.array(sorted({node for each in finding for node in each.candidates(query, 30).tolist()}), np.int64)
        for each in found:
            scores = sorted(each.scores(query, near).tolist(), reverse=True)[:10]
            best[each.name] += [] if each.absolute else [score for score in scores if score != 0.0]
    scales = {name: sum(scores) / len(scores) if scores else 1.0 for name, scores in best.items()}
    blend = Blend(found, weights, Scaling(scales, 0.0, strategy.damping, store.length, store.popularity))
    random = np.random.default_rng(strategy.seed).integers(0, pages, (pages, 50))
    pairs = [0.0]
    for node, others in enumerate(random):
        pairs += blend.scores(queries[node], others[others != node]).tolist()
    middle, high = np.quantile(pairs, [0.5, 0.9])
    return scales, min(middle + 3.0 * (high - middle), 1.0) * (1.0 - 30 / pages)


@pytest.mark.parametrize(
    "strategy",
    [
        PRESETS["default"],
        replace(PRESETS["default"], similarity="cosine"),
        Strategy(blend="text=1,neighbours=1"),
        Strategy(blend="text=1,bm25=1,links=1,title=1", similarity="okapi"),
        Strategy(blend="text=1,proximity=1,title=1,link=1", outside=True),
    ],
)
def test_scales_are_the_means_of_the_best_scores_of_each_page(tmp_path: Path, strategy: Strategy) -> None:
    source = write_jsonl(tmp_path / "pages.jsonl", generated(150))  # more than one block
    build([source], tmp_path / "my.kin", strategy=strategy, processes=1)
    store = IndexedStore.open(tmp_path / "my.kin")
    scales, chance = calibrated_by_definition(store)
    found = calibrate(store)
    assert found["scales"] == pytest.approx({**scales, "neighbours": 1.0})
    assert found["chance"] == pytest.approx(chance, abs=1e-6)
    assert set(scales.values()) != {1.0}
