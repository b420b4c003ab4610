"""Min-hash signatures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pagekin.index.index import elements_for
from pagekin.kernels import minhash
from pagekin.kernels.minhash import EMPTY, bin_of, count_elements, mix, mix_all, sign
from pagekin.model.arrays import Int64s, UInt32s, UInt64s
from reference import minhash as reference
from reference import similarity

# What splitmix64 gives when seeded with 0 (as published): the elements of the key 0.
OF_ZERO = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
KEYS = st.integers(0, 2**64 - 1)
WEIGHTS = st.floats(0, 1, width=32)


@dataclass
class Columns:
    """Bags of keys as the kernel takes them; terms are numbered in the order of the bags."""

    offsets: Int64s
    weights: NDArray[np.float32]
    keys: UInt64s

    @classmethod
    def of(cls, bags: Sequence[reference.Bag]) -> Columns:
        return cls(
            np.cumsum([0, *map(len, bags)]).astype(np.int64),
            np.array([weight for bag in bags for weight in bag.values()], np.float32),
            np.array([key for bag in bags for key in bag], np.uint64),
        )

    def signed(self, bins: int, elements: int, start: int = 0) -> UInt32s:
        """Their signatures; with a start, under other keys."""
        keys = mix_all(self.keys + np.uint64(start)) if start else self.keys
        signatures = np.zeros((len(self.offsets) - 1, bins), np.uint32)
        sign(self.offsets, np.arange(len(keys), dtype=np.uint32), self.weights, keys, elements, signatures)
        return signatures


def signatures_of(bags: Sequence[reference.Bag], bins: int, elements: int) -> list[list[int]]:
    rows: list[list[int]] = Columns.of(bags).signed(bins, elements).tolist()
    return rows


def key_of(element: int) -> int:
    """The key whose first element this is."""
    return (reference.unmix(element) - reference.GOLDEN) % 2**64


# --- by hand -------------------------------------------------------------------------------------


def test_mixing_is_that_of_splitmix64() -> None:
    golden = 0x9E3779B97F4A7C15
    values = np.array([(j + 1) * golden % 2**64 for j in range(3)] + [0], np.uint64)
    assert [int(mix(value)) for value in values] == mix_all(values).tolist() == [*OF_ZERO, 0]


def test_a_signature_names_the_least_element_of_every_bin() -> None:
    # In halves the elements of key 0 are E220A839 7B1DCDAF, 6E789E6A A1B965F4, 06C45D18 8009454F.
    three = {0: 0.75}
    assert signatures_of([three], bins=1, elements=4) == [[0x8009454F]]
    assert signatures_of([three], bins=2, elements=4) == [[0x8009454F, 0x7B1DCDAF]]  # 06... is before 6E...
    assert signatures_of([{0: 0.5}], bins=2, elements=4) == [[0xA1B965F4, 0x7B1DCDAF]]


def test_a_bin_without_elements_borrows() -> None:
    assert signatures_of([{0: 0.25}], bins=3, elements=4) == [[0x7B1DCDAF] * 3]
    # Cut in four, E2 falls into the last bin, 6E into the second, 06 into the first.
    first, second, third, last = signatures_of([{0: 0.75}], bins=4, elements=4)[0]
    assert [first, second, last] == [0x8009454F, 0xA1B965F4, 0x7B1DCDAF]
    assert third in (first, second, last)


def test_bins_are_of_one_size() -> None:
    assert [int(bin_of(np.uint64(upper << 32 | 0xFFFFFFFF), 3)) for upper in (0, 0x55555555, 0x55555556)] == [0, 0, 1]
    assert int(bin_of(np.uint64(2**64 - 1), 3)) == 2


def test_whole_weights_are_not_rounded() -> None:
    for key in (0, 1, 2**64 - 1):
        assert count_elements(np.uint64(key), 0.25, 1000) == 250
        assert count_elements(np.uint64(key), 0.0, 1000) == 0
        assert count_elements(np.uint64(key), 1.0, 1000) == 1000


def test_a_remainder_counts_where_the_upper_half_of_the_key_makes_it_whole() -> None:
    half = np.uint64(0x80000000_00000000)
    assert count_elements(half, 0.625, 4) == 3  # 2.5, and a half
    assert count_elements(half, 0.5625, 4) == 2  # 2.25
    assert count_elements(np.uint64(0x7FFFFFFF_FFFFFFFF), 0.625, 4) == 2
    assert count_elements(np.uint64(0), 0.9999, 4) == 3


def test_a_weight_is_from_nought_to_one() -> None:
    assert count_elements(np.uint64(0), 7.5, 1000) == 1000
    assert count_elements(np.uint64(2**64 - 1), -7.5, 1000) == 0


# --- laws ----------------------------------------------------------------------------------------


def test_remainders_round_to_their_worth_on_average() -> None:
    counts = [count_elements(np.uint64(mix(np.uint64(k + 1))), 0.0003, 1000) for k in range(20_000)]
    assert np.mean(counts) == pytest.approx(0.3, abs=4 * math.sqrt(0.3 * 0.7 / 20_000))


@settings(deadline=None)
@given(KEYS, WEIGHTS, WEIGHTS)
def test_more_weight_is_never_fewer_elements(key: int, a: float, b: float) -> None:
    low, high = sorted([a, b])
    assert count_elements(np.uint64(key), low, 1000) <= count_elements(np.uint64(key), high, 1000)


@settings(deadline=None)
@given(st.dictionaries(KEYS, WEIGHTS, max_size=8), st.randoms(use_true_random=False))
def test_equal_bags_have_equal_signatures_whatever_the_order_of_terms(bag: dict[int, float], random: Random) -> None:
    shuffled = list(bag.items())
    random.shuffle(shuffled)
    a, b = signatures_of([bag, dict(shuffled)], 16, 50)
    assert a == b


def test_an_empty_bag_has_the_empty_signature_and_no_other_bag_has_it_anywhere() -> None:
    nothing, weightless, light, full = Columns.of([{}, {1: 0.0}, {2**64 - 1: 0.001}, {2: 1.0}]).signed(64, 1000)
    assert (nothing == EMPTY).all() and (weightless == EMPTY).all()
    assert (light != EMPTY).all() and (full != EMPTY).all()


def test_an_element_whose_lower_half_is_all_ones_is_not_taken_for_none() -> None:
    assert signatures_of([{key_of(0x12345678_FFFFFFFF): 1.0}], bins=2, elements=1) == [[0xFFFFFFFE] * 2]


def test_the_one_element_that_is_not_seen_leaves_the_others_as_they_are() -> None:
    unseen, seen = key_of(2**64 - 1), key_of(0x12345678_00000007)
    assert signatures_of([{unseen: 1.0}, {unseen: 1.0, seen: 1.0}], bins=2, elements=1) == [[EMPTY] * 2, [7, 7]]


@given(
    # Weights that sum to more than one, too: then elements are taken in several turns.
    st.lists(st.dictionaries(KEYS, WEIGHTS, max_size=6), max_size=4),
    st.integers(1, 40),
    st.integers(0, 40),
)
def test_signatures_are_those_of_the_reference(bags: list[dict[int, float]], bins: int, elements: int) -> None:
    assert signatures_of(bags, bins, elements) == [reference.signature(bag, bins, elements) for bag in bags]


def test_elements_find_room_however_much_the_weights_sum_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of bounds a kernel writes wherever it may be; run as plain Python, it fails."""
    compiled: Any = minhash
    for name in ("mix", "count_elements", "bin_of", "_update_minima", "_write_signature"):
        monkeypatch.setattr(minhash, name, getattr(compiled, name).py_func)
    random = Random(12)
    bags = [{random.getrandbits(64): random.choice([0.0, 0.2, 0.4, 1.0]) for _ in range(12)} for _ in range(40)]
    columns, found = Columns.of(bags), np.zeros((40, 3), np.uint32)
    terms = np.arange(len(columns.keys), dtype=np.uint32)
    with np.errstate(over="ignore"):
        compiled.sign.py_func(columns.offsets, terms, columns.weights, columns.keys, 5, found)
    assert found.tolist() == [reference.signature(bag, 3, 5) for bag in bags]


