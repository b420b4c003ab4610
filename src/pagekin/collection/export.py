"""Related pages of many pages in one file, for other programs."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pagekin.errors import MisuseError, need
from pagekin.evaluation.runs import RunLine, run_lines
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
    if kind in ("trec", "tsv"):
        scored = by_score and kind == "trec"
        lines = (RunLine(*row[:3], row.score if scored and row.score is not None else row.similarity) for row in rows)
        return write_lines(path, run_lines(lines, kind, score_format=".6f"))
    if kind != "parquet":
        return write_lines(path, map(_csv if kind == "csv" else _jsonl, rows))
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
