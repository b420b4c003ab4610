"""The sentence of a page in which a link fits best, and the words to link."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pagekin.bags.stemming import language_of, terms_of
from pagekin.gaps.mentions import MentionIndex
from pagekin.model.arrays import Bools, Int64s, spans
from pagekin.search.query import Bag, bag_of

_LONGEST = 320  # characters of a sentence that are shown
_SHARED = 8  # shared terms that may be linked
_OPENING = " \t\n([{<\"'“‘«„"  # left at the end of a sentence: they belong to the next


class Passage(NamedTuple):
    """Words in a sentence."""

    words: str
    words_from: str
    sentence: str
    linked_elsewhere: int | None  # the node of another page that the page links with these words


NO_PASSAGE = Passage("", "", "", None)


@dataclass(frozen=True, eq=False)
class LinkableText:
    """The text of one page, for finding passages."""

    index: MentionIndex
    row: int

    @cached_property
    def _tokens(self) -> slice:
        return self.index.reading.tokens.row(self.row)

    @cached_property
    def _bytes(self) -> bytes:
        return self.index.indexed.text_bytes(self.row)

    @cached_property
    def _words(self) -> Int64s:
        return np.asarray(self.index.indexed.word_of_form[self.index.reading.tokens.form[self._tokens]], np.int64)

    @cached_property
    def _ends(self) -> Int64s:
        """The ends of sentences, as tokens of this page."""
        low, high = np.searchsorted(self.index.ends, [self._tokens.start, self._tokens.stop], side="right")
        return np.asarray(self.index.ends[low:high] - self._tokens.start)

    @cached_property
    def _terms(self) -> Int64s:
        """The term of every token in the index, -1 for stop words."""
        indexed, strategy = self.index.indexed, self.index.indexed.index.strategy
        language = language_of(indexed.reading.pages.language[self.row], strategy.language)
        known, place = np.unique(self._words, return_inverse=True)
        terms = terms_of([indexed.words[word] for word in known.tolist()], strategy.stemming, language)
        numbers = indexed.index.terms.numbers
        return np.array([-1 if term is None else numbers.get(term, -1) for term in terms], np.int64)[place]

    def passage(self, node: int, named: int) -> Passage | None:
        """The best passage for a link to a node.

        `named` is the row of `NamedPages` with the words, -1 if the text does not name the page.
        """
        bag = bag_of(self.index.indexed.index, node)
        if named >= 0:
            start, length = self._places_of_phrase(int(self.index.named.phrase[named]))
            kind = "title" if self.index.named.title[named] else "anchor"
        else:
            start, length, kind = *self._places_of_terms(bag), "term"
        if not len(start):
            return None
        best = int(np.argmax(self._fit(start, bag)))
        place, count = int(start[best]), int(length[best])
        return Passage(*self._shown(place, count, kind), self._linked(place, count, node))

    def _places_of_phrase(self, phrase: int) -> tuple[Int64s, Int64s]:
        found = self.index.trie.occurrences(self._words, self._ends)
        place = np.sort(found.place[found.phrase == phrase])
        length = np.full(len(place), self.index.trie.length[phrase])
        return self._free(place, length)

    def _places_of_terms(self, bag: Bag) -> tuple[Int64s, Int64s]:
        """The places of the strongest term that the texts of both pages have, and that is no title of a page."""
        own = bag_of(self.index.indexed.index, int(self.index.node_of_row[self.row]))
        shared, here, there = np.intersect1d(own.term, bag.term, return_indices=True)
        order = np.argsort(-np.minimum(own.weight[here], bag.weight[there]), kind="stable")
        for term in shared[order[:_SHARED]].tolist():
            place = np.flatnonzero((self._terms == term) & ~self._in_titles)
            place, length = self._free(place, np.ones(len(place), np.int64))
            if len(place):
                return place, length
        return np.empty(0, np.int64), np.empty(0, np.int64)

    @cached_property
    def _in_titles(self) -> Bools:
        """For each word whether it is in the title of a page: as a link, it would be expected to lead there."""
        found, trie, named = self.index.trie.occurrences(self._words, self._ends), self.index.trie, self.index.named
        titles = np.isin(found.phrase, named.phrase[named.title])
        inside = np.zeros(len(self._words), bool)
        inside[spans(found.place[titles], trie.length[found.phrase[titles]])] = True
        return inside

    def _free(self, place: Int64s, length: Int64s) -> tuple[Int64s, Int64s]:
        """The places whose words are text and not in a link."""
        taken, first = self.index.taken, self._tokens.start
        free = taken[first + place + length] == taken[first + place]
        return place[free], length[free]

    def _fit(self, start: Int64s, bag: Bag) -> list[float]:
        """How much the sentence of each place has to do with a page: the weights of the page's terms that it has."""
        weight = dict(zip(bag.term.tolist(), bag.weight.tolist(), strict=True))
        fits: dict[int, float] = {}
        for place in start.tolist():
            begin, end = self._sentence(place)
            if begin not in fits:
                fits[begin] = sum(weight.get(term, 0.0) for term in set(self._terms[begin:end].tolist()))
        return [fits[self._sentence(place)[0]] for place in start.tolist()]

    def _sentence(self, place: int) -> tuple[int, int]:
        """The first token of the sentence of a token, and the first after it."""
        after = int(np.searchsorted(self._ends, place, side="right"))
        return int(self._ends[after - 1]) if after else 0, int(self._ends[after])

    def _shown(self, place: int, length: int, kind: str) -> tuple[str, str, str]:
        begin, end = self._sentence(place)
        first, last = self._byte(begin), self._end_byte(end)
        words = slice(self._byte(place), self._byte(place + length - 1) + self._form_bytes(place + length - 1))
        before, text, after = (
            self._bytes[one:other].decode("utf-8", "replace")
            for one, other in ((first, words.start), (words.start, words.stop), (words.stop, max(last, words.stop)))
        )
        return " ".join(text.split()), kind, shortened(before, text, after)

    def _end_byte(self, end: int) -> int:
        """The byte after the last of a sentence: where its block or the next sentence begins, or the text ends."""
        blocks = self.index.reading.blocks
        own = blocks.row(self.row)
        block = int(np.searchsorted(blocks.token[own], end - 1, side="right"))
        ends = [len(self._bytes)]
        ends += [self._byte(end)] if end < len(self._words) else []
        ends += [int(blocks.place[own][block])] if block < own.stop - own.start else []
        return min(ends)

    @cached_property
    def _places(self) -> Int64s:
        return self.index.indexed.token_places(self.row, 0, len(self._words))

    def _byte(self, token: int) -> int:
        return int(self._places[token])

    def _form_bytes(self, token: int) -> int:
        reading = self.index.reading
        return len(reading.forms.raw(int(reading.tokens.form[self._tokens.start + token])))

    def _linked(self, place: int, length: int, node: int) -> int | None:
        """The first other page that this page links with the same words."""
        links, own = self.index.links, self.index.links_of(self.row)
        for link in range(own.start, own.stop):
            first = int(links.start[link]) - self._tokens.start
            same = int(links.length[link]) == length and int(links.node[link]) != node
            if same and np.array_equal(self._words[first : first + length], self._words[place : place + length]):
                return int(links.node[link])
        return None


def shortened(before: str, words: str, after: str) -> str:
    r"""A sentence in one line; a long one is cut around its words.

    >>> shortened('The ', 'oak', ' is a\ntree. (')
    'The oak is a tree.'
    >>> len(shortened("a " * 500, "oak", " b" * 500)) < 340
    True
    """
    before, words, after = (" ".join(f"|{each}|".split())[1:-1] for each in (before, words, after))
    after = after.rstrip(_OPENING)
    room = max(0, _LONGEST - len(words))
    left = max(room // 2, room - len(after))
    if len(before) > left:
        before = "… " + before[len(before) - left :].partition(" ")[2]
    right = room - min(len(before), left)
    if len(after) > right:
        after = after[:right].rpartition(" ")[0] + " …"
    return (before + words + after).strip()
