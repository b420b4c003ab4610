"""Evaluation reports stored with a collection: `pagekin evaluate my.kin ... --json > my.kin/reports/NAME.json`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pagekin.serving.views.text import clean_line

FOLDER = "reports"
_MAX_FILES, _MAX_BYTES = 20, 1 << 20
System: TypeAlias = tuple[str, int, list[tuple[str, str]]]  # name, sources, measures with values as text


@dataclass(frozen=True)
class EvaluationReport:
    """A report of `pagekin evaluate`, or a file with the reason why it is not one."""

    name: str
    hierarchy: str = ""
    pages: int = 0
    classes: int = 0
    systems: tuple[System, ...] = ()
    problem: str = ""


def read_reports(root: Path) -> list[EvaluationReport]:
    """Read the reports of a collection, sorted by name. Symbolic links are not followed."""
    folder = root / FOLDER
    if not folder.is_dir() or folder.is_symlink():
        return []
    return [_read(path) for path in sorted(folder.glob("*.json"))[:_MAX_FILES]]


def _read(path: Path) -> EvaluationReport:
    name = clean_line(path.stem, 80)
    if path.is_symlink() or not path.is_file():
        return EvaluationReport(name, problem="is not a regular file")
    if path.stat().st_size > _MAX_BYTES:
        return EvaluationReport(name, problem=f"is larger than {_MAX_BYTES // 1024:,} KB")
    try:
        report = json.loads(path.read_text("utf-8"))
        systems = tuple(_system(each) for each in report["systems"])
        hierarchy = clean_line(str(report["hierarchy"]))
        return EvaluationReport(name, hierarchy, int(report["pages"]), int(report["classes"]), systems)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return EvaluationReport(name, problem="is not a report of `pagekin evaluate --json`")


def _system(report: dict[str, Any]) -> System:
    measures = [(name, _with_interval(report[name])) for name in ("P@10", "nDCG@10")]
    for region, values in report["regions"].items():
        measures.append((f"Gamma, {clean_line(region, 20)}", _with_interval(values["gamma"])))
    return clean_line(str(report["system"])), int(report["sources"]), measures


def _with_interval(estimate: dict[str, Any]) -> str:
    if estimate["value"] is None:
        return "–"
    return f"{estimate['value']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"