@given(KEYS, WEIGHTS, st.integers(0, 2000))
def test_elements_are_as_many_as_in_the_reference(key: int, weight: float, elements: int) -> None:
    assert count_elements(np.uint64(key), weight, elements) == reference.count(key, weight, elements)


@given(KEYS, st.integers(1, 2000))
def test_bins_are_those_of_the_reference(value: int, bins: int) -> None:
    assert int(bin_of(np.uint64(value), bins)) == reference.bin_of(value, bins)


# --- values have 32 good bits --------------------------------------------------------------------


@pytest.fixture(scope="module")
def unrelated() -> UInt32s:
    """The signatures of 20,000 bags without a common term."""
    random = np.random.default_rng(32)
    count, terms = 20_000, 4
    keys = random.permutation(np.arange(count * terms, dtype=np.uint64))  # numbers that follow each other
    weights = random.dirichlet(np.ones(terms), count).astype(np.float32).ravel()
    return Columns(np.arange(count + 1) * terms, weights, keys).signed(80, elements_for(80), start=1)


def test_unrelated_bags_agree_as_seldom_as_random_numbers(unrelated: UInt32s) -> None:
    count, bins = unrelated.shape
    agreeing = sum(count - len(np.unique(unrelated[:, i])) for i in range(bins))
    expected = bins * count * (count - 1) / 2 / 2**32  # 3.7; with 22 bits it would be 3,800
    assert agreeing <= expected + 4 * math.sqrt(expected)


