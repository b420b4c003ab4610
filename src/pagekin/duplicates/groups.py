"""Groups of near-duplicates, each with its best-ranked page as the anchor."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from pagekin.duplicates.filters import OVERLAP_KEYS, Overlap
from pagekin.kernels.graph import join, roots
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.jsons import json_field

Page = TypeVar("Page")
Other = TypeVar("Other")


@dataclass(frozen=True)
class DuplicateMember(Generic[Page]):
    """A near-duplicate of the anchor of its group. In `overlap`, A is the page and B the anchor."""

    page: Page = json_field(inline=True)
    overlap: Overlap = json_field(expand=OVERLAP_KEYS, digits=4)  # of texts
    similarity: float = json_field(digits=4)  # of texts and, in a collection with a link weight, of links


@dataclass(frozen=True)
class DuplicateGroup(Generic[Page]):
    """A page and its near-duplicates, best-ranked first."""

    anchor: Page
    members: list[DuplicateMember[Page]]

    def map(self, function: Callable[[Page], Other]) -> "DuplicateGroup[Other]":
        """The same group with a function applied to its pages."""
        members = [DuplicateMember(function(each.page), each.overlap, each.similarity) for each in self.members]
        return DuplicateGroup(function(self.anchor), members)


def find_anchors(order: Int64s, pairs: Int64s, link: str, similarities: Callable[[Int64s], Floats]) -> Int64s:
    """The anchor of each page: the first page of its group in `order`, best first."""
    rank = np.argsort(order)
    if link == "complete":
        first = complete_linkage(len(order), rank[pairs], similarities(pairs).tolist())
    else:
        first = single_linkage(len(order), rank[pairs])
    anchors: Int64s = order[first[rank]]
    return anchors


def build_groups(
    order: Int64s,
    anchors: Int64s,
    overlaps: Callable[[Int64s], list[Overlap]],
    similarities: Callable[[Int64s], Floats] | None = None,
    singletons: bool = True,
) -> list[DuplicateGroup[int]]:
    """Group pages under their anchors, in `order`; `singletons` keeps groups of one page.

    The similarity of a member is that of its overlap unless `similarities` are given.
    """
    ranked = anchors[order]
    members = np.column_stack([order, ranked])[ranked != order]
    heads = order[ranked == order]
    heads = heads if singletons else heads[np.isin(heads, members[:, 1])]
    groups: dict[int, DuplicateGroup[int]] = {page: DuplicateGroup(page, []) for page in heads.tolist()}
    found = overlaps(members)
    values = [each.similarity for each in found] if similarities is None else similarities(members).tolist()
    for (page, anchor), overlap, similarity in zip(members.tolist(), found, values, strict=True):
        groups[anchor].members.append(DuplicateMember(page, overlap, similarity))
    return list(groups.values())


def single_linkage(count: int, pairs: Int64s) -> Int64s:
    """The first page of each page's group; groups are the connected components of the pairs."""
    parents = np.arange(count)
    join(parents, pairs)
    return roots(parents)


def complete_linkage(count: int, pairs: Int64s, similarity: Sequence[float]) -> Int64s:
    """The first page of each page's group; all pages of a group are pairs of each other.

    Pairs are processed by decreasing similarity. Two groups merge when the last pair between them has been processed,
    that is in the order of the least similarity between them, which is complete linkage.
    """
    first = np.arange(count)
    members = {page: [page] for page in range(count)}
    seen: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))  # processed pairs between two groups
    order = sorted(range(len(pairs)), key=lambda k: (-similarity[k], *sorted(pairs[k].tolist())))
    for a, b in pairs[order].tolist():
        keep, lose = sorted((int(first[a]), int(first[b])))
        seen[keep][lose] += 1
        seen[lose][keep] += 1
        if seen[keep][lose] < len(members[keep]) * len(members[lose]):
            continue
        first[members[lose]] = keep
        members[keep] += members.pop(lose)
        for other, pairs_seen in seen.pop(lose).items():
            del seen[other][lose]
            if other != keep:
                seen[keep][other] += pairs_seen
                seen[other][keep] += pairs_seen
    return first
