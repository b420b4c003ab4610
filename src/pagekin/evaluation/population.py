"""The pages that are compared, their classes, and how far these are from each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import MisuseError
from pagekin.evaluation.labels import Class
from pagekin.evaluation.notes import LeftOut
from pagekin.kernels.familial_distance import COUSIN, SIBLING, UNRELATED, distances_from
from pagekin.kernels.gamma import ALL
from pagekin.model.arrays import Bytes, Int64s

DEEPEST = 32
_CHOICES = {"multi": ("deepest", "min"), "distance": ("family", "tree")}


@dataclass(frozen=True)
class Shape:
    """How a hierarchy is taken.

    Labels are cut at `depth`. If a page has several, `deepest` takes the one that was deepest before (of those the
    alphabetically first) and `min` takes the nearest over all. The distance is of a `family` (same class, sibling,
    cousin, unrelated) or of a `tree` (steps up to the class that dominates both).
    """

    depth: int = 3
    strict: bool = False  # whether pages above the depth are left out
    multi: str = "deepest"
    distance: str = "family"

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= DEEPEST:
            raise MisuseError(f"depth is {self.depth}; it must be from 1 to {DEEPEST}")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise MisuseError(f"{name} is {getattr(self, name)!r}; it can be {', '.join(choices)}")

    def settled(self, labels: Iterable[Class]) -> list[Class]:
        """What becomes of the labels of a page.

        >>> labels = [("Arts",), ("Home", "Garden", "Clubs", "Roses"), ("Arts", "Prints", "Old")]
        >>> Shape().settled(labels), len(Shape(multi="min", strict=True).settled(labels))
        ([('Home', 'Garden', 'Clubs')], 2)
        """
        if self.multi == "deepest":
            labels = [min(labels, key=lambda path: (-len(path), path))]
        least = self.depth if self.strict else 1
        return sorted({path[: self.depth] for path in labels if len(path) >= least})


@dataclass(frozen=True)
class Population:
    """Pages and their classes. The k-th page has the number nodes[k] in the collection that it is from."""

    nodes: Int64s
    urls: list[str]
    names: list[Class]  # of classes, sorted
    lineage: NDArray[np.int32]  # a row a class: numbers for its ancestors, from the top down to itself
    depth: Int64s  # of classes
    offsets: Int64s  # the classes of page k are classes[offsets[k]] to classes[offsets[k + 1]], mostly one
    classes: Int64s
    whole_tree: bool

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def regions(self) -> list[str]:
        """The names of the regions of an order (paper, 2.3): all pairs, then those of a page of the source's own class
        and one at each other distance.
        """
        named = {ALL: "all", SIBLING: "sibling", COUSIN: "cousin", UNRELATED: "unrelated"}
        if self.whole_tree:
            return ["all", *(f"distance {e}" for e in range(1, int(self.depth.max()) + 1))]
        return [named[region] for region in sorted(named)]

    def classes_of(self, page: int) -> list[Class]:
        """The classes of a page."""
        return [self.names[c] for c in self.classes[self.offsets[page] : self.offsets[page + 1]].tolist()]

    def distances(self, source: int) -> Bytes:
        """The familial distance of every page from a source."""
        near, distances = np.empty(len(self.names), np.uint8), np.empty(len(self), np.uint8)
        distances_from(source, self.offsets, self.classes, self.lineage, self.depth, self.whole_tree, near, distances)
        return distances


def populate(labels: Mapping[int, Iterable[Class]], urls: Sequence[str], shape: Shape, notes: LeftOut) -> Population:
    """The pages with a class; `labels` has them by their numbers, `urls` all pages of the collection."""
    settled = {}
    for node in sorted(labels):
        classes = shape.settled(labels[node])
        if classes:
            settled[node] = classes
        else:
            notes.add(f"pages above depth {shape.depth}", urls[node])
    names = sorted({path for classes in settled.values() for path in classes})
    numbers = {path: number for number, path in enumerate(names)}
    _check(settled, names)
    sizes = np.bincount([numbers[path] for classes in settled.values() for path in classes])
    alone = np.flatnonzero(sizes == 1).tolist()
    notes.add("classes of one page, for which no page is right", "/".join(names[alone[0]]) if alone else "", len(alone))
    return Population(
        nodes=np.array(list(settled), np.int64),
        urls=[urls[node] for node in settled],
        names=names,
        lineage=_lineage(names),
        depth=np.array([len(path) for path in names], np.int64),
        offsets=np.cumsum([0, *map(len, settled.values())], dtype=np.int64),
        classes=np.array([numbers[path] for classes in settled.values() for path in classes], np.int64),
        whole_tree=shape.distance == "tree",
    )


def _check(settled: Mapping[int, list[Class]], names: list[Class]) -> None:
    if not settled:
        raise MisuseError("no page is left to compare; see --depth and --strict-depth")
    if len(names) == 1:
        raise MisuseError(
            f"all {len(settled):,} pages that have a class are in one, {'/'.join(names[0])!r}: there is nothing to tell"
            " apart; give a hierarchy with more classes, or a larger --depth"
        )


def _lineage(names: list[Class]) -> NDArray[np.int32]:
    numbers: dict[Class, int] = {}
    lineage = np.full((len(names), max(map(len, names))), -1, np.int32)
    for row, path in zip(lineage, names, strict=True):
        for k in range(len(path)):
            row[k] = numbers.setdefault(path[: k + 1], len(numbers))
    return lineage


def sample(
    labels: Mapping[int, Iterable[Class]], pairs: int, shape: Shape, seed: int, notes: LeftOut
) -> dict[int, list[Class]]:
    """The pages of so many pairs of sibling classes, drawn at random at the depth where classes end (section 5)."""
    settled = {page: [c for c in shape.settled(paths) if len(c) == shape.depth] for page, paths in labels.items()}
    families: dict[Class, list[Class]] = {}
    for path in sorted({path for paths in settled.values() for path in paths}):
        families.setdefault(path[:-1], []).append(path)
    members = list(families.values())
    ends = np.cumsum([len(family) * (len(family) - 1) // 2 for family in members])
    there = int(ends[-1]) if len(ends) else 0
    if there == 0:
        raise MisuseError(f"no two classes at depth {shape.depth} have one parent, so there are no pairs to sample")
    notes.add("pairs of classes fewer than were to be sampled", "", max(0, pairs - there))
    drawn = np.random.default_rng(seed).choice(there, min(pairs, there), replace=False)
    chosen: set[Class] = set()
    for number in drawn.tolist():
        family = int(np.searchsorted(ends, number, side="right"))
        first, second = _pair(int(ends[family]) - 1 - number)
        chosen |= {members[family][first], members[family][second]}
    return {page: kept for page, paths in settled.items() if (kept := [c for c in paths if c in chosen])}


def _pair(number: int) -> tuple[int, int]:
    """The pair of this number.

    >>> [_pair(number) for number in range(4)]
    [(0, 1), (0, 2), (1, 2), (0, 3)]
    """
    second = int((1 + (1 + 8 * number) ** 0.5) / 2)
    return number - second * (second - 1) // 2, second
