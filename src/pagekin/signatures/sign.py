"""Bags -> signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.fnv import hash_spans
from pagekin.kernels.minhash import GOLDEN, mix_all, sign
from pagekin.model.arrays import UInt32s, UInt64s
from pagekin.model.bags import Bags
from pagekin.model.strings import Strings

ELEMENTS_A_HASH = 6  # of a bag; then one bin of 400 is empty, and more do not make the estimate better
FEWEST_ELEMENTS = 200  # or a bag of many light terms could be left with none
_CITING = np.uint64(0x6B696E)  # a seed of its own, so that nodes and words do not meet


def elements_for(length: int) -> int:
    """How many elements a bag is worth that gets a signature of this length."""
    return max(FEWEST_ELEMENTS, ELEMENTS_A_HASH * length)


def keys_of(names: Strings, terms: NDArray[np.integer[Any]]) -> UInt64s:
    """What terms are to the hash function: the hash of a name; of a citing node, one made from its number."""
    named = terms < len(names)
    word = terms[named].astype(np.int64)
    node = (terms[~named] - len(names)).astype(np.uint64)
    keys = np.empty(len(terms), np.uint64)
    keys[named] = hash_spans(names.data, names.offsets[word], names.offsets[word + 1])
    keys[~named] = mix_all(_CITING + (node + np.uint64(1)) * GOLDEN)
    return keys


def term_keys(names: Strings, nodes: int) -> UInt64s:
    """The keys of all terms: of names, and of as many citing nodes."""
    return keys_of(names, np.arange(len(names) + nodes))


def seeded(keys: UInt64s, seed: int) -> UInt64s:
    """Keys under a seed; the same seed gives the same on every machine."""
    return mix_all(keys + mix_all(np.array([seed], np.uint64)))


def make_signatures(bags: Bags, keys: UInt64s, length: int) -> UInt32s:
    """One row of `length` min-hashes a bag, by seeded keys of its terms."""
    signatures = np.empty((len(bags), length), np.uint32)
    sign(bags.offsets, bags.term, bags.weight, keys, elements_for(length), signatures)
    return signatures
