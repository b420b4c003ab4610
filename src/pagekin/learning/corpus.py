"""The corpus of the experiments: pages with links in three parts that know nothing of each other (paper, 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pagekin.errors import MisuseError
from pagekin.model.arrays import Bools, Floats, Int64s, UInt32s, spans
from pagekin.model.weighting import inverse_frequency, stopped

PARTS = ("train", "valid", "test")
_FEWEST = 6  # pages with links: two a part


@dataclass(frozen=True)
class CorpusCounts:
    """How often each term is in each page, as counted: row k of the columns is page k."""

    offsets: Int64s
    term: UInt32s
    count: UInt32s

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of(self, pages: Int64s) -> CorpusCounts:
        """Some pages, in this order."""
        lengths = np.diff(self.offsets)[pages]
        places = spans(self.offsets[pages], lengths)
        return CorpusCounts(offsets_of(lengths), self.term[places], self.count[places])

    def rows(self) -> Int64s:
        """The page that each count belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


@dataclass(frozen=True)
class CorpusLinks:
    """Which page links to which; a pair may come several times."""

    citing: Int64s
    cited: Int64s


@dataclass(frozen=True)
class CorpusPart:
    """Pages with what they say and with their links to each other: all that a part of the corpus knows.

    Terms that are in more than 6.6 % of its pages, and those that occur once in it, are left out.
    """

    pages: Int64s  # of the collection
    terms: Int64s  # of the collection
    counts: CorpusCounts  # pages and terms by their places in this part
    frequency: Int64s  # of each term: the pages that hold it
    lengths: Int64s  # of each page: how many occurrences of terms it has
    link_offsets: Int64s  # L(d) of each page, in order: the pages linked with it, in either direction
    link: UInt32s

    def __len__(self) -> int:
        return len(self.pages)

    @property
    def mean_length(self) -> float:
        """Of its pages, in occurrences of terms."""
        return float(self.lengths.sum()) / max(1, len(self))

    def idf(self) -> Floats:
        """ln(N / df) of each term."""
        return inverse_frequency(self.frequency, len(self))

    def linked(self) -> Int64s:
        """The pages that can be asked for: those with links, and with pages that they are not linked with."""
        degrees = np.diff(self.link_offsets)
        return np.flatnonzero((degrees > 0) & (degrees < len(self) - 1))

    def statistics(self) -> dict[str, float]:
        """The row of table 1, and what is not asked for."""
        pages = max(1, len(self))
        return {
            "pages": len(self),
            "vocabulary": len(self.terms),
            "terms_per_page": self.mean_length,
            "distinct_terms_per_page": len(self.counts.term) / pages,
            "links_per_page": len(self.link) / pages,
            "pages_without_terms": int((self.lengths == 0).sum()),
            "pages_without_links": int((np.diff(self.link_offsets) == 0).sum()),
        }


def offsets_of(lengths: Int64s) -> Int64s:
    """Where rows of these lengths begin and end."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def split(counts: CorpusCounts, links: CorpusLinks, seed: int) -> dict[str, CorpusPart]:
    """Share the pages that have links out to train, valid and test, by lot; links between the parts are dropped."""
    between = links.citing != links.cited
    has_links = np.zeros(len(counts), bool)
    has_links[links.citing[between]] = True
    has_links[links.cited[between]] = True
    pages = np.flatnonzero(has_links)
    if len(pages) < _FEWEST:
        raise MisuseError(
            f"{len(pages):,} of {len(counts):,} pages are linked with others; to learn from links takes {_FEWEST} at"
            " least, and hundreds to learn well"
        )
    drawn = np.random.default_rng((seed, 0)).permutation(len(counts))
    drawn = drawn[has_links[drawn]]
    return {
        name: part_of(np.sort(each), counts, links)
        for name, each in zip(PARTS, np.array_split(drawn, len(PARTS)), strict=True)
    }


def part_of(pages: Int64s, counts: CorpusCounts, links: CorpusLinks) -> CorpusPart:
    """Some pages alone: their words, the vocabulary that these make, and the links among them."""
    own = counts.of(pages)
    kept = _kept(own)
    terms, term = np.unique(own.term[kept], return_inverse=True)
    page = own.rows()[kept]
    of_part = CorpusCounts(
        offsets_of(np.bincount(page, minlength=len(pages))), term.astype(np.uint32), own.count[kept].astype(np.uint32)
    )
    return CorpusPart(
        pages,
        terms.astype(np.int64),
        of_part,
        np.bincount(term, minlength=len(terms)).astype(np.int64),
        np.bincount(page, of_part.count, len(pages)).astype(np.int64),
        *_linked(pages, links, len(counts)),
    )


def _kept(counts: CorpusCounts) -> Bools:
    """Which counts are of terms that are neither in too many of the pages nor only once in all of them."""
    last = int(counts.term.max(initial=0)) + 1
    frequency = np.bincount(counts.term, minlength=last)
    occurrences = np.bincount(counts.term, counts.count, last)
    kept = ~stopped(frequency, len(counts)) & (occurrences > 1)
    return np.asarray(kept[counts.term])


def _linked(pages: Int64s, links: CorpusLinks, count: int) -> tuple[Int64s, UInt32s]:
    """L(d) of each of the pages, among them alone."""
    place = np.full(count, -1, np.int64)
    place[pages] = np.arange(len(pages))
    a, b = place[links.citing], place[links.cited]
    inside = (a >= 0) & (b >= 0) & (a != b)
    a, b = a[inside], b[inside]
    pairs = np.unique(np.concatenate([a * len(pages) + b, b * len(pages) + a]))
    offsets = offsets_of(np.bincount(pairs // max(1, len(pages)), minlength=len(pages)))
    return offsets, (pairs % max(1, len(pages))).astype(np.uint32)
