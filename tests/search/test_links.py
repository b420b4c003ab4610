"""Pages that link to both of two pages."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.search.links import LinkPositions, find_citing_pages

PLACES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40)), max_size=12)


def packed(*nodes: list[tuple[int, int]]) -> LinkPositions:
    rows = [row for row, places in enumerate(nodes) for _ in places]
    places = [page << 32 | word for places in nodes for page, word in places]
    return LinkPositions(np.array(rows, np.int64), np.array(places, np.int64))


@settings(deadline=None, max_examples=200)
@given(PLACES, st.lists(PLACES, max_size=4), st.integers(1, 6))
def test_citing_pages_come_with_the_least_distance_closest_first(
    one: list[tuple[int, int]], others: list[list[tuple[int, int]]], most: int
) -> None:
    expected = []
    for other in others:
        closest: dict[int, int] = {}
        for page, word in one:
            for same, there in other:
                if page == same:
                    closest[page] = min(closest.get(page, 99), abs(word - there))
        expected.append(sorted(closest.items(), key=lambda item: (item[1], item[0]))[:most])
    assert find_citing_pages(packed(one), packed(*others), len(others), most) == expected


def test_the_end_of_a_page_is_not_close_to_the_beginning_of_the_next() -> None:
    assert find_citing_pages(packed([(1, 2**32 - 1)]), packed([(2, 0)]), 1, 5) == [[]]
