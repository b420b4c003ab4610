"""A query against the inverted index I of the signatures H, and against bags.

For each coordinate of H, I has the pages sorted by their value. Values are hashes and uniformly distributed, so a
bucket table over their leading bits gives the range to search. The postings do not repeat the values, which are in H.
All numbers are of one type, with 16 or 32 bits.

The bag of the query is a dense vector: `query` has a weight for every term. Other bags list their heaviest terms first,
so the head of a bag has most of its weight.
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Float32s, Floats, Int64s, Integer, UInt32s, Unsigned


class CandidateLimits(NamedTuple):
    """How many candidates are examined; `search/scorer.py` has the values."""

    room: int  # candidates that are compared exactly
    most: int  # candidates whose heads are compared
    slack: float  # standard deviations by which a page may agree less often than the last one wanted
    trust: float  # in the estimate of the weight shared outside the heads


@kernel
def fill_buckets(values: Unsigned, shift: int, buckets: Unsigned) -> None:
    """For sorted values: buckets[b] is the index of the first value whose leading bits are at least b."""
    index = 0
    for b in range(len(buckets) - 1):
        while index < len(values) and (np.uint64(values[index]) >> np.uint64(shift)) < np.uint64(b):
            index += 1
        buckets[b] = index
    buckets[len(buckets) - 1] = len(values)


@kernel
def lower_bound(
    value: Integer, j: int, first: Integer, last: Integer, signatures: Unsigned, postings: Unsigned
) -> Integer:
    """The first index, from `first` to `last`, in the postings of coordinate j whose page has at least this value."""
    while first < last:
        middle = (first + last) // 2
        page = postings[j, middle]
        if page < len(signatures) and signatures[page, j] < value:  # else the file is damaged
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def collide(
    signature: Unsigned,
    signatures: Unsigned,
    postings: Unsigned,
    buckets: Unsigned,
    shift: int,
    counts: Int64s,
    touched: Int64s,
) -> int:
    """Count for every page the coordinates in which it agrees with `signature` (paper, figure 11).

    `counts` must be zero. The pages with a count are listed in `touched`; their number is returned.
    """
    found = 0
    for j in range(len(signature)):
        value = np.int64(signature[j])  # numba would compute with floats if signed and unsigned numbers were mixed
        bucket = value >> shift
        last = np.int64(buckets[j, bucket + 1])
        begin = lower_bound(value, j, np.int64(buckets[j, bucket]), last, signatures, postings)
        end = lower_bound(value + 1, j, begin, last, signatures, postings)
        for k in range(begin, end):
            page = postings[j, k]
            if page < len(signatures):
                if counts[page] == 0:
                    touched[found] = page
                    found += 1
                counts[page] += 1
    return found


@kernel
def sum_minima(query: Float32s, term: UInt32s, weight: Float32s) -> float:
    """The sum of the minima of the weights of the query and of one bag."""
    a = b = c = d = 0.0  # four sums: an addition need not wait for the one before
    last = len(term) - len(term) % 4
    for i in range(0, last, 4):
        a += minimum(query, term, weight, i)
        b += minimum(query, term, weight, i + 1)
        c += minimum(query, term, weight, i + 2)
        d += minimum(query, term, weight, i + 3)
    for i in range(last, len(term)):
        a += minimum(query, term, weight, i)
    return (a + b) + (c + d)


@inlined
def minimum(query: Float32s, term: UInt32s, weight: Float32s, i: Integer) -> float:
    if term[i] >= len(query):  # the file is damaged
        return 0.0
    a, b = np.float64(query[term[i]]), np.float64(weight[i])
    return float(a if a < b else b)


@kernel
def minima(query: Float32s, offsets: Int64s, term: UInt32s, weight: Float32s, nodes: Int64s, shared: Floats) -> None:
    """For the bag of each node, the sum of the minima of the weights."""
    for k in range(len(nodes)):
        begin, end = offsets[nodes[k]], offsets[nodes[k] + 1]
        shared[k] = sum_minima(query, term[begin:end], weight[begin:end])


@kernel
def weigh_products(
    query: Floats,
    offsets: Int64s,
    term: UInt32s,
    count: UInt32s,
    nodes: Int64s,
    rise: Floats,
    scale: Floats,
    base: Floats,
    slope: float,
    shared: Floats,
) -> None:
    """For the bag of each node, the sum of query * (scale * (rise / (base + slope * rise))) over its counted terms.

    `query` has a weight for every word. `rise` is indexed by count (larger counts use its last value), `scale` and
    `base` are indexed by node.
    """
    usual = np.zeros(min(len(rise), 16))  # by count: most words occur a few times, and division is slow
    for k in range(len(nodes)):
        total = 0.0
        node = nodes[k]
        if node < len(scale):
            for n in range(1, len(usual)):
                usual[n] = scale[node] * (rise[n] / (base[node] + slope * rise[n]))
            for i in range(offsets[node], offsets[node + 1]):
                if term[i] < len(query):  # else it is not a word
                    if count[i] < len(usual):
                        total += query[term[i]] * usual[count[i]]
                    else:
                        risen = rise[min(count[i], len(rise) - 1)]
                        total += query[term[i]] * (scale[node] * (risen / (base[node] + slope * risen)))
        shared[k] = total


@kernel
def products(
    query: Float32s, offsets: Int64s, term: UInt32s, weight: Float32s, nodes: Int64s, shared: Floats, squares: Floats
) -> None:
    """For the bag of each node, the dot product with the query, and the sum of the squares of its own weights."""
    for k in range(len(nodes)):
        total = square = 0.0
        for i in range(offsets[nodes[k]], offsets[nodes[k] + 1]):
            own = np.float64(weight[i])
            if term[i] < len(query):
                total += np.float64(query[term[i]]) * own
            square += own * own
        shared[k] = total
        squares[k] = square


@kernel
def min_agreement(counts: Int64s, wanted: int, limits: CandidateLimits) -> int:
    """The number of agreeing coordinates that makes a page a candidate; counts[a] pages agree in a coordinates.

    The number of agreements is a sample: if its mean is `a`, its standard deviation is at most sqrt(a). So a page may
    agree less often than the last page wanted, by `slack` standard deviations; unless this admits more than `most`
    pages, not counting those that agree as often as the last one wanted.
    """
    pages = 0
    last = len(counts) - 1
    while last > 1 and pages + counts[last] < wanted:
        pages += counts[last]
        last -= 1
    pages += counts[last] if last > 0 else 0
    lowest = max(1, int(np.ceil(last - limits.slack * np.sqrt(last))))
    threshold = last
    while threshold > lowest and pages + counts[threshold - 1] <= limits.most:
        threshold -= 1
        pages += counts[threshold]
    return max(1, threshold)


@kernel
def estimate_shared(agreement: float, query: Float32s, term: UInt32s, weight: Float32s, trust: float) -> float:
    """An estimate of the weight that a bag shares with the query: exact for its head, which is given.

    For the other terms it is the estimate by the signatures, J = agreement, scaled by `trust`.
    """
    head = 0.0
    for i in range(len(weight)):
        head += weight[i]
    return sum_minima(query, term, weight) + trust * (2.0 * agreement / (1.0 + agreement)) * (1.0 - head)


@kernel
def select_candidates(
    nodes: Int64s,
    agreements: Int64s,
    wanted: int,
    limits: CandidateLimits,
    coordinates: int,
    query: Float32s,
    head_term: UInt32s,
    head_weight: Float32s,
) -> Int64s:
    """The `limits.room` nodes with the largest estimates, in ascending order; ties go to the first node."""
    counts = np.zeros(coordinates + 1, np.int64)
    for k in range(len(nodes)):
        counts[agreements[k]] += 1
    counts[0] = 0
    threshold = min_agreement(counts, wanted, limits) if counts.sum() > limits.room else 1
    likely, n = np.empty(len(nodes), np.int64), 0
    scores = np.empty(len(nodes), np.float64)
    for k in range(len(nodes)):
        if agreements[k] >= threshold:
            likely[n], scores[n] = nodes[k], agreements[k] / coordinates
            n += 1
    if n <= limits.room:
        return np.sort(likely[:n])
    for k in range(n):
        node = likely[k]
        shared = estimate_shared(scores[k], query, head_term[node], head_weight[node], limits.trust)
        scores[k] = 0.0 if np.isnan(shared) else shared  # the file is damaged
    last = nth_smallest(scores[:n].copy(), n - limits.room)
    chosen, better = np.empty(limits.room, np.int64), 0
    ties, equal = np.empty(n, np.int64), 0
    for k in range(n):
        if scores[k] > last:
            chosen[better] = likely[k]
            better += 1
        elif scores[k] == last:
            ties[equal] = likely[k]
            equal += 1
    ties = np.sort(ties[:equal])
    for k in range(better, limits.room):
        chosen[k] = ties[k - better]
    return np.sort(chosen)


@kernel
def nth_smallest(values: Floats, n: int) -> float:
    """The value that would be values[n] if they were sorted, by Hoare's selection; `values` are reordered.

    `np.partition` takes ten seconds to compile.
    """
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if n <= j:
            high = j
        elif n >= i:
            low = i
        else:
            break
    return float(values[n])


@kernel
def largest_of_rows(values: Floats, number: UInt32s, ends: Int64s, most: int) -> Int64s:
    """The places of the largest values above 0 of each row, the largest first, equal ones in order of their numbers.

    Row k is values[ends[k] : ends[k + 1]]. If it has fewer, its last places are -1.
    """
    places = np.full((len(ends) - 1, most), -1, np.int64)
    for row in range(len(places)):
        for i in range(ends[row], ends[row + 1]):
            k = most if values[i] > 0.0 else 0
            while k > 0:
                other = places[row, k - 1]
                worse = other < 0 or values[other] < values[i]
                if not worse and (values[other] != values[i] or number[other] < number[i]):
                    break
                if k < most:
                    places[row, k] = other
                k -= 1
                places[row, k] = i
    return places
