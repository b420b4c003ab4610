"""The results of a sweep: each in a file of its own while the sweep runs, and all in one table at the end."""

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

from pagekin.evaluation.measures import LIST_MEASURES, ORTHOGONAL, PAIR_MEASURES, Ratios, measure_name
from pagekin.model.arrays import Int64s
from pagekin.model.files import replacing

VERSION = 1  # of stored results; those of another version are computed again
_KEY_LENGTH = 24


@dataclass(frozen=True)
class SweepResult:
    """The evaluation of a system as JSON, and its measures for each source."""

    facts: dict[str, Any]
    sources: Int64s
    table: Ratios


def result_key(facts: Mapping[str, Any]) -> str:
    """A digest of all that a result depends on."""
    text = json.dumps({"sweeper": VERSION, **facts}, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:_KEY_LENGTH]


class ResultStore:
    """A folder of results by key. An incomplete result counts as missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, key: str, result: SweepResult) -> None:
        """Write a result; the JSON file comes last and makes it complete."""
        self.folder.mkdir(parents=True, exist_ok=True)
        table = result.table
        names, top, bottom = np.array(table.names), table.numerator, table.denominator
        with replacing(self.folder / f"{key}.npz") as path, path.open("wb") as file:
            np.savez_compressed(file, names=names, sources=result.sources, top=top, bottom=bottom)
        with replacing(self.folder / f"{key}.json") as path:
            path.write_text(json.dumps(result.facts, ensure_ascii=False) + "\n", "utf-8")

    def load(self, key: str) -> SweepResult | None:
        """A result; None if it is missing or incomplete."""
        try:
            facts = json.loads((self.folder / f"{key}.json").read_text("utf-8"))
            with (self.folder / f"{key}.npz").open("rb") as file, np.load(file, allow_pickle=False) as kept:
                table = Ratios(kept["names"].tolist(), kept["top"], kept["bottom"])
                return SweepResult(facts, kept["sources"], table)
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            return None


def flat_columns(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluation of a system as columns: `gamma sibling`, `gamma sibling low` and so on."""
    columns: dict[str, Any] = {key: facts[key] for key in ("sources", "unanswered", "longest_list")}
    measured = {measure_name(m, region): of[m] for region, of in facts["regions"].items() for m in PAIR_MEASURES}
    measured |= {measure: facts[measure] for measure in (*LIST_MEASURES, ORTHOGONAL)}
    for name, of in measured.items():
        columns |= {name: of["value"], f"{name} low": of["low"], f"{name} high": of["high"]}
    return columns


def _header(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def csv_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The table as CSV with a header."""
    header = _header(rows)
    for row in ({key: key for key in header}, *rows):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow([row.get(key) for key in header])  # None becomes an empty field
        yield line.getvalue()


def write_parquet(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the table as Parquet."""
    import pyarrow
    from pyarrow.parquet import write_table

    with path.open("wb") as file:
        write_table(pyarrow.table({key: [row.get(key) for row in rows] for key in _header(rows)}), file)
