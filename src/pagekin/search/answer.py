"""From a question to its answer: what is near, near-duplicates under the best of them, with names and reasons."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pagekin.duplicates.answer_groups import AnswerLine, group_answer
from pagekin.duplicates.filters import Overlap
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.links.citing_pages import LinkPositions, find_citing_pages, link_positions
from pagekin.search.blend import Blend
from pagekin.search.candidates import Query, shared_terms
from pagekin.search.options import RelatedOptions
from pagekin.search.results import Contribution, Explanation, NearDuplicate, RelatedPage
from pagekin.urls import host_of

if TYPE_CHECKING:
    from pagekin.search.indexed_store import IndexedStore

_MOST_LISTED = 1000  # pages that are looked at to find groups of near-duplicates
_REASONS = 5  # terms, and pages that cite both


class ScoredNode(NamedTuple):
    """A node that is near, and how near."""

    similarity: float
    node: int


class ShownPage(NamedTuple):
    """A page as an answer shows it."""

    url: str
    title: str
    similarity: float
    score: float | None


@dataclass(frozen=True)
class AnswerBuilder:
    """The answer to one question, in the making."""

    indexed: IndexedStore
    asked: list[int]  # the nodes that are asked for; none, if it is for a page that is not in the collection
    options: RelatedOptions
    own: Fingerprints | None  # of what is asked for, if near-duplicates shall stand under the best of them

    def to(self, query: Query) -> list[RelatedPage]:
        """The lines of the answer."""
        pinned = [self.indexed.find_node(url) for url in self.options.pin]
        scorer = self.indexed.scorer()
        query = replace(query, but=(*self.asked, *pinned))
        fusion = self.indexed.link_side.fusion(scorer, query, self.asked, self.indexed.link_share(self.options))
        with scorer.asking(query.bag, query.weighed):
            first = [ScoredNode(*each) for each in zip(fusion.scores(pinned), pinned, strict=True)]
            found, lines = self._listed(first, fusion)
            reasons = self._reasons(fusion, [found[line.anchor].node for line in lines])
            shown = self._shown(fusion, found, lines)
        overlaps = self._overlaps(found, lines)
        neighbors = []
        for line, why in zip(lines, reasons, strict=True):
            best = shown[line.anchor]
            under = [NearDuplicate(*shown[k][:3], overlaps[k], shown[k].score) for k in line.members]
            is_pinned = line.anchor < len(pinned)
            neighbors.append(RelatedPage(*best[:3], why, is_pinned, line.is_duplicate, under, best.score))
        return neighbors

    def _listed(self, first: list[ScoredNode], fusion: Blend) -> tuple[list[ScoredNode], list[AnswerLine]]:
        """What was found, the pinned ones first, and the lines of it; places in lines are those in what was found.

        Where near-duplicates leave too few lines, more are looked for.
        """
        options, wanted, allowed = self.options, self.options.limit, self._filter()
        while True:
            near = fusion.nearest(wanted, options.min_similarity, allowed)
            found = [*first, *(ScoredNode(*each) for each in near)]
            lines = self._lines(found, len(first))
            if len(lines) >= options.limit or len(near) < wanted or wanted >= _MOST_LISTED:
                return found, lines[: max(options.limit, len(first))]
            wanted = min(4 * wanted, max(_MOST_LISTED, options.limit))

    def _lines(self, found: list[ScoredNode], pinned: int) -> list[AnswerLine]:
        if self.own is None:
            return [AnswerLine(place) for place in range(len(found))]
        rows = self.indexed.rows_of([each.node for each in found])
        with_page = np.flatnonzero(rows >= 0)
        listed = self.indexed.fingerprints.rows(rows[with_page])
        return group_answer(self.own, listed, with_page.tolist(), len(found), pinned)

    def _shown(self, fusion: Blend, found: list[ScoredNode], lines: list[AnswerLine]) -> dict[int, ShownPage]:
        """What stands in the lines, by place."""
        places = [place for line in lines for place in (line.anchor, *line.members)]
        nodes = [found[place].node for place in places]
        names, scores = self.indexed.catalog.named_nodes(nodes), fusion.products(nodes)
        return {
            place: ShownPage(name["url"], name["title"], found[place].similarity, score)
            for place, name, score in zip(places, names, scores, strict=True)
        }

    def _overlaps(self, found: list[ScoredNode], lines: list[AnswerLine]) -> dict[int, Overlap]:
        """How each near-duplicate is like the page that it stands under."""
        pairs = [(member, line.anchor) for line in lines for member in line.members]
        if not pairs:
            return {}
        rows = self.indexed.rows_of([each.node for each in found])
        overlaps = self.indexed.fingerprints.overlaps(rows[np.array(pairs)])
        return dict(zip((member for member, _ in pairs), overlaps, strict=True))

    def _reasons(self, fusion: Blend, nodes: list[int]) -> list[Explanation]:
        if not self.options.explain:
            return [Explanation() for _ in nodes]
        shared = shared_terms(fusion.scorer, fusion.query, np.array(nodes, np.int64), _REASONS)
        one, others = self._standing(self.asked[:1]), self._standing(nodes)
        together = find_citing_pages(one, others, len(nodes), _REASONS)
        words, links = fusion.parts(nodes)
        shown, urls = self.indexed.index.terms.shown, self.indexed.reading.pages.url
        reasons = []
        for terms, citing, by_words, by_links in zip(shared, together, words.tolist(), links.tolist(), strict=True):
            parts = [Contribution("words", by_words, 1.0 - fusion.share), Contribution("links", by_links, fusion.share)]
            reasons.append(
                Explanation(
                    [(shown[each.term], each.share) for each in terms],
                    [urls[row] for row, _ in citing],
                    [apart for _, apart in citing],
                    parts if fusion.share else parts[:1],
                )
            )
        return reasons

    def _standing(self, nodes: list[int]) -> LinkPositions:
        return link_positions(self.indexed.links, self.indexed.reading.anchors, np.array(nodes, np.int64))

    def _filter(self) -> Callable[[int], bool]:
        """A function that tells whether a node may be in the answer."""
        indexed, options = self.indexed, self.options
        hosts = {host_of(indexed.node_url(node)) for node in self.asked} if options.exclude_host else set()
        but = indexed.nodes_linked_from(self.asked) if options.exclude_linked else set()
        but |= {indexed.find_node(url) for url in options.never}
        include = re.compile("|".join(f"(?:{each})" for each in options.include))
        exclude = re.compile("|".join(f"(?:{each})" for each in options.exclude) or r"(?!)")
        known = len(indexed.nodes) - 1
        any_url = not (hosts or options.include or options.exclude)

        def allowed(node: int) -> bool:
            if node in but or (node >= known and not options.outside):
                return False
            if any_url:
                return True
            url = indexed.node_url(node)
            return host_of(url) not in hosts and bool(include.search(url)) and not exclude.search(url)

        return allowed
