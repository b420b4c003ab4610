"""Spans of an array: searched, copied, mapped, counted, matched with the words of a text, and hrefs as lines."""

import numpy as np

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Array, Bytes, Int64s, Strings, UInt32s, offsets_of

_LINE, _HASH = 10, 35


@inlined
def lower_bound(array: Array, first: int, last: int, value: float) -> int:
    """The first index from `first` to `last`, in a sorted array, whose value is not smaller than `value`."""
    while first < last:
        middle = (first + last) // 2
        if array[middle] < value:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def permute(values: Array, order: Int64s) -> None:
    """Put values[order[k]] at index k, in place."""
    before = values.copy()
    for k in range(len(order)):
        values[k] = before[order[k]]


@kernel
def copy_spans(source: Array, starts: Int64s, lengths: Int64s, target: Array, places: Int64s) -> None:
    """For every k: target[places[k] : ...] = source[starts[k] : starts[k] + lengths[k]]."""
    for k in range(len(starts)):
        start, place = starts[k], places[k]
        for i in range(lengths[k]):
            target[place + i] = source[start + i]


def strings_of(data: Bytes, starts: Int64s, ends: Int64s) -> Strings:
    """The spans data[starts[k]:ends[k]] as strings."""
    offsets = offsets_of(ends - starts)
    strings = Strings(offsets, np.empty(offsets[-1], np.uint8))
    copy_spans(data, starts, ends - starts, strings.data, offsets[:-1])
    return strings


@kernel
def map_spans(source: Array, starts: Int64s, lengths: Int64s, table: Array, target: Array, places: Int64s) -> None:
    """As `copy_spans`, with each value v copied as table[v]; a value beyond the table is copied unchanged."""
    for k in range(len(starts)):
        start, place = starts[k], places[k]
        for i in range(lengths[k]):
            value = source[start + i]
            target[place + i] = table[value] if value < len(table) else value


@kernel
def count_values(source: Array, starts: Int64s, lengths: Int64s, counts: Int64s) -> None:
    """Add one to counts[v] for every value v in the spans; values beyond `counts` are ignored."""
    for k in range(len(starts)):
        start = starts[k]
        for i in range(lengths[k]):
            value = source[start + i]
            if value < len(counts):
                counts[value] += 1


@kernel
def count_rows(offsets: Int64s, values: UInt32s, count: int) -> Int64s:
    """For each number below `count`, how many rows have it; row k is values[offsets[k]:offsets[k + 1]]."""
    rows = np.zeros(count, np.int64)
    last = np.full(count, -1)
    for row in range(len(offsets) - 1):
        for k in range(offsets[row], offsets[row + 1]):
            value = values[k]
            if last[value] != row:
                last[value] = row
                rows[value] += 1
    return rows


@kernel
def relative_positions(positions: Int64s, bounds: Int64s, begins: Int64s) -> UInt32s:
    """Each position minus the beginning of its row, where row k is positions[bounds[k]:bounds[k + 1]]."""
    relative = np.empty(len(positions), np.uint32)
    for k in range(len(begins)):
        for i in range(bounds[k], bounds[k + 1]):
            relative[i] = positions[i] - begins[k]
    return relative


@kernel
def overlapping_words(starts: Int64s, ends: Int64s, span_starts: Int64s, span_ends: Int64s) -> tuple[Int64s, Int64s]:
    """The words first[k] to last[k] that overlap each span; no word overlaps an empty span.

    The starts of the spans ascend; spans may overlap. The time is linear in the words and the lengths of the spans.
    """
    first, last = np.empty(len(span_starts), np.int64), np.empty(len(span_starts), np.int64)
    word = 0
    for k in range(len(span_starts)):
        while word < len(ends) and ends[word] <= span_starts[k]:
            word += 1
        first[k] = after = word
        if span_ends[k] > span_starts[k]:
            while after < len(starts) and starts[after] < span_ends[k]:
                after += 1
        last[k] = after
    return first, last


@kernel
def ends_without_fragments(lines: Bytes, begins: Int64s) -> Int64s:
    """The end of each href without its fragment.

    White space before `#` is part of the URL, but would be stripped at the end of one. Such an href, which is rare,
    keeps its fragment.
    """
    ends = np.empty(len(begins) - 1, np.int64)
    for k in range(len(ends)):
        begin, end = begins[k], begins[k + 1] - 1
        i = begin
        while i < end and lines[i] != _HASH:
            i += 1
        ends[k] = i if i == begin or lines[i - 1] > 32 else end
    return ends


@kernel
def list_hrefs(data: Bytes, starts: Int64s, ends: Int64s) -> tuple[Bytes, Int64s]:
    """The spans of `data` as lines: (the lines, the beginning of each and the end of the last).

    White space around an href, and tabs and line breaks inside it, have no meaning and are removed.
    """
    lines = np.empty(np.sum(ends - starts) + len(starts), np.uint8)
    begins = np.empty(len(starts) + 1, np.int64)
    n = 0
    for k in range(len(starts)):
        begins[k] = n
        i, end = starts[k], ends[k]
        while i < end and data[i] <= 32:
            i += 1
        while end > i and data[end - 1] <= 32:
            end -= 1
        while i < end:
            byte = data[i]
            if byte != 9 and byte != 10 and byte != 13:
                lines[n] = byte
                n += 1
            i += 1
        lines[n] = _LINE
        n += 1
    begins[len(starts)] = n
    return lines[:n].copy(), begins
