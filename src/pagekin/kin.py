"""A collection opened for questions: `pagekin.open("my.kin").related(url)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pagekin.answers import Duplicate, Neighbor, Part, Why, Wishes
from pagekin.arrays import Int64s, UInt32s
from pagekin.disk import demand
from pagekin.duplicates.listing import Line, lines_of
from pagekin.duplicates.prints import Prints, open_prints
from pagekin.duplicates.sets import Chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import MisuseError, StoreError
from pagekin.fusing import Fusion, LinkSide
from pagekin.index.files import VERSION, Index, open_index
from pagekin.links.citing import cited_together, standing
from pagekin.model.capture import Capture, Origin
from pagekin.model.strategy import Strategy
from pagekin.query.answering import (
    Question,
    bag_of,
    mean_bag,
    shared_terms,
    signature_of,
)
from pagekin.query.desks import Bag, Desk, Reception
from pagekin.query.weighing import Said, Scales, said_by
from pagekin.store.opening import Store, telling_damage
from pagekin.urls import host_of

_QUESTION = "http://question.localhost/"
_MOST_LISTED = 1000  # pages that are looked at to find groups of near-duplicates
_REASONS = 5  # terms, and pages that cite both


class Kin(Store):
    """A store and its index."""

    @cached_property
    def index(self) -> Index:
        """The index, memory-mapped."""
        return open_index(self.root / self.manifest.index_folder, Strategy.from_dict(self._index_facts["strategy"]))

    @cached_property
    def prints(self) -> Prints:
        """What tells which pages say the same, memory-mapped."""
        settings = GroupSettings(**self._index_facts["duplicates"]["settings"])
        return open_prints(self.root / self.manifest.index_folder, len(self), settings)

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
    def related(self, names: str | Sequence[str], wishes: Wishes | None = None) -> list[Neighbor]:
        """The pages that are kin to a page, or to several at once, the most similar first."""
        asked = [self.find_node(name) for name in ([names] if isinstance(names, str) else names)]
        if not asked:
            raise MisuseError("no page given to ask for")
        bag = mean_bag([bag_of(self.index, node) for node in asked])
        known = len(asked) == 1 and asked[0] < len(self.index.signatures)
        signature = self.index.signatures[asked[0]] if known else signature_of(self.index, bag)
        wishes = wishes or Wishes()
        question = self._question(wishes, bag, signature, (said_by(self.index, node) for node in asked))
        return self._answer(asked, question, wishes, self._prints(asked) if wishes.group_duplicates else None)

    @telling_damage
    def related_to(self, body: bytes, wishes: Wishes | None = None, *, plain: bool = False) -> list[Neighbor]:
        """The pages that are kin to a page that is not in the collection: HTML or, if `plain`, text."""
        # These load kernels, which a question for a page of the collection can do without.
        from pagekin.bags.questions import question_bag
        from pagekin.duplicates.pages import chunks_of_pages
        from pagekin.reading.batch import read_captures

        capture = Capture(_QUESTION, Origin("question", 0, len(body), 0), body=body, plain=plain)
        reading = read_captures([capture], self.settings)
        if not len(reading):
            raise MisuseError(f"the page that is asked for cannot be read: {reading.skips[0].reason}")
        index, wishes, own = self.index, wishes or Wishes(), None
        asked = question_bag(reading, index.terms, index.contents, index.strategy, len(index.bags))
        bag = Bag(asked.term, asked.weight)
        said = Said(asked.term[asked.count > 0], asked.count[asked.count > 0])
        question = self._question(wishes, bag, signature_of(index, bag), [said])
        if wishes.group_duplicates:
            settings, silent = self.prints.settings, np.zeros(len(reading.blocks.hash), np.uint8)
            own = Prints(settings, Chunks.joined(list(chunks_of_pages(reading, silent, settings))))
        return self._answer([], question, wishes, own)

    @telling_damage
    def top_terms(self, node: int, most: int = 12) -> list[tuple[str, float]]:
        """The words of a bag that weigh most, with their weights."""
        bag = bag_of(self.index, node)
        words = np.flatnonzero(bag.term < self.index.words)[:most].tolist()
        return [(self.index.terms.shown[int(bag.term[k])], float(bag.weight[k])) for k in words]

    @cached_property
    def _reception(self) -> Reception:
        return Reception(self.index)

    @cached_property
    def _scales(self) -> Scales:
        return Scales(self.index)

    @cached_property
    def link_side(self) -> LinkSide:
        """Its links, ready for questions."""
        return LinkSide(self)

    def desk(self) -> Desk:
        """A desk for the next question."""
        return self._reception.desk()

    def link_share(self, wishes: Wishes) -> float | Literal["auto"]:
        """The share of links in the similarity: what is wished for, else what was learned with the weights."""
        if wishes.link_share is not None:
            return wishes.link_share
        strategy = self.index.strategy
        weighting = wishes.weighting or strategy.weighting_named(wishes.similarity or strategy.similarity)
        return weighting.link_share if weighting is not None else 0.0

    def _question(self, wishes: Wishes, bag: Bag, signature: UInt32s, said: Iterable[Said]) -> Question:
        measure = wishes.similarity or self.index.strategy.similarity
        return Question(bag, signature, measure, weighed=self._scales.weighed(measure, wishes.weighting, said))

    def _answer(self, asked: list[int], question: Question, wishes: Wishes, own: Prints | None) -> list[Neighbor]:
        if wishes.outside and not self.index.strategy.outside:
            raise MisuseError(
                f"the index of {self.root} has no pages that are known only from links;"
                " build it with `outside = true` in its strategy"
            )
        pinned = [self.find_node(url) for url in wishes.pin]
        desk = self.desk()
        question = replace(question, but=(*asked, *pinned))
        fusion = self.link_side.fusion(desk, question, asked, self.link_share(wishes))
        with desk.asking(question.bag, question.weighed):
            first = [*zip(fusion.scores(pinned), pinned, strict=True)]
            allowed = self._filter(asked, wishes)
            wanted = wishes.limit
            while True:
                found = fusion.nearest(wanted, wishes.min_similarity, allowed)
                answer = [*first, *found]
                nodes = [node for _, node in answer]
                lines = (
                    self._lines(nodes, len(pinned), own) if own is not None else [Line(k) for k in range(len(nodes))]
                )
                if len(lines) >= wishes.limit or len(found) < wanted or wanted >= _MOST_LISTED:
                    break
                wanted = min(4 * wanted, max(_MOST_LISTED, wishes.limit))
            lines = lines[: max(wishes.limit, len(pinned))]
            nodes = [answer[line.anchor][1] for line in lines]
            reasons = self._reasons(fusion, asked, nodes) if wishes.explain else [Why() for _ in nodes]
            answered = [(*each, score) for each, score in zip(answer, fusion.products(answer), strict=True)]
        return self._named(answered, len(pinned), lines, reasons)

    def _named(
        self, answer: list[tuple[float, int, float | None]], pinned: int, lines: list[Line], reasons: list[Why]
    ) -> list[Neighbor]:
        named = self.catalog.named_nodes([node for _, node, _ in answer])
        pairs = [(member, line.anchor) for line in lines for member in line.members]
        rows = self._rows_of([node for _, node, _ in answer])
        likenesses = iter(self.prints.likenesses(rows[np.array(pairs, np.int64)]) if pairs else ())
        neighbors = []
        for line, why in zip(lines, reasons, strict=True):
            duplicates = [
                Duplicate(named[k]["url"], named[k]["title"], answer[k][0], next(likenesses), answer[k][2])
                for k in line.members
            ]
            k, (url, title) = line.anchor, (named[line.anchor]["url"], named[line.anchor]["title"])
            similarity, _, score = answer[k]
            neighbors.append(Neighbor(url, title, similarity, why, k < pinned, line.is_duplicate, duplicates, score))
        return neighbors

    def _lines(self, nodes: list[int], pinned: int, own: Prints) -> list[Line]:
        """Found nodes, the pinned ones first, under the best of their near-duplicates."""
        rows = self._rows_of(nodes)
        with_page = np.flatnonzero(rows >= 0)
        return lines_of(own, self.prints.rows(rows[with_page]), with_page.tolist(), len(nodes), pinned)

    def _rows_of(self, nodes: list[int]) -> Int64s:
        """The pages of nodes; -1 if there is none, or there are several."""
        node = np.array(nodes, np.int64)
        inside = np.minimum(node, len(self.nodes) - 2)
        row = self.nodes[inside]
        one = (node == inside) & (self.nodes[inside + 1] - row == 1) & (row >= 0) & (row < len(self))
        return np.where(one, row, -1)

    def _prints(self, nodes: list[int]) -> Prints:
        rows = self._rows_of(nodes)
        return self.prints.rows(rows[rows >= 0])

    def _reasons(self, fusion: Fusion, asked: list[int], nodes: list[int]) -> list[Why]:
        citing = [self._standing(node) for node in asked[:1]]
        words, links = fusion.parts(nodes)
        reasons = []
        for node, by_words, by_links in zip(nodes, words.tolist(), links.tolist(), strict=True):
            terms = shared_terms(fusion.desk, fusion.question, node, _REASONS)
            together = cited_together(citing[0], self._standing(node), _REASONS) if citing else []
            parts = [Part("words", by_words, 1.0 - fusion.share), Part("links", by_links, fusion.share)]
            reasons.append(
                Why(
                    [(self.index.terms.shown[each.term], each.share) for each in terms],
                    [self.reading.pages.url[row] for row, _ in together],
                    [apart for _, apart in together],
                    parts if fusion.share else parts[:1],
                )
            )
        return reasons

    def _standing(self, node: int) -> Int64s:
        return standing(self.links, self.reading.anchors, node)

    def _node_url(self, node: int) -> str:
        return str(self.catalog.rows("SELECT url FROM nodes WHERE node = ?", node)[0]["url"])

    def _filter(self, asked: list[int], wishes: Wishes) -> Callable[[int], bool]:
        """A function that tells whether a node may be in the answer."""
        hosts = {host_of(self._node_url(node)) for node in asked} if wishes.exclude_host else set()
        but = self.nodes_linked_from(asked) if wishes.exclude_linked else set()
        but |= {self.find_node(url) for url in wishes.never}
        include = re.compile("|".join(f"(?:{each})" for each in wishes.include))
        exclude = re.compile("|".join(f"(?:{each})" for each in wishes.exclude) or r"(?!)")
        known = len(self.nodes) - 1
        any_url = not (hosts or wishes.include or wishes.exclude)

        def allowed(node: int) -> bool:
            if node in but or (node >= known and not wishes.outside):
                return False
            if any_url:
                return True
            url = self._node_url(node)
            return host_of(url) not in hosts and bool(include.search(url)) and not exclude.search(url)

        return allowed

    def nodes_linked_from(self, nodes: list[int]) -> set[int]:
        """The nodes that pages of these nodes link to."""
        linked: set[int] = set()
        for node in nodes:
            if node + 1 < len(self.nodes):
                for row in range(int(self.nodes[node]), int(self.nodes[node + 1])):
                    targets = self.reading.anchors.target[self.reading.anchors.row(row)]
                    linked |= set(self.node_of_target[targets[targets < len(self.node_of_target)]].tolist())
        return linked
