"""Near-duplicates of a whole collection: candidates share rare chunks, filters decide."""

from dataclasses import dataclass

import numpy as np

from pagekin.duplicates.candidates import candidate_pairs, first_copies
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.duplicates.groups import DuplicateGroup, build_groups, find_anchors
from pagekin.duplicates.sets import MAX_CHUNKS
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import MisuseError
from pagekin.kernels.graph import join
from pagekin.model.arrays import Floats, Int64s

MAX_PAIRS = 1 << 24  # kept for complete linkage


@dataclass(frozen=True)
class FoundPairs:
    """Pairs of near-duplicates: all of them or, for single linkage, enough to connect the groups."""

    pairs: Int64s
    compared: int  # pairs whose filters were compared
    cut: int  # pages whose rare chunks occur on too many pages to compare them with all


@dataclass(frozen=True, eq=False)
class PageSets:
    """The sets that pages are compared by: chunks of texts and, with a weight, links."""

    texts: Fingerprints
    links: Fingerprints | None = None
    weight: float = 0.0  # of links

    def similarities(self, pairs: Int64s) -> Floats:
        """The similarity of each pair of pages; two pages without links are compared by their texts alone."""
        of_texts = self.texts.similarities(pairs)
        if self.links is None or not self.weight:
            return of_texts
        of_links = self.links.similarities(pairs)
        has_links = (self.links.chunks.offsets[pairs + 1] > self.links.chunks.offsets[pairs]).any(axis=1)
        return np.where(has_links, (1.0 - self.weight) * of_texts + self.weight * of_links, of_texts)

    def rows(self, rows: Int64s) -> "PageSets":
        """The sets of some pages."""
        return PageSets(self.texts.rows(rows), self.links and self.links.rows(rows), self.weight)


def find_pairs(sets: PageSets, settings: GroupSettings, every: bool = False) -> FoundPairs:
    """Find near-duplicates among many pages; if `every`, all pairs and not only those that connect groups."""
    chunks = sets.texts.chunks
    counts = chunks.counts()
    compared = (counts > 0) & (counts <= MAX_CHUNKS)
    copies = np.empty((0, 2), np.int64)
    if not every:
        first = first_copies(chunks)
        copy = np.flatnonzero((first < np.arange(len(first))) & compared)
        copies = np.column_stack([copy, first[copy]])
        copies = copies[sets.similarities(copies) >= settings.threshold]
        compared[copies[:, 0]] = False
    pages = np.flatnonzero(compared)
    some = sets if len(pages) == len(chunks) else sets.rows(pages)
    parents = np.arange(len(pages))
    text_threshold = (settings.threshold - sets.weight) / (1.0 - sets.weight)  # sufficient if all links are common
    kept, tried, cut = [copies], len(copies), 0
    for pairs, cut_here in candidate_pairs(some.texts.chunks, text_threshold, parents):
        tried, cut = tried + len(pairs), cut + cut_here
        near = pairs[some.similarities(pairs) >= settings.threshold]
        kept.append(pages[near if every else near[join(parents, near)]])
        if every and sum(map(len, kept)) > MAX_PAIRS:
            raise MisuseError(
                f"there are more than {MAX_PAIRS:,} pairs of near-duplicates, too many for complete linkage;"
                " group them without --complete-link"
            )
    found = np.sort(np.concatenate(kept), axis=1)
    found = np.unique(found, axis=0) if every else found  # a pair may be a candidate from both sides
    return FoundPairs(found[:, ::-1], tried, cut)


def groups_of(sets: PageSets, found: FoundPairs, order: Int64s, settings: GroupSettings) -> list[DuplicateGroup[int]]:
    """The groups of two or more pages; `order` has all pages, best first."""
    anchors = find_anchors(order, found.pairs, settings.link, sets.similarities)
    similarities = sets.similarities if sets.weight else None
    return build_groups(order, anchors, sets.texts.overlaps, similarities, singletons=False)
