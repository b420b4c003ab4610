"""Min-hash signatures of weighted bags (paper, section 4)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.fnv import hash_spans
from pagekin.kernels.minhash import GOLDEN, mix_all, sign
from pagekin.model.arrays import Strings, UInt32s, UInt64s
from pagekin.model.bags import Bags

_ELEMENTS_PER_HASH = 6  # leaves one bin of 400 empty; more do not improve the estimate
_MIN_ELEMENTS = 200  # with fewer, a bag of many light terms could be left with none
_CITING = np.uint64(0x6B696E)  # a separate seed, so that citing nodes and words do not collide


def elements_for(length: int) -> int:
    """The number of elements that a bag is expanded to for a signature of this length."""
    return max(_MIN_ELEMENTS, _ELEMENTS_PER_HASH * length)


def keys_of(names: Strings, terms: NDArray[np.integer[Any]]) -> UInt64s:
    """The hash keys of terms: the hash of the name for a word, a mix of the number for a citing node."""
    named = terms < len(names)
    word = terms[named].astype(np.int64)
    node = (terms[~named] - len(names)).astype(np.uint64)
    keys = np.empty(len(terms), np.uint64)
    keys[named] = hash_spans(names.data, names.offsets[word], names.offsets[word + 1])
    keys[~named] = mix_all(_CITING + (node + np.uint64(1)) * GOLDEN)
    return keys


def term_keys(names: Strings, nodes: int) -> UInt64s:
    """The keys of all terms: the names, then `nodes` citing nodes."""
    return keys_of(names, np.arange(len(names) + nodes))


def seeded(keys: UInt64s, seed: int) -> UInt64s:
    """Keys combined with a seed; the same on every machine."""
    return mix_all(keys + mix_all(np.array([seed], np.uint64)))


def make_signatures(bags: Bags, keys: UInt64s, length: int) -> UInt32s:
    """One row of `length` min-hashes for each bag, from seeded keys of its terms."""
    signatures = np.empty((len(bags), length), np.uint32)
    sign(bags.offsets, bags.term, bags.weight, keys, elements_for(length), signatures)
    return signatures
