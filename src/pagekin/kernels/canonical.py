"""Text -> its canonical form for comparison: lower case, white space collapsed, no bullets or numberings.

A table (`duplicates/chunks.py`) maps each character to another character, SPACE, LINE or NOTHING. A text may come in
pieces; three flags carry the state from one piece to the next.
"""

import numpy as np

from pagekin.kernels.bits import copy_plain
from pagekin.kernels.characters import decode_multibyte, encode_character, peek, poke
from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.model.arrays import Bytes, Int64s, UInt32s

NOTHING, LINE, SPACE = 0, 10, 32  # values of the table: dropped, end of a line, white space
AT_LINE_START, STARTED, SPACE_DUE = 1, 2, 4
MOST_NUMBERING = 32  # bytes of the longest numbering


@kernel
def canonical(text: Bytes, table: UInt32s, flags: int) -> tuple[Bytes, int]:
    """The canonical form of a piece of UTF-8, and the flags for the next piece. The first piece has AT_LINE_START.

    A piece must end at the end of a line, or have more than MOST_NUMBERING bytes of its last line.
    """
    out = np.empty(max_canonical_size(len(text)), np.uint8)
    plain = fold_bytes(text, table)
    n, flags = fold(text, plain, 0, len(text), table, flags, out, 0)
    return out[:n], flags


@kernel
def canonical_blocks(
    text: Bytes, begins: Int64s, block_offsets: Int64s, block_starts: UInt32s, excluded: Bytes, table: UInt32s, gap: int
) -> tuple[Bytes, Int64s, Int64s]:
    """The canonical forms of texts without their excluded blocks, each after a gap of zeros; their starts and stops.

    Text t is text[begins[t]:begins[t + 1]]; its blocks begin at block_starts[block_offsets[t]:block_offsets[t + 1]] in
    it. A text without blocks, or with all of its blocks excluded, is taken as a whole.
    """
    count = len(begins) - 1
    out = np.zeros(max_canonical_size(len(text)) + count * gap, np.uint8)
    starts, stops, plain = np.empty(count, np.int64), np.empty(count, np.int64), fold_bytes(text, table)
    n = 0
    for t in range(count):
        for i in range(gap):
            out[n + i] = 0
        n += gap
        starts[t] = n
        first, last, end = block_offsets[t], block_offsets[t + 1], begins[t + 1]
        flags = AT_LINE_START
        for k in range(first, last):
            if not excluded[k]:
                begin = min(begins[t] + block_starts[k], end)
                stop = min(begins[t] + block_starts[k + 1], end) if k + 1 < last else end
                n, flags = fold(text, plain, begin, stop, table, flags, out, n)
        if n == starts[t]:
            n, flags = fold(text, plain, begins[t], end, table, AT_LINE_START, out, n)
        stops[t] = n
    return out[:n], starts, stops


@inlined
def max_canonical_size(size: int) -> int:
    """An upper bound on the bytes of a canonical form: Ⱥ, of two bytes, becomes ⱥ, of three."""
    return size // 2 * 3 + 8


@kernel
def fold_bytes(text: Bytes, table: UInt32s) -> Bytes:
    """The canonical form of every byte that has one of its own; 0 for line breaks, and for all that is not ASCII."""
    plain, folded = np.empty(len(text), np.uint8), np.zeros(256, np.uint8)
    for byte in range(128):
        if SPACE <= table[byte] < 128:
            folded[byte] = table[byte]
    for i in range(len(text)):
        plain[i] = folded[text[i]]
    return plain


@inner
def fold(
    text: Bytes, plain: Bytes, start: int, end: int, table: UInt32s, flags: int, out: Bytes, n: int
) -> tuple[int, int]:
    """Write the canonical form of text[start:end] to out[n:]; its end in `out`, and the flags for what follows.

    `plain` are the canonical forms of single bytes.
    """
    at_line_start, started, space_due = flags & AT_LINE_START != 0, flags & STARTED != 0, flags & SPACE_DUE != 0
    i = start
    while i < end:
        point, size = int(peek(text, i)), 1
        if point >= 0x80:  # most bytes are ASCII; a call for each of them would dominate the time
            point, size = decode_multibyte(text, i, end)
        folded = int(table[point]) if point < len(table) else point
        if folded > SPACE:
            if at_line_start:
                skipped = numbering_length(text, i, end)
                if skipped:
                    i += skipped
                    continue
                at_line_start = False
            if space_due:
                poke(out, n, SPACE)
                n += 1
                space_due = False
            started = True
            n = encode_character(folded, out, n)
            i, n = copy_plain(plain, i + size, end, out, n)
            continue
        elif folded != NOTHING:
            space_due = started
            at_line_start = at_line_start or folded == LINE
        i += size
    return n, at_line_start * AT_LINE_START | started * STARTED | space_due * SPACE_DUE


@inner
def numbering_length(text: Bytes, start: int, stop: int) -> int:
    """The bytes of the bullet or numbering at text[start:stop]; 0 if there is none, or no text after it on its line.

    A numbering has parts separated by dots: up to three digits, and at most one letter or Roman number below forty.
    To differ from a quantity such as "1.5" and from a word, it must end with a dot or a bracket, have three parts, or
    have a dot and a letter.
    """
    end = min(stop, start + MOST_NUMBERING)
    i = start
    if i < end and (peek(text, i) == 42 or peek(text, i) == 43):  # * or +, followed by a blank
        return 1 if has_text_after(text, i + 1, stop) else 0
    i += i < end and (peek(text, i) == 40 or peek(text, i) == 91)  # ( or [
    dots = letters = 0
    closed = False
    while i < end and not closed:
        size, is_letter = numbering_part(text, i, end)
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
    is_numbering = closed or (i > start and peek(text, i - 1) == 46) or dots >= 2 or (dots == 1 and letters == 1)
    return i - start if is_numbering and has_text_after(text, i, stop) else 0


@inner
def numbering_part(text: Bytes, start: int, end: int) -> tuple[int, bool]:
    """The bytes of the numbering part at text[start:end], and whether it consists of letters."""
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
    """Whether blanks follow at `place`, and then other text on the same line."""
    i = place
    while i < stop and (peek(text, i) == 32 or peek(text, i) == 9):
        i += 1
    return place < i < stop and peek(text, i) != 10 and peek(text, i) != 13
