"""From the pages that agree anywhere to the few that are worth an exact comparison."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.kernels.similarity import sum_minima
from pagekin.model.arrays import Int64s, UInt32s


@kernel
def enough_agreement(counts: Int64s, wanted: int, slack: float, most: int) -> int:
    """How often a page must agree to be a candidate, for agreements that occur counts[0], counts[1], ... times.

    Agreements are a sample: one whose mean is `a` varies by the square root of `a`, or less. So a page may agree less
    often than the last one wanted by `slack` times that; but not where this lets in more than `most` pages, unless
    so many are wanted or agree equally often.
    """
    pages = 0
    last = len(counts) - 1
    while last > 1 and pages + counts[last] < wanted:
        pages += counts[last]
        last -= 1
    pages += counts[last] if last > 0 else 0
    least = max(1, int(np.ceil(last - slack * np.sqrt(last))))
    enough = last
    while enough > least and pages + counts[enough - 1] <= most:
        enough -= 1
        pages += counts[enough]
    return max(1, enough)


@kernel
def promise(
    agreement: float, asked: NDArray[np.float32], term: UInt32s, weight: NDArray[np.float32], trust: float
) -> float:
    """What a bag may share with the one asked for: its head, which is given, exactly; of the rest, by a guess.

    The guess is what the agreement of the signatures says, of which only a part can be trusted.
    """
    size = 0.0
    for i in range(len(weight)):
        size += weight[i]
    return sum_minima(asked, term, weight) + trust * (2.0 * agreement / (1.0 + agreement)) * (1.0 - size)


@kernel
def narrow(
    nodes: Int64s,
    agreements: Int64s,
    wanted: int,
    room: int,
    most: int,
    slack: float,
    coordinates: int,
    asked: NDArray[np.float32],
    head_term: UInt32s,
    head_weight: NDArray[np.float32],
    trust: float,
) -> Int64s:
    """The `room` most promising nodes, in order; of those that promise the same, the first. All, if there is room."""
    counts = np.zeros(coordinates + 1, np.int64)
    for k in range(len(nodes)):
        counts[agreements[k]] += 1
    counts[0] = 0
    enough = enough_agreement(counts, wanted, slack, most) if counts.sum() > room else 1
    likely = nodes[agreements >= enough]
    if len(likely) <= room:
        return np.sort(likely)
    scores = np.empty(len(likely), np.float64)
    n = 0
    for k in range(len(nodes)):
        if agreements[k] >= enough:
            node = nodes[k]
            scores[n] = promise(agreements[k] / coordinates, asked, head_term[node], head_weight[node], trust)
            n += 1
    last = np.partition(scores, n - room)[n - room]
    better = likely[scores > last]
    equal = np.sort(likely[scores == last])
    return np.sort(np.concatenate((better, equal[: room - len(better)])))
