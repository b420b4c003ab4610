"""Min-hash signatures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.arrays import UInt32s, UInt64s
from pagekin.kernels.minhash import EMPTY, elements_of, mix, sign
from pagekin.model.bags import Bags
from pagekin.model.strings import Strings
from pagekin.signatures.making import ELEMENTS, hash_functions, make_signatures, term_keys
from twins import minhash as twin
from twins import similarity

# What splitmix64 gives when seeded with 0 (as published): the elements of the key 0.
OF_ZERO = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
KEYS = st.integers(0, 2**64 - 1)
WEIGHTS = st.floats(0, 1, width=32)


def signatures_of(bags: Sequence[twin.Bag], functions: Sequence[tuple[int, int]], elements: int) -> UInt32s:
    """The kernel's signatures of bags of keys, whose terms are numbered in the order of the bags."""
    keys = np.array([key for bag in bags for key in bag], np.uint64)
    weights = np.array([weight for bag in bags for weight in bag.values()], np.float32)
    table = np.array(functions, np.uint32).reshape(-1, 2)
    signatures = np.zeros((len(bags), len(table)), np.uint32)
    offsets = np.cumsum([0, *map(len, bags)]).astype(np.int64)
    terms = np.arange(len(keys), dtype=np.uint32)
    sign(offsets, terms, weights, keys, table[:, 0].copy(), table[:, 1].copy(), elements, signatures)
    return signatures


def functions_of(seed: int, count: int) -> list[tuple[int, int]]:
    multipliers, addends = hash_functions(seed, count)
    return list(zip(multipliers.tolist(), addends.tolist(), strict=True))


def agreement(a: UInt32s, b: UInt32s) -> float:
    return float(np.mean(a == b))


# --- by hand -------------------------------------------------------------------------------------


def test_mixing_is_that_of_splitmix64() -> None:
    golden = 0x9E3779B97F4A7C15
    assert [int(mix(np.uint64((j + 1) * golden % 2**64))) for j in range(3)] == OF_ZERO
    assert int(mix(np.uint64(0))) == 0


def test_a_signature_names_the_elements_that_hash_least() -> None:
    # The lower halves of the three elements of key 0 are 7B1DCDAF, A1B965F4, 8009454F. As they are, the first is
    # least; 80000000 more makes them FB..., 21..., 00... (the third); 60000000 more DB..., 01..., E0... (the second).
    functions = [(1, 0), (1, 0x80000000), (1, 0x60000000)]
    three, two = signatures_of([{0: 0.75}, {0: 0.5}], functions, elements=4)
    assert three.tolist() == [0xE220A839, 0x06C45D18, 0x6E789E6A]
    assert two.tolist() == [0xE220A839, 0x6E789E6A, 0x6E789E6A]


def test_a_multiplier_turns_the_order() -> None:
    # 2^32 - 1 is -1 modulo 2^32: the greatest becomes the least.
    assert signatures_of([{0: 0.75}], [(2**32 - 1, 0)], elements=4).tolist() == [[0x6E789E6A]]


def test_whole_weights_are_not_rounded() -> None:
    assert elements_of(np.uint64(12345), 0.25, 1000) == 250
    assert elements_of(np.uint64(12345), 0.0, 1000) == 0


def test_a_remainder_counts_where_it_exceeds_the_chance_of_the_key() -> None:
    assert elements_of(np.uint64(0), 0.625, 4) == 3  # 2.5, and the chance of the key 0 is 0
    # The inverse of mixing E220... is the golden number: its chance is 0xE220... / 2^64 = 0.883.
    golden = np.uint64(0x9E3779B97F4A7C15)
    assert elements_of(golden, 0.625, 4) == 2
    assert elements_of(golden, 0.734375, 4) == 3  # 2.9375


# --- laws ----------------------------------------------------------------------------------------


def test_remainders_round_to_their_worth_on_average() -> None:
    counts = [elements_of(np.uint64(mix(np.uint64(k + 1))), 0.0003, 1000) for k in range(20_000)]
    assert np.mean(counts) == pytest.approx(0.3, abs=4 * math.sqrt(0.3 * 0.7 / 20_000))


@settings(deadline=None)
@given(KEYS, WEIGHTS, WEIGHTS)
def test_more_weight_is_never_fewer_elements(key: int, a: float, b: float) -> None:
    low, high = sorted([a, b])
    assert elements_of(np.uint64(key), low, 1000) <= elements_of(np.uint64(key), high, 1000)


