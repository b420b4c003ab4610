"""Scores by links, as they are defined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, sqrt
from typing import NamedTuple

from pagekin.model.link_columns import LinkLimits


class Anchor(NamedTuple):
    """A link: the words before it, the page that it leads to, and whether it counts. A page may link to itself."""

    word: int
    target: int
    counts: bool


Pages = Sequence[Sequence[Anchor]]  # the anchors of each page, in document order


def links(pages: Pages, page: int) -> list[Anchor]:
    """The links of a page that count."""
    return [anchor for anchor in pages[page] if anchor.counts]


def targets(pages: Pages, page: int) -> set[int]:
    return {anchor.target for anchor in links(pages, page)}


def in_degrees(pages: Pages) -> list[int]:
    return [sum(node in targets(pages, page) for page in range(len(pages))) for node in range(len(pages))]


def idf(pages: Pages, node: int) -> float:
    return log(len(pages) / max(1, in_degrees(pages)[node]))


def rarity(pages: Pages, node: int) -> float:
    return log(1 + len(pages) / (1 + in_degrees(pages)[node])) / log(1 + len(pages))


def norm(pages: Pages, page: int) -> float:
    cited = [node for node, degree in enumerate(in_degrees(pages)) if degree]
    mean = sum(idf(pages, node) ** 2 for node in cited) / len(cited) if cited else 1.0
    return sqrt(sum(idf(pages, node) ** 2 for node in targets(pages, page)) + 3 * mean)


def proximity(pages: Pages, node: int, limits: LinkLimits) -> dict[int, float]:
    """For each page that is cited close to a page, the sum over citing pages of 64 / (64 + words apart), normalised."""
    return _cited_together(pages, node, limits, lambda apart: 64 / (64 + apart) if apart <= limits.words else 0.0)


def cocitation(pages: Pages, node: int, limits: LinkLimits) -> dict[int, float]:
    """For each page that is cited together with a page, the number of citing pages, normalised."""
    return _cited_together(pages, node, limits, lambda apart: 1.0)


def _cited_together(pages: Pages, node: int, limits: LinkLimits, weight_of: Callable[[int], float]) -> dict[int, float]:
    places = [
        (page, place)
        for page, anchors in enumerate(pages)
        for place, anchor in enumerate(anchors)
        if anchor.counts and anchor.target == node
    ]
    wanted = min(len(places), limits.links)
    chosen = [places[k * len(places) // wanted] for k in range(wanted)]
    closest: dict[tuple[int, int], int] = {}
    for page, place in chosen:
        anchors = pages[page]
        for other in range(len(anchors)):
            apart = abs(anchors[other].word - anchors[place].word)
            near = abs(other - place) <= limits.anchors and weight_of(apart) > 0.0
            if near and anchors[other].counts and anchors[other].target != node:
                key = anchors[other].target, page
                closest[key] = min(apart, closest.get(key, apart))
    degree = in_degrees(pages)
    scores: dict[int, float] = {}
    for (target, _), apart in closest.items():
        weight = weight_of(apart) / sqrt((degree[node] + 3) * (degree[target] + 3))
        scores[target] = scores.get(target, 0.0) + weight
    return scores


def coupling(pages: Pages, node: int, limits: LinkLimits) -> dict[int, float]:
    """The cosines of vectors of link targets with another page; all links to a target are counted as its postings."""
    degree, postings = in_degrees(pages), 0
    shared: dict[int, float] = {}
    for target in sorted(targets(pages, node), key=lambda each: (degree[each], each)):
        postings += sum(anchor.target == target for page, row in enumerate(pages) if page != target for anchor in row)
        if postings > limits.postings:
            break
        for page in range(len(pages)):
            if page != node and target in targets(pages, page):
                shared[page] = shared.get(page, 0.0) + idf(pages, target) ** 2
    own = norm(pages, node)
    return {page: square / (own * norm(pages, page)) for page, square in shared.items() if square}


def link_shares(pages: Pages, node: int) -> dict[int, float]:
    """The pages that a page links to, and their shares of its links."""
    weights = {}
    for target in targets(pages, node):
        lead = sum(200 / (200 + anchor.word) for anchor in links(pages, node) if anchor.target == target)
        weights[target] = sqrt(lead) * rarity(pages, target)
    return {target: weight / (1 + sum(weights.values())) for target, weight in weights.items()}


def rarest_shared(pages: Pages, queries: Sequence[int], node: int, most: int) -> list[int]:
    """The pages that both a page and some queries link to, those with the fewest in-links first."""
    shared = targets(pages, node) & {target for query in queries for target in targets(pages, query)}
    degrees = in_degrees(pages)
    return sorted(shared, key=lambda each: (degrees[each], each))[:most]
