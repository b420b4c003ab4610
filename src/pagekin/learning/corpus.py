"""The corpus of the experiments: linked pages in disjoint training, validation and test sets (paper, 4.1)."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from pagekin.errors import MisuseError
from pagekin.model.arrays import Bools, Floats, Int64s, UInt32s, offsets_of, spans
from pagekin.model.reading import Ragged
from pagekin.model.weighting import inverse_frequency, stopped

PARTS = ("train", "valid", "test")
_MIN_PAGES = 6  # with links: two in each part


@dataclass(frozen=True)
class CorpusCounts(Ragged):
    """Term frequencies: row k of the columns holds the terms of page k and their counts."""

    term: UInt32s
    count: UInt32s

    def select(self, pages: Int64s) -> Self:
        lengths = self.lengths()[pages]
        places = spans(self.offsets[pages], lengths)
        return type(self)(offsets_of(lengths), self.term[places], self.count[places])

    def rows(self) -> Int64s:
        return np.repeat(np.arange(len(self)), self.lengths())


@dataclass(frozen=True)
class CorpusLinks:
    """Links between pages; a pair may occur several times."""

    citing: Int64s
    cited: Int64s


@dataclass(frozen=True)
class CorpusPart:
    """The training, validation or test set: pages, their terms, and the links among them.

    Terms that occur on more than 6.6 % of the pages, or only once in the part, are left out.
    """

    pages: Int64s  # numbers in the collection
    terms: Int64s  # numbers in the collection
    counts: CorpusCounts  # pages and terms numbered within the part
    frequency: Int64s  # document frequency of each term
    lengths: Int64s  # length of each page: the sum of its term frequencies
    link_offsets: Int64s  # L(d) of each page, sorted: the pages that link to it or that it links to
    link: UInt32s

    def __len__(self) -> int:
        return len(self.pages)

    @property
    def mean_length(self) -> float:
        return float(self.lengths.sum()) / max(1, len(self))

    def idf(self) -> Floats:
        return inverse_frequency(self.frequency, len(self))

    def linked(self) -> Int64s:
        """The pages that can be queries: linked with some pages of the part, but not with all."""
        degrees = np.diff(self.link_offsets)
        return np.flatnonzero((degrees > 0) & (degrees < len(self) - 1))

    def statistics(self) -> dict[str, float]:
        """The row of table 1, and the number of pages without terms or links."""
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


def split(counts: CorpusCounts, links: CorpusLinks, seed: int) -> dict[str, CorpusPart]:
    """Split the linked pages at random into three parts of equal size; drop the links between parts."""
    between = links.citing != links.cited
    has_links = np.zeros(len(counts), bool)
    has_links[links.citing[between]] = True
    has_links[links.cited[between]] = True
    linked = int(has_links.sum())
    if linked < _MIN_PAGES:
        raise MisuseError(
            f"{linked:,} of {len(counts):,} pages are linked with others; learning from links needs at least"
            f" {_MIN_PAGES} such pages, and gives good weights only with hundreds"
        )
    order = np.random.default_rng((seed, 0)).permutation(len(counts))
    parts = np.array_split(order[has_links[order]], len(PARTS))
    return {name: part_of(np.sort(pages), counts, links) for name, pages in zip(PARTS, parts, strict=True)}


def part_of(pages: Int64s, counts: CorpusCounts, links: CorpusLinks) -> CorpusPart:
    """Some pages as a part: with their own vocabulary, and the links among them."""
    own = counts.select(pages)
    kept = _informative(own)
    terms, term = np.unique(own.term[kept], return_inverse=True)
    page = own.rows()[kept]
    count, offsets = own.count[kept].astype(np.uint32), offsets_of(np.bincount(page, minlength=len(pages)))
    frequency = np.bincount(term, minlength=len(terms)).astype(np.int64)
    lengths = np.bincount(page, count, len(pages)).astype(np.int64)
    kept_counts = CorpusCounts(offsets, term.astype(np.uint32), count)
    neighbours = _neighbours(pages, links, len(counts))
    return CorpusPart(pages, terms.astype(np.int64), kept_counts, frequency, lengths, *neighbours)


def _informative(counts: CorpusCounts) -> Bools:
    """Which counts belong to terms that are neither too frequent nor hapax legomena."""
    last = int(counts.term.max(initial=0)) + 1
    frequency = np.bincount(counts.term, minlength=last)
    occurrences = np.bincount(counts.term, counts.count, last)
    return np.asarray((~stopped(frequency, len(counts)) & (occurrences > 1))[counts.term])


def _neighbours(pages: Int64s, links: CorpusLinks, count: int) -> tuple[Int64s, UInt32s]:
    """L(d) of each page, restricted to these pages, as offsets and page numbers."""
    place = np.full(count, -1, np.int64)
    place[pages] = np.arange(len(pages))
    a, b = place[links.citing], place[links.cited]
    inside = (a >= 0) & (b >= 0) & (a != b)
    a, b = a[inside], b[inside]
    pairs = np.unique(np.concatenate([a * len(pages) + b, b * len(pages) + a]))
    offsets = offsets_of(np.bincount(pairs // max(1, len(pages)), minlength=len(pages)))
    return offsets, (pairs % max(1, len(pages))).astype(np.uint32)
