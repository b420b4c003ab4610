"""Bags, folded from pages that are lists of words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pagekin.kernels.fold_bags import FoldPlan
from reference import windows

Sums = dict[int, float]


@dataclass(frozen=True)
class Block:
    """Words of a page, the kinds of the boundary before them, and whether they do not count."""

    words: list[int]
    kinds: int = 0
    silent: bool = False


@dataclass(frozen=True)
class Page:
    """A page of a node. Words are forms, which `terms` makes terms; those that it does not know are stop words."""

    node: int
    blocks: list[Block]
    terms: Mapping[int, int]
    title: Sequence[int] = ()
    sentences: Sequence[int] = ()

    def words(self) -> list[tuple[int | None, bool]]:
        """For every word its term, and whether it is silent."""
        return [(self.terms.get(word), block.silent) for block in self.blocks for word in block.words]


@dataclass(frozen=True)
class Link:
    """Words start to end of a page, which lead to a node."""

    page: int
    start: int
    end: int
    node: int
    counts: bool = True
    trailing: bool = False  # without words, in the block of the word before


@dataclass(frozen=True)
class Bag:
    """The sums of a bag."""

    content: Sums
    around: Sums


def bag(node: int, pages: Sequence[Page], links: Sequence[Link], words: int, plan: FoldPlan) -> Bag:
    """The bag of a node: its own words; its titles and the windows of links to it; the nodes that link to it."""
    content, around = defaultdict[int, float](float), defaultdict[int, float](float)
    for page in pages:
        if page.node != node:
            continue
        kept = [term for term, silent in page.words() if term is not None and not silent]
        for place, term in enumerate(kept if plan.content else ()):
            content[term] += 1 / (1 + place / plan.lead) if plan.lead else 1
        for form in page.title if plan.anchors else ():
            if form in page.terms:
                around[page.terms[form]] += windows.distance_weight(0, plan.by_distance)
    for link in links:
        if link.node != node or not link.counts:
            continue
        for term, weight in window(pages[link.page], link, plan) if plan.anchors else ():
            around[term] += weight
        if plan.links:
            around[words + pages[link.page].node] = 1
    return Bag(dict(content), dict(around))


def window(page: Page, link: Link, plan: FoldPlan) -> Iterator[tuple[int, float]]:
    """The terms in the window of an anchor, with their loudness."""
    words = page.words()
    blocks = [windows.Block(block.kinds, len(block.words)) for block in page.blocks]
    left, right = windows.bounds(link.start, link.end, blocks, page.sentences, plan.window, link.trailing)
    for term, _ in words[link.start : link.end]:
        if term is not None:
            yield term, windows.distance_weight(0, plan.by_distance)
    far = 16_384 if plan.width < 0 else min(64 * (plan.width + 1), 16_384)  # tokens, whether they count or not
    for side in (words[left : link.start][::-1][:far], words[link.end : right][:far]):
        kept = [term for term, silent in side if term is not None and not silent]
        reach = len(kept) if plan.width < 0 else plan.width
        for distance, term in enumerate(kept[:reach], start=1):
            weight = windows.distance_weight(distance, plan.by_distance)
            if weight > 0:
                yield term, weight


def weights(bag: Bag, factors: Sequence[float], words: int, shares: tuple[float, float, float] | None) -> Sums:
    """The weights of a bag with shares for contents, windows and citing nodes; None: parts are added up."""
    parts: list[Sums] = [
        {term: count * factors[term] for term, count in bag.content.items()},
        {term: count * factors[term] for term, count in bag.around.items() if term < words},
        {term: count * factors[term] for term, count in bag.around.items() if term >= words},
    ]
    sums = [sum(part.values()) for part in parts]
    scales = (
        [1.0] * 3 if shares is None else [s / total if total else 0.0 for s, total in zip(shares, sums, strict=True)]
    )
    whole = sum(scale * total for scale, total in zip(scales, sums, strict=True))
    result = defaultdict[int, float](float)
    for scale, part in zip(scales, parts, strict=True):
        for term, count in part.items():
            result[term] += scale * count / whole if whole else 0.0
    return dict(result)


def sort_by_weight(weights: Sequence[float]) -> list[int]:
    """Indices by descending weight; the sort is stable.

    >>> sort_by_weight([0.25, 0.5, 0.25])
    [1, 0, 2]
    """
    return sorted(range(len(weights)), key=lambda index: -weights[index])
