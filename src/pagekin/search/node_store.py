"""A store with its index: what searching needs of a collection, opened memory-mapped."""

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from pagekin.duplicates.fingerprints import Fingerprints, open_fingerprints
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import MisuseError, StoreError
from pagekin.index.answers import KeptAnswers, open_answers
from pagekin.index.index import INDEX_VERSION, Index, open_index
from pagekin.index.titles import TitleIndex, open_titles
from pagekin.latent.vectors import LatentVectors, PageVectors, open_latent, open_page_vectors
from pagekin.links.statistics import check_link_columns, open_link_columns
from pagekin.model.arrays import Floats, Int64s, Unsigned
from pagekin.model.link_columns import LinkColumns
from pagekin.model.strategy import Strategy
from pagekin.search.link_scorer import LinkScorer
from pagekin.search.query import QueryWeights, bag_of
from pagekin.search.scorer import Scorer, ScorerPool
from pagekin.store.checks import check
from pagekin.store.columns import SHARDS, open_array
from pagekin.store.shards import open_shards
from pagekin.store.store import Store, report_damage

if TYPE_CHECKING:
    from pagekin.links.measures import LinkSets

Described = TypeVar("Described")
NEIGHBOURS_FILE = "neighbours"
_HALF_POPULAR = 10.0  # in-links of a page that is half as popular as a page can be
_OF_INDEX = (
    "scorers",
    "query_weights",
    "calibration",
    "length",
    "popularity",
    "kept_answers",
)  # what is opened or measured anew for another index


