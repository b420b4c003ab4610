"""H -> I."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pagekin.arrays import Int64s, UInt32s
from pagekin.kernels.minhash import EMPTY
from pagekin.kernels.postings import fill_buckets

_VALUE_BITS = 32
_POSTINGS_A_BUCKET = 8


@dataclass(frozen=True)
class Inverted:
    """Pages by coordinate and value; see `kernels/postings.py`."""

    postings: UInt32s
    buckets: UInt32s

    @property
    def shift(self) -> int:
        """By how many bits a value is shifted to find its bucket."""
        return _VALUE_BITS - int(self.buckets.shape[1] - 2).bit_length()


def invert(signatures: UInt32s, members: Int64s) -> Inverted:
    """The index over the signatures of `members`, without those of empty bags."""
    members = members[signatures[members, 0] != EMPTY] if len(members) else members
    bits = max(1, (len(members) // _POSTINGS_A_BUCKET).bit_length())
    length = signatures.shape[1]
    postings = np.empty((length, len(members)), np.uint32)
    buckets = np.empty((length, (1 << bits) + 1), np.uint32)
    for j in range(length):
        values = signatures[members, j]
        order = np.argsort(values, kind="stable")
        postings[j] = members[order]
        fill_buckets(values[order], _VALUE_BITS - bits, buckets[j])
    return Inverted(postings, buckets)
