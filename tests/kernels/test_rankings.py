"""Concordant, discordant and tied pairs; the pages that come first; precision."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.evaluation.labels import LeftOut
from pagekin.evaluation.options import HierarchyOptions
from pagekin.evaluation.population import Population, populate
from pagekin.kernels.rankings import NO_DISTANCE, count_pairs, make_keys, measure_rows, rank_relevant, top_pages
from pagekin.model.arrays import Int64s
from reference import familial_distance, precision
from reference import gamma as reference

LEVELS = 4
# Few scores, that many tie; any, that few do; and pages that are not listed, or do not take part.
# Those of 32 bits differ, if they do, by more than the bits that a key has no room for.
SCORES = st.sampled_from([0.0, -0.0, 0.25, 0.5, 1.0, -math.inf]) | st.floats(width=32, allow_nan=False)
PAGES = st.lists(st.tuples(SCORES, st.sampled_from([*range(LEVELS), NO_DISTANCE])), max_size=40)


def keys_of(scores: list[float], distances: list[int]) -> Int64s:
    keys = np.empty(len(scores), np.int64)
    make_keys((np.array(scores, np.float64) + 0.0).view(np.int64), np.array(distances, np.uint8), keys)
    return keys


def counted(scores: list[float], distances: list[int]) -> list[list[int]]:
    pairs = np.zeros((LEVELS, 3), np.int64)
    count_pairs(np.sort(keys_of(scores, distances)), pairs)
    found: list[list[int]] = pairs.tolist()
    return found


def first_of(scores: list[float], distances: list[int], most: int) -> list[int]:
    first = np.empty(most, np.int64)
    top_pages(np.array(scores, np.float64), np.array(distances, np.uint8), first)
    return [page for page in first.tolist() if page >= 0]


def test_pairs_by_hand() -> None:
    """Same class .9 and .5; sibling .5; unrelated .7 and .1."""
    everything, sibling, cousin, unrelated = counted([0.9, 0.5, 0.5, 0.7, 0.1], [0, 0, 1, 3, 3])
    assert sibling == [1, 0, 1]  # .9 over .5; .5 and .5
    assert cousin == [0, 0, 0]
    assert unrelated == [3, 1, 0]  # .9 over both, .5 over .1 but under .7
    assert everything == [1 + 3 + 1, 1 + 1, 1]  # and the sibling over .1 but under .7


def test_extremes() -> None:
    distances = [0, 0, 1, 2, 3, 3]
    for scores, kind in (([6, 5, 4, 3, 2, 1], 0), ([1, 2, 3, 4, 5, 6], 1), ([1] * 6, 2)):
        everything = counted([float(score) for score in scores], distances)[0]
        assert everything[kind] == sum(everything) == 13  # 15 pairs; 2 of them have equal distances


@given(PAGES)
def test_counts_are_those_of_the_reference(pages: list[tuple[float, int]]) -> None:
    scores, distances = [score for score, _ in pages], [distance for _, distance in pages]
    assert counted(scores, distances) == reference.count_pairs(scores, distances, LEVELS)


def test_scores_are_told_apart_to_thirteen_digits() -> None:
    for score in (1e-300, 0.1, 1.0, -0.3, -7e200):
        higher = score + abs(score) * 1e-13
        assert counted([higher, score], [0, 3])[3] == [1, 0, 0]
        assert counted([score, higher], [0, 3])[3] == [0, 1, 0]
        assert counted([score, score], [0, 3])[3] == [0, 0, 1]


def test_a_key_is_the_order_of_scores_then_of_distances() -> None:
    scores = [-math.inf, -2.0, -1e-9, 0.0, 1e-9, 0.5, 0.5, 3.0]
    keys = keys_of(scores, [3, 0, 3, 0, 3, 1, 2, 0]).tolist()
    assert keys == sorted(keys)
    assert [key & 255 for key in keys] == [3, 0, 3, 0, 3, 1, 2, 0]


def test_counts_are_added_to_what_is_there() -> None:
    pairs = np.zeros((LEVELS, 3), np.int64)
    for _ in range(2):
        count_pairs(np.sort(keys_of([0.5, 0.1], [0, 3])), pairs)
    assert pairs.tolist() == [[2, 0, 0], [0, 0, 0], [0, 0, 0], [2, 0, 0]]


@given(PAGES, st.integers(1, 12))
def test_first_pages_are_those_of_the_reference(pages: list[tuple[float, int]], most: int) -> None:
    scores, distances = [score for score, _ in pages], [distance for _, distance in pages]
    assert first_of(scores, distances, most) == reference.first_pages(scores, distances, most, NO_DISTANCE)


# --- familial distance -----------------------------------------------------------------------------------

PATHS = st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map(tuple)
LABELS = st.lists(st.sets(PATHS, min_size=1, max_size=3), min_size=2, max_size=12).filter(
    lambda pages: len(set().union(*pages)) > 1
)


def people(labels: list[set[familial_distance.Path]], distance: str) -> Population:
    shape = HierarchyOptions(depth=4, multi="min", distance=distance)
    return populate(dict(enumerate(labels)), [f"page {k}" for k in range(len(labels))], shape, LeftOut())


def test_distances_of_figure_1() -> None:
    """A source in recreation/aviation/un-powered; then the same class, a sibling, a cousin and an unrelated class."""
    paths = ["recreation/aviation/un-powered"] * 2 + [
        "recreation/aviation/airlines",
        "recreation/autos/makes",
        "arts/a/b",
    ]
    labels: list[set[familial_distance.Path]] = [{tuple(path.split("/"))} for path in paths]
    for distance in ("family", "tree"):
        assert people(labels, distance).distances(0).tolist() == [0, 0, 1, 2, 3]


def test_distances_in_a_ragged_hierarchy() -> None:
    """Siblings have one parent, both at depth 2 or more; whatever else has the same top is a cousin."""
    paths: list[familial_distance.Path] = [("a",), ("a", "b"), ("a", "c"), ("a", "b", "d"), ("a", "b", "e"), ("f",)]
    family = people([{path} for path in paths], "family")
    assert family.distances(0).tolist() == [0, 2, 2, 2, 2, 3]
    assert family.distances(1).tolist() == [2, 0, 1, 2, 2, 3]
    assert family.distances(3).tolist() == [2, 2, 2, 0, 1, 3]
    tree = people([{path} for path in paths], "tree")
    assert tree.distances(0).tolist() == [0, 0, 0, 0, 0, 1]  # its own class dominates all but the last
    assert tree.distances(3).tolist() == [2, 1, 2, 0, 1, 3]


@given(LABELS, st.booleans())
def test_distances_are_those_of_the_reference(labels: list[set[familial_distance.Path]], whole_tree: bool) -> None:
    population = people(labels, "tree" if whole_tree else "family")
    for source, own in enumerate(labels):
        assert population.distances(source).tolist() == [
            familial_distance.nearest(own, each, whole_tree) for each in labels
        ]


@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=2, max_size=10, unique=True))
def test_family_and_tree_agree_where_all_classes_are_at_depth_3(paths: list[familial_distance.Path]) -> None:
    labels = [{path} for path in paths]
    for source in range(len(paths)):
        family, tree = (people(labels, kind).distances(source) for kind in ("family", "tree"))
        assert np.array_equal(family, tree)


# --- precision -----------------------------------------------------------------------------------

LISTED = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0]) | st.floats(-4.0, 4.0)
LINK_SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0.0, 4.0)


def measured(scores: list[float], right: list[int], asking: int) -> list[float]:
    out = np.empty((1, 4))
    offsets = np.array([0, len(right)])
    measure_rows(np.array([asking]), offsets, np.array(right, np.uint32), np.array([scores]), out)
    found: list[float] = out[0].tolist()
    return found


@given(st.lists(LINK_SCORES, min_size=2, max_size=40), st.data())
def test_measures_are_as_defined(scores: list[float], data: st.DataObject) -> None:
    asking = data.draw(st.integers(-1, len(scores) - 1))
    others = [page for page in range(len(scores)) if page != asking]
    right = sorted(data.draw(st.sets(st.sampled_from(others), min_size=1)))
    assert measured(scores, right, asking) == pytest.approx(precision.measures(scores, set(right), asking))


def test_measures_by_hand() -> None:
    """Page 0 asks; the order is 3, 1, 4, 2 and page 5 shares nothing. Right are 1, 2 and 5.

    Before them come 3 for page 1, 3 and 4 for page 2, and 3 and 4 for page 5: five of six pairs are wrong. Two of the
    first ten and one of the first three are right; precision is 1/2 at page 1, 2/4 at page 2 and page 5 is not found.
    """
    found = measured([9.0, 0.7, 0.1, 0.9, 0.3, 0.0], [1, 2, 5], 0)
    assert found == pytest.approx([5 / 6, 2 / 10, 1 / 3, (1 / 2 + 2 / 4) / 3])


def test_pages_that_tie_are_no_error_and_the_earlier_comes_first() -> None:
    assert measured([0.5, 0.5], [1], -1) == pytest.approx([0.0, 1 / 10, 0.0, 1 / 2])
    assert measured([0.5, 0.5], [0], -1) == pytest.approx([0.0, 1 / 10, 1.0, 1.0])


@given(st.lists(st.lists(LISTED, min_size=5, max_size=5), min_size=1, max_size=4), st.data())
def test_places_of_relevant_pages_are_as_defined(rows: list[list[float]], data: st.DataObject) -> None:
    asking = data.draw(st.lists(st.integers(-1, 4), min_size=len(rows), max_size=len(rows)))
    right = [sorted(data.draw(st.sets(st.sampled_from([e for e in range(5) if e != one])))) for one in asking]
    offsets = np.cumsum([0, *map(len, right)])
    places = np.empty(offsets[-1], np.int64)
    rank_relevant(np.array(asking), offsets, np.array([*chain(*right)], np.uint32), np.array(rows), places)
    expected = [precision.places(*each) for each in zip(rows, map(set, right), asking, strict=True)]
    assert places.tolist() == [*chain(*expected)]
