"""The pages that are compared, the familial distance between them, and every source judged against all other pages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Protocol, Self

import numpy as np

from pagekin.errors import MisuseError
from pagekin.evaluation.labels import Class, LeftOut
from pagekin.evaluation.options import HierarchyOptions
from pagekin.kernels import rankings
from pagekin.kernels.rankings import ALL, COUSIN, NO_DISTANCE, SIBLING, UNRELATED, PageClasses
from pagekin.model.arrays import Bools, Bytes, Floats, Int32s, Int64s

Labels = Mapping[int, Iterable[Class]]  # by the numbers of pages
CUTOFF = 10  # of P@10 and nDCG@10
_MAX_SCORES = 1 << 20  # in memory per thread
_REGIONS = {ALL: "all", SIBLING: "sibling", COUSIN: "cousin", UNRELATED: "unrelated"}


@dataclass(frozen=True)
class Population:
    """Pages and their classes. Page k is node nodes[k] of the collection."""

    nodes: Int64s
    urls: list[str]
    names: list[Class]  # the classes, sorted
    lineage: Int32s  # a row per class: the numbers of its ancestors, from the root down to itself
    depth: Int64s  # of each class
    offsets: Int64s  # the classes of page k are classes[offsets[k]:offsets[k + 1]]
    classes: Int64s
    whole_tree: bool

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def regions(self) -> list[str]:
        """The regions of a ranking (paper, 2.3): all pairs, then for each distance e the pairs of a page of the
        source's own class and a page at distance e.
        """
        if self.whole_tree:
            return ["all", *(f"distance {e}" for e in range(1, int(self.depth.max()) + 1))]
        return [_REGIONS[region] for region in sorted(_REGIONS)]

    def classes_of(self, page: int) -> list[Class]:
        return [self.names[c] for c in self.classes[self.offsets[page] : self.offsets[page + 1]].tolist()]

    @property
    def hierarchy(self) -> PageClasses:
        return PageClasses(self.offsets, self.classes, self.lineage, self.depth, self.whole_tree)

    def distances(self, source: int) -> Bytes:
        near, distances = np.empty(len(self.names), np.uint8), np.empty(len(self), np.uint8)
        rankings.distances_from(source, self.hierarchy, near, distances)
        return distances


def populate(labels: Labels, urls: Sequence[str], options: HierarchyOptions, left_out: LeftOut) -> Population:
    """The population of the labelled nodes; `urls` are those of all nodes of the collection."""
    classes = {node: options.classes(labels[node]) for node in sorted(labels)}
    for node in [node for node, paths in classes.items() if not paths]:
        left_out.add(f"pages above depth {options.depth}", urls[node])
        del classes[node]
    names = sorted({path for paths in classes.values() for path in paths})
    if not names:
        raise MisuseError("no page is left to compare; see --depth and --strict-depth")
    if len(names) == 1:
        raise MisuseError(
            f"all {len(classes):,} pages that have a class are in one, {'/'.join(names[0])!r}: there is nothing to tell"
            " apart; give a hierarchy with more classes, or a larger --depth"
        )
    numbers = {path: number for number, path in enumerate(names)}
    flat = np.array([numbers[path] for paths in classes.values() for path in paths], np.int64)
    alone = ["/".join(names[number]) for number in np.flatnonzero(np.bincount(flat) == 1).tolist()]
    left_out.add_all("classes of one page, for which no page is right", alone)
    return Population(
        nodes=np.array(list(classes), np.int64),
        urls=[urls[node] for node in classes],
        names=names,
        lineage=_lineage(names),
        depth=np.array([len(path) for path in names], np.int64),
        offsets=np.cumsum([0, *map(len, classes.values())], dtype=np.int64),
        classes=flat,
        whole_tree=options.distance == "tree",
    )


def _lineage(names: list[Class]) -> Int32s:
    numbers: dict[Class, int] = {}
    lineage = np.full((len(names), max(map(len, names))), -1, np.int32)
    for row, path in zip(lineage, names, strict=True):
        for k in range(len(path)):
            row[k] = numbers.setdefault(path[: k + 1], len(numbers))
    return lineage


def sample(labels: Labels, pairs: int, options: HierarchyOptions, left_out: LeftOut) -> dict[int, list[Class]]:
    """The pages of a random sample of pairs of sibling classes at full depth (paper, section 5)."""
    classes = {page: [c for c in options.classes(paths) if len(c) == options.depth] for page, paths in labels.items()}
    families: dict[Class, list[Class]] = {}
    for path in sorted({path for paths in classes.values() for path in paths}):
        families.setdefault(path[:-1], []).append(path)
    siblings = list(families.values())
    ends = np.cumsum([len(family) * (len(family) - 1) // 2 for family in siblings])
    available = int(ends[-1]) if len(ends) else 0
    if available == 0:
        raise MisuseError(f"no two classes at depth {options.depth} have one parent, so there are no pairs to sample")
    left_out.add("pairs of classes fewer than were to be sampled", "", max(0, pairs - available))
    drawn = np.random.default_rng(options.seed).choice(available, min(pairs, available), replace=False)
    chosen: set[Class] = set()
    for number in drawn.tolist():
        family = int(np.searchsorted(ends, number, side="right"))
        chosen |= {siblings[family][member] for member in _pair(int(ends[family]) - 1 - number)}
    return {page: kept for page, paths in classes.items() if (kept := [c for c in paths if c in chosen])}


def _pair(number: int) -> tuple[int, int]:
    """The pair with this number in the order of the larger member.

    >>> [_pair(number) for number in range(4)]
    [(0, 1), (0, 2), (1, 2), (0, 3)]
    """
    second = int((1 + (1 + 8 * number) ** 0.5) / 2)
    return number - second * (second - 1) // 2, second


class System(Protocol):
    """Anything that orders the pages of a population. `scores` is called from several threads."""

    @property
    def name(self) -> str: ...

    @property
    def longest(self) -> int | None:
        """How many pages it lists for a source at most, if it leaves out others that it could compare."""

    def scores(self, sources: Int64s) -> Floats:
        """For each source, a row of scores of all pages of the population; the more similar, the higher.

        A page that the system does not list, or that shares nothing with the source, scores minus infinity.
        """


@dataclass(frozen=True)
class Judgement:
    """Counts for each source."""

    sources: Int64s
    pairs: Int64s  # by region: concordant, discordant, tied
    pages: Int64s  # by distance
    listed: Int64s  # by distance: the pages that the system ranks
    first: Bytes  # the distances of the top-ranked pages

    def __len__(self) -> int:
        return len(self.sources)

    def select(self, which: Bools) -> Self:
        return type(self)(*(getattr(self, each.name)[which] for each in fields(self)))


def judge(
    system: System,
    population: Population,
    sources: Int64s | None = None,
    threads: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> Judgement:
    """Compare the ranking for every source, by default every page, with the order by familial distance.

    A source whose distances to all pages are equal is left out: no order of them is wrong. `progress` is called with
    the number of sources done.
    """
    sources = np.arange(len(population)) if sources is None else np.asarray(sources, np.int64)
    if not len(sources):
        raise MisuseError("there is no source to judge by")
    step = max(1, _MAX_SCORES // max(1, len(population)))
    batches = [sources[k : k + step] for k in range(0, len(sources), step)]
    judged = []
    with ThreadPoolExecutor(threads) as pool:
        for batch in pool.map(lambda batch: _judge_batch(system, population, batch), batches):
            judged.append(batch)
            progress(sum(map(len, judged)))
    whole = Judgement(*(np.concatenate([getattr(p, each.name) for p in judged]) for each in fields(Judgement)))
    has_pairs = whole.pairs[:, ALL].sum(axis=1) > 0
    if not has_pairs.any():
        raise MisuseError("from every source all pages are equally far: the hierarchy orders nothing")
    return whole.select(has_pairs)


def _judge_batch(system: System, population: Population, sources: Int64s) -> Judgement:
    scores = system.scores(sources)
    assert scores.shape == (len(sources), len(population))
    if np.isnan(scores).any():
        raise MisuseError(f"{system.name} gives scores that are no numbers (NaN)")
    shape = (len(sources), len(population.regions))
    pairs, pages, listed = np.zeros((*shape, 3), np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    first = np.full((len(sources), CUTOFF), NO_DISTANCE, np.uint8)
    keys = np.empty(scores.shape, np.int64)
    rankings.rank_rows(sources, scores, population.hierarchy, pages, listed, first, keys)
    keys.sort(axis=1)  # numpy sorts integers with vector instructions, several times as fast as a kernel
    rankings.count_rows(keys, pairs)
    return Judgement(sources, pairs, pages, listed, first)
