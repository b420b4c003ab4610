"""Related pages of many pages in one file, for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pagekin.errors import MisuseError, need
from pagekin.model.files import write_lines, written_whole
from pagekin.search.results import RelatedPage

FORMATS = ("tsv", "trec", "csv", "jsonl", "parquet")
ROW_GROUP = 1 << 16  # rows of a Parquet row group, the only ones held in memory
Answers = Iterable[tuple[str, list[RelatedPage]]]


@dataclass(frozen=True)
class ExportReport:
    """What was exported."""

    output: str
    format: str
    pages: int
    answers: int


class ExportRow(NamedTuple):
    """One result of one page."""

    query: str
    rank: int
    url: str
    similarity: float
    score: float | None


def export_format(path: Path, kind: str | None) -> str:
    """The format of a file: `kind`, or by default its suffix. Raise MisuseError if it cannot be written."""
    if str(path) == "-":
        raise MisuseError("answers go into a file, whole or not at all, not to the standard output; name one with -o")
    kind = kind or path.suffix.removeprefix(".")
    if kind not in FORMATS:
        raise MisuseError(f"{path}: which format? The suffix or --format can be {', '.join(FORMATS)}")
    if kind == "parquet":
        need("pyarrow.parquet", what="Parquet", extra="parquet")
    return kind


def export_answers(path: Path, kind: str, answers: Answers, by_score: bool) -> int:
    """Write answers, all or none; return the number of rows.

    `by_score` states that answers are ordered by their scores. TREC files then hold the scores, because similarities
    of 1 would be ties.
    """
    rows = _rows(answers)
    if kind == "trec":
        rows = (row._replace(similarity=row.score) if by_score and row.score is not None else row for row in rows)
    if kind != "parquet":
        return write_lines(path, map(_LINES[kind], rows))
    with written_whole(path) as temporary:
        return _write_parquet(temporary, rows)


def _rows(answers: Answers) -> Iterator[ExportRow]:
    for name, related in answers:
        for rank, each in enumerate(related, 1):
            score = None if each.score is None else round(each.score, 6)
            yield ExportRow(name, rank, each.url, round(each.similarity, 6), score)


def _csv(row: ExportRow) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([*row[:3], f"{row.similarity:.6f}"])
    return line.getvalue()


def _jsonl(row: ExportRow) -> str:
    values = {name: value for name, value in row._asdict().items() if name != "score" or value is not None}
    return json.dumps(values, ensure_ascii=False)


_LINES: dict[str, Callable[[ExportRow], str]] = {
    "tsv": lambda row: f"{row.query}\t{row.rank}\t{row.url}\t{row.similarity:.6f}",
    "trec": lambda row: f"{'%20'.join(row.query.split())} Q0 {row.url} {row.rank} {row.similarity:.6f} pagekin",
    "csv": _csv,
    "jsonl": _jsonl,
}


def _write_parquet(path: Path, rows: Iterator[ExportRow]) -> int:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    kinds = (pyarrow.string(), pyarrow.int32(), pyarrow.string(), pyarrow.float64(), pyarrow.float64())
    schema = pyarrow.schema(list(zip(ExportRow._fields, kinds, strict=True)))
    count = 0
    with path.open("wb") as file, ParquetWriter(file, schema) as writer:
        while group := list(islice(rows, ROW_GROUP)):
            writer.write_table(pyarrow.table(list(zip(*group, strict=True)), schema=schema))
            count += len(group)
    return count
