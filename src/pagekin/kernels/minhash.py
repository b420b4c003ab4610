"""Min-hash signatures of weighted bags.

A bag is seen as a set of elements (term, 1), (term, 2), ... : as many of a term as its weight is worth. Two bags then
share a minimum with a probability that is their bag Jaccard. The elements number a thousand a bag; a
remainder counts as one more for a share of the terms that is fixed by the term, so that bags round alike.

Beware: the least of a thousand 32-bit hashes has only 22 bits that differ. What is stored is another hash of
the element that had the least one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.arrays import Int64s, UInt32s, UInt64s
from pagekin.kernels.compile import kernel

EMPTY = np.uint32(0xFFFFFFFF)  # the signature of an empty bag, which agrees with none
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@kernel
def mix(value: np.uint64) -> np.uint64:
    """The finaliser of splitmix64: every bit of the result depends on every bit of the value."""
    value = (value ^ (value >> np.uint64(30))) * _MIX_1
    value = (value ^ (value >> np.uint64(27))) * _MIX_2
    return value ^ (value >> np.uint64(31))


@kernel
def elements_of(key: np.uint64, weight: float, elements: int) -> int:
    """How many elements a term of this weight has."""
    exact = weight * elements
    whole = int(exact)
    chance = np.float64(mix(key) >> np.uint64(11)) / 9007199254740992.0
    return whole + (1 if exact - whole > chance else 0)


@kernel
def sign(
    offsets: Int64s,
    term: UInt32s,
    weight: NDArray[np.float32],
    keys: UInt64s,
    multipliers: UInt32s,
    addends: UInt32s,
    elements: int,
    signatures: UInt32s,
) -> None:
    """The signatures of all bags: one row a bag, one value a hash function (multiplier, addend)."""
    m = len(multipliers)
    least = np.empty(m, np.uint32)
    whose = np.empty(m, np.uint32)
    for bag in range(len(offsets) - 1):
        least[:] = EMPTY
        whose[:] = EMPTY
        empty = True
        for k in range(offsets[bag], offsets[bag + 1]):
            key = keys[term[k]]
            for j in range(elements_of(key, weight[k], elements)):
                first = empty
                empty = False
                element = mix(key + np.uint64(j + 1) * _GOLDEN)
                low = np.uint32(element)
                name = np.uint32(element >> np.uint64(32))
                for i in range(m):
                    value = np.uint32(np.uint32(multipliers[i] * low) + addends[i])
                    smaller = first or value < least[i]
                    least[i] = value if smaller else least[i]
                    whose[i] = name if smaller else whose[i]
        for i in range(m):
            # No bag with elements may look like an empty one.
            signatures[bag, i] = EMPTY if empty else min(whose[i], np.uint32(0xFFFFFFFE))
