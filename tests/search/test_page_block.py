"""The nearest pages of many pages at once are those of each page."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pagekin.model.strategy import Strategy
from pagekin.pipeline import build
from pagekin.search import all_pages
from pagekin.search.blend import Blend
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.page_block import block_of
from store.builders import generated, write_jsonl


@pytest.fixture(scope="module")
def store(sample_index: Path) -> IndexedStore:
    return IndexedStore.open(sample_index)


def found_by(blend: Blend, store: IndexedStore, limit: int, pages: int) -> list[list[tuple[float, int]]]:
    found = blend.nearest_for(block_of(store, np.arange(pages)), limit)
    pairs = list(zip(found.score.tolist(), found.node.tolist(), strict=True))
    return [pairs[begin:end] for begin, end in pairwise(found.offsets.tolist())]


@pytest.mark.parametrize("limit", [1, 10, 60])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"similarity": "cosine"},
        {"blend": {"text": 1.0, "latent": 1.0, "links": 0.5}},
        {"blend": {"bm25": 1.0, "neighbours": 1.0, "title": 0.2}},
        {"blend": {"text": 0.5, "proximity": 0.5}},
        {"blend": {"cocitation": 0.5, "proximity": 0.5}},
    ],
)
def test_a_block_finds_what_each_query_finds(store: IndexedStore, options: dict[str, object], limit: int) -> None:
    new = RelatedOptions(**options)  # type: ignore[arg-type]
    pages = len(store.nodes) - 1
    expected = [store.blend(new).nearest(query, limit) for query in block_of(store, np.arange(pages)).queries]
    assert found_by(store.blend(new), store, limit, pages) == expected
    assert sum(map(len, expected)) > pages // 2


def test_pages_with_few_candidates_get_those_of_costly_evidences(tmp_path: Path) -> None:
    """Pages without links and titles: text alone finds some of the pages that they are compared with."""
    source = write_jsonl(tmp_path / "pages.jsonl", generated(40))
    strategy = Strategy(outside=True, blend="text=0.5,link=0.5,title=0.1")
    build([source], tmp_path / "my.kin", strategy=strategy, processes=1)
    store = IndexedStore.open(tmp_path / "my.kin")
    blend, pages = store.blend(RelatedOptions()), len(store.nodes) - 1
    expected = [blend.nearest(query, 5) for query in block_of(store, np.arange(pages)).queries]
    assert found_by(blend, store, 5, pages) == expected


def test_pages_are_answered_in_the_order_in_which_they_are_asked_for(
    store: IndexedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are searched in another order, some at a time; one of them twice."""
    monkeypatch.setattr(all_pages, "_TOGETHER", 7)
    options = RelatedOptions(limit=5, explain=False, group_duplicates=False)
    nodes = [*reversed(range(30)), 12]
    expected = [store.related(store.node_url(node), options) for node in nodes]
    assert list(store.related_of_pages(nodes, options)) == expected
    assert list(store.related_of_pages([], options)) == []
