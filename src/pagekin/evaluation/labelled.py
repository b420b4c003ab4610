"""The pages of a collection that are compared, by a hierarchy or all of them, and the systems that order them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from pagekin.bags.build import bags_of_pages
from pagekin.bags.source import BagSource
from pagekin.errors import MisuseError
from pagekin.evaluation.baselines import BASELINES, count_matrix
from pagekin.evaluation.judge import System
from pagekin.evaluation.labels import UNMET, LeftOut, join, lines_of, path_labels, read_labels, read_tree
from pagekin.evaluation.options import HierarchyOptions, SystemOptions
from pagekin.evaluation.population import ComparedPages, Labels, Population, populate, sample
from pagekin.evaluation.runs import read_run
from pagekin.index.index import Index, Inverted
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.bags import Bags, Heads
from pagekin.model.strategy import MEASURES, PRESETS, TEXT_ONLY, Strategy, strategy_named
from pagekin.model.weighting import load_weights
from pagekin.search.blend import Blend
from pagekin.search.evidence import UNLISTED
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import AUTO, RelatedOptions
from pagekin.search.query import Query, bag_of
from pagekin.store.catalog import NewPageNames, PageNames

BY_PATH = "path"  # as the name of a hierarchy: the folders of URLs


def page_queries(index: Index) -> Callable[[int], Query]:
    """A function from nodes to queries that need no candidates: all pages are scored."""
    return lambda node: Query((node,), bag_of(index, node), np.empty(0, np.uint32))


class BlendSystem:
    """The pages of a population in the order of a blend, each compared with every other."""

    longest = None

    def __init__(self, name: str, index: Index, blend: Blend, nodes: Int64s) -> None:
        """Of all nodes of an index, `nodes` are compared; -1 is a page that it does not have."""
        others = [each.name for each in blend.active if each.name != "text" and blend.scaling is None]
        self.name = ", ".join([name, *(f"{blend.weights[other]:g} by {other}" for other in others)])
        self._rows = blend.pair_scores(nodes, page_queries(index))

    def scores(self, sources: Int64s) -> Floats:
        rows = self._rows(sources)
        return np.where(rows > 0.0, rows, UNLISTED)


@dataclass(frozen=True)
class ComparedCollection:
    """Pages that are ranked, where they are from, and what was left out."""

    indexed: IndexedStore | None
    population: ComparedPages
    addresses: PageNames
    notes: LeftOut
    copy_of: Path | None = None  # set if `indexed` is a copy of this store, with "See also" sections hidden

    @property
    def name(self) -> str:
        """The name of the store."""
        assert self.indexed is not None
        return str(self.indexed.root) if self.copy_of is None else f"{self.copy_of}, sections hidden"

    @cached_property
    def collection(self) -> BagSource:
        assert self.indexed is not None
        return BagSource.of(self.indexed)

    def bags(self, strategy: Strategy) -> Bags:
        """The bags of all pages under a strategy, in memory; nothing is read again but the store."""
        return self._index(strategy).bags

    def _index(self, strategy: Strategy) -> Index:
        """The bags under a strategy as an index without signatures: it has no candidates."""
        bags, terms, contents = bags_of_pages(self.collection, strategy)
        nothing = np.empty((0, 0), np.uint32)
        heads = Heads(nothing, nothing.astype(np.float32))
        return Index(strategy, bags, terms, contents, heads, nothing, Inverted(nothing, nothing))

    def under(self, strategy: Strategy, name: str, options: RelatedOptions | None = None) -> System:
        """The collection under a strategy. Its bags are made anew from the store unless the index has them."""
        assert self.indexed is not None
        store, index, options = self.indexed, self.indexed.index, options or RelatedOptions()
        if options.link_share == AUTO:
            options = replace(options, link_share=store.automatic_link_weight)
        has_bags = index.strategy.has_bags_of(strategy)
        index = replace(index, strategy=strategy) if has_bags else self._index(strategy)
        return _system(name, store.with_index(index), self.population.nodes, options)

    def index_system(self, indexed: IndexedStore, options: RelatedOptions | None = None) -> System:
        """An index as it is, of this collection or of another with some of the same pages."""
        nodes = self.population.nodes
        if indexed is not self.indexed:
            urls, found = self.population.urls, map(indexed.catalog.page_names().find, self.population.urls)
            nodes = np.array([-1 if node is None else node for node in found], np.int64)
            if not (nodes >= 0).any():
                raise MisuseError(
                    f"{indexed.root} has none of the pages that are compared, such as {urls[0]}; name a store of"
                    " the same pages"
                )
            missing = [urls[page] for page in np.flatnonzero(nodes < 0).tolist()]
            self.notes.add_all(f"pages that are not in {indexed.root}, where they tie", missing)
        name = self.name if indexed is self.indexed else str(indexed.root)
        return _system(name, indexed, nodes, options or RelatedOptions())

    def run(self, file: str) -> System:
        return read_run(Path(file), self.population, self.addresses.find, self.notes)

    def baseline(self, name: str) -> System:
        strategy, system = BASELINES[name]
        return system(count_matrix(self.bags(strategy), self.population.nodes))

    def named(self, name: str, strategy: Strategy | None = None) -> System:
        """What a user calls a system: another measure, a strategy, a baseline, a store, or a run file.

        `strategy` is the one that another measure shall be applied to; by default that of the index.
        """
        path = Path(name)
        if self.indexed is not None and name in MEASURES:
            strategy = replace(strategy or self.indexed.index.strategy, similarity=name, blend=TEXT_ONLY)
            return self.under(strategy, self.name)
        if self.indexed is not None and (name in PRESETS or path.suffix == ".toml"):
            return self.under(strategy_named(name), name)
        if self.indexed is not None and name in BASELINES:
            return self.baseline(name)
        if path.is_dir() and self.copy_of is not None:
            raise MisuseError(
                f"{name} contains the sections whose links are the answers; compare with a strategy, a baseline or a"
                " run file"
            )
        if path.is_dir():
            return self.index_system(IndexedStore.open(path))
        if not path.is_file():
            raise MisuseError(
                f"there is no {name!r} to compare with: neither a store nor a run file nor, for a store, a strategy"
                f" ({', '.join(PRESETS)}, or a TOML file), a similarity ({', '.join(MEASURES)}) or a baseline"
                f" ({', '.join(BASELINES)})"
            )
        return self.run(name)

    def systems(self, options: SystemOptions) -> list[System]:
        """The system to evaluate, and the one to compare it with."""
        strategy = strategy_named(options.strategy) if options.strategy else None
        related = RelatedOptions(link_share=options.link_share, blend=options.blend)
        if options.run is not None:
            system = self.run(options.run)
        elif strategy is None:
            assert self.indexed is not None
            own = self.indexed.index.strategy
            weighting = load_weights(Path(options.weights)) if options.weights is not None else None
            related = replace(related, similarity=options.similarity, weighting=weighting)
            system = self.index_system(self.indexed, related)
            strategy = replace(own, weights=options.weights or own.weights)
        else:
            blend = strategy.blend if options.similarity is None else TEXT_ONLY
            similarity, weights = options.similarity or strategy.similarity, options.weights or strategy.weights
            strategy = replace(strategy, similarity=similarity, weights=weights, blend=blend)
            system = self.under(strategy, options.strategy or "", related)
        return [system, *([self.named(options.against, strategy)] if options.against else [])]

    def sources(self, queries: str | None) -> Int64s:
        """The pages of a file of queries; all pages without one."""
        if queries is None:
            return np.arange(len(self.population))
        pages: dict[int | None, int] = {node: page for page, node in enumerate(self.population.nodes.tolist())}
        found: set[int] = set()
        for _, line in lines_of(Path(queries), self.notes):
            page = pages.get(self.addresses.find(line.strip()))
            if page is not None:
                found.add(page)
            else:
                self.notes.add(f"lines of {queries} that name no page that is compared", line.strip())
        return np.array(sorted(found), np.int64)


@dataclass(frozen=True)
class LabelledCollection(ComparedCollection):
    """Pages that have classes."""

    population: Population

    def in_degrees(self) -> Int64s | None:
        """How many pages link to each page, if there is a collection."""
        return None if self.indexed is None else self.indexed.in_degrees()[self.population.nodes]


def open_labelled(
    hierarchy: str, indexed: IndexedStore | None = None, options: HierarchyOptions | None = None
) -> LabelledCollection:
    """The pages of a collection that a hierarchy compares; without a collection, all that the hierarchy names."""
    notes, options = LeftOut(), options or HierarchyOptions()
    tree = read_tree(Path(options.tree), notes) if options.tree is not None else None
    if indexed is not None:
        addresses, urls = indexed.catalog.page_names(), urls_of(indexed)
        labels = path_labels(urls, notes) if hierarchy == BY_PATH else read_labels(Path(hierarchy), notes, tree)
        classes: Labels = join(labels, addresses.find, notes)
        if not classes:
            raise MisuseError(_no_classes(hierarchy, indexed, urls, notes))
        classes = _with_in_links(indexed, classes, options, urls, notes)
    elif hierarchy == BY_PATH or options.min_in_links:
        raise MisuseError("--hierarchy path and --min-in-links need a collection; name a STORE")
    else:
        addresses = NewPageNames()
        classes = join(read_labels(Path(hierarchy), notes, tree), addresses.take, notes)
        if not classes:
            raise MisuseError(f"{hierarchy} has no labels; a line is a URL, a tab and a class such as Top/Middle/Leaf")
        urls = list(addresses.urls)
    if options.sample is not None:
        classes = sample(classes, options.sample, options, notes)
    return LabelledCollection(indexed, populate(classes, urls, options, notes), addresses, notes)


def urls_of(indexed: IndexedStore) -> list[str]:
    """The URLs of all nodes that have pages."""
    rows = indexed.catalog.each("SELECT url FROM nodes WHERE first_row IS NOT NULL ORDER BY node")
    return [row[0] for row in rows]


def _no_classes(hierarchy: str, indexed: IndexedStore, urls: list[str], notes: LeftOut) -> str:
    if hierarchy == BY_PATH:
        return f"all pages of {indexed.root} lie in one folder: paths give no classes; name a file of labels"
    return (
        f"{hierarchy} has a class for none of the {len(urls):,} pages of {indexed.root} (labels such as"
        f" {notes.example(UNMET)!r}, pages such as {next(iter(urls), '')!r}); a label names a page by its URL or"
        " by its path in the folder that was read"
    )


def _with_in_links(
    indexed: IndexedStore, classes: Labels, options: HierarchyOptions, urls: list[str], notes: LeftOut
) -> Labels:
    """The pages that have a class and enough in-links; what is missing is noted."""
    notes.add_all("pages without a class", [url for node, url in enumerate(urls) if node not in classes])
    least = options.min_in_links if options.min_in_links is not None else int(options.sample is not None)
    degrees = indexed.in_degrees()
    notes.add_all(f"pages with fewer than {least} in-links", [urls[node] for node in classes if degrees[node] < least])
    return {node: paths for node, paths in classes.items() if degrees[node] >= least}


def _system(name: str, indexed: IndexedStore, nodes: Int64s, options: RelatedOptions) -> System:
    """Pages as answers to requests with these options order them."""
    blend = indexed.blend(options)
    measure = "blend" if blend.scaling else options.similarity or indexed.index.strategy.similarity
    projected = options.weighting is not None and options.weighting.projection is not None
    name = f"{name} ({measure}{'), projected' if projected else ')'}"
    return BlendSystem(name, indexed.index, blend, nodes)
