"""A collection before the judge: which of its pages a hierarchy compares, and what can order them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from pagekin.bags.build import BagSource, bags_of_pages
from pagekin.errors import MisuseError
from pagekin.evaluation.labels import UNMET, Class, Label, join, path_labels, read_labels, read_tree
from pagekin.evaluation.notes import LeftOut
from pagekin.evaluation.population import HierarchyOptions, Population, populate, sample
from pagekin.evaluation.runs import read_run
from pagekin.evaluation.systems import BlendSystem, System
from pagekin.index.index import Index, Inverted
from pagekin.model.arrays import Int64s
from pagekin.model.bags import Bags, Heads
from pagekin.model.strategy import MEASURES, PRESETS, Strategy, strategy_named
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import AUTO, RelatedOptions
from pagekin.store.catalog import NewPageNames, PageNames
from pagekin.store.store import Store

Labels = Mapping[int, Iterable[Class]]  # by the numbers of pages
BY_PATH = "path"  # as the name of a hierarchy: the folders of URLs


@dataclass(frozen=True)
class PopulationSettings:
    """Which pages are compared: those that a hierarchy has a class for, all of them or a sample (paper, section 5)."""

    hierarchy: str  # a file of labels, or "path"
    tree: str | None = None  # a file that says of every class its parent, if labels do not
    shape: HierarchyOptions = field(default_factory=HierarchyOptions)
    sample: int | None = None  # pairs of sibling classes
    seed: int = 2002
    min_in_links: int | None = None  # by default none, and one for a sample


@dataclass(frozen=True)
class LabelledCollection:
    """Pages that can be judged, where they are from, and what was left out."""

    indexed: IndexedStore | None
    population: Population
    addresses: PageNames
    notes: LeftOut

    def in_degrees(self) -> Int64s | None:
        """How many pages link to each page, if there is a collection to tell."""
        return None if self.indexed is None else self.indexed.in_degrees()[self.population.nodes]

    @cached_property
    def collection(self) -> BagSource:
        """What bags are made from, for as many strategies as are asked for."""
        assert self.indexed is not None
        return BagSource.of(self.indexed)

    def bags(self, strategy: Strategy) -> Bags:
        """The bags of all pages under a strategy."""
        assert self.indexed is not None
        return bags_under(self.indexed, strategy, self.collection)

    def under(self, strategy: Strategy, name: str, options: RelatedOptions | None = None) -> System:
        """The collection under a strategy. Its bags are made anew from the store unless the index has them."""
        assert self.indexed is not None
        store, index, options = self.indexed, self.indexed.index, options or RelatedOptions()
        if options.link_share == AUTO:
            options = replace(options, link_share=store.automatic_link_weight)
        if index.strategy.has_bags_of(strategy):
            index = replace(index, strategy=strategy)
        else:
            index = index_under(store, strategy, self.collection)
        return _system(name, store.with_index(index), self.population.nodes, options)

    def index_system(self, indexed: IndexedStore, options: RelatedOptions | None = None) -> System:
        """An index as it is, of this collection or of another with some of the same pages."""
        nodes = self.population.nodes
        if indexed is not self.indexed:
            addresses = indexed.catalog.page_names()
            nodes = np.array(
                [-1 if (k := addresses.find(url)) is None else k for url in self.population.urls], np.int64
            )
            if not (nodes >= 0).any():
                raise MisuseError(
                    f"{indexed.root} has none of the pages that are compared, such as {self.population.urls[0]}"
                )
            missing = np.flatnonzero(nodes < 0).tolist()
            example = self.population.urls[missing[0]] if missing else ""
            self.notes.add(f"pages that are not in {indexed.root}, where they tie", example, len(missing))
        return _system(str(indexed.root), indexed, nodes, options or RelatedOptions())

    def run(self, file: str) -> System:
        """A run file."""
        return read_run(Path(file), self.population, self.addresses.find, self.notes)

    def named(self, name: str, strategy: Strategy | None = None) -> System:
        """What a user calls a system: another measure, a strategy, a store, or a run file.

        `strategy` is the one that another measure shall be applied to; by default that of the index.
        """
        path = Path(name)
        if self.indexed is not None and name in MEASURES:
            return self.under(replace(strategy or self.indexed.index.strategy, similarity=name), str(self.indexed.root))
        if self.indexed is not None and (name in PRESETS or path.suffix == ".toml"):
            return self.under(strategy_named(name), name)
        if path.is_dir():
            return self.index_system(IndexedStore.open(path))
        if not path.is_file():
            raise MisuseError(
                f"there is no {name!r} to compare with: neither a store nor a run file nor, for a store, a strategy"
                f" ({', '.join(PRESETS)}, or a TOML file) or a similarity ({', '.join(MEASURES)})"
            )
        return self.run(name)


def open_labelled(bench: PopulationSettings, indexed: IndexedStore | None = None) -> LabelledCollection:
    """The pages of a collection that a hierarchy compares; without a collection, all that the hierarchy names."""
    notes = LeftOut()
    tree = read_tree(Path(bench.tree), notes) if bench.tree is not None else None
    if indexed is not None:
        addresses = indexed.catalog.page_names()
        urls = [
            row[0] for row in indexed.catalog.each("SELECT url FROM nodes WHERE first_row IS NOT NULL ORDER BY node")
        ]
        by_path = bench.hierarchy == BY_PATH
        labels = path_labels(urls, notes) if by_path else read_labels(Path(bench.hierarchy), notes, tree)
        classes = _with_in_links(indexed, join(labels, addresses.find, notes), bench, urls, notes)
    else:
        addresses = NewPageNames()
        classes = _unbound(bench, addresses, read_labels(Path(bench.hierarchy), notes, tree), notes)
        urls = list(addresses.urls)
    if bench.sample is not None:
        classes = sample(classes, bench.sample, bench.shape, bench.seed, notes)
    return LabelledCollection(indexed, populate(classes, urls, bench.shape, notes), addresses, notes)


def _with_in_links(
    indexed: IndexedStore, classes: Labels, bench: PopulationSettings, urls: list[str], notes: LeftOut
) -> Labels:
    """The pages that have a class and enough in-links; what is missing is noted."""
    if not classes and bench.hierarchy == BY_PATH:
        raise MisuseError(
            f"all pages of {indexed.root} lie in one folder: paths give no classes; name a file of labels"
        )
    if not classes:
        raise MisuseError(
            f"{bench.hierarchy} has a class for none of the {len(urls):,} pages of {indexed.root} (labels such as"
            f" {notes.example(UNMET)!r}, pages such as {next(iter(urls), '')!r}); a label names a page by its URL or"
            " by its path in the folder that was read"
        )
    bare = [node for node in range(len(urls)) if node not in classes]
    notes.add("pages without a class", urls[bare[0]] if bare else "", len(bare))
    least = bench.min_in_links if bench.min_in_links is not None else int(bench.sample is not None)
    degrees = indexed.in_degrees()
    few = [node for node in classes if degrees[node] < least]
    notes.add(f"pages with fewer than {least} in-links", urls[few[0]] if few else "", len(few))
    return {node: paths for node, paths in classes.items() if degrees[node] >= least}


def _unbound(bench: PopulationSettings, addresses: NewPageNames, labels: Iterable[Label], notes: LeftOut) -> Labels:
    if bench.hierarchy == BY_PATH or bench.min_in_links:
        raise MisuseError("the paths of URLs, and in-links, are those of a collection; name a STORE")
    classes = join(labels, addresses.take, notes)
    if not classes:
        raise MisuseError(
            f"{bench.hierarchy} has no labels; a line is a URL, a tab and a class such as Top/Middle/Leaf"
        )
    return classes


def _system(name: str, indexed: IndexedStore, nodes: Int64s, options: RelatedOptions) -> System:
    """Pages as answers to requests with these options order them."""
    measure = options.similarity or indexed.index.strategy.similarity
    projected = options.weighting is not None and options.weighting.projection is not None
    name = f"{name} ({measure}{'), projected' if projected else ')'}"
    return BlendSystem(name, indexed.index, indexed.blend(options), nodes)


def index_under(store: Store, strategy: Strategy, collection: BagSource | None = None) -> Index:
    """The bags of a store under a strategy, in memory, as an index without signatures: it has no candidates."""
    bags, terms, contents = bags_of_pages(collection or BagSource.of(store), strategy)
    nothing = np.empty((0, 0), np.uint32)
    heads = Heads(nothing, nothing.astype(np.float32))
    return Index(strategy, bags, terms, contents, heads, nothing, Inverted(nothing, nothing))


def bags_under(store: Store, strategy: Strategy, collection: BagSource | None = None) -> Bags:
    """The bags of the pages of a store under a strategy, in memory; nothing is read again but the store."""
    return index_under(store, strategy, collection).bags
