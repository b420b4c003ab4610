"""Visible text -> words and sentence ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pagekin.kernels.bits import peek
from pagekin.kernels.compile import kernel
from pagekin.kernels.inline import inner
from pagekin.model.arrays import Bytes, Int64s

# What a character is to a word. `reading/letters.py` says which characters are what.
OTHER, LETTER, MARK, SPACELESS, SPACE, STOP, FULL_STOP, CLOSER = range(8)


class Words(NamedTuple):
    """Words and sentence ends of several texts laid end to end; all places are places in the whole."""

    starts: Int64s
    ends: Int64s
    first: Int64s  # the first word of each text; one more at the end
    sentences: Int64s  # a sentence ends before the word of this number
    first_sentence: Int64s
    overlong: Int64s  # runs of letters too long to be words, per text


@inner
def character(text: Bytes, i: int, end: int) -> tuple[int, int]:
    """The code point at text[i] and its length in bytes; a broken sequence counts as U+FFFD of one byte."""
    lead = peek(text, i)
    if lead < 0x80:
        return int(lead), 1
    size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if lead < 0xC2 or lead > 0xF4 or i + size > end:
        return 0xFFFD, 1
    for k in range(i + 1, i + size):
        if peek(text, k) & 0xC0 != 0x80:
            return 0xFFFD, 1
    if size == 2:
        return ((lead & 0x1F) << 6) | (peek(text, i + 1) & 0x3F), 2
    if size == 3:
        return ((lead & 0x0F) << 12) | ((peek(text, i + 1) & 0x3F) << 6) | (peek(text, i + 2) & 0x3F), 3
    point = ((lead & 0x07) << 18) | ((peek(text, i + 1) & 0x3F) << 12)
    point |= ((peek(text, i + 2) & 0x3F) << 6) | (peek(text, i + 3) & 0x3F)
    return min(point, 0x10FFFF), 4


@inner
def is_initial(text: Bytes, start: int, end: int, stop: int) -> bool:
    """Whether the stop at `stop` belongs to an initial, as in "J. Smith"."""
    return end == stop and end - start == 1 and 65 <= peek(text, start) <= 90


@inner
def end_sentence(sentences: Int64s, count: int, first_sentence: int, n: int, first: int) -> int:
    """Let a sentence of a text end before word n, unless it has no words; how many sentences there are then."""
    since = sentences[count - 1] if count > first_sentence else first
    if n > since:
        sentences[count] = n
        count += 1
    return count


@kernel
def split_words(text: Bytes, bounds: Int64s, classes: Bytes, longest: int) -> Words:
    """Cut texts into words: runs of letters; in scripts without spaces, every two neighbours.

    `bounds` are the ends of the texts in `text` (one more than texts), `classes` says what each code
    point is, and a run of more than `longest` bytes is counted instead of kept.
    """
    texts = len(bounds) - 1
    room = len(text) // 2 + texts + 1
    starts = np.empty(room, np.int64)
    ends = np.empty(room, np.int64)
    sentences = np.empty(room, np.int64)
    first = np.zeros(texts + 1, np.int64)
    first_sentence = np.zeros(texts + 1, np.int64)
    overlong = np.zeros(texts, np.int64)
    n = 0
    n_sentences = 0
    for t in range(texts):
        i = bounds[t]
        end = bounds[t + 1]
        stopped = False
        while i < end:
            point = int(peek(text, i))
            size = 1
            if point >= 0x80:  # most are not, and a call for every byte would cost the most
                point, size = character(text, i, end)
            kind = classes[point]
            if kind == LETTER:
                start = i
                while kind == LETTER or kind == MARK:
                    i += size
                    if i >= end:
                        break
                    point = int(peek(text, i))
                    size = 1
                    if point >= 0x80:
                        point, size = character(text, i, end)
                    kind = classes[point]
                if i - start > longest:
                    overlong[t] += 1
                else:
                    starts[n] = start
                    ends[n] = i
                    n += 1
                stopped = False
            elif kind == SPACELESS:
                i, n, long_runs = split_spaceless(text, i, end, classes, longest, starts, ends, n)
                overlong[t] += long_runs
                stopped = False
            else:
                if kind == STOP:
                    stopped = not (n > first[t] and is_initial(text, starts[n - 1], ends[n - 1], i))
                sentence = kind == FULL_STOP or (kind == SPACE and stopped)
                i += size
                if sentence:
                    n_sentences = end_sentence(sentences, n_sentences, first_sentence[t], n, first[t])
                if kind != STOP and kind != CLOSER:
                    stopped = False
        if stopped:
            n_sentences = end_sentence(sentences, n_sentences, first_sentence[t], n, first[t])
        first[t + 1] = n
        first_sentence[t + 1] = n_sentences
    return Words(
        starts[:n],
        ends[:n],
        first,
        sentences[:n_sentences],
        first_sentence,
        overlong,
    )


@inner
def split_spaceless(
    text: Bytes, i: int, end: int, classes: Bytes, longest: int, starts: Int64s, ends: Int64s, n: int
) -> tuple[int, int, int]:
    """Bigrams of a run in a script without spaces, a lone character as itself.

    A character carries the marks that follow it. Returns the end of the run, the number of words, and
    how many were too long.
    """
    previous = -1
    begin = i
    overlong = 0
    while i < end:
        point, size = character(text, i, end)
        if classes[point] != SPACELESS:
            break
        start = i
        i += size
        while i < end:
            point, size = character(text, i, end)
            if classes[point] != MARK:
                break
            i += size
        if previous >= 0 and i - previous <= longest:
            starts[n] = previous
            ends[n] = i
            n += 1
        elif previous >= 0:
            overlong += 1
        previous = start
    if previous == begin and i - begin <= longest:
        starts[n] = begin
        ends[n] = i
        n += 1
    elif previous == begin:
        overlong += 1
    return i, n, overlong
