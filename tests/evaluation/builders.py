"""Small populations and systems for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.evaluation.labels import LeftOut
from pagekin.evaluation.options import HierarchyOptions
from pagekin.evaluation.population import Population, populate
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.strategy import Strategy
from pagekin.pipeline import build
from store.builders import page, write_jsonl


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


CLASSES = ("maple", "heron", "granite", "violin", "saffron")
TOPICS = ("harbour tide vessel anchor", "oven flour butter crust", "orbit comet lens planet", "loom thread needle wool")


def build_titled(folder: Path, pages: int = 100, **strategy: Any) -> Path:
    """A store of pages whose classes only their titles tell, and `labels.tsv` beside it.

    The classes are independent of the topics of the texts.
    """
    rng, rows, labels = np.random.default_rng(1), [], []
    for number in range(pages):
        name, topic = CLASSES[number % 5], TOPICS[number // 5 % 4].split()
        words = " ".join(rng.choice([*topic, *(f"word{k}" for k in range(30))], 40))
        rows.append(page(f"http://p.example/{number}", f"<title>{name} n{number}</title><p>{words} {words[::2]}"))
        labels.append(f"http://p.example/{number}\tTop/{name}\n")
    (folder / "labels.tsv").write_text("".join(labels), "utf-8")
    sources = [write_jsonl(folder / "titled.jsonl", rows)]
    return build(sources, folder / "titled.kin", strategy=Strategy(**strategy), processes=1).store.root
