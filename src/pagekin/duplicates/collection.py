"""A whole collection -> its near-duplicates: candidates from the lists of rare chunks, then the truth from filters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pagekin.duplicates.candidates import CandidatePairs, same_sets
from pagekin.duplicates.filters import Floats
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.duplicates.grouper import GroupMember, PageGroup
from pagekin.duplicates.groups import by_chains, by_complete_link
from pagekin.duplicates.sets import MOST_CHUNKS
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import MisuseError
from pagekin.kernels.graph import join
from pagekin.model.arrays import Int64s

MOST_PAIRS = 1 << 24  # that are kept for complete linkage


@dataclass(frozen=True)
class FoundPairs:
    """Pairs of near-duplicates: all of them or, for chains, as many as join groups; and how they were found."""

    pairs: Int64s
    compared: int  # pairs whose filters were compared
    cut: int  # pages that have a rare chunk in common with so many others that not all of these were looked at


@dataclass(frozen=True, eq=False)
class PageSets:
    """What pages are compared by: their texts and, with a weight, the sets of their links."""

    texts: Fingerprints
    links: Fingerprints | None = None
    weight: float = 0.0  # of links

    def similarities(self, pairs: Int64s) -> Floats:
        """How similar the pages of each pair are; pages without links are judged by their texts alone."""
        of_texts = self.texts.similarities(pairs)
        if self.links is None or not self.weight:
            return of_texts
        of_links = self.links.similarities(pairs)
        linking = (self.links.chunks.offsets[pairs + 1] > self.links.chunks.offsets[pairs]).any(axis=1)
        return np.where(linking, (1.0 - self.weight) * of_texts + self.weight * of_links, of_texts)

    def rows(self, rows: Int64s) -> PageSets:
        """That of some pages."""
        return PageSets(self.texts.rows(rows), self.links and self.links.rows(rows), self.weight)

    def least_of_texts(self, threshold: float) -> float:
        """How similar texts must be, should their links be the same."""
        return (threshold - self.weight) / (1.0 - self.weight)


def find_pairs(evidence: PageSets, settings: GroupSettings, every: bool = False) -> FoundPairs:
    """The near-duplicates among many pages; if `every`, all pairs and not only those that join two groups."""
    chunks = evidence.texts.chunks
    counts = chunks.counts()
    compared = (counts > 0) & (counts <= MOST_CHUNKS)
    copies = np.empty((0, 2), np.int64)
    if not every:
        first = same_sets(chunks)
        again = np.flatnonzero((first < np.arange(len(first))) & compared)
        copies = np.column_stack([again, first[again]])
        copies = copies[evidence.similarities(copies) >= settings.threshold]
        compared[copies[:, 0]] = False
    pages = np.flatnonzero(compared)
    some = evidence if len(pages) == len(chunks) else evidence.rows(pages)
    parents = np.arange(len(pages))
    proposals = CandidatePairs(some.texts.chunks, evidence.least_of_texts(settings.threshold), parents)
    kept, tried = [copies], len(copies)
    for pairs in proposals:
        tried += len(pairs)
        near = pairs[some.similarities(pairs) >= settings.threshold]
        kept.append(pages[near if every else near[join(parents, near)]])
        if every and sum(map(len, kept)) > MOST_PAIRS:
            raise MisuseError(
                f"there are more than {MOST_PAIRS:,} pairs of near-duplicates, too many for this;"
                " group them by chains, without --complete-link"
            )
    found = np.sort(np.concatenate(kept), axis=1)
    found = np.unique(found, axis=0) if every else found  # a pair may have been proposed from both sides
    return FoundPairs(found[:, ::-1], tried, proposals.cut)


def groups_of(evidence: PageSets, found: FoundPairs, order: Int64s, settings: GroupSettings) -> list[PageGroup]:
    """The groups of two pages or more, and their members, in an order of all pages, the best first."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    if settings.link == "complete":
        first = by_complete_link(len(order), place[found.pairs], evidence.similarities(found.pairs).tolist())
    else:
        first = by_chains(len(order), place[found.pairs])
    others = np.flatnonzero(first != np.arange(len(first)))
    members = np.column_stack([order[others], order[first[others]]])
    groups = {anchor: PageGroup(anchor) for anchor in order[np.unique(first[others])].tolist()}
    for (page, anchor), overlap in zip(members.tolist(), evidence.texts.overlaps(members), strict=True):
        groups[anchor].members.append(GroupMember(page, overlap))
    return list(groups.values())
