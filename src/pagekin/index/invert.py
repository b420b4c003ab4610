"""Signatures (H) become an inverted index (I): for each coordinate and each value, the pages that have it."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pagekin.model.arrays import Int64s, UInt32s, Unsigned

ValueType: TypeAlias = type[np.unsignedinteger[Any]]

_POSTINGS_PER_BUCKET = 8  # at least, and less than twice as many
_MAX_SHORT = 1 << 16


@dataclass(frozen=True)
class Inverted:
    """The pages of each coordinate sorted by value, and where values with the same leading bits begin.

    Both arrays have the type of the values.
    """

    postings: Unsigned  # coordinates x pages
    buckets: Unsigned  # coordinates x (buckets + 1)

    @property
    def shift(self) -> int:
        """The number of bits by which a value is shifted right to find its bucket."""
        return 8 * self.buckets.itemsize - int(self.buckets.shape[1] - 2).bit_length()


def value_type(nodes: int) -> ValueType:
    """The type of signature values and node numbers for this many nodes: 16 bits if they suffice, else 32.

    Two 16-bit values agree by chance once in 65,536: with fewer nodes than that, a value has less than one false match.

    >>> value_type(65_535).__name__, value_type(65_536).__name__
    ('uint16', 'uint32')
    """
    return np.uint16 if nodes < _MAX_SHORT else np.uint32


def truncate(signatures: UInt32s, kind: ValueType) -> Unsigned:
    """Signatures reduced to the leading bits of their values; the largest number still marks an empty bag.

    >>> truncate(np.array([0x12345678, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32), np.uint16).tolist()
    [4660, 65534, 65535]
    """
    if signatures.dtype == kind:
        return signatures
    most = np.iinfo(kind).max
    leading: Unsigned = np.minimum(signatures >> np.uint32(32 - np.iinfo(kind).bits), most - 1).astype(kind)
    leading[signatures == np.iinfo(signatures.dtype).max] = most
    return leading


def invert(signatures: Unsigned, members: Int64s) -> Inverted:
    """The inverted index over the signatures of `members`, without those of empty bags."""
    from pagekin.kernels.query import fill_buckets  # loads the compiler, which answers do without

    kind = signatures.dtype
    members = members[signatures[members, 0] != np.iinfo(kind).max] if len(members) else members
    bits = max(1, (len(members) // _POSTINGS_PER_BUCKET).bit_length() - 1)
    length = signatures.shape[1]
    postings = np.empty((length, len(members)), kind)
    buckets = np.empty((length, (1 << bits) + 1), kind)
    for j in range(length):
        values = signatures[members, j]
        order = np.argsort(values, kind="stable")
        postings[j] = members[order]
        fill_buckets(values[order], 8 * kind.itemsize - bits, buckets[j])
    return Inverted(postings, buckets)
