"""H -> I."""

from __future__ import annotations

import numpy as np

from pagekin.index.inverted import Inverted
from pagekin.kernels.postings import fill_buckets
from pagekin.model.arrays import Int64s, Unsigned

_POSTINGS_A_BUCKET = 8  # at least, and less than twice as many


def invert(signatures: Unsigned, members: Int64s) -> Inverted:
    """The index over the signatures of `members`, without those of empty bags."""
    kind = signatures.dtype
    empty = np.iinfo(kind).max
    members = members[signatures[members, 0] != empty] if len(members) else members
    bits = max(1, (len(members) // _POSTINGS_A_BUCKET).bit_length() - 1)
    length = signatures.shape[1]
    postings = np.empty((length, len(members)), kind)
    buckets = np.empty((length, (1 << bits) + 1), kind)
    for j in range(length):
        values = signatures[members, j]
        order = np.argsort(values, kind="stable")
        postings[j] = members[order]
        fill_buckets(values[order], 8 * kind.itemsize - bits, buckets[j])
    return Inverted(postings, buckets)
