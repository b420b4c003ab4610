"""The pages that are compared, their classes, and the familial distance between them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pagekin.errors import MisuseError
from pagekin.evaluation.labels import Class, LeftOut
from pagekin.evaluation.options import HierarchyOptions
from pagekin.kernels.rankings import ALL, COUSIN, SIBLING, UNRELATED, PageClasses, distances_from
from pagekin.model.arrays import Bytes, Int32s, Int64s

Labels = Mapping[int, Iterable[Class]]  # by the numbers of pages
_REGIONS = {ALL: "all", SIBLING: "sibling", COUSIN: "cousin", UNRELATED: "unrelated"}


@dataclass(frozen=True)
class ComparedPages:
    """The pages that are ranked. Page k is node nodes[k] of the collection."""

    nodes: Int64s
    urls: list[str]

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True)
class Population(ComparedPages):
    """Pages and their classes."""

    names: list[Class]  # the classes, sorted
    lineage: Int32s  # a row per class: the numbers of its ancestors, from the root down to itself
    depth: Int64s  # of each class
    offsets: Int64s  # the classes of page k are classes[offsets[k]:offsets[k + 1]]
    classes: Int64s
    whole_tree: bool

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
        """The classes of pages and their tree, as kernels take them."""
        return PageClasses(self.offsets, self.classes, self.lineage, self.depth, self.whole_tree)

    def distances(self, source: int) -> Bytes:
        near, distances = np.empty(len(self.names), np.uint8), np.empty(len(self), np.uint8)
        distances_from(source, self.hierarchy, near, distances)
        return distances


def populate(labels: Labels, urls: Sequence[str], options: HierarchyOptions, left_out: LeftOut) -> Population:
    """The population of the labelled nodes; `urls` are those of all nodes of the collection."""
    classes = {node: options.classes(labels[node]) for node in sorted(labels)}
    for node in [node for node, paths in classes.items() if not paths]:
        left_out.add(f"pages above depth {options.depth}", urls[node])
        del classes[node]
    names = sorted({path for paths in classes.values() for path in paths})
    if not names:
        raise MisuseError(
            "no page is left to compare; choose a smaller --depth or --min-in-links, or leave out --strict-depth"
        )
    if len(names) == 1:
        raise MisuseError(
            f"all {len(classes):,} pages that have a class are in the same class, {'/'.join(names[0])!r}, so there"
            " is no order to compare with; give a hierarchy with more classes, or a larger --depth"
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
        raise MisuseError(
            f"no two classes at depth {options.depth} have the same parent, so there are no pairs to sample; choose"
            " another --depth, or leave out --sample"
        )
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
