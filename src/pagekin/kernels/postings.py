"""The inverted index I: for each coordinate of the signatures, which pages have which value.

The pages of a coordinate are sorted by value. Values are hashes and so spread evenly; a bucket table over their
leading bits says where to look. The values themselves are not stored twice: H has them. All are numbers of one kind,
of 16 or of 32 bits.
"""

from __future__ import annotations

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Int64s, Integer, Unsigned


@kernel
def fill_buckets(values: Unsigned, shift: int, buckets: Unsigned) -> None:
    """For sorted values: buckets[b] is the place of the first value whose leading bits are b or more."""
    place = 0
    for b in range(len(buckets) - 1):
        while place < len(values) and (np.uint64(values[place]) >> np.uint64(shift)) < np.uint64(b):
            place += 1
        buckets[b] = place
    buckets[len(buckets) - 1] = len(values)


@kernel
def first_not_below(
    value: Integer, j: int, first: Integer, last: Integer, signatures: Unsigned, postings: Unsigned
) -> Integer:
    """The first place from `first` to `last` in the postings of a coordinate whose page has no smaller value."""
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
    """Count for every page in how many coordinates it agrees with `signature` (paper, figure 11).

    `counts` must be zero and is left so for pages that do not agree anywhere; the pages that do are listed in
    `touched`, whose used length is returned.
    """
    found = 0
    for j in range(len(signature)):
        value = np.int64(signature[j])  # with unsigned numbers numba would reckon in floats
        bucket = value >> shift
        last = np.int64(buckets[j, bucket + 1])
        begin = first_not_below(value, j, np.int64(buckets[j, bucket]), last, signatures, postings)
        end = first_not_below(value + 1, j, begin, last, signatures, postings)
        for k in range(begin, end):
            page = postings[j, k]
            if page < len(signatures):
                if counts[page] == 0:
                    touched[found] = page
                    found += 1
                counts[page] += 1
    return found
