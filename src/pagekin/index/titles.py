"""The words of titles: which title has which words, and which pages have a word in their titles."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np

from pagekin.model.arrays import Array, Float32s, Floats, Int64s, Strings, UInt32s, offsets_of, word_of
from pagekin.model.reading import Ragged
from pagekin.store.checks import blocks, check, check_finite, check_offsets
from pagekin.store.columns import column_writer, open_array, open_part, write_columns
from pagekin.store.pieces import write_pieces
from pagekin.store.stage_columns import grouped, ranges_of
from pagekin.store.stage_files import IN_MEMORY, Stages
from pagekin.store.stage_strings import STRINGS, NumberedPart, united

_TITLES = 1 << 16  # of a job
_MAX_LETTERS = 1000  # of a title
_LEAD = 4.0  # words after which a word counts half as much as the first
_RARITY = 1.5  # the power of idf by which words count
_NAME = re.compile(r"\w+")
_PART = re.compile(r"[^\W_]+")
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def title_words(title: str) -> list[str]:
    """The distinct words of a title in order; names in CamelCase and snake_case are followed by their parts.

    >>> title_words("The ConcurrentHashMap, hash_map")
    ['the', 'concurrenthashmap', 'concurrent', 'hash', 'map', 'hash_map']
    """
    return list(dict.fromkeys(chain.from_iterable(map(_words_of_name, _NAME.findall(title[:_MAX_LETTERS])))))


@lru_cache(maxsize=1 << 12)  # titles of a collection have many names in common
def _words_of_name(name: str) -> tuple[str, ...]:
    """A name without "_" alone, and its parts."""
    return tuple(word_of(each) for each in (name, *_PART.findall(_CAMEL_CASE.sub(" ", name))) if each.strip("_"))


@dataclass(frozen=True)
class TitleIndex(Ragged):
    """The words of the title of each page, and the pages of each word."""

    word: UInt32s  # numbers of words, ascending within a title
    weight: Float32s  # of each; the squares of the weights of a title sum to 1
    words: Strings  # sorted
    pages: "WordPages"

    def weighted(self, title: str) -> tuple[Int64s, Floats]:
        """The words of any title that are in the collection's titles, as ascending numbers, and their weights."""
        places, numbers = [], []
        for place, word in enumerate(title_words(title)):
            number = bisect_left(self.words, word.encode(), key=lambda each: each.encode())
            if number < len(self.words) and self.words[number] == word:
                places.append(place)
                numbers.append(number)
        found, order = np.array(numbers, np.int64), np.argsort(numbers)
        weight = _weights(np.array(places, np.int64), self.pages.lengths()[found], len(self.offsets) - 1)
        return found[order], (weight / max(float(np.sqrt(np.square(weight).sum())), 1e-30))[order]


@dataclass(frozen=True)
class WordPages(Ragged):
    """The pages whose titles have a word."""

    page: UInt32s


def write_titles(
    folder: Path, titles: Sequence[str], stopped: Collection[str] = (), stages: Stages = IN_MEMORY
) -> None:
    """Write the words of the titles of all pages, without those that are stopped."""
    ranges = ranges_of(len(titles), _TITLES)
    words, frequency, parts = united(stages, "title-words", _words_of_titles, (titles, frozenset(stopped)), ranges)
    numbered = list(zip([some.start for some in ranges], parts, strict=True))
    page = grouped(stages, "title-pages", _pages_of_words, None, numbered)
    write_columns(folder, {"titles.words": words, "titles.page": page})
    with column_writer(folder, {"titles.page_offsets": (np.int64, (len(frequency) + 1,))}) as append:
        append(np.zeros(1, np.int64))
        end = 0
        for some in blocks(frequency):
            append(end + np.cumsum(some))
            end += int(some.sum())
    write_pieces(stages, folder, "titles", _weighted_rows, (frequency, len(titles)), parts)