class NodeStore(Store):
    """A store and its index. A node is a page, or a URL that is known only from links."""

    @cached_property
    def index(self) -> Index:
        strategy = self._described(Strategy.from_dict, self._index_facts["strategy"])
        return open_index(self.root / self.manifest.index_folder, strategy)

    @cached_property
    def fingerprints(self) -> Fingerprints:
        settings = self._described(lambda facts: GroupSettings(**facts), self._index_facts["duplicates"]["settings"])
        return open_fingerprints(self.root / self.manifest.index_folder, len(self), settings)

    @cached_property
    def latent(self) -> LatentVectors:
        """The latent vectors of pages and words, memory-mapped."""
        if not self._has_column("latent.pages.row"):
            raise MisuseError(
                f"the index of {self.root} has no latent vectors; build it with a strategy whose blend names latent"
            )
        words = self.on_disk.index.words
        return open_latent(self.root / self.manifest.index_folder, len(self.nodes) - 1, words)

    @cached_property
    def pages_by_list(self) -> Int64s:
        """All pages, those of a list of latent vectors side by side: their searches read the same parts of files."""
        if self._has_column("latent.pages.row") and len(self.latent.lists.page):
            return self.latent.lists.page.astype(np.int64)
        return np.arange(len(self.nodes) - 1)

    @cached_property
    def vectors(self) -> PageVectors:
        """The vectors of pages that were given to the build, memory-mapped."""
        if "vectors" not in self._index_facts:
            raise MisuseError(f"the index of {self.root} has no vectors from a file; build it with --vectors FILE")
        return open_page_vectors(self.root / self.manifest.index_folder, "vectors", len(self.nodes) - 1)

    def _described(self, make: Callable[[dict[str, Any]], Described], facts: dict[str, Any]) -> Described:
        """What an entry of the manifest describes; raise StoreError if it describes nothing."""
        try:
            return make(facts)
        except (MisuseError, TypeError, ValueError) as error:
            raise StoreError(f"the manifest of {self.root} is damaged ({error}); build it again") from error

    @property
    def on_disk(self) -> Self:
        """This store, or the one whose index on disk another index in memory takes the place of."""
        on_disk: Self = vars(self).get("_on_disk", self)
        return on_disk

    @property
    def _index_facts(self) -> dict[str, Any]:
        facts = self.manifest.index
        if facts is None:
            raise StoreError(f"{self.root} has no index; build it again")
        if facts["version"] != INDEX_VERSION:
            raise StoreError(
                f"the index of {self.root} has format version {facts['version']}, "
                f"this pagekin reads version {INDEX_VERSION}; build it again"
            )
        return facts

    def _has_column(self, name: str) -> bool:
        return bool(self._index_facts) and self.manifest.has_column(name)

    @cached_property
    def titles(self) -> TitleIndex:
        """The words of titles, memory-mapped."""
        return open_titles(self.root / self.manifest.index_folder, len(self.nodes) - 1)

    @cached_property
    def length(self) -> Floats:
        """The lengths in words of all nodes; 0 for those that are known only from links."""
        length = self.index.contents.length
        return np.concatenate([length, np.zeros(len(self.index.bags) - len(length))])

    @cached_property
    def popularity(self) -> Floats:
        """Of all nodes, by the number of pages that link to them: the strategy's `popularity` times n / (n + 10)."""
        weight, popularity = self.index.strategy.popularity, np.zeros(len(self.index.bags))
        if weight > 0.0:
            in_degree = self.link_columns.in_degree
            popularity[: len(in_degree)] = weight * in_degree / (in_degree + _HALF_POPULAR)
        return popularity

    @cached_property
    def neighbours(self) -> Unsigned:
        """The nearest pages of each page, memory-mapped: a row of node numbers, filled up with the page itself."""
        if not self._has_column(NEIGHBOURS_FILE):
            raise MisuseError(
                f"the index of {self.root} has no neighbours; build it with a strategy whose blend names neighbours"
            )
        folder, pages = self.root / self.manifest.index_folder, len(self.nodes) - 1
        lists = open_array(folder, NEIGHBOURS_FILE, (np.uint16, np.uint32), 2, below=pages)
        check(len(lists) == pages, folder / f"{NEIGHBOURS_FILE}.npy", "it belongs to other pages")
        return lists

    @cached_property
    def kept_answers(self) -> KeptAnswers | None:
        """The answers that the build has found in advance, if it did, memory-mapped."""
        limit = self._index_facts.get("answers", 0)
        if not limit or self.on_disk is not self:
            return None
        return open_answers(self.root / self.manifest.index_folder, len(self.nodes) - 1, limit)

    def verify(self) -> None:
        super().verify()
        facts = self._index_facts
        self.on_disk.index.check()
        _ = self.fingerprints, self.titles, self.kept_answers
        folder = self.root / self.manifest.index_folder
        same = np.array_equal(open_shards(folder, len(self)), open_shards(self.folder, len(self)))
        check(same, folder / f"{SHARDS}.npy", "it belongs to another store")
        check_link_columns(open_link_columns(folder, self), folder / "anchors.counting.npy")
        for name, column in (("latent", "latent.pages.row"), ("neighbours", NEIGHBOURS_FILE)):
            if self._has_column(column):
                getattr(self, name)
        if "vectors" in facts:
            _ = self.vectors

    def names_of(self, nodes: Collection[int]) -> dict[int, str]:
        """The titles of nodes, or the URLs of those without a title."""
        named = self.catalog.names_by_node(sorted(nodes))
        return {node: name["title"] or name["url"] for node, name in named.items()}

    query_weights = cached_property[QueryWeights](lambda self: QueryWeights(self.index))

    @cached_property
    def scorers(self) -> ScorerPool[Scorer]:
        return ScorerPool(partial(Scorer, self.index))

    @cached_property
    def link_columns(self) -> LinkColumns:
        return open_link_columns(self.root / self.manifest.index_folder, self)

    @cached_property
    def link_scorers(self) -> ScorerPool[LinkScorer]:
        return ScorerPool(partial(LinkScorer, self.link_columns))

    @cached_property
    def link_similarity(self) -> "LinkSets":
        from pagekin.links.link_graph import stored_links
        from pagekin.links.measures import link_similarity

        if self.on_disk is not self:
            return self.on_disk.link_similarity
        return link_similarity(stored_links(self, self.index.strategy))

    def with_index(self, index: Index) -> Self:
        """The same store with another index in memory; the links that count stay those of the index on disk."""
        other = type(self)(self.root, self.manifest)
        opened = {name: value for name, value in vars(self).items() if name not in _OF_INDEX}
        vars(other).update(opened, index=index, _on_disk=self.on_disk)
        return other

    def find_node(self, name: str) -> int:
        """The node that `name` means: a page as in `find`, or a URL that is known only from links."""
        for url in self.urls_meant(name):
            for row in self.catalog.rows("SELECT node FROM nodes WHERE url = ? LIMIT 1", url):
                return self._known_node(row["node"])
        return self._known_node(int(np.searchsorted(self.nodes, self.find(name), side="right")) - 1)

    def _known_node(self, node: int) -> int:
        check(0 <= node < len(self.index.bags), self.catalog.path, f"it names a node {node}")
        return node

    @report_damage
    def top_terms(self, node: int, most: int = 12) -> list[tuple[str, float]]:
        """The heaviest words of a bag, with their weights."""
        bag = bag_of(self.index, node)
        words = np.flatnonzero(bag.term < self.index.words)[:most].tolist()
        return [(self.index.terms.shown[int(bag.term[k])], float(bag.weight[k])) for k in words]

    def rows_of(self, nodes: Sequence[int] | Int64s) -> Int64s:
        """The rows of the pages of nodes; -1 for a node with no page, or with several."""
        node = np.array(nodes, np.int64)
        inside = np.minimum(node, len(self.nodes) - 2)
        row = self.nodes[inside]
        one = (node == inside) & (self.nodes[inside + 1] - row == 1) & (row >= 0) & (row < len(self))
        return np.where(one, row, -1)

    def fingerprints_of(self, nodes: Sequence[int]) -> Fingerprints:
        rows = self.rows_of(nodes)
        return self.fingerprints.rows(rows[rows >= 0])

    def node_url(self, node: int) -> str:
        return str(self.catalog.rows("SELECT url FROM nodes WHERE node = ?", node)[0]["url"])

    def nodes_linked_from(self, nodes: Sequence[int]) -> set[int]:
        anchors, known = self.reading.anchors, [node for node in nodes if node + 1 < len(self.nodes)]
        rows = [row for node in known for row in range(*self.nodes[node : node + 2].tolist())]
        targets = anchors.target[anchors.places(np.array(rows, np.int64))[1]]
        return set(self.node_of_target[targets[targets < len(self.node_of_target)]].tolist())
