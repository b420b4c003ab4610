"""A collection opened for questions: `pagekin.open("my.kin").related(url)`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pagekin.duplicates.fingerprints import Fingerprints, open_fingerprints
from pagekin.duplicates.sets import Chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import MisuseError, StoreError
from pagekin.index.files import VERSION, Index, open_index
from pagekin.model.arrays import Int64s, Unsigned
from pagekin.model.capture import Capture, Origin
from pagekin.model.strategy import Strategy
from pagekin.search.answer import AnswerBuilder
from pagekin.search.blend import LinkSide
from pagekin.search.candidates import (
    Query,
    bag_of,
    mean_bag,
    signature_of,
)
from pagekin.search.options import RelatedOptions
from pagekin.search.results import RelatedPage
from pagekin.search.scorer import Bag, Scorer, ScorerPool
from pagekin.search.weighted_text import QueryWeights, TermCounts, term_counts_of
from pagekin.store.columns import demand
from pagekin.store.store import Store, telling_damage

_QUESTION = "http://question.localhost/"


class IndexedStore(Store):
    """A store and its index."""

    @cached_property
    def index(self) -> Index:
        """The index, memory-mapped."""
        return open_index(self.root / self.manifest.index_folder, Strategy.from_dict(self._index_facts["strategy"]))

    @cached_property
    def fingerprints(self) -> Fingerprints:
        """What tells which pages say the same, memory-mapped."""
        settings = GroupSettings(**self._index_facts["duplicates"]["settings"])
        return open_fingerprints(self.root / self.manifest.index_folder, len(self), settings)

    @property
    def _index_facts(self) -> dict[str, Any]:
        facts = self.manifest.index
        if facts is None:
            raise StoreError(f"{self.root} has no index; build it again")
        if facts["version"] != VERSION:
            raise StoreError(
                f"the index of {self.root} has format version {facts['version']}, this pagekin reads version {VERSION};"
                " build it again"
            )
        return facts

    def find_node(self, name: str) -> int:
        """The node that `name` means: a page as in `find`, or a URL that is known only from links."""
        for url in self.urls_meant(name):
            for row in self.catalog.rows("SELECT node FROM nodes WHERE url = ? LIMIT 1", url):
                return self._known_node(row["node"])
        return self._known_node(int(np.searchsorted(self.nodes, self.find(name), side="right")) - 1)

    def _known_node(self, node: int) -> int:
        demand(0 <= node < len(self.index.bags), self.catalog.path, f"it names a node {node}")
        return node

    @telling_damage
    def related(self, names: str | Sequence[str], options: RelatedOptions | None = None) -> list[RelatedPage]:
        """The pages that are kin to a page, or to several at once, the most similar first."""
        asked = [self.find_node(name) for name in ([names] if isinstance(names, str) else names)]
        if not asked:
            raise MisuseError("no page given to ask for")
        bag = mean_bag([bag_of(self.index, node) for node in asked])
        known = len(asked) == 1 and asked[0] < len(self.index.signatures)
        signature = self.index.signatures[asked[0]] if known else signature_of(self.index, bag)
        options = options or RelatedOptions()
        query = self._query(options, bag, signature, (term_counts_of(self.index, node) for node in asked))
        return self._answer(asked, query, options, self._fingerprints(asked) if options.group_duplicates else None)

    @telling_damage
    def related_to(
        self, body: bytes, options: RelatedOptions | None = None, *, plain: bool = False
    ) -> list[RelatedPage]:
        """The pages that are kin to a page that is not in the collection: HTML or, if `plain`, text."""
        # These load kernels, which a question for a page of the collection can do without.
        from pagekin.bags.query import query_bag
        from pagekin.duplicates.page_sets import chunks_of_pages
        from pagekin.reading.batch import read_captures

        capture = Capture(_QUESTION, Origin("question", 0, len(body), 0), body=body, plain=plain)
        reading = read_captures([capture], self.settings)
        if not len(reading):
            raise MisuseError(f"the page that is asked for cannot be read: {reading.skips[0].reason}")
        index, options, own = self.index, options or RelatedOptions(), None
        asked = query_bag(reading, index.terms, index.contents, index.strategy, len(index.bags))
        bag = Bag(asked.term, asked.weight)
        said = TermCounts(asked.term[asked.count > 0], asked.count[asked.count > 0])
        query = self._query(options, bag, signature_of(index, bag), [said])
        if options.group_duplicates:
            settings, silent = self.fingerprints.settings, np.zeros(len(reading.blocks.hash), np.uint8)
            own = Fingerprints(settings, Chunks.concatenate(list(chunks_of_pages(reading, silent, settings))))
        return self._answer([], query, options, own)

    @telling_damage
    def top_terms(self, node: int, most: int = 12) -> list[tuple[str, float]]:
        """The words of a bag that weigh most, with their weights."""
        bag = bag_of(self.index, node)
        words = np.flatnonzero(bag.term < self.index.words)[:most].tolist()
        return [(self.index.terms.shown[int(bag.term[k])], float(bag.weight[k])) for k in words]

    @cached_property
    def _scorer_pool(self) -> ScorerPool:
        return ScorerPool(self.index)

    @cached_property
    def _scales(self) -> QueryWeights:
        return QueryWeights(self.index)

    @cached_property
    def link_side(self) -> LinkSide:
        """The links, for answers in which they count."""
        return LinkSide(self)

    def scorer(self) -> Scorer:
        """A desk for the next question."""
        return self._scorer_pool.scorer()

    def link_share(self, options: RelatedOptions) -> float | Literal["auto"]:
        """The share of links in the similarity: what is wished for, else what was learned with the weights."""
        if options.link_share is not None:
            return options.link_share
        strategy = self.index.strategy
        weighting = options.weighting or strategy.weighting_named(options.similarity or strategy.similarity)
        return weighting.link_share if weighting is not None else 0.0

    def _query(self, options: RelatedOptions, bag: Bag, signature: Unsigned, said: Iterable[TermCounts]) -> Query:
        measure = options.similarity or self.index.strategy.similarity
        return Query(bag, signature, measure, weighed=self._scales.weighed(measure, options.weighting, said))

    def _answer(
        self, asked: list[int], query: Query, options: RelatedOptions, own: Fingerprints | None
    ) -> list[RelatedPage]:
        if options.outside and not self.index.strategy.outside:
            raise MisuseError(
                f"the index of {self.root} has no pages that are known only from links;"
                " build it with `outside = true` in its strategy"
            )
        return AnswerBuilder(self, asked, options, own).to(query)

    def rows_of(self, nodes: list[int]) -> Int64s:
        """The pages of nodes; -1 if there is none, or there are several."""
        node = np.array(nodes, np.int64)
        inside = np.minimum(node, len(self.nodes) - 2)
        row = self.nodes[inside]
        one = (node == inside) & (self.nodes[inside + 1] - row == 1) & (row >= 0) & (row < len(self))
        return np.where(one, row, -1)

    def _fingerprints(self, nodes: list[int]) -> Fingerprints:
        rows = self.rows_of(nodes)
        return self.fingerprints.rows(rows[rows >= 0])

    def node_url(self, node: int) -> str:
        """The URL of a node."""
        return str(self.catalog.rows("SELECT url FROM nodes WHERE node = ?", node)[0]["url"])

    def nodes_linked_from(self, nodes: list[int]) -> set[int]:
        """The nodes that pages of these nodes link to."""
        linked: set[int] = set()
        for node in nodes:
            if node + 1 < len(self.nodes):
                for row in range(int(self.nodes[node]), int(self.nodes[node + 1])):
                    targets = self.reading.anchors.target[self.reading.anchors.row(row)]
                    linked |= set(self.node_of_target[targets[targets < len(self.node_of_target)]].tolist())
        return linked
