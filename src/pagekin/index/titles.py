"""The words of titles: which title has which words, and which pages have a word in their titles."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pagekin.model.arrays import Floats, Int64s, Strings, UInt32s, offsets_of, word_of
from pagekin.model.reading import Ragged
from pagekin.store.columns import check, check_offsets, open_array, open_part, write_columns

_MAX_LETTERS = 1000  # of a title
_WORD = re.compile(r"[^\W_]+")
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def title_words(title: str) -> list[str]:
    """The distinct words of a title, sorted; names in CamelCase and snake_case are several words.

    >>> title_words("The ConcurrentHashMap, hash_map")
    ['concurrent', 'hash', 'map', 'the']
    """
    return sorted({word_of(word) for word in _WORD.findall(_CAMEL_CASE.sub(" ", title[:_MAX_LETTERS]))})


@dataclass(frozen=True)
class TitleIndex(Ragged):
    """The words of the title of each page, and the pages of each word."""

    word: UInt32s  # numbers of words, ascending within a title
    words: Strings  # sorted
    pages: "WordPages"

    @cached_property
    def idf(self) -> Floats:
        """ln(N / df) of every word."""
        return np.log(max(1, len(self.offsets) - 1) / np.maximum(self.pages.lengths(), 1))

    def numbers_of(self, title: str) -> Int64s:
        """The words of any title that are in the collection's titles, as ascending numbers."""
        found = []
        for word in title_words(title):
            place = bisect_left(self.words, word.encode(), key=lambda each: each.encode())
            if place < len(self.words) and self.words[place] == word:
                found.append(place)
        return np.array(found, np.int64)


@dataclass(frozen=True)
class WordPages(Ragged):
    """The pages whose titles have a word."""

    page: UInt32s


def write_titles(folder: Path, titles: Iterable[str]) -> None:
    """Write the words of the titles of all pages."""
    rows = [title_words(title) for title in titles]
    words = sorted({word for row in rows for word in row}, key=str.encode)
    number = {word: k for k, word in enumerate(words)}
    flat = np.array([number[word] for row in rows for word in row], np.uint32)
    lengths = np.array([len(row) for row in rows], np.int64)
    page = np.repeat(np.arange(len(rows), dtype=np.uint32), lengths)
    columns = {
        "words": Strings.of(words),
        "offsets": offsets_of(lengths),
        "word": flat,
        "page_offsets": offsets_of(np.bincount(flat, minlength=len(words))),
        "page": page[np.argsort(flat, kind="stable")],
    }
    write_columns(folder, {f"titles.{name}": column for name, column in columns.items()})


def open_titles(folder: Path, pages: int) -> TitleIndex:
    """Open the words of titles, memory-mapped."""
    words = open_part(folder, "titles.words", Strings)
    word, page = open_array(folder, "titles.word", np.uint32, 1), open_array(folder, "titles.page", np.uint32, 1)
    offsets, page_offsets = open_array(folder, "titles.offsets"), open_array(folder, "titles.page_offsets")
    check_offsets(offsets, len(word), folder / "titles.offsets.npy")
    check_offsets(page_offsets, len(page), folder / "titles.page_offsets.npy")
    check(len(offsets) == pages + 1, folder / "titles.offsets.npy", "it belongs to other pages")
    check(len(page_offsets) == len(words) + 1, folder / "titles.page_offsets.npy", "it belongs to other words")
    check(
        int(word.max(initial=0)) < max(1, len(words)), folder / "titles.word.npy", "it names a word that is not there"
    )
    check(int(page.max(initial=0)) < max(1, pages), folder / "titles.page.npy", "it names a page that is not there")
    return TitleIndex(offsets, word, words, WordPages(page_offsets, page))
