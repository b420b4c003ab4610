"""From a query to its answer: the nearest pages, near-duplicates grouped, with names and reasons."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pagekin.duplicates.answer_groups import AnswerLine, group_answer
from pagekin.duplicates.filters import Overlap
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.search.blend import Blend
from pagekin.search.node_store import NodeStore
from pagekin.search.options import RelatedOptions
from pagekin.search.query import Query
from pagekin.search.results import Contribution, Explanation, NearDuplicate, RelatedPage
from pagekin.search.weighted_text import WeightedText
from pagekin.urls import host_of

_MAX_LISTED = 1000  # pages that are looked at to find groups of near-duplicates
_EXPLAINED = frozenset(("terms", "cited_by", "apart"))  # fields of an Explanation


class ScoredNode(NamedTuple):
    """A node and its similarity."""

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
    """Builds the answer to one request."""

    store: NodeStore
    blend: Blend
    options: RelatedOptions
    own: Fingerprints | None  # of the query, if near-duplicates are grouped

    def answer(self, query: Query, pinned: list[int]) -> list[RelatedPage]:
        """The related pages, pinned ones first."""
        query = replace(query, allowed=self._filter(query.nodes), min_similarity=self.options.min_similarity)
        similar = self.blend.similarities(query, np.array(pinned, np.int64)).tolist()
        found, lines = self._lines(query, [ScoredNode(*each) for each in zip(similar, pinned, strict=True)])
        explanations = self._explanations(query, [found[line.anchor].node for line in lines])
        shown, overlaps = self._shown(query, found, lines), self._overlaps(found, lines)
        pages = []
        for line, why in zip(lines, explanations, strict=True):
            best = shown[line.anchor]
            members = [NearDuplicate(*shown[k][:3], overlaps[k], shown[k].score) for k in line.members]
            is_pinned = line.anchor < len(pinned)
            pages.append(RelatedPage(*best[:3], why, is_pinned, line.is_duplicate, members, best.score))
        return pages

    def _lines(self, query: Query, first: list[ScoredNode]) -> tuple[list[ScoredNode], list[AnswerLine]]:
        """The nodes found, pinned ones first, and the lines of the answer, which give places among these nodes.

        Where near-duplicates leave too few lines, more nodes are looked for.
        """
        limit = wanted = self.options.limit
        while True:
            near = self.blend.nearest(query, wanted)
            found = [*first, *(ScoredNode(*each) for each in near)]
            lines = self._grouped(found, len(first))
            if len(lines) >= limit or len(near) < wanted or wanted >= _MAX_LISTED:
                return found, lines[: max(limit, len(first))]
            wanted = min(4 * wanted, max(_MAX_LISTED, limit))

    def _grouped(self, found: list[ScoredNode], pinned: int) -> list[AnswerLine]:
        if self.own is None:
            return [AnswerLine(place) for place in range(len(found))]
        rows = self.store.rows_of([each.node for each in found])
        with_page = np.flatnonzero(rows >= 0)
        listed = self.store.fingerprints.rows(rows[with_page])
        return group_answer(self.own, listed, with_page.tolist(), len(found), pinned)

    def _shown(self, query: Query, found: list[ScoredNode], lines: list[AnswerLine]) -> dict[int, ShownPage]:
        """The pages of the lines, by their places among the nodes found."""
        places = [place for line in lines for place in (line.anchor, *line.members)]
        nodes = [found[place].node for place in places]
        names, scores = self.store.catalog.named_nodes(nodes), self._raw_scores(query, nodes)
        return {
            place: ShownPage(name["url"], name["title"], found[place].similarity, score)
            for place, name, score in zip(places, names, scores, strict=True)
        }

    def _raw_scores(self, query: Query, nodes: list[int]) -> Sequence[float | None]:
        """The inner products behind similarities, for measures that have them."""
        for evidence in self.blend.evidences:
            if isinstance(evidence, WeightedText):
                scores: list[float] = evidence.scores(query, np.array(nodes, np.int64)).tolist()
                return scores
        return [None] * len(nodes)

    def _overlaps(self, found: list[ScoredNode], lines: list[AnswerLine]) -> dict[int, Overlap]:
        """The text overlap of each near-duplicate with the page that it is grouped with."""
        pairs = [(member, line.anchor) for line in lines for member in line.members]
        if not pairs:
            return {}
        rows = self.store.rows_of([each.node for each in found])
        overlaps = self.store.fingerprints.overlaps(rows[np.array(pairs)])
        return dict(zip((member for member, _ in pairs), overlaps, strict=True))

    def _explanations(self, query: Query, nodes: list[int]) -> list[Explanation]:
        if not self.options.explain:
            return [Explanation() for _ in nodes]
        chosen = np.array(nodes, np.int64)
        reasons = [(each.name, each.explain(query, chosen)) for each in self.blend.evidences]
        parts = self.blend.contributions(query, chosen)
        return [
            _explanation({name: row[k] for name, row in reasons}, [Contribution(*part) for part in parts[k]])
            for k in range(len(nodes))
        ]

    def _filter(self, nodes: Sequence[int]) -> Callable[[int], bool]:
        """A function that tells whether a node may be in the answer."""
        store, options = self.store, self.options
        hosts = {host_of(store.node_url(node)) for node in nodes} if options.exclude_host else set()
        excluded = store.nodes_linked_from(nodes) if options.exclude_linked else set()
        excluded |= {store.find_node(url) for url in options.never}
        include = re.compile("|".join(f"(?:{each})" for each in options.include))
        exclude = re.compile("|".join(f"(?:{each})" for each in options.exclude) or r"(?!)")
        known = len(store.nodes) - 1
        any_url = not (hosts or options.include or options.exclude)

        def allowed(node: int) -> bool:
            if node in excluded or (node >= known and not options.outside):
                return False
            if any_url:
                return True
            url = store.node_url(node)
            return host_of(url) not in hosts and bool(include.search(url)) and not exclude.search(url)

        return allowed


def _explanation(reasons: dict[str, dict[str, Any]], parts: list[Contribution]) -> Explanation:
    """Reasons that an Explanation has fields for go there, others under the name of their evidence."""
    known = {key: value for facts in reasons.values() for key, value in facts.items() if key in _EXPLAINED}
    others = {
        name: rest
        for name, facts in reasons.items()
        if (rest := {key: value for key, value in facts.items() if key not in _EXPLAINED})
    }
    return Explanation(**known, parts=parts, details=others)
