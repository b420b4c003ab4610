"""Hrefs of pages as lines of text."""

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Bytes, Int64s

_LINE, _HASH = 10, 35


@kernel
def ends_without_fragments(lines: Bytes, begins: Int64s) -> Int64s:
    """The end of each href without its fragment.

    White space before `#` is part of the URL, but would be stripped at the end of one. Such an href, which is rare,
    keeps its fragment.
    """
    ends = np.empty(len(begins) - 1, np.int64)
    for k in range(len(ends)):
        begin = begins[k]
        end = begins[k + 1] - 1
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
    total = 0
    for k in range(len(starts)):
        total += ends[k] - starts[k] + 1
    lines = np.empty(total, np.uint8)
    begins = np.empty(len(starts) + 1, np.int64)
    n = 0
    for k in range(len(starts)):
        begins[k] = n
        i = starts[k]
        end = ends[k]
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
