"""A whole query in one call: count collisions, select candidates, compare the most promising ones exactly.

Each step is a kernel of its own, but calling several kernels from Python takes as long as their work.
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.kernels.postings import collide
from pagekin.kernels.similarity import minima, sum_minima
from pagekin.model.arrays import Float32s, Floats, Int64s, UInt32s, Unsigned


class CandidateLimits(NamedTuple):
    """How many candidates are examined; `search/scorer.py` has the values."""

    room: int  # candidates that are compared exactly
    most: int  # candidates whose heads are compared
    slack: float  # standard deviations by which a page may agree less often than the last one wanted
    trust: float  # in the estimate of the weight shared outside the heads


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
    likely = nodes[agreements >= threshold]
    if len(likely) <= limits.room:
        return np.sort(likely)
    scores = np.empty(len(likely), np.float64)
    n = 0
    for k in range(len(nodes)):
        if agreements[k] >= threshold:
            node, agreement = nodes[k], agreements[k] / coordinates
            scores[n] = estimate_shared(agreement, query, head_term[node], head_weight[node], limits.trust)
            n += 1
    last = np.partition(scores, n - limits.room)[n - limits.room]
    better = likely[scores > last]
    equal = np.sort(likely[scores == last])
    return np.sort(np.concatenate((better, equal[: limits.room - len(better)])))


@kernel
def compare(
    signature: Unsigned,
    excluded: Int64s,
    wanted: int,
    limits: CandidateLimits,
    signatures: Unsigned,
    postings: Unsigned,
    buckets: Unsigned,
    shift: int,
    query: Float32s,
    offsets: Int64s,
    term: UInt32s,
    weight: Float32s,
    head_term: UInt32s,
    head_weight: Float32s,
    counts: Int64s,
    touched: Int64s,
) -> tuple[Floats, Int64s]:
    """The similarities of the most promising nodes, and these nodes; the most similar first.

    `counts` must be zero, and is zero again afterwards.
    """
    found = collide(signature, signatures, postings, buckets, shift, counts, touched)
    for k in range(len(excluded)):
        counts[excluded[k]] = 0
    nodes = touched[:found]
    agreements = np.empty(found, np.int64)
    for k in range(found):
        agreements[k] = min(counts[nodes[k]], len(signature))  # more, if a damaged file lists a page twice
        counts[nodes[k]] = 0
    chosen = select_candidates(nodes, agreements, wanted, limits, len(signature), query, head_term, head_weight)
    similar = np.empty(len(chosen), np.float64)
    minima(query, offsets, term, weight, chosen, similar)
    for k in range(len(chosen)):
        similar[k] = np.rint(similar[k] / (2.0 - similar[k]) * 1e9) / 1e9  # bags sum to 1
    order = np.argsort(-similar, kind="mergesort")  # stable: nodes with equal similarity stay in order
    return similar[order], chosen[order]
