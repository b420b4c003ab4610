"""Words and links together: one similarity, made of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from pagekin.links.similarity import LinkSimilarity, link_share_for
from pagekin.model.arrays import Floats, Int64s
from pagekin.search.candidates import Query, bag_of, exact, nearest, raw_scores
from pagekin.search.options import AUTO
from pagekin.search.scorer import Scorer

if TYPE_CHECKING:
    from pagekin.search.indexed_store import IndexedStore

_TEN = 10
_SAMPLE = 300  # pages that tell how far links agree with words
_WIDE = 50  # pages nearest by words, and by links, of which the nearest by both are chosen


@dataclass(frozen=True)
class Blend:
    """A question whose answer is similar by words and by links."""

    scorer: Scorer
    query: Query
    links: dict[int, float]
    share: float

    def parts(self, nodes: list[int]) -> tuple[Floats, Floats]:
        """The similarities by words and by links."""
        words = exact(self.scorer, self.query, np.array(nodes, np.int64))
        return words, np.array([self.links.get(node, 0.0) for node in nodes])

    def scores(self, nodes: list[int]) -> list[float]:
        """The fused similarities, to nine places."""
        words, links = self.parts(nodes)
        fused: Floats = ((1.0 - self.share) * words + self.share * links).round(9)
        return fused.tolist()  # type: ignore[no-any-return]

    def products(self, nodes: list[int]) -> Sequence[float | None]:
        """The inner products that the similarities by words of nodes come from, if they do."""
        if self.query.weighed is None:
            return [None] * len(nodes)
        return raw_scores(self.scorer, self.query, np.array(nodes, np.int64)).tolist()  # type: ignore[no-any-return]

    def nearest(self, limit: int, least: float, allowed: Callable[[int], bool]) -> list[tuple[float, int]]:
        """The nodes most similar by both, with their similarities; nodes of one similarity in order."""
        if not self.share:
            return nearest(self.scorer, self.query, limit, least, allowed)
        by_words = [node for _, node in nearest(self.scorer, self.query, max(_WIDE, limit), 0.0, allowed)]
        by_links = [node for node in self._best_linked(max(_WIDE, limit)).tolist() if allowed(node)]
        nodes = sorted({*by_words, *by_links})
        ranked = sorted(zip(self.scores(nodes), nodes, strict=True), key=lambda each: (-each[0], each[1]))
        return [each for each in ranked[:limit] if each[0] >= least]

    def _best_linked(self, most: int) -> Int64s:
        nodes = np.setdiff1d(np.fromiter(self.links, np.int64), self.query.but)
        values = np.array([self.links[node] for node in nodes.tolist()])
        return nodes[np.lexsort((nodes, -values))[:most]]


@dataclass(frozen=True)
class LinkSide:
    """The links of a collection, ready for questions."""

    indexed: IndexedStore

    @cached_property
    def evidence(self) -> LinkSimilarity:
        """What links say."""
        from pagekin.search.link_analysis import link_similarity, stored_links

        return link_similarity(stored_links(self.indexed))

    @cached_property
    def share(self) -> float:
        """The share that links deserve in this collection, since they agree so far with words."""
        index = self.indexed.index
        nodes = min(len(self.indexed.nodes) - 1, len(index.signatures))
        shares = []
        for node in range(0, nodes, max(1, nodes // _SAMPLE)):
            near = self.evidence.similar_to(node)[0][:_TEN]
            query = Query(bag_of(index, node), index.signatures[node], "jaccard", but=(node,))
            scorer = self.indexed.scorer()
            with scorer.asking(query.bag):
                best = [similarity for similarity, _ in nearest(scorer, query, _TEN, 0.0)]
                if len(near) and sum(best) > 0.0:
                    shares.append(float(exact(scorer, query, near).mean() / np.mean(best)))
        return round(link_share_for(float(np.mean(shares))), 2) if shares else 0.0

    def beside(self, asked: Sequence[int]) -> dict[int, float]:
        """The similarity by links of each node to those that are asked for, the mean if they are several."""
        sums: dict[int, float] = {}
        for node in asked:
            for other, similarity in zip(*(each.tolist() for each in self.evidence.similar_to(node)), strict=True):
                sums[other] = sums.get(other, 0.0) + similarity / len(asked)
        return sums

    def fusion(self, scorer: Scorer, query: Query, asked: list[int], share: float | Literal["auto"]) -> Blend:
        """A question with the links of those that are asked for; one of words alone, where these are none."""
        if share == 0.0 or not asked:
            return Blend(scorer, query, {}, 0.0)
        return Blend(scorer, query, self.beside(asked), self.share if share == AUTO else share)
