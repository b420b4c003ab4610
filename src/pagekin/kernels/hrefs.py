"""Hrefs as pages have them -> a list that can be kept: one a line."""

from __future__ import annotations

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Bytes, Int64s

_LINE, _HASH = 10, 35


@kernel
def without_fragments(lines: Bytes, begins: Int64s) -> Int64s:
    """Where each href of the list ends, if its fragment does not count.

    White space before the `#` belongs to the URL, but at the end of one it would mean nothing: such an href, which
    is rare, keeps its fragment.
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
    """The spans of `data`, each on a line of its own: (the lines, where each begins, and their end).

    White space around an href, and tabs and line breaks inside it, mean nothing and are left out.
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
