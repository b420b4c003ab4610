"""Spans of an array: copied, mapped, counted, and matched with the words of a text."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Int64s, UInt32s


@kernel
def copy_spans(source: NDArray[Any], starts: Int64s, lengths: Int64s, target: NDArray[Any], places: Int64s) -> None:
    """For every k: target[places[k] : ...] = source[starts[k] : starts[k] + lengths[k]]."""
    for k in range(len(starts)):
        start = starts[k]
        place = places[k]
        for i in range(lengths[k]):
            target[place + i] = source[start + i]


@kernel
def map_spans(
    source: NDArray[Any], starts: Int64s, lengths: Int64s, table: NDArray[Any], target: NDArray[Any], places: Int64s
) -> None:
    """As `copy_spans`, with each value v copied as table[v]; a value beyond the table is copied unchanged."""
    for k in range(len(starts)):
        start = starts[k]
        place = places[k]
        for i in range(lengths[k]):
            value = source[start + i]
            target[place + i] = table[value] if value < len(table) else value


@kernel
def count_values(source: NDArray[Any], starts: Int64s, lengths: Int64s, counts: Int64s) -> None:
    """Add one to counts[v] for every value v in the spans; values beyond `counts` are ignored."""
    for k in range(len(starts)):
        start = starts[k]
        for i in range(lengths[k]):
            value = source[start + i]
            if value < len(counts):
                counts[value] += 1


@kernel
def relative_positions(positions: Int64s, bounds: Int64s, begins: Int64s) -> UInt32s:
    """Each position minus the beginning of its row, where row k is positions[bounds[k]:bounds[k + 1]]."""
    relative = np.empty(len(positions), np.uint32)
    for k in range(len(begins)):
        for i in range(bounds[k], bounds[k + 1]):
            relative[i] = positions[i] - begins[k]
    return relative


@kernel
def first_words(starts: Int64s, positions: Int64s) -> Int64s:
    """For every position the first word that begins there or later. Positions ascend."""
    found = np.empty(len(positions), np.int64)
    word = 0
    for k in range(len(positions)):
        while word < len(starts) and starts[word] < positions[k]:
            word += 1
        found[k] = word
    return found


@kernel
def overlapping_words(starts: Int64s, ends: Int64s, span_starts: Int64s, span_ends: Int64s) -> tuple[Int64s, Int64s]:
    """The words first[k] to last[k] that overlap each span; no word overlaps an empty span.

    The starts of the spans ascend; spans may overlap. The time is linear in the words and the lengths of the spans.
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
