"""Min-hash signatures of weighted bags, at one hash an element.

A bag is seen as a set of elements (term, 1), (term, 2), ... : as many of a term as its weight is worth. A remainder
counts as one more for a share of the terms that is fixed by the term, so that bags round alike.

An element is hashed once, to 64 bits. The upper half says in which of m bins it falls and how it ranks there; the
least of a bin wins, and its lower half is what the signature keeps of it. Two bags share the winner of a bin with a
probability that is their bag Jaccard J (Li, Owen, Zhang: One Permutation Hashing, 2012). No element wins twice, so
the error of the estimate is a little less than the sqrt(J (1 - J) / m) of m hash functions, for an m-th of the work.
A bin without elements borrows the winner of another bin; where it asks depends on nothing but the bin
(Shrivastava: Optimal Densification, 2017).

Most terms have no element or one, and a loop over so few is a gamble for the processor. So the loop over terms has
none: the elements of all terms are a sum of steps, each GOLDEN but where a term begins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Int64s, Integer, UInt32s, UInt64s

EMPTY = np.uint32(0xFFFFFFFF)  # the signature of an empty bag, which agrees with none
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the step of splitmix64
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_NOBODY = np.uint64(0xFFFFFFFFFFFFFFFF)  # in a bin; an element with this hash, one of 2^64, is not seen
_HALF = np.uint64(32)  # bits of a hash


@kernel
def mix(value: np.uint64) -> np.uint64:
    """The finaliser of splitmix64: every bit of the result depends on every bit of the value."""
    value = (value ^ (value >> np.uint64(30))) * _MIX_1
    value = (value ^ (value >> np.uint64(27))) * _MIX_2
    return value ^ (value >> np.uint64(31))


@kernel
def mix_all(values: UInt64s) -> UInt64s:
    """All values mixed."""
    mixed = np.empty_like(values)
    for k in range(len(values)):
        mixed[k] = mix(values[k])
    return mixed


@kernel
def elements_of(key: np.uint64, weight: float, elements: int) -> int:
    """How many of `elements` a term of this weight has; the upper half of its key decides over the remainder."""
    exact = np.int64(weight * (elements * 4294967296.0))  # whole numbers are exact on every machine
    count = int(exact + np.int64(key >> _HALF)) >> 32
    return max(0, min(count, elements))


@kernel
def bin_of(value: np.uint64, bins: Integer) -> np.uint64:
    """The bin in which a hash falls: its upper half, spread over the bins."""
    return ((value >> _HALF) * np.uint64(bins)) >> _HALF


@kernel
def sign(
    offsets: Int64s,
    term: UInt32s,
    weight: NDArray[np.float32],
    keys: UInt64s,
    elements: int,
    signatures: UInt32s,
) -> None:
    """The signatures of all bags, one row a bag. The bits of keys must be even already."""
    least = np.empty(signatures.shape[1], np.uint64)
    room = 2 * elements  # a bag whose weights sum to more than one fills it several times
    steps = np.full(room + 1, GOLDEN, np.uint64)
    for bag in range(len(offsets) - 1):
        least[:] = _NOBODY
        count = 0
        last = np.uint64(0)
        terms, weights = term[offsets[bag] : offsets[bag + 1]], weight[offsets[bag] : offsets[bag + 1]]
        for k in range(len(terms)):
            key = keys[terms[k]]
            more = elements_of(key, weights[k], elements)
            if count + more > room:
                _compete(steps, count, least)
                count, last = 0, np.uint64(0)
            # Unsigned, an index is not looked at whether it counts from the end. If this term has no elements, the
            # next one overwrites its step.
            steps[np.uint64(count)] = key + GOLDEN - last
            last = key + np.uint64(more) * GOLDEN if more > 0 else last
            count += more
        _compete(steps, count, least)
        _write_down(least, signatures[bag])


@kernel
def _compete(steps: UInt64s, count: int, least: UInt64s) -> None:
    """Let the elements that the steps lead to compete in their bins, and make all steps GOLDEN again."""
    place = np.uint64(0)
    for i in range(count):
        place += steps[i]
        steps[i] = place
    for i in range(count):  # a loop of its own can be done several elements at a time
        steps[i] = mix(steps[i])
    for i in range(count):
        value = steps[i]
        steps[i] = GOLDEN
        b = bin_of(value, len(least))
        least[b] = min(least[b], value)
    steps[count] = GOLDEN


@kernel
def _write_down(least: UInt64s, signature: UInt32s) -> None:
    """The lower halves of the winners, those of empty bins borrowed."""
    bins = len(least)
    won = 0
    for i in range(bins):
        won += least[i] != _NOBODY
    for i in range(bins):
        value = least[i]
        asked = np.uint64(i) << _HALF
        while value == _NOBODY and won > 0:
            asked += np.uint64(1)
            value = least[bin_of(mix(asked), bins)]
        # No bag with elements may look like an empty one.
        signature[i] = min(np.uint32(value), EMPTY - np.uint32(1)) if won > 0 else EMPTY
