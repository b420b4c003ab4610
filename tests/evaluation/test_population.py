"""From labels to classes: depth, several labels, samples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.builders import peopled, rows_of
from pagekin.errors import MisuseError
from pagekin.evaluation.labels import LeftOut
from pagekin.evaluation.options import HierarchyOptions
from pagekin.evaluation.population import populate, sample

DEEP = ("Home", "Garden", "Clubs", "Roses")


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
    with pytest.raises(MisuseError, match="all 3 pages that have a class are in one, 'a/b'"):
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
    with pytest.raises(MisuseError, match="no two classes at depth 3 have one parent"):
        sample({0: [("a", "b")], 1: [("a", "c")]}, 3, HierarchyOptions(seed=1), LeftOut())


@given(st.integers(2, 9), st.integers(0, 3))
def test_as_many_different_pairs_are_drawn_as_are_wanted(classes: int, seed: int) -> None:
    """All pairs of a family: all its classes."""
    web = {k: [("t", "m", str(k))] for k in range(classes)}
    assert set(sample(web, classes * (classes - 1) // 2, HierarchyOptions(seed=seed), LeftOut())) == set(web)
