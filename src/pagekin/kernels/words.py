"""Visible text -> words and sentence ends."""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.bits import first_bit
from pagekin.kernels.characters import decode_character, peek
from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.model.arrays import Bytes, Int64s, UInt64s

# The classes of characters. `reading/letters.txt` has the class of every code point.
OTHER, LETTER, MARK, SPACELESS, SPACE, STOP, FULL_STOP, CLOSER = range(8)

_AT_ONCE = 32  # bytes that are classified together, with two bits for each
_LETTERS, _OTHERS = np.uint64(0x5555555555555555), np.uint64(0xAAAAAAAAAAAAAAAA)
_ONE, _TWO, _LAST = np.uint64(1), np.uint64(2), np.uint64(2 * _AT_ONCE - 2)


class Words(NamedTuple):
    """Words and sentence ends of several concatenated texts; positions count from the start of the first text."""

    starts: Int64s
    ends: Int64s
    first: Int64s  # the first word of each text, and the number of all words
    sentences: Int64s  # a sentence ends before the word of this number
    first_sentence: Int64s
    overlong: Int64s  # per text: runs of letters that are too long to be words


@inner
def is_initial(text: Bytes, start: int, end: int, stop: int) -> bool:
    """Whether the stop at `stop` follows an initial, as in "J. Smith"."""
    return end == stop and end - start == 1 and 65 <= peek(text, start) <= 90


@inner
def end_sentence(sentences: Int64s, count: int, first_sentence: int, n: int, first: int) -> int:
    """End a sentence before word n, unless the sentence has no words; the new number of sentences."""
    since = sentences[count - 1] if count > first_sentence else first
    if n > since:
        sentences[count] = n
        count += 1
    return count


@inlined
def set_codes(classes: Bytes, codes: UInt64s) -> None:
    """The codes of bytes: 1 for letters, 0 for what only parts words, 2 for what may end a sentence or is not ASCII."""
    for byte in range(256):
        kind = classes[byte]
        parts_words = kind == OTHER or kind == SPACE or kind == CLOSER
        codes[byte] = 2 if byte >= 128 else 1 if kind == LETTER else 0 if parts_words else 2


@inlined
def codes_at(text: Bytes, i: int, end: int, codes: UInt64s) -> np.uint64:
    """The codes of _AT_ONCE bytes from text[i] on; that of a byte from `end` on is 2."""
    found = np.uint64(0)
    if i + _AT_ONCE <= len(text):
        for j in range(_AT_ONCE):
            found |= codes[np.uint64(peek(text, i + j))] << np.uint64(2 * j)
    else:
        for j in range(end - i):
            found |= codes[np.uint64(peek(text, i + j))] << np.uint64(2 * j)
    if i + _AT_ONCE > end:
        beyond = np.uint64(2 * (end - i))
        found = (found & ((_ONE << beyond) - _ONE)) | (_OTHERS >> beyond << beyond)
    return found


@inlined
def split_plain(text: Bytes, i: int, end: int, codes: UInt64s, starts: Int64s, ends: Int64s, n: int) -> tuple[int, int]:
    """Split text[i:end] into words up to the first byte with code 2; where that ended, and the new number of words.

    It ends before a word that contains such a byte, and before one that is long. No word begins before text[i].
    """
    inside = np.uint64(0)  # 1 if starts[n] is the start of a word that has not ended
    while i < end:
        found = codes_at(text, i, end, codes)
        other = found & _OTHERS
        letters = found & _LETTERS & ((other & (~other + _ONE)) - _ONE)
        if letters == _LETTERS:
            return starts[n] if inside else i, n
        before = letters << _TWO | inside
        started, begins, stops = n + int(inside), letters & ~before, before & ~letters
        while begins:
            starts[started] = i + (first_bit(begins) >> 1)
            begins &= begins - _ONE
            started += 1
        while stops:
            ends[n] = i + (first_bit(stops) >> 1)
            stops &= stops - _ONE
            n += 1
        if other:
            i += first_bit(other) >> 1
            if i < end and n > 0 and ends[n - 1] == i and peek(text, i) >= 0x80:
                n -= 1
                i = starts[n]
            return i, n
        inside = letters >> _LAST
        i += _AT_ONCE
    if inside:
        ends[n] = end
        n += 1
    return i, n


@kernel
def split_words(text: Bytes, bounds: Int64s, classes: Bytes, longest: int) -> Words:
    """Split texts into words: runs of letters, and character bigrams in scripts without spaces.

    Text t is text[bounds[t]:bounds[t + 1]]; `classes` has the class of each code point. A run of more than `longest`
    bytes is counted as overlong and dropped.
    """
    texts = len(bounds) - 1
    room = len(text) // 2 + texts + 1
    starts, ends, sentences = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    first, first_sentence = np.zeros(texts + 1, np.int64), np.zeros(texts + 1, np.int64)
    overlong = np.zeros(texts, np.int64)
    codes = np.empty(256, np.uint64)
    set_codes(classes, codes)
    may_be_plain = longest >= 2 * _AT_ONCE  # then `split_plain` leaves out all words that are too long
    n = n_sentences = 0
    for t in range(texts):
        i, end = bounds[t], bounds[t + 1]
        stopped = False
        while i < end:
            if may_be_plain and not stopped and i + 1 < end and (peek(text, i) | peek(text, i + 1)) < 0x80:
                i, n = split_plain(text, i, end, codes, starts, ends, n)
                if i >= end:
                    break
            point, size = decode_character(text, i, end)
            kind = classes[point]
            if kind == LETTER:
                start = i
                while kind == LETTER or kind == MARK:
                    i += size
                    if i >= end:
                        break
                    point, size = decode_character(text, i, end)
                    kind = classes[point]
                if i - start > longest:
                    overlong[t] += 1
                else:
                    starts[n], ends[n] = start, i
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
        first[t + 1], first_sentence[t + 1] = n, n_sentences
    return Words(starts[:n], ends[:n], first, sentences[:n_sentences], first_sentence, overlong)


@inner
def split_spaceless(
    text: Bytes, i: int, end: int, classes: Bytes, longest: int, starts: Int64s, ends: Int64s, n: int
) -> tuple[int, int, int]:
    """Split a run in a script without spaces into bigrams; a single character is a word.

    Combining marks belong to the character before them. Returns the end of the run, the new number of words, and the
    number of overlong words.
    """
    previous, begin, overlong = -1, i, 0
    while i < end:
        point, size = decode_character(text, i, end)
        if classes[point] != SPACELESS:
            break
        start = i
        i += size
        while i < end:
            point, size = decode_character(text, i, end)
            if classes[point] != MARK:
                break
            i += size
        if previous >= 0 and i - previous <= longest:
            starts[n], ends[n] = previous, i
            n += 1
        elif previous >= 0:
            overlong += 1
        previous = start
    if previous == begin and i - begin <= longest:
        starts[n], ends[n] = begin, i
        n += 1
    elif previous == begin:
        overlong += 1
    return i, n, overlong
