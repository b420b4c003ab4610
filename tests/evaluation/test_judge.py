"""From labels to classes; judgements against brute force, by hand, and at their extremes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.builders import Table, peopled, rows_of
from pagekin.errors import MisuseError
from pagekin.evaluation.judge import judge
from pagekin.evaluation.labels import LeftOut
from pagekin.evaluation.measures import ratios
from pagekin.evaluation.options import HierarchyOptions
from pagekin.evaluation.population import Population, populate, sample
from reference import familial_distance as analysis
from reference import gamma as reference

LABELS = ["a/b/c", "a/b/c", "a/b/d", "a/e/f", "g/h/i"]
# Scores for the first page as the source, by hand: the same class .4, its sibling .6, its cousin .4, an unrelated .1.
SCORES = [0.4, 0.6, 0.4, 0.1]
DEEP = ("Home", "Garden", "Clubs", "Roses")


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
        with pytest.raises(MisuseError, match="no order to compare with"):
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
    with pytest.raises(MisuseError, match="table gives scores that are not numbers"):
        judge(Table([[math.nan] * 5] * 5), peopled(LABELS))


def test_no_sources_are_no_judgement() -> None:
    with pytest.raises(MisuseError, match="no page has judgements"):
        judge(Table([[0.0] * 5] * 5), peopled(LABELS), np.array([], np.int64))


def test_of_several_labels_the_deepest_counts_and_of_those_the_alphabetically_first() -> None:
    assert HierarchyOptions().classes([("B", "x", "y"), ("A", "x", "z"), ("A", "w")]) == [("A", "x", "z")]
    assert HierarchyOptions().classes([("A", "b", "c"), DEEP]) == [DEEP[:3]]


def test_with_min_all_labels_count_each_once() -> None:
    labels = [DEEP, (*DEEP[:3], "Lilies"), ("Arts",)]
    assert HierarchyOptions(multi="min").classes(labels) == [("Arts",), DEEP[:3]]
    assert HierarchyOptions(multi="min", strict_depth=True).classes(labels) == [DEEP[:3]]


def test_the_nearest_of_all_labels_tells_the_distance() -> None:
    pages = [["a/b/c", "d/e/f"], "a/b/g", "d/e/f", "h/i/j"]
    assert peopled(pages, multi="min").distances(0).tolist() == [0, 1, 0, 3]
    assert peopled(pages).distances(0).tolist() == [0, 1, 3, 3]


def test_a_depth_collapses_classes_below_it_and_strictness_drops_what_is_above() -> None:
    pages = ["a/b/c/d", "a/b/c", "a/b", "e"]
    assert peopled(pages).names == [("a", "b"), ("a", "b", "c"), ("e",)]
    assert peopled(pages, depth=2).names == [("a", "b"), ("e",)]
    notes = LeftOut()
    paths = {page: [tuple(label.split("/"))] for page, label in enumerate([*pages, "a/f/g"])}
    strict = populate(paths, [*"01234"], HierarchyOptions(strict_depth=True), notes)
    assert strict.nodes.tolist() == [0, 1, 4]
    assert ("pages above depth 3", 2, "2") in rows_of(notes)


def test_classes_of_one_page_are_counted() -> None:
    notes = LeftOut()
    populate({0: [("a",)], 1: [("a",)], 2: [("b", "c")]}, ["x", "y", "z"], HierarchyOptions(), notes)
    assert rows_of(notes) == [("classes of one page, for which no page is right", 1, "b/c")]


def test_one_class_is_nothing_to_compare() -> None:
    with pytest.raises(MisuseError, match="all 3 pages that have a class are in the same class, 'a/b'"):
        peopled(["a/b"] * 3)
    with pytest.raises(MisuseError, match="larger --depth"):
        peopled(["a/b", "a/c"], depth=1)


def test_no_page_is_nothing_to_compare() -> None:
    with pytest.raises(MisuseError, match="no page is left"):
        peopled(["a/b", "a/c"], strict_depth=True)


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"depth": 33}, {"multi": "max"}, {"distance": "far"}])
def test_invalid_options_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(MisuseError, match=str(next(iter(wrong)))):
        peopled(["a", "b"], **wrong)


# --- a sample ------------------------------------------------------------------------------------

WEB = {
    page: [("t", "m", f"{page % 4}")] if page < 40 else [("t", "n", f"{page % 3}")] if page < 60 else [("u", "v", "w")]
    for page in range(70)
}  # 4 classes of one parent, 3 of another, 1 of a third: 6 + 3 + 0 pairs


def drawn(pairs: int, seed: int = 1) -> set[tuple[str, ...]]:
    return {path for paths in sample(WEB, pairs, HierarchyOptions(seed=seed), LeftOut()).values() for path in paths}


def test_a_pair_of_classes_has_one_parent_and_all_of_its_pages() -> None:
    for seed in range(20):
        chosen = drawn(1, seed)
        assert len(chosen) == 2
        assert len({path[:-1] for path in chosen}) == 1
        pages = sample(WEB, 1, HierarchyOptions(seed=seed), LeftOut())
        assert set(pages) == {page for page, (path,) in WEB.items() if path in chosen}


def test_every_pair_can_be_drawn_and_the_seed_decides() -> None:
    assert len({frozenset(drawn(1, seed)) for seed in range(300)}) == 9
    assert drawn(2, 7) == drawn(2, 7)


def test_fewer_pairs_than_asked_for_are_all_taken_and_counted() -> None:
    notes = LeftOut()
    pages = sample(WEB, 300, HierarchyOptions(seed=1), notes)
    assert len(pages) == 60  # the class without a sibling is in no pair
    assert rows_of(notes) == [("pairs of classes fewer than were to be sampled", 291, "")]


def test_no_pairs_are_no_sample() -> None:
    with pytest.raises(MisuseError, match="no two classes at depth 3 have the same parent"):
        sample({0: [("a", "b")], 1: [("a", "c")]}, 3, HierarchyOptions(seed=1), LeftOut())


@given(st.integers(2, 9), st.integers(0, 3))
def test_as_many_different_pairs_are_drawn_as_are_wanted(classes: int, seed: int) -> None:
    """All pairs of a family: all its classes."""
    web = {k: [("t", "m", str(k))] for k in range(classes)}
    assert set(sample(web, classes * (classes - 1) // 2, HierarchyOptions(seed=seed), LeftOut())) == set(web)
