"""The bags of a collection are the sums of fragments, however its pages are divided into batches."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.bags.build import BagSums, Folding, fold_bags, fold_range
from pagekin.bags.fragments import Fragments, OwnLinks, add_fragments, cut_fragments, cut_links, join_links
from pagekin.bags.source import BagSource
from pagekin.model.strategy import PRESETS, Strategy
from pagekin.pipeline import build
from pagekin.store.store import Store

STRATEGIES = {
    "default": PRESETS["default"],
    "links": replace(PRESETS["paper"], links=True, outside=True),
    "flat": replace(PRESETS["text-only"], distance_weight=False),
}


def folding_of(store: Store, strategy: Strategy) -> Folding:
    """What `fold_bags` hands to another engine."""
    found: list[Folding] = []

    def keep(folding: Folding) -> NoReturn:
        found.append(folding)
        raise InterruptedError

    with TemporaryFile() as file, suppress(InterruptedError):
        fold_bags(BagSource.of(store), strategy, file, fold_elsewhere=keep)
    return found[0]


@pytest.fixture(scope="module")
def foldings(sample_index: Path) -> dict[str, Folding]:
    store = Store.open(sample_index)
    return {name: folding_of(store, strategy) for name, strategy in STRATEGIES.items()}


def cut_all(folding: Folding, batches: list[range], links: int) -> list[Fragments]:
    """The fragments of all batches. Links travel to them in ranges, the last range first."""
    parts: list[list[OwnLinks]] = [[] for _ in batches]
    for first in reversed(range(0, len(folding.citations.link_page), links)):
        for number, found in cut_links(folding, batches, range(first, first + links)):
            parts[number].append(found)
    none = OwnLinks(*[np.empty(0, np.uint32)] * 3)
    return [
        cut_fragments(folding, batch, join_links(found or [none])) for batch, found in zip(batches, parts, strict=True)
    ]


def whole(folding: Folding) -> BagSums:
    """The bags as the local engine folds them, all at once."""
    return fold_range(folding, range(folding.nodes))


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=5)
@given(data=st.data())
def test_batches_and_their_order_do_not_matter(foldings: dict[str, Folding], name: str, data: st.DataObject) -> None:
    folding = foldings[name]
    pages = len(folding.citations.node_pages) - 1
    cuts = data.draw(st.sets(st.integers(1, pages - 1), max_size=4))
    batches = [range(*pair) for pair in pairwise([0, *sorted(cuts), pages])]
    fragments = data.draw(st.permutations(cut_all(folding, batches, data.draw(st.integers(500, 5000)))))
    step = data.draw(st.integers(folding.nodes // 5, folding.nodes))
    bags: list[BagSums] = []
    for number, first in enumerate(range(0, folding.nodes, step)):
        some = [dict(each.by_range(step))[number] for each in fragments if number in dict(each.by_range(step))]
        nodes = range(first, min(first + step, folding.nodes))
        bags.append((add_fragments(some, folding.words) if some else empty()).bags(nodes))
    for name, expected in whole(folding)._asdict().items():
        assert np.concatenate([getattr(each, name) for each in bags]).tolist() == expected.tolist()


def empty() -> Fragments:
    none, sums = np.empty(0, np.uint32), np.empty(0)
    return Fragments(none, none, none, sums, sums)


def test_a_citing_node_counts_once_and_words_are_added() -> None:
    """By hand: node 3 has word 1 in two fragments, and is cited by node 0 (term 10 + 0) in both."""

    def fragment(count: int, around: float) -> Fragments:
        node, term = np.array([3, 3], np.uint32), np.array([1, 10], np.uint32)
        return Fragments(node, term, np.array([count, 0], np.uint32), np.array([count, 0.0]), np.array([around, 1.0]))

    found = add_fragments([fragment(2, 4.0), fragment(1, 0.5)], words=10)
    assert [column.tolist() for column in found] == [[3, 3], [1, 10], [3, 0], [3.0, 0.0], [4.5, 1.0]]
    assert found.bags(range(2, 5)).lengths.tolist() == [0, 2, 0]


@pytest.mark.parametrize("links", [200, 3400])
def test_fragments_do_not_grow_with_the_links_to_their_target(tmp_path: Path, links: int) -> None:
    """By hand: 30 pages link to one target, with two words in each anchor: 6,000 or 102,000 windows, three terms.

    The third is the title of the target; its own page is in the first batch.
    """
    link = "<p><a href=http://hub.example/>oak elm</a>"
    pages = [{"url": f"http://page.example/{k}", "html": link * links} for k in range(30)]
    pages.append({"url": "http://hub.example/", "html": "<title>ash</title>"})
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    strategy = replace(STRATEGIES["flat"], content=False, links=False, window_width=0, templates=True)
    build([tmp_path / "pages.jsonl"], tmp_path / "hub.kin", strategy=strategy, processes=1)
    folding = folding_of(Store.open(tmp_path / "hub.kin"), replace(strategy, template_links=True))
    fragments = cut_all(folding, [range(11), range(11, 21), range(21, 31)], links=1000)
    assert [np.count_nonzero(each.node == 0) for each in fragments] == [3, 2, 2]
    total = add_fragments(fragments, folding.words)
    assert sorted(total.around[total.node == 0].tolist()) == [1.0, 30.0 * links, 30.0 * links]
