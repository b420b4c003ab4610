"""Pairs of near-duplicates -> groups, each under its best-ranked page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from pagekin.kernels.graph import join, roots
from pagekin.model.arrays import Int64s


def by_chains(count: int, pairs: Int64s) -> Int64s:
    """The first page of each page's group, if similar pages of similar pages are of one group."""
    parents = np.arange(count)
    join(parents, pairs)
    return roots(parents)


def by_complete_link(count: int, pairs: Int64s, similarity: Sequence[float]) -> Int64s:
    """The first page of each page's group, if all pages of a group are similar to each other.

    Pairs come in, the most similar first; two groups become one when the last pair between them has come. So groups
    merge in the order of the least similarity between them, which is complete linkage.
    """
    first = np.arange(count)
    members = {page: [page] for page in range(count)}
    seen: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))  # pairs between two groups so far
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
