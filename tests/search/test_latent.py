"""Latent similarity as evidence, on a small collection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pagekin.model.strategy import Strategy
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.latent import LatentEvidence
from pagekin.search.options import RelatedOptions
from pagekin.search.query import Query, query_of_nodes
from store.builders import page, write_jsonl

# Pages 0 and 1 share no word, but pages 2 and 3 connect theirs. Pages 4 to 6 are about something else.
TEXTS = [
    "oak acorn",
    "beech forest",
    "oak forest acorn",
    "beech oak forest",
    "snow rain hail",
    "rain hail fog",
    "fog snow rain",
]
URLS = [f"http://w.example/{k}" for k in range(len(TEXTS))]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> IndexedStore:
    folder = tmp_path_factory.mktemp("latent")
    rows = [page(url, f"<p>{text} <a href=http://other.example/>x1</a>") for url, text in zip(URLS, TEXTS, strict=True)]
    write_jsonl(folder / "w.jsonl", rows)
    build([folder / "w.jsonl"], folder / "w.kin", strategy=Strategy(stemming="none"), processes=1)
    return IndexedStore.open(folder / "w.kin")


def reduced(store: IndexedStore, dimensions: int) -> IndexedStore:
    """The same collection in fewer dimensions: with few pages, nearly all dimensions are kept."""
    other = IndexedStore.open(store.root)
    latent = store.latent
    row = np.ascontiguousarray(latent.rows.row[:, :dimensions])
    norm = np.linalg.norm(row.astype(np.float64), axis=1).astype(np.float32)
    vars(other)["latent"] = replace(latent, rows=replace(latent.rows, row=row, norm=norm))
    return other


def asked(store: IndexedStore, *nodes: int) -> Query:
    return query_of_nodes(store.index, nodes)


def test_pages_are_similar_without_a_common_word(store: IndexedStore) -> None:
    two = LatentEvidence(reduced(store, 2))
    scores = two.scores(asked(store, 0), np.arange(7))
    assert scores[1] > 0.9
    assert (scores[4:] < 0.1).all()


def test_candidates_are_the_nearest_pages_in_order_without_those_excluded(store: IndexedStore) -> None:
    evidence, query = LatentEvidence(store), asked(store, 3)
    scores = evidence.scores(query, np.arange(7))
    found = evidence.candidates(query, 2).tolist()
    order = [node for node in np.argsort(-scores, kind="stable").tolist() if node != 3 and scores[node] > 0.0]
    assert found == order[:2]
    assert evidence.candidates(query, 50).tolist() == order
    assert order[0] not in evidence.candidates(replace(query, exclude=(3, order[0])), 50)


def test_filters_do_not_leave_fewer_candidates_than_there_are(store: IndexedStore) -> None:
    evidence, query = LatentEvidence(store), asked(store, 3)
    every = evidence.candidates(query, 50).tolist()
    assert evidence.candidates(replace(query, allowed=lambda node: node != every[0]), 1).tolist() == every[1:2]


def test_the_score_of_several_pages_is_the_mean_of_their_scores(store: IndexedStore) -> None:
    evidence, nodes = LatentEvidence(store), np.arange(7)
    one, other = (evidence.scores(asked(store, node), nodes) for node in (0, 4))
    assert evidence.scores(asked(store, 0, 4), nodes) == pytest.approx((one + other) / 2)


def test_a_node_without_a_page_scores_nothing(store: IndexedStore) -> None:
    node = len(TEXTS)
    assert len(store.index.bags) == node + 1
    evidence = LatentEvidence(store)
    assert evidence.scores(asked(store, 0), np.array([node])).tolist() == [0.0]
    assert evidence.scores(asked(store, node), np.arange(node + 1)).tolist() == [0.0] * (node + 1)
    assert evidence.candidates(asked(store, node), 5).tolist() == []


def test_all_pairs_score_as_one_query_after_the_other(store: IndexedStore) -> None:
    evidence, nodes = LatentEvidence(store), np.array([5, -1, 0, 2])
    pairs = evidence.pair_scores(nodes, lambda node: asked(store, node))
    rows = pairs.scores(np.array([2, 0, 1]))
    assert rows[0, [0, 2, 3]].tolist() == evidence.scores(asked(store, 0), nodes[[0, 2, 3]]).tolist()
    assert rows[1, [0, 2, 3]].tolist() == evidence.scores(asked(store, 5), nodes[[0, 2, 3]]).tolist()
    assert rows[2].tolist() == [0.0] * 4


def test_a_text_from_outside_is_similar_as_its_copy_inside_is(store: IndexedStore) -> None:
    options = RelatedOptions(blend={"latent": 1.0}, min_similarity=0.0, group_duplicates=False)
    found = {each.url: each.similarity for each in store.related_to(b"<p>oak forest acorn x1", options)}
    inside = LatentEvidence(store).scores(asked(store, 2), np.arange(7))
    assert found[URLS[2]] == pytest.approx(1.0, abs=0.01)
    assert found[URLS[3]] == pytest.approx(inside[3], abs=0.02)


def test_a_text_of_unknown_words_has_no_candidates(store: IndexedStore) -> None:
    assert store.related_to(b"<p>nothing known", RelatedOptions(blend={"latent": 1.0})) == []


def test_words_explain_that_the_query_does_not_have(store: IndexedStore) -> None:
    evidence = LatentEvidence(reduced(store, 2))
    far, near, itself = evidence.explain(asked(store, 0), np.array([4, 3, 0]))
    assert sorted(near["related_words"]) == ["beech", "forest"]
    assert far == itself == {}
