"""Inner products of weighted words, for the candidates of many pages at a time.

Pages of a block have candidates in common, and most words of a candidate are worth nothing to any of them. So the words
that are worth something get small numbers, and of every candidate only these are kept, with their weights. Sums are in
the order of bags, so they are those of `query.weigh_products` to the last bit.
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import inlined, kernel
from pagekin.kernels.page_rows import PageRows
from pagekin.model.arrays import Bytes, Floats, Int64s, UInt32s

_FEW = 16  # counts below this have their weights computed once for a page, since division is slow


class WordWorths(NamedTuple):
    """What words are worth to pages: to page k, word[offsets[k]] to word[offsets[k + 1]]."""

    offsets: Int64s
    word: UInt32s
    worth: Floats


class WordCounts(NamedTuple):
    """The bags of pages: that of page k has the terms offsets[k] to offsets[k + 1], and how many times each occurs."""

    offsets: Int64s
    term: UInt32s
    times: UInt32s


class CountCurve(NamedTuple):
    """How the weight of a word depends on its count and on the page; see `query.weigh_products`."""

    rise: Floats
    scale: Floats
    base: Floats
    slope: float


class Numbers(NamedTuple):
    """Scratch arrays, zero before and after every call: the numbers, from 1, of words and of pages, and a bit a word.

    The last word stands for all terms that are no words.
    """

    word: UInt32s
    page: Int64s
    worthy: Bytes


class KeptWords(NamedTuple):
    """Of some pages the words that are worth something: their numbers, and their weights there."""

    offsets: Int64s
    number: UInt32s
    weight: Floats


@kernel
def weighted_products(
    asked: WordWorths, bags: WordCounts, curve: CountCurve, rows: PageRows, numbers: Numbers, result: Floats
) -> None:
    """The sum over the words of each candidate of their weight there times their worth to row k of `asked`."""
    words = _number_words(asked, numbers)
    pages, found = np.empty(len(rows.node), np.int64), 0
    for node in rows.node:
        if numbers.page[node] == 0:
            pages[found] = node
            found += 1
            numbers.page[node] = found
    kept = _kept_words(pages[:found], bags, curve, numbers)
    worth = np.zeros(words + 1)
    for k in range(len(asked.offsets) - 1):
        for i in range(asked.offsets[k], asked.offsets[k + 1]):
            worth[numbers.word[asked.word[i]]] = asked.worth[i]
        worth[0] = 0.0
        for i in range(rows.offsets[k], rows.offsets[k + 1]):
            page, total = numbers.page[rows.node[i]], 0.0
            for j in range(np.uint64(kept.offsets[page - 1]), np.uint64(kept.offsets[page])):
                total += worth[kept.number[j]] * kept.weight[j]
            result[i] = total
        for i in range(asked.offsets[k], asked.offsets[k + 1]):
            worth[numbers.word[asked.word[i]]] = 0.0
    for word in asked.word:
        numbers.word[word] = 0
        numbers.worthy[word >> 3] = 0
    for i in range(found):
        numbers.page[pages[i]] = 0


@kernel
def _number_words(asked: WordWorths, numbers: Numbers) -> int:
    """Number the words that are worth something to any page; return how many there are."""
    found = 0
    for i in range(len(asked.word)):
        word = asked.word[i]
        if asked.worth[i] != 0.0 and numbers.word[word] == 0:
            found += 1
            numbers.word[word] = found
            numbers.worthy[word >> 3] |= np.uint8(1 << (word & 7))
    return found


@kernel
def _kept_words(pages: Int64s, bags: WordCounts, curve: CountCurve, numbers: Numbers) -> KeptWords:
    """The words of pages that have a number, in the order of bags."""
    room = longest = 0
    for page in pages:
        room += bags.offsets[page + 1] - bags.offsets[page]
        longest = max(longest, bags.offsets[page + 1] - bags.offsets[page])
    offsets, places = np.zeros(len(pages) + 1, np.int64), np.empty(longest + 1, np.int64)
    number, weight = np.empty(room, np.uint32), np.empty(room, np.float64)
    few, end = np.zeros(min(len(curve.rise), _FEW)), 0
    for k in range(len(pages)):
        page = pages[k]
        if page < len(curve.scale):
            for count in range(1, len(few)):
                few[count] = _weight(page, count, curve)
            for i in range(_worthy_places(page, bags, numbers.worthy, places, len(numbers.word) - 1)):
                count = bags.times[places[i]]
                number[end] = numbers.word[bags.term[places[i]]]
                weight[end] = few[count] if count < len(few) else _weight(page, count, curve)
                end += 1
        offsets[k + 1] = end
    return KeptWords(offsets, number[:end], weight[:end])


@inlined
def _worthy_places(page: int, bags: WordCounts, worthy: Bytes, places: Int64s, words: int) -> int:
    """Write the places of the words of a page that occur there and are worth something, without branches."""
    found = np.uint64(0)  # unsigned numbers are no negative indices, for which numba would look out
    for i in range(np.uint64(bags.offsets[page]), np.uint64(bags.offsets[page + 1])):
        term = min(bags.term[i], np.uint32(words))
        places[found] = i
        found += np.uint64(worthy[term >> np.uint32(3)] >> (term & np.uint32(7)) & (bags.times[i] > 0))
    return np.int64(found)  # type: ignore[return-value]


@inlined
def _weight(page: int, count: int, curve: CountCurve) -> float:
    risen = curve.rise[min(count, len(curve.rise) - 1)]
    return curve.scale[page] * (risen / (curve.base[page] + curve.slope * risen))  # type: ignore[no-any-return]
