"""What is known of each entry of a sweep: kept one by one while it goes on, and one table in the end."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from pagekin.evaluation.measures import ORTHOGONAL, Ratios
from pagekin.evaluation.report import OF_LISTS, OF_PAIRS
from pagekin.model.arrays import Int64s
from pagekin.model.files import replacing

SWEEPER = 1  # of what is kept; another one is not taken over
_KEY = 24


@dataclass(frozen=True)
class SweepResult:
    """The report of a system, and its measures for each source alone."""

    facts: dict[str, Any]
    sources: Int64s
    table: Ratios


def key_of(facts: Mapping[str, Any]) -> str:
    """A name for all that a result depends on: results with the same name are the same."""
    text = json.dumps({"sweeper": SWEEPER, **facts}, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:_KEY]


class ResultStore:
    """A folder of results by their keys. One that was not written to its end is not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, key: str, result: SweepResult) -> None:
        """Put a result on the shelf; it is there from the moment in which its second file is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(self.folder / f"{key}.npz") as path, path.open("wb") as file:
            np.savez_compressed(
                file,
                names=np.array(result.table.names),
                sources=result.sources,
                top=result.table.top,
                bottom=result.table.bottom,
            )
        with replacing(self.folder / f"{key}.json") as path:
            path.write_text(json.dumps(result.facts, ensure_ascii=False) + "\n", "utf-8")

    def find(self, key: str) -> SweepResult | None:
        """A result, if it is there and whole."""
        try:
            facts = json.loads((self.folder / f"{key}.json").read_text("utf-8"))
            with (self.folder / f"{key}.npz").open("rb") as file, np.load(file, allow_pickle=False) as kept:
                table = Ratios(kept["names"].tolist(), kept["top"], kept["bottom"])
                return SweepResult(facts, kept["sources"], table)
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            return None


def flat(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The report of a system as columns: `gamma sibling`, `gamma sibling low` and so on."""
    columns: dict[str, Any] = {key: facts[key] for key in ("sources", "unanswered", "longest_list")}
    measured = {f"{m} {region}": of[m] for region, of in facts["regions"].items() for m in OF_PAIRS}
    measured |= {measure: facts[measure] for measure in (*OF_LISTS, ORTHOGONAL)}
    for name, of in measured.items():
        columns |= {name: of["value"], f"{name} low": of["low"], f"{name} high": of["high"]}
    return columns


def csv_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The table as CSV, with a head."""
    head = list(dict.fromkeys(key for row in rows for key in row))
    for row in (dict(zip(head, head, strict=True)), *rows):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(["" if row.get(key) is None else row[key] for key in head])
        yield line.getvalue()


def write_parquet(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """The table as Parquet."""
    import pyarrow
    from pyarrow.parquet import write_table

    head = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("wb") as file:
        write_table(pyarrow.table({key: [row.get(key) for row in rows] for key in head}), file)
