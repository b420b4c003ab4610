"""Neighbours as evidence, on the sample web and with lists given by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pagekin.model.strategy import NEIGHBOURS
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.neighbours import LISTED, Neighbours
from pagekin.search.options import RelatedOptions
from pagekin.search.query import query_of_nodes
from store.builders import page, write_jsonl


@pytest.fixture(scope="module")
def store(sample_index: Path) -> IndexedStore:
    return IndexedStore.open(sample_index)


@pytest.fixture
def by_hand(sample_index: Path) -> IndexedStore:
    """Pages 0 to 3: 0 and 1 have each other and page 5 in their lists, page 2 shares only page 5, page 3 nothing."""
    store = IndexedStore.open(sample_index)
    lists = np.repeat(np.arange(len(store.nodes) - 1)[:, np.newaxis], 2, axis=1)
    lists[:3] = [[1, 5], [0, 5], [5, 2]]
    vars(store)["neighbours"] = lists.astype(np.uint16)
    return store


def test_the_score_is_the_cosine_of_two_lists_with_their_own_pages(by_hand: IndexedStore) -> None:
    # The sets are {0, 1, 5}, {0, 1, 5}, {2, 5} and {3}: of 0 and 2 one page is common to sets of three and two.
    scores = Neighbours(by_hand).scores(query_of_nodes(by_hand.index, [0]), np.array([1, 2, 3]))
    np.testing.assert_allclose(scores, [1.0, 1.0 / np.sqrt(6.0), 0.0], atol=1e-9)


def test_the_score_of_several_pages_is_the_mean(by_hand: IndexedStore) -> None:
    scores = Neighbours(by_hand).scores(query_of_nodes(by_hand.index, [0, 3]), np.array([1]))
    np.testing.assert_allclose(scores, [0.5], atol=1e-9)


def test_all_pairs_have_the_scores_of_queries(by_hand: IndexedStore) -> None:
    evidence, nodes = Neighbours(by_hand), np.arange(6)
    rows = evidence.pair_scores(nodes, lambda node: query_of_nodes(by_hand.index, [node])).scores(nodes)
    for node in nodes.tolist():
        expected = evidence.scores(query_of_nodes(by_hand.index, [node]), nodes)
        np.testing.assert_allclose(rows[node], expected, atol=1e-6)


def test_shared_neighbours_are_named_without_the_pages_compared(by_hand: IndexedStore) -> None:
    one, none = Neighbours(by_hand).explain(query_of_nodes(by_hand.index, [0]), np.array([2, 3]))
    assert one == {"shared_neighbours": list(by_hand.names_of({5}).values()), "count": 1}
    assert none == {}


def test_the_build_lists_the_nearest_pages_of_each_page(store: IndexedStore) -> None:
    blend, pages = store.blend_for_neighbours(), len(store.nodes) - 1
    for node in (0, pages // 2, pages - 1):
        near = [page for similarity, page in blend.nearest(query_of_nodes(store.index, [node]), LISTED) if similarity]
        assert store.neighbours[node].tolist() == near + [node] * (LISTED - len(near))


def test_a_page_without_words_has_no_neighbours(tmp_path: Path) -> None:
    texts = ["oak acorn", "oak acorn forest", "", "snow rain"]
    rows = [page(f"http://w.example/{k}", f"<title>same</title><p>{text}") for k, text in enumerate(texts)]
    root = build([write_jsonl(tmp_path / "w.jsonl", rows)], tmp_path / "w.kin", processes=1).store.root
    neighbours = IndexedStore.open(root).neighbours
    assert set(neighbours[2].tolist()) == {2}
    assert neighbours[0][0] == 1


def test_neighbours_are_found_without_themselves_and_without_costly_evidences_of_short_pages(
    store: IndexedStore,
) -> None:
    used = {each.name for each in store.blend_for_neighbours().active}
    every = {each.name for each in store.blend(RelatedOptions()).active}
    assert every - used == {NEIGHBOURS, "bm25"}