@settings(deadline=None)
@given(st.dictionaries(KEYS, WEIGHTS, max_size=8), st.randoms(use_true_random=False))
def test_equal_bags_have_equal_signatures_whatever_the_order_of_terms(bag: dict[int, float], random: Random) -> None:
    shuffled = list(bag.items())
    random.shuffle(shuffled)
    a, b = signatures_of([bag, dict(shuffled)], functions_of(7, 16), 50)
    assert a.tolist() == b.tolist()


def test_an_empty_bag_has_the_empty_signature_and_no_other_bag_has_it_anywhere() -> None:
    bags: list[twin.Bag] = [{}, {1: 0.0}, {1: 0.001}, {2: 1.0}]
    signatures = signatures_of(bags, functions_of(1, 64), 1000)
    assert (signatures[:2] == EMPTY).all()
    assert (signatures[3] != EMPTY).all()
    assert ((signatures[2] != EMPTY) == (twin.count(1, float(np.float32(0.001)), 1000) > 0)).all()


def test_a_bag_of_one_element_with_the_greatest_hash_of_all_is_not_empty() -> None:
    greatest = (1, 2**32 - 1 - (OF_ZERO[0] & 0xFFFFFFFF))
    assert signatures_of([{0: 1.0}], [greatest], elements=1).tolist() == [[0xE220A839]]


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.dictionaries(KEYS, WEIGHTS, max_size=6), max_size=4),
    st.lists(st.tuples(st.integers(0, 2**31 - 1).map(lambda k: 2 * k + 1), st.integers(0, 2**32 - 1)), max_size=6),
    st.integers(0, 40),
)
def test_signatures_are_those_of_the_twin(
    bags: list[dict[int, float]], functions: list[tuple[int, int]], elements: int
) -> None:
    assert signatures_of(bags, functions, elements).tolist() == [
        twin.signature(bag, functions, elements) for bag in bags
    ]


@settings(deadline=None, max_examples=300)
@given(KEYS, WEIGHTS, st.integers(0, 2000))
def test_elements_are_as_many_as_in_the_twin(key: int, weight: float, elements: int) -> None:
    assert elements_of(np.uint64(key), weight, elements) == twin.count(key, weight, elements)


def test_hash_functions_are_bijections_and_the_seed_decides_them() -> None:
    multipliers, addends = hash_functions(5, 100)
    assert (multipliers % 2 == 1).all() and len(set(multipliers.tolist())) == len(set(addends.tolist())) == 100
    again, other = hash_functions(5, 100), hash_functions(6, 100)
    assert (again[0] == multipliers).all() and (again[1] == addends).all()
    assert (other[0] != multipliers).any() and (other[1] != addends).any()


# --- agreement estimates Jaccard -----------------------------------------------------------------

PAIRS_A_SHAPE = 40
HASHES = 400


def _bag(keys: UInt64s, weights: np.typing.NDArray[np.float64]) -> dict[int, float]:
    normal = (weights / weights.sum()).astype(np.float32)
    return dict(zip(keys.tolist(), normal.tolist(), strict=True))


