"""Pages that a text names without a link to them: by a title, or by words that other pages link to them with."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pagekin.bags.source import BagSource, ignored_parts
from pagekin.gaps.phrases import LONGEST, PhraseTrie
from pagekin.kernels.page_output import HEADING
from pagekin.kernels.spans import strings_of
from pagekin.kernels.words import split_words
from pagekin.model.arrays import Array, Bools, Floats, Int64s, Strings, UInt32s, distinct, spans, word_of
from pagekin.model.reading import CheckedReading
from pagekin.reading.batch import LONGEST_WORD
from pagekin.reading.markup import classes
from pagekin.search.indexed_store import IndexedStore

_AT_ONCE = 1 << 22  # words that are searched at a time
_BRACKETS = re.compile(r"(?<=\S)\s*[(（][^()（）]*[)）]\s*$")
_UNSEEN = 2.0  # pages that are added to those with a phrase, for phrases that few pages have


class NamedPages(NamedTuple):
    """Which phrases name which pages: a row for every pair, sorted by phrase."""

    phrase: Int64s
    node: Int64s
    pages: Int64s  # that link to the page with the phrase
    title: Bools  # whether it is the title of the page


class Mentions(NamedTuple):
    """Phrases on pages, each once for a page; sorted by page."""

    row: Int64s
    phrase: Int64s
    place: Int64s  # the first word that is free to be linked, as a place in the column of tokens; -1 if none is


@dataclass(frozen=True)
class LinkedWords:
    """The links of a collection that count: page, words and target."""

    row: Int64s
    start: Int64s  # the place of the first word in the column of tokens
    length: Int64s
    node: Int64s


class MentionIndex:
    """All mentions in a collection, and how likely the words of each are a link."""

    def __init__(self, indexed: IndexedStore) -> None:
        self.indexed, self.reading = indexed, indexed.checked_reading
        self.node_of_row = np.repeat(np.arange(len(indexed.nodes) - 1), np.diff(indexed.nodes))
        self.links = linked_words(indexed)
        self.ends = _ends(self.reading)
        self._hidden = _before(~self._text)  # words before each that are in no text
        self.taken = _before(~self._free)  # words before each that are in no text or in a link
        short = np.flatnonzero((self.links.length > 0) & (self.links.length <= LONGEST))
        titles, titled = _titles(indexed)
        self.trie, phrase = PhraseTrie.of(np.concatenate([self._words(short), titles]))
        voters = np.column_stack([phrase[: len(short)], self.links.node[short], self.links.row[short]])
        self.named = _named(voters, np.column_stack([phrase[len(short) :], titled]))
        self.mentions = Mentions(*(np.concatenate(each) for each in zip(*self._mentions(), strict=True)))

    def links_of(self, row: int) -> slice:
        """The links of a page in `links`."""
        return slice(*np.searchsorted(self.links.row, [row, row + 1]).tolist())

    def _words(self, links: Int64s) -> Array:
        """The words of some links."""
        rows, start, length = np.full((len(links), LONGEST), -1), self.links.start[links], self.links.length[links]
        form, word = self.reading.tokens.form, self.indexed.word_of_form
        for k in range(LONGEST):
            some = length > k
            rows[some, k] = word[form[start[some] + k]]
        return rows

    @cached_property
    def likelihood(self) -> Floats:
        """For each row of `named`: the share of the pages with the phrase that link it to the page."""
        pages = np.bincount(self.mentions.phrase, minlength=self.trie.count)
        return np.asarray((self.named.pages + self.named.title) / (pages[self.named.phrase] + _UNSEEN))

    def _mentions(self) -> Iterator[Mentions]:
        """The mentions of some pages after the other."""
        offsets = self.reading.tokens.offsets
        cuts = distinct(np.append(np.searchsorted(offsets, np.arange(0, offsets[-1], _AT_ONCE)), len(offsets) - 1))
        yield Mentions(*(np.empty(0, np.int64) for _ in Mentions._fields))
        for first, last in pairwise(cuts.tolist()):
            begin, end = int(offsets[first]), int(offsets[last])
            words = self.indexed.word_of_form[self.reading.tokens.form[begin:end]]
            low, high = np.searchsorted(self.ends, [begin, end], side="right")
            place, phrase = self.trie.occurrences(words, self.ends[low:high] - begin)
            yield self._first_mentions(place + begin, phrase)

    def _first_mentions(self, place: Int64s, phrase: Int64s) -> Mentions:
        """Of all occurrences in texts the first of each phrase on each page, not in a link if there is one."""
        length = self.trie.length[phrase]
        shown = self._hidden[place + length] == self._hidden[place]
        place, phrase, length = place[shown], phrase[shown], length[shown]
        row = np.searchsorted(self.reading.tokens.offsets, place, side="right") - 1
        linked = self.taken[place + length] != self.taken[place]
        order = np.lexsort((place, linked, phrase, row))
        row, phrase, place = row[order], phrase[order], np.where(linked, -1, place)[order]
        new = np.ones(len(row), bool)
        new[1:] = (row[1:] != row[:-1]) | (phrase[1:] != phrase[:-1])
        return Mentions(row[new], phrase[new], place[new])

    @cached_property
    def _text(self) -> Bools:
        """For each word whether it is in the text of its page, not in a template, in navigation or in a heading."""
        reading, blocks = self.reading, self.reading.blocks
        parts = ignored_parts(BagSource.of(self.indexed), self.indexed.index.strategy)
        ignored = (parts.words != 0) | (blocks.kinds & HEADING != 0)
        page = np.repeat(np.arange(len(blocks)), blocks.lengths())
        first = reading.tokens.offsets[page] + blocks.token
        last = np.minimum(np.append(first[1:], len(reading.tokens.form)), reading.tokens.offsets[page + 1])
        text = np.ones(len(reading.tokens.form), bool)
        text[spans(first[ignored], (last - first)[ignored])] = False
        return text

    @property
    def _free(self) -> Bools:
        """For each word whether it is in the text and not in a link."""
        free, anchors = self._text.copy(), self.reading.anchors
        page = np.repeat(np.arange(len(anchors)), anchors.lengths())
        start, end = anchors.start.astype(np.int64), anchors.end.astype(np.int64)
        free[spans(self.reading.tokens.offsets[page] + start, np.maximum(end - start, 0))] = False
        return free


def linked_words(indexed: IndexedStore) -> LinkedWords:
    """The links that count and lead to pages of the collection."""
    columns, anchors = indexed.link_scorers.scorer.links, indexed.checked_reading.anchors
    counting = np.unpackbits(columns.counting, count=len(anchors.target), bitorder="little").astype(bool)
    place = np.flatnonzero(counting)
    row = np.searchsorted(anchors.offsets, place, side="right") - 1
    start = indexed.reading.tokens.offsets[row] + anchors.start[place]
    length = anchors.end[place].astype(np.int64) - anchors.start[place]
    return LinkedWords(row, start, length, indexed.node_of_target[anchors.target[place]].astype(np.int64))


def _titles(indexed: IndexedStore) -> tuple[Array, Int64s]:
    """The words of the titles of pages, with and without what is in brackets at their ends; and the pages."""
    query = "SELECT node, title FROM nodes WHERE first_row IS NOT NULL ORDER BY node"
    titles = [(node, title) for node, title in indexed.catalog.each(query) if title]
    titles += [(node, short) for node, title in titles if (short := _BRACKETS.sub("", title)) != title]
    return words_of(indexed, [title for _, title in titles]), np.array([node for node, _ in titles], np.int64)


def words_of(indexed: IndexedStore, texts: Sequence[str]) -> Array:
    """The words of short texts as numbers, a row for each; it is -1 if a text has too many words, or unknown ones."""
    packed = Strings.of(texts)
    words = split_words(packed.data, packed.offsets, classes(), LONGEST_WORD)
    spelt = [word_of(form) for form in strings_of(packed.data, words.starts, words.ends)]
    wanted = set(spelt)
    number = {word: k for k, word in enumerate(indexed.words) if word in wanted}
    flat, rows = np.array([number.get(word, -1) for word in spelt], np.int64), np.full((len(texts), LONGEST), -1)
    lengths = np.diff(words.first)
    row = np.repeat(np.arange(len(texts)), lengths)
    unknown = np.bincount(row, flat < 0, len(texts)) > 0
    good = ~unknown[row] & (lengths[row] <= LONGEST)
    rows[row[good], (np.arange(len(flat)) - words.first[row])[good]] = flat[good]
    return rows


def _named(voters: Int64s, titled: Int64s) -> NamedPages:
    """Count the pages that link to each node with each phrase; titles name pages as well.

    `voters` are rows of a phrase, a node and a page with such a link; `titled` are rows of a phrase and a node. The
    empty phrase, 0 if there is one, names nothing.
    """
    voters = np.unique(voters, axis=0)
    pairs, place = np.unique(np.concatenate([voters[:, :2], titled]), axis=0, return_inverse=True)
    pages = np.bincount(place.reshape(-1)[: len(voters)], minlength=len(pairs))
    title = np.bincount(place.reshape(-1)[len(voters) :], minlength=len(pairs)) > 0
    return NamedPages(pairs[:, 0], pairs[:, 1], pages, title)


def _before(marks: Bools) -> UInt32s:
    """For each place the number of marks before it, and the number of all."""
    return np.concatenate([np.zeros(1, np.uint32), np.cumsum(marks, dtype=np.uint32)])


def _ends(reading: CheckedReading) -> Int64s:
    """The places of tokens before which a sentence, a block or a page ends, ascending."""
    parts = []
    for part in (reading.sentences, reading.blocks):
        parts.append(np.repeat(reading.tokens.offsets[:-1], part.lengths()) + part.token)
    return distinct(np.concatenate([*parts, reading.tokens.offsets]))
