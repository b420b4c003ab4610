"""Bloom filters and the overlap of pages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from duplicates.builders import pages
from pagekin.duplicates.filters import BloomFilters, Chunks, Overlap, bits_for, estimate_elements, overlaps
from pagekin.duplicates.settings import GroupSettings

NUMBERS = st.sets(st.integers(0, 60), max_size=40)


def overlap(a: Chunks, b: Chunks, bits: int = 2048, hashes: int = 4) -> Overlap:
    return overlaps(BloomFilters.of(a, bits, hashes), BloomFilters.of(b, bits, hashes))[0]


# --- estimates -----------------------------------------------------------------------------------


def test_the_estimate_inverts_the_expected_number_of_set_bits() -> None:
    for count in (0, 1, 50, 500):
        expected_bits = 2048 * (1 - (1 - 1 / 2048) ** (4 * count))
        assert estimate_elements(expected_bits, 2048, 4) == pytest.approx(count, abs=1e-9)


@pytest.mark.parametrize(("hashes", "count"), [(1, 60), (4, 30), (4, 100), (4, 120), (8, 60)])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_the_estimate_is_the_share_of_common_chunks_on_average(hashes: int, count: int, share: float) -> None:
    common = round(share * count)
    rows = []
    for trial in range(60):
        at = 10_000 * (1 + trial)
        shared = range(at, at + common)
        a = pages([*shared, *range(at + 1000, at + 1000 + count - common)])
        b = pages([*shared, *range(at + 2000, at + 2000 + 2 * count - common)])
        rows.append(overlap(a, b, hashes=hashes))
    # Chance sets some of A's bits in B; the number of those varies about as a binomial does.
    error = math.sqrt(2 * count * count * hashes / 2048) / count / math.sqrt(len(rows))
    assert np.mean([row.share_of_a for row in rows]) == pytest.approx(common / count, abs=0.005 + 4 * error)
    assert np.mean([row.share_of_b for row in rows]) == pytest.approx(common / count / 2, abs=0.005 + 4 * error)


def test_raw_bits_mislead_where_filters_are_half_full_and_the_estimate_does_not() -> None:
    """At the textbook k = (m / n) ln 2 unrelated pages share half of their bits."""
    hashes = round(2048 / 128 * math.log(2))
    unrelated = overlap(pages(range(128)), pages(range(1000, 1128)), hashes=hashes)
    assert unrelated.bits_of_a == pytest.approx(0.5, abs=0.04)
    assert unrelated.share_of_a == pytest.approx(0.0, abs=0.06)


def test_identical_pages_share_everything() -> None:
    same = overlap(pages(range(50)), pages(range(50)))
    assert same == Overlap(1.0, 1.0, 1.0, 1.0, 1.0, True, True, False)


def test_raw_shares_are_counted_bits() -> None:
    a, b = BloomFilters.of(pages(range(30)), 256, 2), BloomFilters.of(pages(range(20, 45)), 256, 2)
    bits_a, bits_b = (set(np.flatnonzero(np.unpackbits(each.words.view(np.uint8)))) for each in (a, b))
    found = overlaps(a, b)[0]
    assert found.bits_of_a == len(bits_a & bits_b) / len(bits_a)
    assert found.bits_of_b == len(bits_a & bits_b) / len(bits_b)


# --- similarity ----------------------------------------------------------------------------------


def test_similarity_is_the_greater_share_except_for_very_small_pages() -> None:
    small, large = pages(range(10)), pages(range(40))
    assert overlap(small, large).similarity == overlap(small, large).share_of_a == 1.0
    tiny = overlap(pages(range(2)), large)
    assert tiny.share_of_a == 1.0 and tiny.similarity == tiny.share_of_b < 0.1


# --- containment ---------------------------------------------------------------------------------


def test_a_page_is_in_another_if_all_its_chunks_are() -> None:
    found = overlap(pages(range(20)), pages(range(50)))
    assert found.a_in_b and not found.b_in_a


def test_a_page_with_text_before_and_after_it_is_in_that_larger_page() -> None:
    inner, outer = pages([1000, *range(20), 1001]), pages([*range(30, 40), 2000, *range(20), 2001, *range(40, 50)])
    found = overlap(inner, outer)
    assert found.a_in_b and not found.b_in_a


def test_a_page_that_differs_in_its_middle_is_not_contained() -> None:
    changed = pages([*range(10), 1000, *range(11, 20)])
    assert not overlap(changed, pages(range(20))).a_in_b
    assert not overlap(changed, pages([*range(20), *range(60, 80)])).a_in_b


def test_pages_of_one_size_that_begin_differently_are_not_in_each_other() -> None:
    found = overlap(pages([1000, *range(1, 20)]), pages(range(20)))
    assert not found.a_in_b and not found.b_in_a


def test_a_page_of_two_chunks_needs_both_to_be_contained() -> None:
    assert not overlap(pages([1000, 1001]), pages(range(50))).a_in_b


# --- saturation ----------------------------------------------------------------------------------


def test_saturated_filters_claim_no_containment() -> None:
    full, half = pages(range(2000)), pages(range(1000))
    found = overlap(half, full)
    assert found.saturated and found.bits_of_a == 1.0 and not found.a_in_b and not found.b_in_a
    assert BloomFilters.of(pages(range(2000), range(100)), 2048, 4).saturated().tolist() == [True, False]


def size_for(count: int) -> int:
    return int(bits_for(np.array([count]), GroupSettings())[0])


def test_a_larger_filter_is_not_saturated() -> None:
    chosen = GroupSettings()
    for count in (1, 128, 129, 2000, 100_000):
        bits = size_for(count)
        full = 1 - (1 - 1 / bits) ** (chosen.hashes * count)
        assert full < 0.23 and bits & (bits - 1) == 0
    assert size_for(128) == 2048 and size_for(129) == 4096
    found = overlap(pages(range(1000)), pages(range(2000)), bits=size_for(2000))
    assert found.a_in_b and not found.saturated
