"""Which words stand where: spans of a text and the words in it, both in the order of the text."""

from __future__ import annotations

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Int64s


@kernel
def first_words(starts: Int64s, places: Int64s) -> Int64s:
    """For every place the first word that begins there or later; the places ascend."""
    found = np.empty(len(places), np.int64)
    word = 0
    for k in range(len(places)):
        while word < len(starts) and starts[word] < places[k]:
            word += 1
        found[k] = word
    return found


@kernel
def touched_words(starts: Int64s, ends: Int64s, span_starts: Int64s, span_ends: Int64s) -> tuple[Int64s, Int64s]:
    """The words that each span overlaps, from one and up to another; none for a span of nothing.

    The starts of the spans ascend. Spans may overlap, but one that is long makes its own words be walked only.
    """
    first = np.empty(len(span_starts), np.int64)
    last = np.empty(len(span_starts), np.int64)
    word = 0
    for k in range(len(span_starts)):
        while word < len(ends) and ends[word] <= span_starts[k]:
            word += 1
        first[k] = word
        after = word
        if span_ends[k] > span_starts[k]:
            while after < len(starts) and starts[after] < span_ends[k]:
                after += 1
        last[k] = after
    return first, last
