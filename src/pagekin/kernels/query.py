"""A whole question in one call: agreements counted, candidates narrowed down, the most promising compared exactly.

Each step is a kernel of its own; but calling several of them from Python takes as long as what they do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.candidates import narrow
from pagekin.kernels.compile import kernel
from pagekin.kernels.postings import collide
from pagekin.kernels.similarity import minima
from pagekin.model.arrays import Int64s, UInt32s, Unsigned


class CandidateLimits(NamedTuple):
    """How closely candidates are looked at; see `query/desks.py`."""

    room: int
    most: int
    slack: float
    trust: float


@kernel
def compare(
    signature: Unsigned,
    but: Int64s,
    wanted: int,
    care: CandidateLimits,
    signatures: Unsigned,
    postings: Unsigned,
    buckets: Unsigned,
    shift: int,
    asked: NDArray[np.float32],
    offsets: Int64s,
    term: UInt32s,
    weight: NDArray[np.float32],
    head_term: UInt32s,
    head_weight: NDArray[np.float32],
    counts: Int64s,
    touched: Int64s,
) -> tuple[NDArray[np.float64], Int64s]:
    """The similarities of the most promising nodes, and these nodes; the best first.

    `counts` must be zero, and is so again afterwards.
    """
    found = collide(signature, signatures, postings, buckets, shift, counts, touched)
    for k in range(len(but)):
        counts[but[k]] = 0
    nodes = touched[:found]
    agreements = np.empty(found, np.int64)
    for k in range(found):
        agreements[k] = min(counts[nodes[k]], len(signature))  # more, if a damaged file names a page twice
        counts[nodes[k]] = 0
    chosen = narrow(
        nodes,
        agreements,
        wanted,
        care.room,
        care.most,
        care.slack,
        len(signature),
        asked,
        head_term,
        head_weight,
        care.trust,
    )
    similar = np.empty(len(chosen), np.float64)
    minima(asked, offsets, term, weight, chosen, similar)
    for k in range(len(chosen)):
        similar[k] = np.rint(similar[k] / (2.0 - similar[k]) * 1e9) / 1e9  # bags sum to one
    order = np.argsort(-similar, kind="mergesort")  # stable: nodes of one similarity stay in their order
    return similar[order], chosen[order]
