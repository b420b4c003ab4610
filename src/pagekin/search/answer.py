"""From a query to its answer: the nearest pages, near-duplicates grouped, with names and reasons."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from pagekin.duplicates.filters import Overlap
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.index.answers import KeptAnswers
from pagekin.kernels.graph import join, roots
from pagekin.model.arrays import Bools, Int64s, UInt64s
from pagekin.search.blend import Blend
from pagekin.search.evidence import Evidence
from pagekin.search.node_store import NodeStore
from pagekin.search.options import RelatedOptions
from pagekin.search.query import Query
from pagekin.search.results import Explanation, NearDuplicate, RelatedPage
from pagekin.search.weighted_text import WeightedText
from pagekin.urls import host_of

_MAX_LISTED = 1000  # pages that are looked at to find groups of near-duplicates
_ODD = np.uint64(0x9E3779B97F4A7C15)
_EXPLAINED = frozenset(("terms", "cited_by", "apart"))  # fields of an Explanation
ScoredNodes: TypeAlias = list[tuple[float, int]]  # similarities and nodes


@dataclass(frozen=True)
class AnswerLine:
    """A line of an answer: a result and the results grouped under it, as positions in the ranked list."""

    anchor: int
    is_duplicate: bool = False  # of the query page
    members: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class AnswerBuilder:
    """Builds the answer to one request."""

    store: NodeStore
    blend: Blend
    options: RelatedOptions
    own: Fingerprints | None  # of the query, if near-duplicates are grouped
    kept: KeptAnswers | None = None  # where answers to requests like this one are kept

    def answer(self, query: Query, pinned: list[int]) -> list[RelatedPage]:
        """The related pages, pinned ones first."""
        query = replace(query, allowed=self._filter(query.nodes), min_similarity=self.options.min_similarity)
        similar = self.blend.similarities(query, np.array(pinned, np.int64)).tolist() if pinned else []
        found, lines = self._lines(query, list(zip(similar, pinned, strict=True)))
        explanations = self.explanations(query, [found[line.anchor][1] for line in lines])
        shown, overlaps = self._shown(query, found, lines), self._overlaps(found, lines)
        pages = []
        for line, why in zip(lines, explanations, strict=True):
            members = [NearDuplicate(*shown[k], overlaps[k]) for k in line.members]
            is_pinned = line.anchor < len(pinned)
            pages.append(RelatedPage(*shown[line.anchor], is_pinned, line.is_duplicate, members, why))
        return pages

    def _lines(self, query: Query, pinned: ScoredNodes) -> tuple[ScoredNodes, list[AnswerLine]]:
        """The nodes found, pinned ones first, and the lines of the answer, which give places among these nodes.

        Where near-duplicates leave too few lines, more nodes are looked for.
        """
        limit = wanted = self.options.limit
        while True:
            near = self._nearest(query, wanted)
            found = [*pinned, *near]
            lines = self._grouped(found, len(pinned))
            if len(lines) >= limit or len(near) < wanted or wanted >= _MAX_LISTED:
                return found, lines[: max(limit, len(pinned))]
            wanted = min(4 * wanted, max(_MAX_LISTED, limit))

    def _nearest(self, query: Query, wanted: int) -> ScoredNodes:
        if self.kept is not None and self.kept.has(query.nodes[0], wanted):
            return self.kept.nearest(query.nodes[0], wanted, query.min_similarity)
        return self.blend.nearest(query, wanted)

    def _grouped(self, found: ScoredNodes, pinned: int) -> list[AnswerLine]:
        if self.own is None:
            return [AnswerLine(place) for place in range(len(found))]
        rows = self.store.rows_of([node for _, node in found])
        with_page = np.flatnonzero(rows >= 0)
        listed = self.store.fingerprints.rows(rows[with_page])
        return group_answer(self.own, listed, with_page.tolist(), len(found), pinned)

    def _shown(
        self, query: Query, found: ScoredNodes, lines: list[AnswerLine]
    ) -> dict[int, tuple[str, str, float, float | None]]:
        """URL, title, similarity and score of the pages of the lines, by their places among the nodes found."""
        places = [place for line in lines for place in (line.anchor, *line.members)]
        nodes = [found[place][1] for place in places]
        names, scores = self.store.catalog.named_nodes(nodes), self._raw_scores(query, nodes)
        return {
            place: (name["url"], name["title"], found[place][0], score)
            for place, name, score in zip(places, names, scores, strict=True)
        }

    def _raw_scores(self, query: Query, nodes: list[int]) -> Sequence[float | None]:
        """The inner products behind similarities, for measures that have them."""
        weighted = weighted_text_of(self.blend)
        return [None] * len(nodes) if weighted is None else weighted.scores(query, np.array(nodes, np.int64)).tolist()

    def _overlaps(self, found: ScoredNodes, lines: list[AnswerLine]) -> dict[int, Overlap]:
        """The text overlap of each near-duplicate with the page that it is grouped with."""
        pairs = [(member, line.anchor) for line in lines for member in line.members]
        if not pairs:
            return {}
        rows = self.store.rows_of([node for _, node in found])
        overlaps = self.store.fingerprints.overlaps(rows[np.array(pairs)])
        return dict(zip((member for member, _ in pairs), overlaps, strict=True))

    def explanations(self, query: Query, nodes: list[int]) -> list[Explanation]:
        """Reasons that an Explanation has fields for go there, others under the name of their evidence."""
        if not self.options.explain:
            return [Explanation() for _ in nodes]
        chosen = np.array(nodes, np.int64)
        contributions = self.blend.contributions(query, chosen)
        fields: list[dict[str, Any]] = [{"parts": parts, "details": {}} for parts in contributions]
        asked: dict[str, Evidence] = {}
        for evidence in self.blend.evidences:
            asked.setdefault(evidence.reasons or evidence.name, evidence)
        for evidence in asked.values():
            for found, facts in zip(fields, evidence.explain(query, chosen), strict=True):
                for key, value in facts.items():
                    into = found if key in _EXPLAINED else found["details"].setdefault(evidence.name, {})
                    into[key] = value
        return [Explanation(**found) for found in fields]

    def _filter(self, nodes: Sequence[int]) -> Callable[[int], bool] | None:
        """A function that tells whether a node may be in the answer; None if every node may."""
        store, options = self.store, self.options
        by_options = options.exclude_host, options.exclude_linked, options.never, options.include, options.exclude
        if not any(by_options) and not store.index.strategy.outside:
            return None
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


def weighted_text_of(blend: Blend) -> WeightedText | None:
    """The evidence whose inner products an answer shows, if the blend has it."""
    return next((each for each in blend.evidences if each.name == "text" and isinstance(each, WeightedText)), None)


def group_answer(
    query: Fingerprints, listed: Fingerprints, positions: Sequence[int], count: int, fixed: int
) -> list[AnswerLine]:
    """The lines of a ranked list of `count` results; those at `positions` are pages with the `listed` fingerprints.

    Near-duplicates of the query pages form one line. Each of the first `fixed` results keeps its own line.
    """
    sharing = _sharing(query, listed)
    if not len(sharing):
        return [AnswerLine(position) for position in range(count)]
    both, positions = query.followed_by(listed.rows(sharing)), [positions[k] for k in sharing.tolist()]
    own = len(query)
    separate = range(own, own + sum(position < fixed for position in positions))
    group_of = dict(zip(positions, first_of_groups(both, own, separate)[own:], strict=True))
    lines: dict[int, AnswerLine] = {}
    for position in range(count):
        group = group_of.get(position, -1 - position)
        line = 0 if 0 <= group < own else group
        if line in lines:
            lines[line].members.append(position)
        else:
            lines[line] = AnswerLine(position, 0 <= group < own)
    return list(lines.values())


def separate_rows(pages: Fingerprints, rows: Int64s) -> Bools:
    """For each row of pages, filled up with -1, whether no page shares so many chunks with the others of the row that
    `group_answer` would compare them. Then it groups no pages, whichever of the row are the query and its answer.
    """
    row, column = np.nonzero(rows >= 0)
    chunks = pages.chunks.rows(rows[row, column])
    lengths = chunks.lengths()
    place = np.repeat(np.arange(len(lengths)), lengths)
    keys = chunks.elements + row[place].astype(np.uint64) * _ODD  # equal for equal elements of one row
    shared = np.bincount(place[_repeated(keys)], minlength=len(lengths))
    separate = np.ones(len(rows), np.bool_)
    separate[row[_share_many(shared, lengths, pages)]] = False
    return separate


def _sharing(query: Fingerprints, listed: Fingerprints) -> Int64s:
    """The listed pages that share a chunk with another page; none if no page shares many of its chunks."""
    lengths = np.concatenate([query.chunks.lengths(), listed.chunks.lengths()])
    page = np.repeat(np.arange(len(lengths)), lengths)
    repeated = _repeated(np.concatenate([query.chunks.elements, listed.chunks.elements]))
    shared = np.bincount(page[repeated], minlength=len(lengths))
    if not _share_many(shared, lengths, listed).any():
        return np.empty(0, np.int64)
    return np.flatnonzero(shared[len(query) :])


def _repeated(numbers: UInt64s) -> Bools:
    """Which of the numbers occur more than once."""
    order = np.argsort(numbers)
    same = np.flatnonzero(numbers[order[1:]] == numbers[order[:-1]])
    repeated = np.zeros(len(order), np.bool_)
    repeated[order[same]] = repeated[order[same + 1]] = True
    return repeated


def _share_many(shared: Int64s, chunks: Int64s, pages: Fingerprints) -> Bools:
    """Whether pages with these numbers of shared and of all chunks may be near-duplicates of others.

    The share that is wanted is well below the threshold, as a margin for errors of filters.
    """
    return np.asarray(shared >= np.maximum(1, pages.settings.threshold / 2 * chunks))


def first_of_groups(fingerprints: Fingerprints, queries: int = 0, fixed: Collection[int] = ()) -> list[int]:
    """The first page of each page's group, by single linkage.

    The first `queries` pages are the query pages and form one group from the start. A `fixed` page stays separate.
    """
    near = fingerprints.near_pairs()
    if near is None:
        from pagekin.duplicates.groups import Grouper  # takes as long as a query

        near = Grouper(fingerprints.settings).add(fingerprints.chunks)
    parents = np.arange(len(fingerprints))
    parents[:queries] = 0
    join(parents, near)
    return [page if page in fixed else first for page, first in enumerate(roots(parents).tolist())]
