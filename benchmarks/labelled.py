"""Collections with a hierarchy, for choosing the default strategy and testing findings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.agreement import collections
from benchmarks.machine import QUICK
from pagekin import sample_web
from pagekin.evaluation.labelled import BY_PATH
from pagekin.evaluation.sweep import SweepOutcome, sweep
from pagekin.evaluation.sweep_plan import SweepPlan
from pagekin.pipeline import build

MANUALS = Path(__file__).parents[1] / "build" / "manuals"  # fetched by `sh benchmarks/manuals.sh`
_DOC = Path("usr", "share", "doc")
MORE = {
    "linux-doc-6.1": MANUALS / "linux-doc-6.1" / _DOC / "linux-doc-6.1" / "html",
    "libboost1.74-doc": MANUALS / "libboost1.74-doc" / _DOC / "libboost1.74-doc" / "doc" / "html",
}


@dataclass(frozen=True)
class Labelled:
    """A collection that was built, and where the classes of its pages are."""

    name: str
    store: Path
    hierarchy: str
    results: Path

    def sweep(self, plan: SweepPlan, threads: int = 2) -> SweepOutcome:
        """Judge a plan on it; what is known from before is not judged again."""
        told = plan.with_population(str(self.store), hierarchy=self.hierarchy)
        return sweep(told, self.results, threads=threads, progress=lambda p: print(f"\r{p.stage[:78]:78}", end="\r"))


@contextmanager
def labelled() -> Iterator[list[Labelled]]:
    """Every collection at hand, built: PAGEKIN_BENCH_DATA with its `labels.tsv`, Debian's manuals by the paths of URLs.

    PAGEKIN_BENCH_KEEP may name a folder, in which stores and results stay for the next time.
    """
    with TemporaryDirectory() as place:
        folder = Path(os.environ.get("PAGEKIN_BENCH_KEEP") or place)
        folder.mkdir(parents=True, exist_ok=True)
        sources = {name: each for name, each in (collections() | MORE).items() if each.is_dir()}
        if QUICK:
            sources = {"sample web": sample_web.copy_to(folder)}
        yield [_built(name, source, folder) for name, source in sources.items()]


def _built(name: str, source: Path, folder: Path) -> Labelled:
    labels = (source if source.is_dir() else folder) / "labels.tsv"
    store = folder / f"{name}.kin"
    build([source], store)
    return Labelled(name, store, str(labels) if labels.exists() else BY_PATH, folder / f"{name}.sweep")
