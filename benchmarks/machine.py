"""The machine of a benchmark, figures with their targets, and where results are kept."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from threading import Event, Thread
from typing import Any

RESULTS = Path(__file__).parent / "results"
QUICK = bool(os.environ.get("QUICK"))


@dataclass(frozen=True)
class Figure:
    """One measured number and, if there is one, the bar that it must keep to."""

    what: str
    measured: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def bar(self) -> str:
        """The bar in words.

        >>> Figure("of peas", 3, at_most=5).bar, Figure("of beans", 3).bar
        ('at most 5', '')
        """
        if self.at_most is not None:
            return f"at most {number(self.at_most)}"
        return "" if self.at_least is None else f"at least {number(self.at_least)}"

    @property
    def verdict(self) -> str:
        """Whether the bar is met.

        >>> Figure("of peas", 3, at_most=2).verdict, Figure("of beans", 3, at_least=2).verdict
        ('missed', 'met')
        """
        if self.at_most is not None:
            return "met" if self.measured <= self.at_most else "missed"
        if self.at_least is not None:
            return "met" if self.measured >= self.at_least else "missed"
        return ""


def number(value: float) -> str:
    """A number as people read it.

    >>> number(1234567), number(0.12345), number(12.0), number(123.45)
    ('1,234,567', '0.123', '12', '123')
    """
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def show(figures: Iterable[Figure]) -> None:
    """Print figures beside their bars."""
    for each in figures:
        bar = f"   {each.bar}: {each.verdict}" if each.bar else ""
        print(f"  {each.what:66} {number(each.measured):>10} {each.unit:12}{bar}", flush=True)


def facts(*packages: str) -> dict[str, Any]:
    """Versions and the machine."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "versions": {name: version(name) for name in ("pagekin", "numba", "numpy", *packages)},
    }


def keep(name: str, result: dict[str, Any]) -> None:
    """Write a result where the docs take it from; a quick run is not worth keeping."""
    if not QUICK:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", "utf-8")


def kept(figures: Iterable[Figure]) -> list[dict[str, Any]]:
    """Figures as they are kept; `Figure(**row)` makes them again."""
    return [{key: value for key, value in asdict(each).items() if value not in ("", None)} for each in figures]


def timed(function: Callable[[], object]) -> float:
    """How many seconds a function takes."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


@contextmanager
def watched_memory() -> Iterator[list[float]]:
    """The most memory of this process while it works, without pages of mapped files, as the only item of a list.

    The system takes back pages of mapped files when other processes need the memory. Linux only; elsewhere 0.
    """
    status, most, ended = Path("/proc/self/status"), [0.0], Event()

    def watch() -> None:
        while not ended.wait(0.05):
            lines = status.read_text("ascii").splitlines() if status.exists() else []
            own = [int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("RssAnon")]
            most[0] = max(most[0], *own)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        ended.set()
        watcher.join()


def peak_megabytes() -> float:
    """The most memory that this process has had at a time, pages of mapped files included."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says is inherited: a child looks at least as large as its parent
        line = next(line for line in status.read_text("ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    import resource

    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
