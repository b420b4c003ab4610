"""Small populations and systems for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pagekin.evaluation.judge import Population, populate
from pagekin.evaluation.labels import LeftOut
from pagekin.evaluation.options import HierarchyOptions
from pagekin.model.arrays import Floats, Int64s


def rows_of(left_out: LeftOut) -> list[tuple[str, int, str]]:
    return [(each.reason, each.count, each.example) for each in left_out.reasons()]


class Table:
    """A system whose scores are given as a matrix."""

    longest = None

    def __init__(self, rows: Sequence[Sequence[float]], name: str = "table") -> None:
        self.rows = np.array(rows, np.float64)
        self.name = name

    def scores(self, sources: Int64s) -> Floats:
        return np.asarray(self.rows[sources])


def peopled(labels: Iterable[str | Sequence[str]], **shape: object) -> Population:
    """Pages p0, p1 ... with these labels, one or several each, such as "Nature/Birds"."""
    paths: Mapping[int, list[tuple[str, ...]]] = {
        page: [tuple(each.split("/")) for each in ([label] if isinstance(label, str) else label)]
        for page, label in enumerate(labels)
    }
    return populate(paths, [f"http://p.example/{page}" for page in paths], HierarchyOptions(**shape), LeftOut())  # type: ignore[arg-type]
