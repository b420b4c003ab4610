"""Text -> the form in which texts are compared: lower case, one space where any stood, no bullets and numberings.

What becomes of a character is in a table (`duplicates/canonical.py`): another character, SPACE, LINE or NOTHING. Text
may come in pieces; what one piece must tell the next is in three flags.
"""

from __future__ import annotations

import numpy as np

from pagekin.kernels.bits import peek, poke
from pagekin.kernels.compile import kernel
from pagekin.kernels.inline import inlined, inner
from pagekin.kernels.words import character
from pagekin.model.arrays import Bytes, Int64s, UInt32s

NOTHING, LINE, SPACE = 0, 10, 32  # as in the table: no character, the end of a line, white space and what folds to it
AT_LINE_START, STARTED, SPACE_DUE = 1, 2, 4
MOST_NUMBERING = 32  # bytes that a numbering has at most


@kernel
def canonical(text: Bytes, table: UInt32s, flags: int) -> tuple[Bytes, int]:
    """A piece of UTF-8 in canonical form, and the flags for the next piece. The first piece has AT_LINE_START.

    A piece must end with a line or have more than MOST_NUMBERING bytes of the next.
    """
    out = np.empty(room_for(len(text)), np.uint8)
    n, flags = fold(text, 0, len(text), table, flags, out, 0)
    return out[:n], flags


@kernel
def canonical_blocks(
    text: Bytes,
    begins: Int64s,
    block_offsets: Int64s,
    places: UInt32s,
    silent: Bytes,
    table: UInt32s,
    gap: int,
) -> tuple[Bytes, Int64s, Int64s]:
    """The canonical forms of texts without their silent blocks, a gap before each; where each begins and stops.

    Text t is text[begins[t]:begins[t + 1]]; its blocks begin at places[block_offsets[t]:block_offsets[t + 1]] within it
    and silence of them is told alike. A text that has no other blocks, or none at all, counts as a whole.
    """
    count = len(begins) - 1
    out = np.zeros(room_for(len(text)) + count * gap, np.uint8)
    starts, stops = np.empty(count, np.int64), np.empty(count, np.int64)
    n = 0
    for t in range(count):
        for i in range(gap):
            out[n + i] = 0
        n += gap
        starts[t] = n
        first, last, end = block_offsets[t], block_offsets[t + 1], begins[t + 1]
        flags = AT_LINE_START
        for k in range(first, last):
            if not silent[k]:
                begin = min(begins[t] + places[k], end)
                stop = min(begins[t] + places[k + 1], end) if k + 1 < last else end
                n, flags = fold(text, begin, stop, table, flags, out, n)
        if n == starts[t]:
            n, flags = fold(text, begins[t], end, table, AT_LINE_START, out, n)
        stops[t] = n
    return out[:n], starts, stops


@inlined
def room_for(size: int) -> int:
    """The bytes that so many become at most: Ⱥ of two bytes becomes ⱥ of three."""
    return size // 2 * 3 + 8


@inner
def fold(text: Bytes, start: int, end: int, table: UInt32s, flags: int, out: Bytes, n: int) -> tuple[int, int]:
    """Write text[start:end] in canonical form to out[n:]; where it ends there, and the flags for what follows."""
    at_line_start, started, space_due = flags & AT_LINE_START != 0, flags & STARTED != 0, flags & SPACE_DUE != 0
    i = start
    while i < end:
        point, size = int(peek(text, i)), 1
        if point >= 0x80:  # most are not, and a call for every byte would cost the most
            point, size = character(text, i, end)
        folded = int(table[point]) if point < len(table) else point
        if folded > SPACE:
            if at_line_start:
                skipped = numbering(text, i, end)
                if skipped:
                    i += skipped
                    continue
                at_line_start = False
            if space_due:
                poke(out, n, SPACE)
                n += 1
                space_due = False
            started = True
            if folded >= 0x80:
                n = write(out, n, folded)
            while folded < 0x80:  # the rest of a word, as far as it is ASCII
                poke(out, n, folded)
                n += 1
                point = int(peek(text, i + 1)) if i + 1 < end else 0
                folded = int(table[np.uint64(point & 0x7F)])
                if point >= 0x80 or folded <= SPACE:
                    break
                i += 1
        elif folded != NOTHING:
            space_due = started
            at_line_start = at_line_start or folded == LINE
        i += size
    return n, at_line_start * AT_LINE_START | started * STARTED | space_due * SPACE_DUE


@inner
def write(out: Bytes, n: int, point: int) -> int:
    """Write a character that is not ASCII as UTF-8; the place after it."""
    if point < 0x800:
        poke(out, n, 0xC0 | point >> 6)
        n += 1
    else:
        if point < 0x10000:
            poke(out, n, 0xE0 | point >> 12)
            n += 1
        else:
            poke(out, n, 0xF0 | point >> 18)
            poke(out, n + 1, 0x80 | (point >> 12) & 0x3F)
            n += 2
        poke(out, n, 0x80 | (point >> 6) & 0x3F)
        n += 1
    poke(out, n, 0x80 | point & 0x3F)
    return n + 1


@inner
def numbering(text: Bytes, start: int, stop: int) -> int:
    """How many bytes the bullet or numbering at text[start:stop] has; 0 if none, or if nothing follows on its line.

    A numbering has parts of up to three digits and, once, a letter or a Roman number below forty, parted by dots. To
    be told from a quantity such as "1.5" and from a word, it ends with a dot or a bracket, has three parts, or a dot
    and a letter.
    """
    end = min(stop, start + MOST_NUMBERING)
    i = start
    if i < end and (peek(text, i) == 42 or peek(text, i) == 43):  # * or +, followed by a blank
        return 1 if has_text_after(text, i + 1, stop) else 0
    i += i < end and (peek(text, i) == 40 or peek(text, i) == 91)  # ( or [
    dots = letters = 0
    closed = False
    while i < end and not closed:
        size, is_letter = part(text, i, end)
        letters += is_letter
        if size == 0 or letters > 1:
            break
        i += size
        mark = peek(text, i) if i < end else 0
        closed = mark == 41 or mark == 93  # ) or ]
        dots += mark == 46
        i += closed or mark == 46
        if mark != 46:
            break
    is_one = closed or (i > start and peek(text, i - 1) == 46) or dots >= 2 or (dots == 1 and letters == 1)
    return i - start if is_one and has_text_after(text, i, stop) else 0


@inner
def part(text: Bytes, start: int, end: int) -> tuple[int, bool]:
    """How many bytes the part of a numbering at text[start:end] has, and whether it is of letters."""
    i = start
    while i < end and 48 <= peek(text, i) <= 57:
        i += 1
    if i > start:
        return (i - start if i - start <= 3 else 0), False
    roman = True
    while i < end and 97 <= peek(text, i) | 32 <= 122:
        letter = peek(text, i) | 32
        roman = roman and (letter == 105 or letter == 118 or letter == 120)  # i, v, x
        i += 1
    return (i - start if i - start == 1 or (roman and i - start <= 5) else 0), True


@inner
def has_text_after(text: Bytes, place: int, stop: int) -> bool:
    """Whether blanks follow here, and then something else on the same line."""
    i = place
    while i < stop and (peek(text, i) == 32 or peek(text, i) == 9):
        i += 1
    return place < i < stop and peek(text, i) != 10 and peek(text, i) != 13
