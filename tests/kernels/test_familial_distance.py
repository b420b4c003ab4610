"""Familial distances of pages, against the paths of their classes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.evaluation.labels import LeftOut
from pagekin.evaluation.options import HierarchyOptions
from pagekin.evaluation.population import Population, populate
from reference import familial_distance as reference

PATHS = st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map(tuple)
LABELS = st.lists(st.sets(PATHS, min_size=1, max_size=3), min_size=2, max_size=12).filter(
    lambda pages: len(set().union(*pages)) > 1
)


def people(labels: list[set[reference.Path]], distance: str) -> Population:
    shape = HierarchyOptions(depth=4, multi="min", distance=distance)
    return populate(dict(enumerate(labels)), [f"page {k}" for k in range(len(labels))], shape, LeftOut())


def test_distances_of_figure_1() -> None:
    """A source in recreation/aviation/un-powered; then the same class, a sibling, a cousin and an unrelated class."""
    paths = ["recreation/aviation/un-powered"] * 2 + [
        "recreation/aviation/airlines",
        "recreation/autos/makes",
        "arts/a/b",
    ]
    labels: list[set[reference.Path]] = [{tuple(path.split("/"))} for path in paths]
    for distance in ("family", "tree"):
        assert people(labels, distance).distances(0).tolist() == [0, 0, 1, 2, 3]


def test_distances_in_a_ragged_hierarchy() -> None:
    """Siblings have one parent, both at depth 2 or more; whatever else has the same top is a cousin."""
    paths: list[reference.Path] = [("a",), ("a", "b"), ("a", "c"), ("a", "b", "d"), ("a", "b", "e"), ("f",)]
    family = people([{path} for path in paths], "family")
    assert family.distances(0).tolist() == [0, 2, 2, 2, 2, 3]
    assert family.distances(1).tolist() == [2, 0, 1, 2, 2, 3]
    assert family.distances(3).tolist() == [2, 2, 2, 0, 1, 3]
    tree = people([{path} for path in paths], "tree")
    assert tree.distances(0).tolist() == [0, 0, 0, 0, 0, 1]  # its own class dominates all but the last
    assert tree.distances(3).tolist() == [2, 1, 2, 0, 1, 3]


@settings(deadline=None, max_examples=200)
@given(LABELS, st.booleans())
def test_distances_are_those_of_the_reference(labels: list[set[reference.Path]], whole_tree: bool) -> None:
    population = people(labels, "tree" if whole_tree else "family")
    for source, own in enumerate(labels):
        assert population.distances(source).tolist() == [reference.nearest(own, each, whole_tree) for each in labels]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=2, max_size=10, unique=True))
def test_family_and_tree_agree_where_all_classes_are_at_depth_3(paths: list[reference.Path]) -> None:
    labels = [{path} for path in paths]
    for source in range(len(paths)):
        family, tree = (people(labels, kind).distances(source) for kind in ("family", "tree"))
        assert np.array_equal(family, tree)
