"""Judgements against brute force, by hand, and at their extremes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.builders import Table, peopled
from pagekin.errors import MisuseError
from pagekin.evaluation.judge import judge
from pagekin.evaluation.measures import ratios
from pagekin.evaluation.population import Population
from reference import familial_distance as analysis
from reference import gamma as reference

LABELS = ["a/b/c", "a/b/c", "a/b/d", "a/e/f", "g/h/i"]
# Scores for the first page as the source, by hand: the same class .4, its sibling .6, its cousin .4, an unrelated .1.
SCORES = [0.4, 0.6, 0.4, 0.1]


def by_hand(scores: list[float]) -> dict[str, float]:
    """The measures of the first page of LABELS as the only source."""
    population = peopled(LABELS)
    rows = np.zeros((5, 5))
    rows[0, 1:] = scores
    return ratios(judge(Table(rows.tolist()), population, np.array([0])), population.regions).values()


def test_measures_by_hand() -> None:
    """Pairs, the nearer first: .4 .6 wrong, .4 .4 tied, .4 .1 right; .6 .4 right, .6 .1 right; .4 .1 right."""
    found = by_hand(SCORES)
    assert found["gamma all"] == pytest.approx((4 - 1) / 5)
    assert found["somers_d all"] == pytest.approx((4 - 1) / 6)
    assert found["tied all"] == pytest.approx(1 / 6)
    assert (found["gamma sibling"], found["gamma unrelated"]) == (-1.0, 1.0)
    assert math.isnan(found["gamma cousin"])  # its only pair is tied
    assert (found["somers_d cousin"], found["tied cousin"]) == (0.0, 1.0)
    assert found["P@10"] == pytest.approx(1 / 10)
    # In its order: gains 2, 3 (before the cousin, by their names), 1, 0; ideally 3, 2, 1.
    assert found["nDCG@10"] == pytest.approx((2 + 3 / math.log2(3) + 1 / 2) / (3 + 2 / math.log2(3) + 1 / 2))
    assert found["orthogonal"] == 0.0


@pytest.mark.parametrize(
    ("scores", "gamma", "somers", "ndcg"),
    [([4, 3, 2, 1], 1, 1, 1), ([1, 2, 3, 4], -1, -1, None), ([1] * 4, None, 0, 1)],
)
def test_extremes(scores: list[float], gamma: float | None, somers: float, ndcg: float | None) -> None:
    """The order of the family, its reverse, and no order at all."""
    found = by_hand(scores)
    for region in ("all", "sibling", "cousin", "unrelated"):
        assert found[f"somers_d {region}"] == somers
        if gamma is None:
            assert math.isnan(found[f"gamma {region}"])
        else:
            assert found[f"gamma {region}"] == gamma
    if ndcg is not None:
        assert found["nDCG@10"] == pytest.approx(ndcg)


def test_gamma_of_an_order_that_is_right_as_often_as_wrong_is_0() -> None:
    """One page of the class above, one below the unrelated page."""
    population = peopled(["a/b/c", "a/b/c", "a/b/c", "d/e/f"])
    system = Table([[0, 0.9, 0.1, 0.5]] * 4)
    found = ratios(judge(system, population, np.array([0])), population.regions).values()
    assert (found["gamma all"], found["gamma unrelated"], found["somers_d unrelated"]) == (0.0, 0.0, 0.0)


def test_what_is_not_listed_is_tied_at_the_end_and_no_answer() -> None:
    found = by_hand([-math.inf, 0.6, -math.inf, -math.inf])
    assert found["gamma sibling"] == -1.0
    assert found["tied cousin"] == found["tied unrelated"] == 1.0
    assert (found["P@10"], found["orthogonal"]) == (0.0, 1.0)
    assert found["nDCG@10"] == pytest.approx(2 / (3 + 2 / math.log2(3) + 1 / 2))


def test_gamma_is_aggregated_over_pairs_and_not_averaged_over_sources() -> None:
    """One source with 1 pair, wrong; another with 4, all right: 3 of 5 and not 0."""
    population = peopled(["a/b/c", "a/b/c", "d/e/f", "d/e/f", "d/e/f", "g/h/i", "g/h/j"])
    rows = np.zeros((7, 7))
    rows[0, 1:] = [0.1, 0.0, 0.0, 0.0, 0.0, 0.0]
    rows[0, 2] = 0.5
    rows[2, [3, 4]] = 0.9
    table = ratios(judge(Table(rows.tolist()), population, np.array([0, 2])), population.regions)
    # Source 0: its kin over 4 of 5 unrelated pages, under 1. Source 2: 2 kin over 4 unrelated pages.
    assert table.values()["gamma unrelated"] == pytest.approx((4 + 8 - 1) / (5 + 8))
    assert table.by_source()[:, table.names.index("gamma unrelated")].tolist() == [pytest.approx(3 / 5), 1.0]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Population, list[list[float]], list[list[analysis.Path]], bool]:
    path = st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map(tuple)
    labels = draw(
        st.lists(st.lists(path, min_size=1, max_size=2, unique=True), min_size=2, max_size=9).filter(
            lambda pages: len({path for each in pages for path in each}) > 1
        )
    )
    score = st.sampled_from([0.0, 0.5, 1.0, -math.inf]) | st.floats(-5, 5, width=32)
    count = len(labels)
    rows = draw(st.lists(st.lists(score, min_size=count, max_size=count), min_size=count, max_size=count))
    whole_tree = draw(st.booleans())
    names = [["/".join(path) for path in each] for each in labels]
    return peopled(names, multi="min", distance="tree" if whole_tree else "family"), rows, labels, whole_tree


@settings(deadline=None, max_examples=150)
@given(cases(), st.integers(1, 3))
def test_judgements_are_those_of_brute_force(
    case: tuple[Population, list[list[float]], list[list[analysis.Path]], bool], threads: int
) -> None:
    population, rows, labels, whole_tree = case
    regions = population.regions
    expected = {}
    for source, own in enumerate(labels):
        others = [page for page in range(len(labels)) if page != source]
        distances = [analysis.nearest(own, labels[page], whole_tree) for page in others]
        pairs = reference.count_pairs([rows[source][page] for page in others], distances, len(regions))
        if sum(pairs[0]):
            expected[source] = pairs
    if not expected:
        with pytest.raises(MisuseError, match="orders nothing"):
            judge(Table(rows), population, threads=threads)
        return
    found = judge(Table(rows), population, threads=threads)
    assert found.sources.tolist() == list(expected)
    assert found.pairs.tolist() == list(expected.values())
    right, wrong, tied = np.sum([pairs[0] for pairs in expected.values()], axis=0).tolist()
    values = ratios(found, regions).values()
    assert values["somers_d all"] == pytest.approx((right - wrong) / (right + wrong + tied))
    assert values["tied all"] == pytest.approx(tied / (right + wrong + tied))
    if right + wrong:
        assert values["gamma all"] == pytest.approx((right - wrong) / (right + wrong))


@settings(deadline=None, max_examples=100)
@given(cases())
def test_lists_are_measured_as_they_are_defined(
    case: tuple[Population, list[list[float]], list[list[analysis.Path]], bool],
) -> None:
    population, rows, labels, whole_tree = case
    try:
        judgement = judge(Table(rows), population)
    except MisuseError:
        return
    table = ratios(judgement, population.regions)
    values = [dict(zip(table.names, row, strict=True)) for row in table.by_source().tolist()]
    for source, found in zip(judgement.sources.tolist(), values, strict=True):
        distance = [analysis.nearest(labels[source], each, whole_tree) for each in labels]
        scores = [*rows[source][:source], -math.inf, *rows[source][source + 1 :]]
        first = [distance[page] for page in reference.first_pages(scores, distance, 10, 255)]
        assert found["P@10"] == pytest.approx(first.count(0) / 10)
        ideal = dcg(sorted(distance[:source] + distance[source + 1 :])[:10])
        assert math.isnan(found["nDCG@10"]) if not ideal else found["nDCG@10"] == pytest.approx(dcg(first) / ideal)
        same = [page for page in range(len(labels)) if distance[page] == 0 and page != source]
        unlisted = [page for page in same if scores[page] == -math.inf]
        assert math.isnan(found["orthogonal"]) if not same else found["orthogonal"] == len(unlisted) / len(same)


def dcg(distances: list[int]) -> float:
    return sum(max(0, 3 - distance) / math.log2(rank + 1) for rank, distance in enumerate(distances, 1))


def test_parts_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread holds a few rows at a time."""
    population = peopled([f"{'ab'[k % 2]}/{k % 3}/{k % 5}" for k in range(40)])
    system = Table(np.random.default_rng(5).random((40, 40)).round(1).tolist())
    whole = judge(system, population)
    done: list[int] = []
    monkeypatch.setattr("pagekin.evaluation.judge._MAX_SCORES", 3 * 40)
    parts = judge(system, population, threads=2, progress=done.append)
    assert done == [*range(3, 40, 3), 40]  # sources done so far
    for name in ("sources", "pairs", "pages", "listed", "first"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name)), name


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(MisuseError, match="table gives scores that are no numbers"):
        judge(Table([[math.nan] * 5] * 5), peopled(LABELS))


def test_no_sources_are_no_judgement() -> None:
    with pytest.raises(MisuseError, match="no source"):
        judge(Table([[0.0] * 5] * 5), peopled(LABELS), np.array([], np.int64))
