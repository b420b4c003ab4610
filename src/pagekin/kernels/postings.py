"""The inverted index I of the signatures H: for each coordinate, the pages sorted by their value.

Values are hashes and uniformly distributed, so a bucket table over their leading bits gives the range to search. The
postings do not repeat the values, which are in H. All numbers are of one type, with 16 or 32 bits.
"""

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Int64s, Integer, Unsigned


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
