"""Evaluation reports that lie in a collection: `pagekin evaluate my.kin ... --json > my.kin/reports/NAME.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagekin.serving.views.text import shown

FOLDER = "reports"
_MOST, _BYTES = 20, 1 << 20
_MEASURES = ("gamma", "somers_d", "tied")
_FIRST = ("P@10", "nDCG@10")


@dataclass(frozen=True)
class Measured:
    """A measure and its interval, as text."""

    name: str
    value: str


@dataclass(frozen=True)
class Judged:
    """A system and its measures."""

    name: str
    sources: int
    measures: list[Measured]


@dataclass(frozen=True)
class EvaluationReport:
    """A report of `pagekin evaluate`; or a file that is none, and why."""

    name: str
    hierarchy: str = ""
    pages: int = 0
    classes: int = 0
    systems: tuple[Judged, ...] = ()
    problem: str = ""


def reports(root: Path) -> list[EvaluationReport]:
    """The reports of a collection, by name. Only files that lie in it are read."""
    folder = root / FOLDER
    if not folder.is_dir() or folder.is_symlink():
        return []
    return [_report(path) for path in sorted(folder.glob("*.json"))[:_MOST]]


def _report(path: Path) -> EvaluationReport:
    name = shown(path.stem, 80)
    if path.is_symlink() or not path.is_file():
        return EvaluationReport(name, problem="is no file of the collection")
    if path.stat().st_size > _BYTES:
        return EvaluationReport(name, problem=f"is larger than {_BYTES // 1024:,} KB")
    try:
        facts = json.loads(path.read_text("utf-8"))
        systems = tuple(_judged(each) for each in facts["systems"])
        return EvaluationReport(
            name, shown(str(facts["hierarchy"])), int(facts["pages"]), int(facts["classes"]), systems
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return EvaluationReport(name, problem="is no report of `pagekin evaluate --json`")


def _judged(facts: dict[str, Any]) -> Judged:
    measures = [
        Measured(f"{_NAMES[measure]}, {shown(region, 20)}", _told(of[measure]))
        for region, of in facts["regions"].items()
        for measure in _MEASURES[:1]
    ]
    return Judged(
        shown(str(facts["system"])),
        int(facts["sources"]),
        [*(Measured(name, _told(facts[name])) for name in _FIRST), *measures],
    )


_NAMES = {"gamma": "Gamma", "somers_d": "Somers’ D", "tied": "tied"}


def _told(of: dict[str, Any]) -> str:
    if of["value"] is None:
        return "–"
    return f"{of['value']:.3f} ({of['low']:.3f} to {of['high']:.3f})"
