"""Min-hash signatures of weighted bags, with one hash per element.

A bag is treated as a set of elements (term, 1), (term, 2), ..., whose number is proportional to the weight of the term.
A fractional part is rounded up or down by a hash of the term, so that all bags round a term alike.

Each element is hashed once, to 64 bits. The upper half selects one of m bins and the rank in it; the minimum of a bin
wins, and the signature keeps its lower half. Two bags share the minimum of a bin with a probability that is their bag
Jaccard J (Li, Owen, Zhang: One Permutation Hashing, 2012). No element wins twice, so the standard error is slightly
less than the sqrt(J (1 - J) / m) of m hash functions, for 1/m of the work. An empty bin borrows the minimum of another
bin, in an order that depends only on the bin (Shrivastava: Optimal Densification, 2017).

Most terms have one element or none; an inner loop over so few elements would mispredict its branch. So the elements of
all terms are computed as one cumulative sum of steps, which are GOLDEN except where a term begins.
"""

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Float32s, Int64s, Integer, UInt32s, UInt64s

EMPTY = np.uint32(0xFFFFFFFF)  # the values in the signature of an empty bag
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the step of splitmix64
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_EMPTY_BIN = np.uint64(0xFFFFFFFFFFFFFFFF)  # marks an empty bin; an element with this hash, one of 2^64, is ignored
_HALF = np.uint64(32)  # bits of a hash


@kernel
def mix(value: np.uint64) -> np.uint64:
    """The finaliser of splitmix64: every bit of the result depends on every bit of the value."""
    value = (value ^ (value >> np.uint64(30))) * _MIX_1
    value = (value ^ (value >> np.uint64(27))) * _MIX_2
    return value ^ (value >> np.uint64(31))


@kernel
def mix_all(values: UInt64s) -> UInt64s:
    mixed = np.empty_like(values)
    for k in range(len(values)):
        mixed[k] = mix(values[k])
    return mixed


@kernel
def count_elements(key: np.uint64, weight: float, elements: int) -> int:
    """The number of elements, out of `elements`, of a term; the upper half of its key decides the rounding."""
    exact = np.int64(weight * (elements * 4294967296.0))  # integer arithmetic is exact on every machine
    count = int(exact + np.int64(key >> _HALF)) >> 32
    return max(0, min(count, elements))


@kernel
def bin_of(value: np.uint64, bins: Integer) -> np.uint64:
    """The bin of a hash: its upper half, scaled to the number of bins."""
    return ((value >> _HALF) * np.uint64(bins)) >> _HALF


@kernel
def sign(offsets: Int64s, term: UInt32s, weight: Float32s, keys: UInt64s, elements: int, signatures: UInt32s) -> None:
    """The signatures of all bags, one row per bag. Keys must be uniformly distributed hashes of the terms."""
    minima = np.empty(signatures.shape[1], np.uint64)
    room = 2 * elements  # a bag whose weights sum to more than 1 fills the buffer several times
    steps = np.full(room + 1, GOLDEN, np.uint64)
    for bag in range(len(offsets) - 1):
        minima[:] = _EMPTY_BIN
        count = 0
        last = np.uint64(0)
        terms, weights = term[offsets[bag] : offsets[bag + 1]], weight[offsets[bag] : offsets[bag + 1]]
        for k in range(len(terms)):
            key = keys[terms[k]]
            more = count_elements(key, weights[k], elements)
            if count + more > room:
                _update_minima(steps, count, minima)
                count, last = 0, np.uint64(0)
            # Unsigned, so numba skips the negative-index check. If this term has no elements, the next one overwrites
            # its step.
            steps[np.uint64(count)] = key + GOLDEN - last
            last = key + np.uint64(more) * GOLDEN if more > 0 else last
            count += more
        _update_minima(steps, count, minima)
        _write_signature(minima, signatures[bag])


@kernel
def _update_minima(steps: UInt64s, count: int, minima: UInt64s) -> None:
    """Update the minima of the bins with the elements given by the steps, and reset all steps to GOLDEN."""
    place = np.uint64(0)
    for i in range(count):
        place += steps[i]
        steps[i] = place
    for i in range(count):  # a separate loop, which can be vectorised
        steps[i] = mix(steps[i])
    for i in range(count):
        value = steps[i]
        steps[i] = GOLDEN
        b = bin_of(value, len(minima))
        minima[b] = min(minima[b], value)
    steps[count] = GOLDEN


@kernel
def _write_signature(minima: UInt64s, signature: UInt32s) -> None:
    """Write the lower halves of the minima; empty bins borrow from others."""
    bins = len(minima)
    occupied = 0
    for i in range(bins):
        occupied += minima[i] != _EMPTY_BIN
    for i in range(bins):
        value = minima[i]
        probe = np.uint64(i) << _HALF
        while value == _EMPTY_BIN and occupied > 0:
            probe += np.uint64(1)
            value = minima[bin_of(mix(probe), bins)]
        # A bag with elements must not have the signature of an empty bag.
        signature[i] = min(np.uint32(value), EMPTY - np.uint32(1)) if occupied > 0 else EMPTY