def pair_of(shape: str, random: np.random.Generator) -> tuple[dict[int, float], dict[int, float]]:
    """Two bags that overlap, of keys that no other pair has."""
    sizes = {"heavy": 5, "tiny": 4000, "middling": 150, "skewed": 400}
    size = sizes.get(shape, 200)
    keys = random.integers(0, 2**63, 2 * size).astype(np.uint64)
    if shape == "equal weights":
        shift = int(random.integers(0, size))
        return _bag(keys[:size], np.ones(size)), _bag(keys[shift : shift + size], np.ones(size))
    if shape == "nested":
        inner = int(random.integers(1, size))
        weights = random.random(size) + 0.01
        return _bag(keys[:inner], weights[:inner]), _bag(keys[:size], weights)
    if shape == "disjoint":
        return _bag(keys[:size], random.random(size) + 0.01), _bag(keys[size:], random.random(size) + 0.01)
    if shape == "identical":
        bag = _bag(keys[:size], random.random(size) + 0.01)
        return bag, dict(bag)
    shift = int(random.integers(0, max(2, size // 2)))
    power = 4.0 if shape == "skewed" else 1.0
    a, b = random.random((2, size)) ** power + 0.0001
    return _bag(keys[:size], a), _bag(keys[shift : shift + size], b)


SHAPES = ["heavy", "tiny", "middling", "skewed", "equal weights", "nested", "disjoint", "identical"]


@pytest.fixture(scope="module")
def estimates() -> dict[str, list[tuple[float, float]]]:
    """For each shape (error of the agreement, variance that theory predicts) of its pairs."""
    random = np.random.default_rng(2002)
    functions = functions_of(2002, HASHES)
    result: dict[str, list[tuple[float, float]]] = {}
    for shape in SHAPES:
        pairs = [pair_of(shape, random) for _ in range(PAIRS_A_SHAPE)]
        signatures = signatures_of([bag for pair in pairs for bag in pair], functions, ELEMENTS)
        result[shape] = [
            (
                agreement(signatures[2 * k], signatures[2 * k + 1]) - similarity.jaccard(a, b),
                twin.variance(a, b, ELEMENTS, HASHES),
            )
            for k, (a, b) in enumerate(pairs)
        ]
    return result


def test_the_agreement_of_signatures_is_bag_jaccard_without_bias(
    estimates: dict[str, list[tuple[float, float]]],
) -> None:
    rows = np.array([row for shape in SHAPES for row in estimates[shape]])
    assert len(rows) >= 200
    assert abs(rows[:, 0].mean()) <= 4 * math.sqrt(rows[:, 1].sum()) / len(rows)


def test_the_agreement_of_signatures_errs_as_theory_predicts(estimates: dict[str, list[tuple[float, float]]]) -> None:
    rows = np.array([row for shape in SHAPES for row in estimates[shape]])
    assert math.sqrt((rows[:, 0] ** 2).mean()) == pytest.approx(math.sqrt(rows[:, 1].mean()), rel=0.15)


@pytest.mark.parametrize("shape", SHAPES)
def test_bags_of_every_shape_are_estimated_without_bias(
    shape: str, estimates: dict[str, list[tuple[float, float]]]
) -> None:
    rows = np.array(estimates[shape])
    assert abs(rows[:, 0].mean()) <= 4 * math.sqrt(rows[:, 1].sum()) / len(rows) + 1e-6
    # Each of 40 squares varies by sqrt(2) of its mean or so: 4 standard errors of their sum are 90 %.
    assert (rows[:, 0] ** 2).mean() <= 1.9 * rows[:, 1].mean() + 1e-6


def test_disjoint_bags_never_agree_and_identical_ones_always(
    estimates: dict[str, list[tuple[float, float]]],
) -> None:
    assert all(abs(error) < 1e-6 for shape in ("disjoint", "identical") for error, _ in estimates[shape])


def test_seeds_are_independent() -> None:
    """The mean over many seeds comes closer to Jaccard than any one signature can."""
    a, b = {1: 0.5, 2: 0.5}, {2: 0.25, 3: 0.75}  # 1/4 over 7/4
    means = []
    for seed in range(50):
        first, second = signatures_of([a, b], functions_of(seed, 100), ELEMENTS)
        means.append(agreement(first, second))
    assert np.mean(means) == pytest.approx(1 / 7, abs=4 * math.sqrt(1 / 7 * 6 / 7 / 5000))


# --- keys of terms -------------------------------------------------------------------------------


def bags_of(rows: Sequence[dict[int, float]]) -> Bags:
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    terms = np.array([term for row in rows for term in sorted(row)], np.uint32)
    weights = np.array([row[term] for row in rows for term in sorted(row)], np.float32)
    return Bags(offsets, terms, weights, weights, weights)


def test_words_that_differ_never_agree() -> None:
    keys = term_keys(Strings.of(["tea", "tee", "a", "b"]), 0)
    signatures = make_signatures(bags_of([{k: 1.0} for k in range(4)]), keys, 2002, 200)
    assert all(agreement(signatures[a], signatures[b]) == 0 for a in range(4) for b in range(a))


def test_citing_nodes_that_differ_never_agree() -> None:
    keys = term_keys(Strings.of(["tea"]), 4)
    signatures = make_signatures(bags_of([{k: 1.0} for k in range(5)]), keys, 2002, 200)
    assert [agreement(signatures[a], signatures[b]) for a in range(5) for b in range(a)] == [0.0] * 10


def test_a_name_has_the_same_key_in_every_collection() -> None:
    assert term_keys(Strings.of(["tea", "pot"]), 3)[1] == term_keys(Strings.of(["pot"]), 0)[0]
