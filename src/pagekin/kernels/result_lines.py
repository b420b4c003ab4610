"""Lines of text for rows of results: names, ranks and similarities.

The line of a result is: the begin of its query, the begin of its page, the rank, the middle of its page, the
similarity with six places, the end of its query, and the end of its page. Each may be empty.
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.characters import peek, poke
from pagekin.kernels.compile import inlined, kernel
from pagekin.kernels.page_rows import ScoredRows
from pagekin.model.arrays import Bytes, Int64s

_ZERO, _POINT, _NEWLINE = 48, 46, 10
_NUMBERS = 32  # bytes that a rank and a similarity take at most, with the end of the line
_UNIT = 1_000_000
_SPLIT = 134217729.0  # 2 ** 27 + 1


class PackedStrings(NamedTuple):
    """Strings as their concatenated bytes: number k is data[offsets[k]:offsets[k + 1]]."""

    offsets: Int64s
    data: Bytes


class LineParts(NamedTuple):
    """What lines are made of, for every query and for every page that is a result."""

    query_begin: PackedStrings
    query_end: PackedStrings
    page_begin: PackedStrings
    page_middle: PackedStrings
    page_end: PackedStrings


@kernel
def result_lines(rows: ScoredRows, parts: LineParts) -> Bytes:
    """The lines of rows of results, whose similarities are from 0 to 1; row k is that of query k."""
    room = 0
    for k in range(len(rows.offsets) - 1):
        room += (rows.offsets[k + 1] - rows.offsets[k]) * (
            _NUMBERS + _length(parts.query_begin, k) + _length(parts.query_end, k)
        )
        for i in range(rows.offsets[k], rows.offsets[k + 1]):
            page = rows.node[i]
            room += _length(parts.page_begin, page) + _length(parts.page_middle, page) + _length(parts.page_end, page)
    lines, end = np.empty(room, np.uint8), 0
    for k in range(len(rows.offsets) - 1):
        for i in range(rows.offsets[k], rows.offsets[k + 1]):
            page = rows.node[i]
            end = _put(parts.query_begin, k, lines, end)
            end = _put(parts.page_begin, page, lines, end)
            end = _put_number(i - rows.offsets[k] + 1, 1, lines, end)
            end = _put(parts.page_middle, page, lines, end)
            millionths = rounded_millionths(rows.score[i])
            end = _put_number(millionths // _UNIT, 1, lines, end)
            poke(lines, end, _POINT)
            end = _put_number(millionths % _UNIT, 6, lines, end + 1)
            end = _put(parts.query_end, k, lines, end)
            end = _put(parts.page_end, page, lines, end)
            poke(lines, end, _NEWLINE)
            end += 1
    return lines[:end]


@kernel
def rounded_millionths(value: float) -> int:
    """A number from 0 to 1 in units of 10 ** -6, rounded to the nearest even one, as when it is formatted.

    The product with 10 ** 6 is computed exactly, in two parts, since it may be rounded to the middle of two units.
    """
    below = np.floor(value * _UNIT)
    high = value * _SPLIT - (value * _SPLIT - value)
    above_middle = (high * _UNIT - (below + 0.5)) + (value - high) * _UNIT
    unit = np.int64(below)
    if above_middle > 0.0 or (above_middle == 0.0 and unit & 1):
        unit += 1
    return unit  # type: ignore[return-value]


@inlined
def _length(strings: PackedStrings, k: int) -> int:
    return strings.offsets[k + 1] - strings.offsets[k]  # type: ignore[no-any-return]


@inlined
def _put(strings: PackedStrings, k: int, lines: Bytes, end: int) -> int:
    """Write a string; return the end of what is written."""
    first = strings.offsets[k]
    length = strings.offsets[k + 1] - first
    for i in range(length):
        poke(lines, end + i, peek(strings.data, first + i))
    return end + length  # type: ignore[no-any-return]


@inlined
def _put_number(number: int, digits: int, lines: Bytes, end: int) -> int:
    """Write a number with at least so many digits; return the end of what is written."""
    width, rest = 1, number // 10
    while rest > 0 or width < digits:
        width, rest = width + 1, rest // 10
    for place in range(end + width - 1, end - 1, -1):
        poke(lines, place, _ZERO + number % 10)
        number //= 10
    return end + width