def _words_of_titles(given: tuple[Sequence[str], Collection[str]], pages: range) -> dict[str, Array]:
    """The distinct words of some titles with the number of titles that have each, sorted; and those of each title."""
    titles, stopped = given
    numbers: dict[str, int] = {}  # of words, in the order in which they come
    number, lengths = array("I"), array("q")
    for title in titles[pages.start : pages.stop]:
        before = len(number)
        number.extend(numbers.setdefault(word, len(numbers)) for word in title_words(title) if word not in stopped)
        lengths.append(len(number) - before)
    words = sorted(numbers, key=str.encode)
    final = np.empty(len(words), np.uint32)
    final[np.fromiter((numbers[word] for word in words), np.int64)] = np.arange(len(words), dtype=np.uint32)
    flat, strings = final[np.array(number, np.uint32)], Strings.of(words)
    return {
        f"{STRINGS}.offsets": strings.offsets,
        f"{STRINGS}.data": strings.data,
        f"{STRINGS}.count": np.bincount(flat, minlength=len(words)),
        "word": flat,
        "ends": offsets_of(np.array(lengths, np.int64)),
    }


def _loaded(part: NumberedPart) -> tuple[UInt32s, Int64s]:
    """The words of some titles, one title after the other, and where those of each title begin."""
    columns, numbers = part.load()
    return numbers[columns["word"]], columns["ends"]


def _pages_of_words(_: None, numbered: tuple[int, NumberedPart]) -> tuple[Int64s, UInt32s]:
    """The words of some titles, and the page of each."""
    first, part = numbered
    flat, offsets = _loaded(part)
    page = np.repeat(np.arange(first, first + len(offsets) - 1, dtype=np.uint32), np.diff(offsets))
    return flat.astype(np.int64), page


def _weighted_rows(counted: tuple[Int64s, int], part: NumberedPart) -> dict[str, Array]:
    """The words of some titles, with weights."""
    (frequency, pages), (flat, offsets) = counted, _loaded(part)
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    weight = _weights(np.arange(len(flat)) - offsets[row], frequency[flat], pages)
    norm = np.sqrt(np.bincount(row, np.square(weight), len(offsets) - 1))
    weight = np.divide(weight, norm[row], out=np.zeros(len(weight)), where=norm[row] > 0.0)
    order = np.lexsort((flat, row))
    columns: dict[str, Array] = {"offsets": offsets, "word": flat[order], "weight": weight[order].astype(np.float32)}
    return {f"titles.{name}": column for name, column in columns.items()}


def _weights(place: Int64s, frequency: Int64s, pages: int) -> Floats:
    """What words count, by their places in a title and the number of titles that have them."""
    return np.asarray(_LEAD / (_LEAD + place) * np.log(max(1, pages) / np.maximum(frequency, 1)) ** _RARITY)


def open_titles(folder: Path, pages: int) -> TitleIndex:
    """Open the words of titles, memory-mapped."""
    words = open_part(folder, "titles.words", Strings)
    word = open_array(folder, "titles.word", np.uint32, below=len(words))
    page = open_array(folder, "titles.page", np.uint32, below=pages)
    weight = open_array(folder, "titles.weight", np.float32, below=None)
    offsets, page_offsets = (
        open_array(folder, f"titles.{name}", np.int64, below=None) for name in ("offsets", "page_offsets")
    )
    check_offsets(offsets, len(word), folder / "titles.offsets.npy")
    check_offsets(page_offsets, len(page), folder / "titles.page_offsets.npy")
    check(len(offsets) == pages + 1, folder / "titles.offsets.npy", "it belongs to other pages")
    check(len(page_offsets) == len(words) + 1, folder / "titles.page_offsets.npy", "it belongs to other words")
    check(len(weight) == len(word), folder / "titles.weight.npy", "it belongs to other words")
    check_finite(weight, folder / "titles.weight.npy", most=1.001)
    return TitleIndex(offsets, word, weight, words, WordPages(page_offsets, page))
