"""The search for missing links: candidates of every page, their scores, and the best of them with a passage each."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pagekin.duplicates.collection import find_pairs
from pagekin.gaps.decisions import DISMISSED, DONE, Decisions, read_decisions
from pagekin.gaps.mentions import MentionIndex
from pagekin.gaps.options import GapOptions
from pagekin.gaps.page_links import PageLinks, contains
from pagekin.gaps.passages import NO_PASSAGE, LinkableText
from pagekin.gaps.results import Gaps, MissingLink
from pagekin.model.arrays import Bools, Floats, Int64s, distinct, spans
from pagekin.search.answer import AnswerBuilder
from pagekin.search.blend import Blend
from pagekin.search.duplicates import page_sets
from pagekin.search.evidence import largest
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.query import query_of_nodes
from pagekin.search.results import Explanation, PageLink

_NAMED = 60  # pages that a text names, the likeliest links, whose similarity is computed
_KIN = 20  # nearest pages of each page
_SAME = 0.9  # the share of one text that is also in the other, for two texts that are not linked to each other
_AT_ONCE = 20  # candidates whose similarity is computed at a time
# The score of a link is (likelihood + 0.02) * (similarity + 0.1): a page that the text does not name may be a link, as
# may a page about something else.
_UNNAMED, _UNRELATED = 0.02, 0.1


class LinkCandidates(NamedTuple):
    """Possible links of one page."""

    node: Int64s
    likelihood: Floats
    named: Int64s  # the row of `NamedPages` with the words, -1 if the text does not name the page


class ScoredGap(NamedTuple):
    """A possible link; tuples are sorted as links are returned."""

    order: float  # the negative score
    source: int
    target: int
    similarity: float
    likelihood: float
    named: int


@dataclass(frozen=True, eq=False)
class GapFinder:
    """Finds missing links in a collection. What all searches need of it is computed once."""

    indexed: IndexedStore

    @cached_property
    def _mentions(self) -> MentionIndex:
        return MentionIndex(self.indexed)

    @cached_property
    def _links(self) -> PageLinks:
        return PageLinks(self._mentions)

    @cached_property
    def _pages(self) -> int:
        return len(self.indexed.nodes) - 1

    @cached_property
    def _copies(self) -> Int64s:
        """The pairs of pages with nearly the same text, as source * pages + target, ascending."""
        settings = replace(self.indexed.fingerprints.settings, threshold=_SAME, link="complete")
        rows = find_pairs(page_sets(self.indexed, settings), settings, every=True).pairs
        one, other = self._mentions.node_of_row[rows].T
        return distinct(np.concatenate([one * self._pages + other, other * self._pages + one]))

    @cached_property
    def _named(self) -> tuple[Int64s, Int64s, Int64s]:
        """All pages that texts name: source and target node, and the row of `NamedPages`; sorted by source.

        Words that name the source itself are left out.
        """
        mentions, named = self._mentions.mentions, self._mentions.named
        free = mentions.place >= 0
        phrase, source = mentions.phrase[free], self._mentions.node_of_row[mentions.row[free]]
        others = ~contains(named.phrase * self._pages + named.node, phrase * self._pages + source)
        phrase, source = phrase[others], source[others]
        begin = np.searchsorted(named.phrase, phrase)
        count = np.searchsorted(named.phrase, phrase, side="right") - begin
        row = spans(begin, count)
        return np.repeat(source, count), named.node[row], row

    def find(
        self,
        options: GapOptions,
        sources: Sequence[int] | None = None,
        progress: Callable[[list[int]], Iterable[int]] = iter,
    ) -> Gaps:
        """The missing links of some pages, by default of all; and poorly linked pages of the whole collection."""
        decided = read_decisions(options.decisions, self.indexed.catalog.page_names().find)
        allowed = self._allowed(options)
        nodes = list(range(self._pages)) if sources is None else list(sources)
        blend, found = self.indexed.blend(options.search), list[ScoredGap]()
        for node in progress(nodes):
            if allowed[node]:
                found += self._best(node, blend, options, allowed, decided)
        found.sort()
        dismissed, done = decided.count(DISMISSED), decided.count(DONE)
        orphans, from_templates, dead_ends = self._links.weak_pages(options, decided, allowed)
        missing, not_done = self._described(found[: options.limit]), self._not_done(decided)
        return Gaps(len(nodes), missing, orphans, from_templates, dead_ends, dismissed, done, not_done)

    def _allowed(self, options: GapOptions) -> Bools:
        """Whether each page passes the filters by URL."""
        if not (options.include or options.exclude):
            return np.ones(self._pages, bool)
        include = re.compile("|".join(f"(?:{each})" for each in options.include))
        exclude = re.compile("|".join(f"(?:{each})" for each in options.exclude) or r"(?!)")
        urls = self.indexed.catalog.each("SELECT url FROM nodes WHERE first_row IS NOT NULL ORDER BY node")
        return np.array([bool(include.search(url)) and not exclude.search(url) for (url,) in urls], bool)

    def _best(
        self, node: int, blend: Blend, options: GapOptions, allowed: Bools, decided: Decisions
    ) -> list[ScoredGap]:
        """The best missing links of a page."""
        candidates = self._candidates(node, blend)
        open_ = self._open(node, candidates.node, options) & allowed[candidates.node]
        open_ &= candidates.likelihood >= options.min_likelihood
        open_ &= np.array([(node, each) not in decided.links for each in candidates.node.tolist()], bool)
        candidates = LinkCandidates._make(each[open_] for each in candidates)
        similar = self._similarities(node, blend, candidates, options)
        scores = _scores(candidates.likelihood, similar)
        scores[similar < options.min_similarity] = 0.0
        best = [k for k in largest(scores, candidates.node, options.per_page).tolist() if scores[k] > 0.0]
        columns = (-scores.round(9), np.full(len(scores), node), candidates[0], similar, *candidates[1:])
        return [ScoredGap(*(column[k].item() for column in columns)) for k in best]

    def _similarities(self, node: int, blend: Blend, candidates: LinkCandidates, options: GapOptions) -> Floats:
        """The similarities of candidates; -1 for those that cannot be among the best, however similar they are."""
        similar, query = np.full(len(candidates.node), -1.0), query_of_nodes(self.indexed.index, [node])
        order, bound, least = (
            np.argsort(-candidates.likelihood, kind="stable"),
            _scores(candidates.likelihood, 1.0),
            0.0,
        )
        for begin in range(0, len(order), _AT_ONCE):
            some = order[begin : begin + _AT_ONCE]
            if bound[some[0]] < least:
                break
            similar[some] = blend.similarities(query, candidates.node[some])
            enough = np.flatnonzero(similar >= options.min_similarity)
            if len(enough) >= options.per_page:
                best = _scores(candidates.likelihood[enough], similar[enough])
                least = float(np.partition(best, -options.per_page)[-options.per_page])
        return similar

    def _candidates(self, node: int, blend: Blend) -> LinkCandidates:
        """The pages that are near to a page, and those that its text names, ascending."""
        source, target, row = self._named
        begin, end = np.searchsorted(source, [node, node + 1]).tolist()
        target, row = target[begin:end], row[begin:end]
        likelihood = self._mentions.likelihood[row]
        length = self._mentions.trie.length[self._mentions.named.phrase[row]]
        order = np.lexsort((-length, -likelihood, target))  # of several names of a page the likeliest link
        order = order[np.diff(target[order], prepend=-1) != 0]
        target, row, likelihood = target[order], row[order], likelihood[order]
        kept = np.sort(largest(likelihood, target, _NAMED))
        nodes = distinct(np.concatenate([target[kept], kin_of(self.indexed, blend, node)]))
        place = np.searchsorted(nodes, target[kept])
        likely, named = np.zeros(len(nodes)), np.full(len(nodes), -1)
        likely[place], named[place] = likelihood[kept], row[kept]
        return LinkCandidates(nodes, likely, named)

    def _open(self, node: int, target: Int64s, options: GapOptions) -> Bools:
        """Whether pages could be linked: another text, no link yet, and not too many in-links."""
        missing = ~contains(self._links.in_text, node * self._pages + target)
        if not options.one_way:
            missing &= ~contains(self._links.in_text, target * self._pages + node)
        if options.max_in_links is not None:
            missing &= self._links.in_links[target] <= options.max_in_links
        missing &= ~contains(self._copies, node * self._pages + target)
        return np.asarray(missing & (target != node))

    def _described(self, found: list[ScoredGap]) -> list[MissingLink]:
        """The links with names, passages and explanations; those of one source are described together."""
        names = self.indexed.catalog.names_by_node(sorted({node for each in found for node in each[1:3]}))
        links = {node: PageLink(**name) for node, name in names.items()}
        described: dict[tuple[int, int], MissingLink] = {}
        for source in dict.fromkeys(each.source for each in found):
            some = [each for each in found if each.source == source]
            text = LinkableText(self._mentions, int(self.indexed.nodes[source]))
            for each, why in zip(some, self._explanations(source, [each.target for each in some]), strict=True):
                described[source, each.target] = self._gap(each, links, text, why)
        return [described[each.source, each.target] for each in found]

    def _explanations(self, source: int, targets: list[int]) -> list[Explanation]:
        options = GapOptions().search
        builder = AnswerBuilder(self.indexed, self.indexed.blend(options), options, None)
        return builder.explanations(query_of_nodes(self.indexed.index, [source]), targets)

    def _gap(self, found: ScoredGap, links: dict[int, PageLink], text: LinkableText, why: Explanation) -> MissingLink:
        words, kind, sentence, other = text.passage(found.target, found.named) or NO_PASSAGE
        pair = np.array([found.source * self._pages + found.target])
        return MissingLink(
            links[found.source],
            links[found.target],
            found.similarity,
            found.likelihood,
            words,
            kind,
            sentence,
            int(self._links.in_links[found.target]),
            None if other is None else self.indexed.node_url(other),
            bool(contains(self._links.anyhow, pair)[0]),
            why,
        )

    def _not_done(self, decided: Decisions) -> list[tuple[str, str]]:
        """The links that are decided as done, but are not in this build."""
        done = [pair for pair, decision in decided.links.items() if decision == DONE]
        linked = contains(self._links.in_text, np.array([one * self._pages + other for one, other in done], np.int64))
        missing = [pair for pair, is_linked in zip(done, linked.tolist(), strict=True) if not is_linked]
        return [(self.indexed.node_url(source), self.indexed.node_url(target)) for source, target in missing]


def kin_of(indexed: IndexedStore, blend: Blend, node: int) -> Int64s:
    """The nearest pages of a page: its kept neighbours, or those that a search finds if the index keeps none."""
    if "neighbours" in indexed.index.strategy.weights_of_evidences() and indexed.neighbours.shape[1]:
        return np.asarray(indexed.neighbours[node], np.int64)
    near = blend.nearest(query_of_nodes(indexed.index, [node]), _KIN)
    return np.array([other for _, other in near if other < len(indexed.nodes) - 1], np.int64)


def _scores(likelihood: Floats, similarity: Floats | float) -> Floats:
    return np.asarray((likelihood + _UNNAMED) * (similarity + _UNRELATED))
