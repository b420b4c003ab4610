"""Bags -> signatures."""

from __future__ import annotations

import numpy as np

from pagekin.arrays import UInt32s, UInt64s
from pagekin.kernels.hashing import hash_spans
from pagekin.kernels.minhash import sign
from pagekin.model.bags import Bags
from pagekin.model.strings import Strings

ELEMENTS = 1000  # of a bag; the paper's constant sum
_GOLDEN = 0x9E3779B97F4A7C15
_CITING = 0x6B696E  # a seed of its own, so that nodes and words do not meet
_MASK = (1 << 64) - 1


def hash_functions(seed: int, count: int) -> tuple[UInt32s, UInt32s]:
    """Multipliers (odd) and addends of `count` hash functions; the same seed gives the same on every machine."""
    values = [_splitmix(seed, k) for k in range(2 * count)]
    multipliers = np.array([(value >> 32) | 1 for value in values[:count]], np.uint32)
    return multipliers, np.array([value >> 32 for value in values[count:]], np.uint32)


def _splitmix(seed: int, k: int) -> int:
    value = (seed + (k + 1) * _GOLDEN) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def term_keys(names: Strings, nodes: int) -> UInt64s:
    """What a term is to the hash functions: the hash of its name; for a citing node, one made from its number."""
    words = hash_spans(names.data, names.offsets[:-1], names.offsets[1:])
    citing = np.array([_splitmix(_CITING, node) for node in range(nodes)], np.uint64)
    return np.concatenate([words, citing])


def make_signatures(bags: Bags, keys: UInt64s, seed: int, length: int) -> UInt32s:
    """One row of `length` min-hashes a bag."""
    multipliers, addends = hash_functions(seed, length)
    signatures = np.empty((len(bags), length), np.uint32)
    sign(bags.offsets, bags.term, bags.weight, keys, multipliers, addends, ELEMENTS, signatures)
    return signatures
