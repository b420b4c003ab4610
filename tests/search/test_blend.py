"""The blend of evidences: laws of the ranking core, and an evidence from outside the package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.errors import MisuseError
from pagekin.evaluation.judge import judge
from pagekin.evaluation.labelled import open_labelled
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.strategy import MEASURES
from pagekin.model.term_weights import WEIGHTINGS
from pagekin.pipeline import build
from pagekin.search import evidence as registry
from pagekin.search.blend import Blend, Scaling, blended
from pagekin.search.evidence import SHORT_PAGES, Evidence, register
from pagekin.search.indexed_store import MEASURES as TEXT_MEASURES
from pagekin.search.indexed_store import IndexedStore, without
from pagekin.search.node_store import NodeStore
from pagekin.search.options import RelatedOptions
from pagekin.search.query import Bag, Query
from store.builders import page, write_jsonl

SHARES = st.floats(0.0, 1.0)
NOTHING = Query((), Bag(np.empty(0, np.uint32), np.empty(0, np.float32)), np.empty(0, np.uint32))


class Fixed(Evidence):
    """Scores that are given by hand."""

    def __init__(self, name: str, scores: dict[int, float]) -> None:
        self.name, self._scores = name, scores

    def candidates(self, query: Query, n: int) -> Int64s:
        return np.array(sorted(self._scores, key=lambda node: (-self._scores[node], node))[:n], np.int64)

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        return np.array([self._scores.get(node, 0.0) for node in nodes.tolist()], np.float64)


class Initials(Evidence):
    """Pages whose URLs end with the same letter are wholly similar: an evidence from outside the package."""

    name = "initials"

    def __init__(self, store: NodeStore) -> None:
        self._last = np.array([ord(store.node_url(node)[-1]) for node in range(len(store.nodes) - 1)])

    def candidates(self, query: Query, n: int) -> Int64s:
        return np.setdiff1d(np.flatnonzero(self._last == self._last[query.nodes[0]]), query.exclude)[:n]

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        return np.where(self._last[nodes] == self._last[query.nodes[0]], 1.0, 0.0)

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        return [{"letter": chr(self._last[node])} for node in nodes.tolist()]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexedStore]:
    """Four pages. By text a1 is like b1 and c2; d1 shares no word with it."""
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    register("initials", lambda store, options: Initials(store))
    texts = {"a1": "oak elm fir", "b1": "oak elm ash", "c2": "oak elm fir yew", "d1": "snow rain hail"}
    write_jsonl(tmp_path / "w.jsonl", [page(f"http://w.example/{name}", text) for name, text in texts.items()])
    build([tmp_path / "w.jsonl"], tmp_path / "w.kin", processes=1)
    yield IndexedStore.open(tmp_path / "w.kin")


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=6), SHARES)
def test_a_blend_of_similarities_lies_between_them(rows: list[tuple[float, float]], share: float) -> None:
    one, other = (np.array(column) for column in zip(*rows, strict=True))
    mixed = blended([1.0 - share, share], [one, other])
    assert (mixed >= np.minimum(one, other) - 1e-9).all()
    assert (mixed <= np.maximum(one, other) + 1e-9).all()


@given(st.dictionaries(st.integers(0, 9), SHARES.filter(bool), max_size=8), st.integers(1, 5))
def test_a_blend_of_one_evidence_ranks_as_it_does(scores: dict[int, float], limit: int) -> None:
    found = Blend([Fixed("one", scores)], {"one": 0.3}).nearest(NOTHING, limit)
    assert found == sorted(((score, node) for node, score in scores.items()), key=lambda e: (-e[0], e[1]))[:limit]


@given(*[st.dictionaries(st.integers(0, 9), SHARES, max_size=8)] * 2, SHARES)
def test_an_answer_comes_in_the_order_of_its_similarities_and_ties_in_that_of_nodes(
    one: dict[int, float], other: dict[int, float], share: float
) -> None:
    weights = {"one": 1.0 - share, "other": share}
    found = Blend([Fixed("one", one), Fixed("other", other)], weights).nearest(NOTHING, 20)
    assert found == sorted(found, key=lambda each: (-each[0], each[1]))
    for similarity, node in found:
        expected = weights["one"] * one.get(node, 0.0) + weights["other"] * other.get(node, 0.0)
        assert similarity == pytest.approx(expected, abs=1e-9)


def test_a_candidate_of_any_evidence_is_scored_by_all() -> None:
    one, other = Fixed("one", {1: 0.8}), Fixed("other", {2: 0.9, 1: 0.1})
    found = Blend([one, other], {"one": 0.5, "other": 0.5}).nearest(NOTHING, 5)
    assert [node for _, node in found] == [1, 2]
    assert [similarity for similarity, _ in found] == pytest.approx([0.45, 0.45])


class Damped(Fixed):
    """Scores that count less for long pages."""

    by_length = SHORT_PAGES


POPULARITY = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0])


def scaling(chance: float = 0.0, **scales: float) -> Scaling:
    return Scaling(scales, chance, 100.0, np.array([100.0] * 5 + [400.0] * 5), np.zeros(10))


ASKED = Query((0,), NOTHING.bag, NOTHING.signature)


def test_scores_are_in_units_of_their_scales() -> None:
    """Node 1: 2 * 0.3 / 0.1 + 1 * 0.5 / 0.25 = 8; node 2: 2 * 0.1 / 0.1 = 2."""
    one, other = Fixed("one", {1: 0.3, 2: 0.1}), Fixed("other", {1: 0.5})
    blend = Blend([one, other], {"one": 2.0, "other": 1.0}, scaling(one=0.1, other=0.25))
    assert blend.scores(ASKED, np.array([1, 2])).tolist() == pytest.approx([8.0, 2.0])
    assert np.array(blend.nearest(ASKED, 5)) == pytest.approx(np.array([[8 / 10, 1], [2 / 4, 2]]))


def test_damped_evidence_counts_less_between_long_pages() -> None:
    """Lengths of 100 and 100 words halve it; of 100 and 400, it counts 1 / (1 + 100 * 400 / 100 ** 2)."""
    blend = Blend(
        [Fixed("one", {}), Damped("other", {1: 1.0, 6: 1.0})], {"one": 1.0, "other": 1.0}, scaling(one=1, other=1)
    )
    assert blend.scores(ASKED, np.array([1, 6])).tolist() == pytest.approx([1 / 2, 1 / 5])
    rows = blend.pair_scores(np.arange(10), lambda node: Query((node,), NOTHING.bag, NOTHING.signature))
    assert rows(np.array([0]))[0, [1, 6]].tolist() == pytest.approx([1 / 2, 1 / 5])


def test_popular_pages_count_more_most_of_all_short_ones() -> None:
    """As above, with half the factor or a fifth of it, squared: 1 + .5 / 4 and 1 + .5 / 25."""
    scores = {1: 1.0, 2: 1.0, 6: 1.0, 7: 1.0}
    weights, popular = {"one": 1.0, "other": 1.0}, replace(scaling(one=1, other=1), popularity=POPULARITY)
    blend = Blend([Fixed("one", scores), Fixed("other", scores)], weights, popular)
    nodes, expected = np.array([1, 2, 6, 7]), [2.0, 2.0 * (1 + 0.5 / 4), 2.0, 2.0 * (1 + 0.5 / 25)]
    assert blend.scores(ASKED, nodes).tolist() == pytest.approx(expected)
    rows = blend.pair_scores(np.arange(10), lambda node: Query((node,), NOTHING.bag, NOTHING.signature))
    assert rows(np.array([0]))[0, nodes].tolist() == pytest.approx(expected)


@given(*[st.dictionaries(st.integers(1, 9), SHARES, min_size=1, max_size=8)] * 2, st.floats(0.0, 2.0))
def test_contributions_sum_to_the_similarity(one: dict[int, float], other: dict[int, float], chance: float) -> None:
    weights = {"one": 1.5, "other": 0.5}
    blend = Blend([Fixed("one", one), Damped("other", other)], weights, scaling(chance, one=0.5, other=0.2))
    nodes = np.array(sorted({*one, *other}))
    for similarity, parts in zip(blend.similarities(ASKED, nodes), blend.contributions(ASKED, nodes), strict=True):
        assert sum(part.similarity * part.share for part in parts) == pytest.approx(similarity, abs=1e-6)


@given(st.floats(0.0, 3.0), st.lists(st.floats(0.0, 50.0), min_size=2, max_size=9))
def test_similarities_are_from_0_to_1_in_the_order_of_scores_and_0_at_chance(
    chance: float, scores: list[float]
) -> None:
    similar = scaling(chance).similarities(np.array([chance, *sorted(scores)]))
    assert similar[0] == 0.0
    assert (similar >= 0.0).all()
    assert (similar < 1.0).all()
    assert (np.diff(similar[1:]) >= 0.0).all()


def test_an_evidence_of_weight_nothing_does_not_count_but_explains(store: IndexedStore) -> None:
    (first, *_) = store.related("http://w.example/a1", RelatedOptions(blend={"text": 1.0, "initials": 0.0}))
    assert [part.name for part in first.why.parts] == ["text"]
    assert first.why.details == {"initials": {"letter": first.url[-1]}}


def test_an_evidence_from_outside_is_in_answers_and_explanations(store: IndexedStore) -> None:
    """Text alone puts c2 first and does not know d1."""
    options = RelatedOptions(blend={"text": 0.5, "initials": 0.5}, min_similarity=0.0)
    alone = store.related("http://w.example/a1", RelatedOptions(min_similarity=0.0))
    assert [each.url[-2:] for each in alone] == ["c2", "b1"]
    found = {each.url[-2:]: each for each in store.related("http://w.example/a1", options)}
    assert list(found) == ["b1", "d1", "c2"]
    assert found["d1"].similarity == 0.5
    parts = {part.name: (part.similarity, part.share) for part in found["b1"].why.parts}
    assert parts["initials"] == (1.0, 0.5)
    assert found["b1"].similarity == pytest.approx(0.5 * parts["text"][0] + 0.5)
    assert found["b1"].why.details == {"initials": {"letter": "1"}}


def test_an_evidence_from_outside_is_in_evaluations(store: IndexedStore, tmp_path: Path) -> None:
    """Where classes are last letters, the evidence that goes by them is always right."""
    names = ("a1", "b1", "c2", "d1")
    lines = [f"http://w.example/{name}\tTop/All/{name[-1]}\n" for name in names]
    (tmp_path / "labels.tsv").write_text("".join(lines))
    labelled = open_labelled(str(tmp_path / "labels.tsv"), store)
    system = labelled.index_system(store, RelatedOptions(blend={"text": 0.0, "initials": 1.0}))
    assert system.name.endswith("1 by initials")
    (row,) = system.scores(np.array([0]))
    assert row.tolist() == [1.0, 1.0, -np.inf, 1.0]
    both = labelled.index_system(store, RelatedOptions(blend={"text": 0.5, "initials": 0.5}))
    answers = store.related("http://w.example/a1", RelatedOptions(blend={"text": 0.5, "initials": 0.5}))
    urls = labelled.population.urls
    served = {each.url: each.similarity for each in answers}
    (row,) = both.scores(np.array([urls.index("http://w.example/a1")]))
    measured = {url: score for url, score in zip(urls, row.tolist(), strict=True) if url in served}
    assert measured == pytest.approx(served)
    judged = judge(system, labelled.population)
    assert judged.pairs[:, :, 1].sum() == 0  # nothing is discordant


def test_a_name_that_nobody_registered_is_misuse(store: IndexedStore) -> None:
    with pytest.raises(MisuseError, match="no evidence 'smell'; there are text, links, "):
        store.related("http://w.example/a1", RelatedOptions(blend={"smell": 1.0}))


@pytest.mark.parametrize("weights", [{}, {"text": -1.0}, {"text": 0.0}, {"text": float("nan")}])
def test_weights_that_weigh_nothing_are_misuse(weights: dict[str, float]) -> None:
    with pytest.raises(MisuseError, match="blend"):
        RelatedOptions(blend=weights)


def test_a_text_from_outside_has_no_links_and_the_rest_takes_their_weight() -> None:
    assert without({"text": 0.5, "links": 0.25, "other": 0.25}, {"links"}) == pytest.approx(
        {"text": 2 / 3, "links": 0.0, "other": 1 / 3}
    )
    assert without({"text": 0.0, "links": 1.0}, {"links"}) == {"text": 1.0, "links": 0.0}


def test_every_measure_of_a_strategy_has_an_evidence() -> None:
    assert {*TEXT_MEASURES, *WEIGHTINGS} == set(MEASURES)
    assert {"text", "links", "latent", "title", "bm25"} <= set(registry._REGISTRY)
