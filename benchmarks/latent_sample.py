"""Latent dimensions from a sample of pages: what that costs in quality.

`python -m benchmarks.latent_sample` prints the figures and writes `results/latent_sample.json`. In collections of more
than 32,768 pages a sample of that size determines the latent dimensions. Here smaller collections are built with
samples of a half, a quarter and a sixteenth of their pages, and judged by the default blend and by latent vectors
alone. The measures are those of `python -m benchmarks.blending`, with its collections; names of collections as
arguments measure only these, and keep the figures of the others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.blending import Judged, built
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.latent import build as latent

PARTS = (1, 2) if QUICK else (1, 2, 4, 16)
_LEAST = 256  # pages of a sample: fewer have not all dimensions
_ALL = latent.SAMPLE
RESULT = Path(__file__).parent / "results" / "latent_sample.json"
_RANKINGS: dict[str, dict[str, Any]] = {"blend": {}, "latent alone": {"blend": {"latent": 1.0}}}


def main() -> None:
    """Measure every collection at hand."""
    wanted = sys.argv[1:]
    known = json.loads(RESULT.read_text("utf-8"))["collections"] if wanted and RESULT.exists() else {}
    table: dict[str, dict[str, dict[str, float]]] = known
    with TemporaryDirectory() as place:
        for judged in built(Path(place), wanted):
            if len(judged.collection) // PARTS[-1] >= _LEAST:
                table[judged.name] = {"1/1": dict(_measured(judged))}
                for part in PARTS[1:]:
                    table[judged.name][f"1/{part}"] = _measured_with(judged.name, len(judged.collection) // part)
    figures = [figure for name, rows in table.items() for figure in losses(name, rows)]
    show(figures)
    keep("latent_sample", {"machine": facts(), "figures": kept(figures), "collections": table})


def _measured_with(name: str, sample: int) -> dict[str, float]:
    """The measures of a collection if this number of pages determines the dimensions."""
    latent.SAMPLE = sample
    try:
        with TemporaryDirectory() as place:
            return {measure: value for judged in built(Path(place), [name]) for measure, value in _measured(judged)}
    finally:
        latent.SAMPLE = _ALL


def _measured(judged: Judged) -> Iterator[tuple[str, float]]:
    for ranking, options in _RANKINGS.items():
        for measure, estimate, _ in judged.measures(resamples=10, **options):
            yield f"{measure}, {ranking}", round(float(estimate.value), 4)


def losses(name: str, rows: dict[str, dict[str, float]]) -> Iterator[Figure]:
    """Every measure with all pages, and what it loses by smaller samples."""
    whole = rows["1/1"]
    for measure, value in whole.items():
        yield Figure(f"{name}: {measure}, dimensions from all pages", value)
        for part, row in rows.items():
            if part != "1/1":
                yield Figure(f"{name}: {measure}, from {part} of the pages, minus all", round(row[measure] - value, 4))


if __name__ == "__main__":
    main()
