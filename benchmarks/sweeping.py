"""Sweeps: the cost of 50 strategies compared with building bags, comparing them and measuring.

`python -m benchmarks.sweeping` sweeps a manual by a grid, one strategy at a time, and adds up what every stage takes,
from opening the store to the written report. With QUICK=1 it sweeps the sample web, which is too small to tell.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.agreement import collections
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin import sample_web
from pagekin.evaluation.labelled import BY_PATH
from pagekin.evaluation.sweep import sweep
from pagekin.evaluation.sweep_plan import SweepPlan, plan_of
from pagekin.evaluation.sweep_report import report
from pagekin.model.progress import Progress
from pagekin.pipeline import build

GRID = {
    "window_width": [0, 4, 8, 16, 32],
    "anchor_share": [0.1, 0.2, 0.3, 0.4, 0.5],
    "frequency_weight": ["sqrt", "nmdf"],
}
WORK = ("bags", "judging")  # how the stages of the work itself begin; intervals are in the latter


def plan() -> SweepPlan:
    """The 50 strategies."""
    return plan_of({"figure": [{"title": "Fifty", "grid": GRID}]}, "benchmark", Path())


def stages(store: Path, output: Path) -> dict[str, float]:
    """Seconds by stage."""
    spent: dict[str, float] = defaultdict(float)
    current, since = "opening", time.perf_counter()

    def note(progress: Progress) -> None:
        nonlocal current, since
        now = time.perf_counter()
        spent[current] += now - since
        current, since = progress.stage.partition(" ")[0], now

    swept = sweep(plan().with_population(str(store), hierarchy=BY_PATH), output, progress=note)
    note(Progress("report"))
    (output / "report.html").write_text(report(swept), "utf-8")
    note(Progress("end"))
    return spent


def main() -> None:
    """Measure every manual at hand."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sources = {
            name: each for name, each in collections().items() if each.is_dir() and not (each / "labels.tsv").exists()
        }
        if QUICK:
            sources = {"sample web": sample_web.copy_to(folder)}
        for number, (name, source) in enumerate(sources.items()):
            store = folder / f"{number}.kin"
            build([source], store)
            stages(store, folder / f"{number}.warm")  # and so everything is compiled
            spent = stages(store, folder / f"{number}.sweep")
            whole = sum(spent.values())
            other = sum(seconds for stage, seconds in spent.items() if stage not in WORK)
            measured = [
                Figure(f"{name}: 50 strategies, one at a time", round(whole, 2), "s"),
                *(Figure(f"{name}: {stage}", round(seconds, 2), "s") for stage, seconds in spent.items()),
                Figure(f"{name}: all but bags and judging / the whole", round(other / whole, 4), at_most=0.1),
            ]
            show(measured)
            figures += measured
    keep("sweeping", {"machine": facts(), "figures": kept(figures)})


if __name__ == "__main__":
    main()
