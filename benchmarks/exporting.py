"""Exporting 100 answers of every page: processor time compared with the code before pages were searched together.

`python -m benchmarks.exporting` prints the figures and writes `results/exporting.json`. The earlier code is a commit of
this repository, which is checked out for the time of the measurement. Both versions build an index of their own and
write it out by `pagekin export`, in turns; the best of three rounds counts, with the start of the process. Python keeps
the byte code of both, as it does for an installed package.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.agreement import collections
from benchmarks.building import html_files
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show

_HERE = Path(__file__).parents[1]
_EARLIER = "46bf82bf11efaa65d64112725dcef187364ba9d0"  # the first with the default blend
_FORMATS = ("tsv", "csv")
_LIMIT = 100
_ROUNDS = 1 if QUICK else 3


def main() -> None:
    """Measure every collection at hand."""
    figures = []
    with earlier() as old:
        for name, folder in collections().items():
            if folder.is_dir():
                print(f"exporting {name}")
                found = list(measure(name, folder, {"before": old, "now": _HERE}))
                show(found)
                figures += found
    keep("exporting", {"machine": facts(), "figures": kept(figures)})


def measure(name: str, folder: Path, versions: dict[str, Path]) -> Iterator[Figure]:
    """The figures of one collection."""
    pages = len(html_files(folder))
    with tempfile.TemporaryDirectory() as place:
        for version, code in versions.items():
            run(code, "build", str(folder), "-o", f"{place}/{version}.kin")
        for kind in _FORMATS:
            seconds: dict[str, list[float]] = {version: [] for version in versions}
            for _ in range(_ROUNDS):
                for version, code in versions.items():
                    to = ("-o", f"{place}/{version}.{kind}", "--limit", str(_LIMIT))
                    seconds[version].append(run(code, "export", f"{place}/{version}.kin", *to))
            before, now = min(seconds["before"]), min(seconds["now"])
            yield Figure(f"{name}: an export of {_LIMIT} answers as {kind}, of a page", round(now / pages * 1e6), "µs")
            yield Figure(f"{name}: the same by the earlier code, of a page", round(before / pages * 1e6), "µs")
            yield Figure(f"{name}: earlier time / time, {kind}", round(before / now, 2), at_least=5.0)


def run(code: Path, *arguments: str) -> float:
    """The processor time of a command of pagekin, with the package that is in a folder."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"PYTHONPATH": str(code / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run(
        [sys.executable, "-m", "pagekin", *arguments], env=environment, cwd=code, check=True, capture_output=True
    )
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime - begin.ru_utime + end.ru_stime - begin.ru_stime


@contextmanager
def earlier() -> Iterator[Path]:
    """A folder with the earlier code."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "earlier"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(folder), _EARLIER], cwd=_HERE, check=True)
        try:
            yield folder
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(folder)], cwd=_HERE, check=True)


if __name__ == "__main__":
    main()
