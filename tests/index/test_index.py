"""Bags -> signatures: keys of terms, seeds, lengths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.builders import term_keys
from pagekin.index.index import (
    elements_for,
    invert_coordinates,
    keys_of,
    make_signatures,
    members_of,
    seeded,
)
from pagekin.kernels.fnv import fnv_of
from pagekin.model.arrays import Strings, UInt32s
from pagekin.model.bags import Bags
from reference import minhash as reference

CITING = 0x6B696E
NAMES = ["tea", "tee", "", "a", "thé"]


def bags_of(rows: Sequence[dict[int, float]]) -> Bags:
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    terms = np.array([term for row in rows for term in sorted(row)], np.uint32)
    weights = np.array([row[term] for row in rows for term in sorted(row)], np.float32)
    return Bags(offsets, terms, weights, np.zeros(len(terms), np.uint32), weights)


def agreements(signatures: UInt32s) -> list[float]:
    """Of every two rows."""
    return [float(np.mean(a == b)) for a, b in combinations(signatures, 2)]


# --- keys ----------------------------------------------------------------------------------------


def test_the_key_of_a_word_is_the_hash_of_its_name() -> None:
    assert term_keys(Strings.of(NAMES), 0).tolist() == [fnv_of(name.encode()) for name in NAMES]


def test_the_keys_of_citing_nodes_are_the_numbers_of_splitmix64() -> None:
    expected = [reference.mix((CITING + (node + 1) * reference.GOLDEN) % 2**64) for node in range(50)]
    assert term_keys(Strings.of(["tea"]), 50)[1:].tolist() == expected


def test_a_name_has_the_same_key_in_every_collection() -> None:
    assert term_keys(Strings.of(["tea", "pot"]), 3)[1] == term_keys(Strings.of(["pot"]), 0)[0]


@given(st.lists(st.integers(0, len(NAMES) + 19), max_size=12))
def test_keys_of_some_terms_are_those_that_they_have_among_all(terms: list[int]) -> None:
    names = Strings.of(NAMES)
    every = term_keys(names, 20)
    assert keys_of(names, np.array(terms, np.uint32)).tolist() == every[terms].tolist()


# --- signatures ----------------------------------------------------------------------------------


def test_words_and_citing_nodes_that_differ_never_agree() -> None:
    keys = term_keys(Strings.of(["tea", "tee", "a", "b"]), 4)
    signatures = make_signatures(bags_of([{k: 1.0} for k in range(8)]), seeded(keys, 2002), 200)
    assert agreements(signatures) == [0.0] * 28


def test_a_bag_is_signed_alike_however_its_terms_are_numbered() -> None:
    names = Strings.of(NAMES)
    bag = {0: 0.5, 3: 0.25, 6: 0.25}  # the last is a citing node
    among_all = make_signatures(bags_of([bag]), seeded(term_keys(names, 9), 2002), 80)
    alone = bags_of([dict(enumerate(bag.values()))])
    assert (make_signatures(alone, seeded(keys_of(names, np.array(list(bag))), 2002), 80) == among_all).all()


def test_signatures_are_made_of_the_key_and_the_seed_by_mixing() -> None:
    weights = {7: 0.375, 8: 0.625}
    keys = np.array([7, 8], np.uint64)
    bag = {reference.mix((key + reference.mix(2002)) % 2**64): weight for key, weight in weights.items()}
    found = make_signatures(bags_of([{0: 0.375, 1: 0.625}]), seeded(keys, 2002), 80)
    assert found.tolist() == [reference.signature(bag, 80, elements_for(80))]


def test_the_seed_decides_the_signature() -> None:
    keys = term_keys(Strings.of(NAMES), 0)
    bags = bags_of([dict.fromkeys(range(5), 0.2)])
    seeds = [0, 1, 2, 2002, 2**63 - 1]
    signatures = [make_signatures(bags, seeded(keys, seed), 80)[0] for seed in seeds]
    assert agreements(np.array(signatures)) == [0.0] * 10
    assert (make_signatures(bags, seeded(keys, 2002), 80)[0] == signatures[3]).all()


@pytest.mark.parametrize("length", [1, 80, 1024])
def test_no_bag_with_weights_is_taken_for_an_empty_one(length: int) -> None:
    """However many terms share its weight, elements are left."""
    keys = term_keys(Strings.of([]), 20_000)
    even = dict.fromkeys(range(20000), 1 / 20000)
    signatures = make_signatures(bags_of([even, {}]), seeded(keys, 2002), length)
    assert (signatures[0] != reference.EMPTY).all() and (signatures[1] == reference.EMPTY).all()


@given(st.integers(1, 7), st.integers(0, 40))
def test_groups_of_coordinates_make_one_inverted_index(size: int, nodes: int) -> None:
    """A signature of largest numbers is that of an empty bag."""
    signatures = np.random.default_rng(nodes).integers(0, 2**16 - 1, (nodes, 7)).astype(np.uint16)
    signatures[::5] = 2**16 - 1
    members = members_of(signatures, np.arange(nodes))
    assert members.tolist() == [node for node in range(nodes) if node % 5]
    groups = [range(first, min(first + size, 7)) for first in range(0, 7, size)]
    parts = [invert_coordinates(signatures, members, group) for group in groups]
    postings, buckets = (np.concatenate([getattr(part, name) for part in parts]) for name in ("postings", "buckets"))
    assert buckets[:, -1].tolist() == [len(members)] * 7
    for row, column in zip(postings.tolist(), signatures.T.tolist(), strict=True):
        assert row == sorted(members.tolist(), key=lambda node: (column[node], node))