def test_every_bit_of_a_value_is_even_and_no_two_go_together(unrelated: UInt32s) -> None:
    bits = (unrelated[:, 0][:, None] >> np.arange(32, dtype=np.uint32)) & np.uint32(1)
    signs = 1.0 - 2.0 * bits
    together = np.abs(signs.T @ signs - len(signs) * np.eye(32))
    bound = 5 * math.sqrt(len(signs))  # of 528 sums of random signs, hardly one in a thousand times
    assert np.abs(signs.sum(axis=0)).max() <= bound
    assert together.max() <= bound


# --- agreement estimates Jaccard -----------------------------------------------------------------

BINS = 80
PAIRS_A_SHAPE = 40
SEEDS = 40
SHAPES = ["heavy", "tiny", "middling", "skewed", "equal weights", "nested", "nearly identical"]


def _bag(keys: UInt64s, weights: NDArray[Any]) -> dict[int, float]:
    normal = (weights / weights.sum()).astype(np.float32)
    return dict(zip(keys.tolist(), normal.tolist(), strict=True))


def pair_of(shape: str, random: np.random.Generator) -> tuple[dict[int, float], dict[int, float]]:
    """Two bags that overlap, of keys that no other pair has."""
    sizes = {"heavy": 5, "tiny": 4000, "middling": 150, "skewed": 400}
    size = sizes.get(shape, 200)
    keys = random.integers(0, 2**63, 2 * size).astype(np.uint64)
    weights = random.random(size) + 0.01
    if shape == "equal weights":
        shift = int(random.integers(0, size))
        return _bag(keys[:size], np.ones(size)), _bag(keys[shift : shift + size], np.ones(size))
    if shape == "nested":
        inner = int(random.integers(1, size))
        return _bag(keys[:inner], weights[:inner]), _bag(keys[:size], weights)
    if shape == "disjoint":
        return _bag(keys[:size], weights), _bag(keys[size:], random.random(size) + 0.01)
    if shape == "identical":
        return _bag(keys[:size], weights), _bag(keys[:size], weights)
    if shape == "nearly identical":
        return _bag(keys[:size], weights), _bag(keys[:size], weights * (1 + random.random(size) / 10))
    shift = int(random.integers(0, max(2, size // 2)))
    power = 4.0 if shape == "skewed" else 1.0
    a, b = random.random((2, size)) ** power + 0.0001
    return _bag(keys[:size], a), _bag(keys[shift : shift + size], b)


def agreements(pairs: Sequence[tuple[reference.Bag, reference.Bag]], bins: int, seeds: int) -> NDArray[np.float64]:
    """The agreement of every pair (columns) under every seed (rows)."""
    columns = Columns.of([bag for pair in pairs for bag in pair])
    starts = np.random.default_rng(2005).integers(1, 2**63, seeds).tolist()
    signed = [columns.signed(bins, elements_for(bins), start) for start in starts]
    return np.array([(rows[::2] == rows[1::2]).mean(axis=1) for rows in signed])


@dataclass
class Estimates:
    """Of the pairs of a shape: by how much agreement is off, under many seeds, and what theory says of it."""

    errors: NDArray[np.float64]
    variance: NDArray[np.float64]
    jaccard: NDArray[np.float64]


@pytest.fixture(scope="module")
def estimates() -> dict[str, Estimates]:
    random = np.random.default_rng(2002)
    result = {}
    for shape in SHAPES:
        pairs = [pair_of(shape, random) for _ in range(PAIRS_A_SHAPE)]
        exact = np.array([similarity.jaccard(a, b) for a, b in pairs])
        theory = np.array([reference.variance(a, b, elements_for(BINS), BINS) for a, b in pairs])
        result[shape] = Estimates(agreements(pairs, BINS, SEEDS) - exact, theory, exact)
    return result


@pytest.mark.parametrize("shape", SHAPES)
def test_the_agreement_of_signatures_is_bag_jaccard_without_bias(shape: str, estimates: dict[str, Estimates]) -> None:
    rows = estimates[shape]
    assert abs(rows.errors.mean()) <= 4 * math.sqrt(rows.variance.mean() / rows.errors.size)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_agreement_of_signatures_errs_as_theory_predicts(shape: str, estimates: dict[str, Estimates]) -> None:
    rows = estimates[shape]
    # 1,600 squares of which each varies by sqrt(2) of its mean or so: 4 standard errors of their mean are 14 %.
    assert (rows.errors**2).mean() == pytest.approx(rows.variance.mean(), rel=0.14)


def test_the_agreement_of_signatures_errs_no_more_than_that_of_many_hash_functions(
    estimates: dict[str, Estimates],
) -> None:
    squares = np.concatenate([estimates[shape].errors ** 2 for shape in SHAPES], axis=1)
    exact = np.concatenate([estimates[shape].jaccard for shape in SHAPES])
    assert squares.mean() <= (exact * (1 - exact)).mean() / BINS


@pytest.mark.parametrize(("bins", "elements"), [(7, 200), (80, 480), (1024, 6144)])
def test_signatures_of_every_length_are_without_bias(bins: int, elements: int) -> None:
    a, b = {1: 0.5, 2: 0.5}, {2: 0.25, 3: 0.75}  # 1/4 over 7/4
    assert elements_for(bins) == elements
    found = agreements([(a, b)], bins, 500)
    assert found.mean() == pytest.approx(1 / 7, abs=4 * math.sqrt(1 / 7 * 6 / 7 / bins / 500))


def test_disjoint_bags_never_agree_and_identical_ones_always() -> None:
    random = np.random.default_rng(1997)
    for shape, expected in (("disjoint", 0.0), ("identical", 1.0)):
        assert (agreements([pair_of(shape, random) for _ in range(40)], BINS, 5) == expected).all()


def test_bins_that_borrow_are_without_bias() -> None:
    """Ten elements in forty bins: three bins in four borrow."""
    shared, own, other = (dict.fromkeys(range(k, k + 5), 0.1) for k in (0, 5, 10))
    pairs = Columns.of([{**shared, **own}, {**shared, **other}])
    starts = np.random.default_rng(2017).integers(1, 2**63, 4000).tolist()
    found = [np.mean(np.equal(*pairs.signed(40, 10, start))) for start in starts]
    # 5 elements of 15; what a whole signature borrows goes together, so each counts as the draw of one element.
    assert np.mean(found) == pytest.approx(1 / 3, abs=4 * math.sqrt(2 / 9 / 4000))
