"""What bags have in common."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pagekin.kernels.similarity import minima, products, weigh_products
from reference import similarity as reference

TERMS = 12
# Terms meet often; weights are those of bags, which sum to one and so are not all minute.
BAGS = st.dictionaries(st.integers(0, TERMS - 1), st.floats(2**-20, 1, width=32), max_size=10)


def laid(asked: reference.Bag) -> NDArray[np.float32]:
    workspace = np.zeros(TERMS, np.float32)
    for term, weight in asked.items():
        workspace[term] = weight
    return workspace


def minima_of(asked: reference.Bag, bags: list[reference.Bag], nodes: list[int]) -> list[float]:
    offsets = np.cumsum([0, *map(len, bags)])
    terms = np.array([term for bag in bags for term in bag], np.uint32)
    weights = np.array([weight for bag in bags for weight in bag.values()], np.float32)
    shared = np.full(len(nodes), np.nan)
    minima(laid(asked), offsets, terms, weights, np.array(nodes, np.int64), shared)
    return shared.tolist()


def products_of(asked: reference.Bag, bags: list[reference.Bag], nodes: list[int]) -> list[tuple[float, float]]:
    offsets = np.cumsum([0, *map(len, bags)])
    terms = np.array([term for bag in bags for term in bag], np.uint32)
    weights = np.array([weight for bag in bags for weight in bag.values()], np.float32)
    shared, squares = np.full(len(nodes), np.nan), np.full(len(nodes), np.nan)
    products(laid(asked), offsets, terms, weights, np.array(nodes, np.int64), shared, squares)
    return list(zip(shared.tolist(), squares.tolist(), strict=True))


def test_minima_and_products_by_hand() -> None:
    bags: list[reference.Bag] = [{3: 0.5, 2: 0.25, 1: 0.25}, {}]
    asked = {1: 0.125, 2: 0.5}
    assert minima_of(asked, bags, [0, 1]) == [0.375, 0.0]
    assert products_of(asked, bags, [1, 0]) == [(0.0, 0.0), (0.15625, 0.375)]


@settings(deadline=None, max_examples=200)
@given(asked=BAGS, bags=st.lists(BAGS, min_size=1, max_size=4), data=st.data())
def test_minima_and_products_are_those_of_the_reference(
    asked: reference.Bag, bags: list[reference.Bag], data: st.DataObject
) -> None:
    nodes = data.draw(st.lists(st.sampled_from(range(len(bags))), max_size=6))
    assert minima_of(asked, bags, nodes) == [reference.minima(asked, bags[node]) for node in nodes]
    assert products_of(asked, bags, nodes) == [reference.products(asked, bags[node]) for node in nodes]


RISE = [0.0, 1.0, 1.5, 7.0]
PAGES = st.lists(st.dictionaries(st.integers(0, TERMS + 1), st.integers(0, 5), max_size=10), min_size=1, max_size=4)


@settings(deadline=None, max_examples=200)
@given(
    asked=BAGS,
    pages=PAGES,
    scale=st.lists(st.floats(0, 9), max_size=3),
    base=st.floats(0.25, 9),
    slope=st.sampled_from([0.0, 1.0]),
)
def test_weighed_products_are_those_of_the_reference(
    asked: reference.Bag, pages: list[dict[int, int]], scale: list[float], base: float, slope: float
) -> None:
    """A bag beyond the pages and a term beyond the words say nothing; a count beyond the table is as the last."""
    offsets = np.cumsum([0, *map(len, pages)])
    terms = np.array([term for page in pages for term in page], np.uint32)
    counts = np.array([count for page in pages for count in page.values()], np.uint32)
    nodes, shared = np.arange(len(pages)), np.full(len(pages), np.nan)
    worth, rise, bases = laid(asked).astype(np.float64), np.array(RISE), np.full(len(scale), base)
    weigh_products(worth, offsets, terms, counts, nodes, rise, np.array(scale), bases, slope, shared)
    expected = [
        reference.weighed_product(asked, page, reference.Curve(RISE, scale[k], base, slope)) if k < len(scale) else 0.0
        for k, page in enumerate(pages)
    ]
    assert shared.tolist() == expected
