"""The decisions of an editor about missing links: a CSV file such as `pagekin gaps -o gaps.csv` writes."""

import csv
from pathlib import Path
from typing import NamedTuple

from pagekin.errors import MisuseError
from pagekin.figures import counted
from pagekin.model.files import read_bounded
from pagekin.store.catalog import Find

DISMISSED, DONE = "dismissed", "done"
COLUMNS = ("source", "target", "decision")
_MOST_BYTES = 1 << 27


class Decisions(NamedTuple):
    """Decided links, as pairs of nodes; and decided findings about pages, as pairs of a kind and a node."""

    links: dict[tuple[int, int], str]
    pages: dict[tuple[str, int], str]

    def count(self, decision: str) -> int:
        return sum(each == decision for each in (*self.links.values(), *self.pages.values()))


def read_decisions(file: str | None, find: Find) -> Decisions:
    """Read a file of decisions; lines without one are ignored, as are pages that the collection no longer has."""
    decided = Decisions({}, {})
    if file is None:
        return decided
    what = f"decisions: CSV with the columns {', '.join(COLUMNS)}"
    try:
        text = read_bounded(Path(file), _MOST_BYTES, what).decode("utf-8-sig")
        rows = csv.DictReader(text.splitlines(), strict=True)
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise MisuseError(f"{file} has no column {missing[0]!r}; it should hold {what}")
        for row in rows:
            _take(decided, row, find, f"{file}, line {rows.line_num}")
    except (UnicodeDecodeError, csv.Error) as error:
        raise MisuseError(f"{file} cannot be read as {what}: {error}") from error
    return decided


def check_no_decisions(file: Path) -> None:
    """Raise MisuseError if a file that would be replaced has decisions, which would be lost."""
    if not file.is_file():
        return
    try:
        text = read_bounded(file, _MOST_BYTES, "decisions").decode("utf-8-sig")
        decisions = [row.get("decision") for row in csv.DictReader(text.splitlines())]
    except (UnicodeDecodeError, csv.Error):
        return
    if count := sum(bool(each and each.strip()) for each in decisions):
        raise MisuseError(
            f"{file} has {counted(count, 'decision')}, which would be lost; name another output, and"
            f" this file with --decisions (in Python: decisions={file.name!r})"
        )


def _take(decided: Decisions, row: dict[str, str], find: Find, where: str) -> None:
    decision = (row["decision"] or "").strip().lower()
    if not decision:
        return
    if decision not in (DISMISSED, DONE):
        raise MisuseError(f"{where}: the decision {decision!r} is not known; it can be {DISMISSED} or {DONE}")
    source, target = ((row[name] or "").strip() for name in ("source", "target"))
    if not source:
        raise MisuseError(f"{where}: a decision without a source; name the URL of the page")
    node, other = find(source), find(target) if target else None
    if node is not None and not target:
        decided.pages[(row.get("kind") or "").strip(), node] = decision
    elif node is not None and other is not None:
        decided.links[node, other] = decision
