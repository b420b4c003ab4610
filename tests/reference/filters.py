"""Bloom filters as sets of positions, connected components, and complete linkage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def filter_of(elements: Iterable[int], bits: int, hashes: int) -> set[int]:
    """The positions of the set bits."""
    return {(e % 2**32 + i * (e >> 32 | 1)) % 2**64 % bits for e in elements for i in range(hashes)}


def size(places: set[int], bits: int, hashes: int) -> float:
    """The estimated number of elements: solved from (1 - 1/m)^(kn) = share of bits not set."""
    return math.log(1 - len(places) / bits) / (hashes * math.log(1 - 1 / bits))


def nearness(a: set[int], b: set[int], counts: tuple[int, int], bits: int, hashes: int, threshold: float) -> float:
    """The number of shared chunks minus the number required; negative if two filters share too few."""
    held = size(a, bits, hashes), size(b, bits, hashes)
    common = held[0] + held[1] - size(a | b, bits, hashes)
    beyond = [
        common / each * count - (math.ceil(threshold * count - 1e-9) - 0.5)
        for each, count in zip(held, counts, strict=True)
    ]
    return min(beyond) if min(counts) < 4 else max(beyond)


def components(count: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """The least page that each page can be reached from."""
    linked: dict[int, set[int]] = {page: set() for page in range(count)}
    for a, b in pairs:
        linked[a].add(b)
        linked[b].add(a)
    first = [-1] * count
    for page in range(count):
        walk = [page] if first[page] < 0 else []
        while walk:
            here = walk.pop()
            if first[here] < 0:
                first[here] = page
                walk += linked[here]
    return first


def complete_links(count: int, similarity: dict[tuple[int, int], float]) -> list[int]:
    """Complete linkage as defined: merge the two groups whose least similar pair is most similar, while there is one.

    Pairs that are not named are not similar at all.
    """
    groups = [[page] for page in range(count)]

    def least(a: list[int], b: list[int]) -> float:
        return min(similarity.get((min(x, y), max(x, y)), 0.0) for x in a for y in b)

    while True:
        pairs = [(least(a, b), a, b) for k, a in enumerate(groups) for b in groups[k + 1 :]]
        best = max((pair for pair in pairs if pair[0] > 0), key=lambda pair: pair[0], default=None)
        if best is None:
            break
        _, a, b = best
        groups = [group for group in groups if group not in (a, b)] + [sorted(a + b)]
    first = {page: min(group) for group in groups for page in group}
    return [first[page] for page in range(count)]


def longer(pairs: Sequence[tuple[int, int]], more: int) -> list[tuple[int, int] | None]:
    """The pairs, and room for as many again and for `more`.

    >>> longer([(1, 2)], 1)
    [(1, 2), None, None]
    """
    return [*pairs, *[None] * (len(pairs) + more)]
