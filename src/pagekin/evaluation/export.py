"""Answers of a collection in files for other programs: `collection.export("answers.csv")`."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from pagekin.errors import MisuseError, need
from pagekin.evaluation.runs import RunLine, run_lines
from pagekin.model.files import csv_line, write_lines, written_whole
from pagekin.search.results import PageLink, RelatedPage

EXPORT_FORMATS = ("tsv", "trec", "csv", "jsonl", "parquet")
ROW_GROUP = 1 << 16  # rows of a Parquet row group, the only ones held in memory
Answers = Iterable[tuple[PageLink, list[RelatedPage]]]


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
    query_title: str
    title: str
    why: str

    def select(self, columns: Sequence[str]) -> list[Any]:
        return [getattr(self, name) for name in columns]


def export_format(path: Path, kind: str | None) -> str:
    """The format of a file: `kind`, or by default its suffix. Raise MisuseError if it cannot be written."""
    if str(path) == "-":
        raise MisuseError("export cannot write to the standard output; name a file with -o")
    kind = kind or path.suffix.removeprefix(".")
    if kind not in EXPORT_FORMATS:
        raise MisuseError(f"{path} has no known suffix; choose a suffix or --format from {', '.join(EXPORT_FORMATS)}")
    if kind == "parquet":
        need("pyarrow.parquet", what="Parquet", extra="parquet")
    return kind


def export_answers(path: Path, kind: str, answers: Answers, by_score: bool, explained: bool = False) -> int:
    """Write answers, all or none; return the number of rows. Answers that are `explained` have a column of reasons.

    `by_score` states that answers are ordered by their scores. TREC files then hold the scores, because similarities
    of 1 would be ties.
    """
    rows = _rows(answers)
    if kind in ("trec", "tsv"):
        scored = by_score and kind == "trec"
        lines = (RunLine(*row[:3], row.score if scored and row.score is not None else row.similarity) for row in rows)
        return write_lines(path, run_lines(lines, kind, score_format=".6f"))
    columns = ExportRow._fields if explained else ExportRow._fields[:-1]
    if kind == "csv":
        shown = [name for name in columns if name != "score"]
        return write_lines(path, chain([csv_line(shown)], (csv_line(_rounded(row, shown)) for row in rows))) - 1
    if kind == "jsonl":
        return write_lines(path, (_jsonl(row, columns) for row in rows))
    with written_whole(path) as temporary:
        return _write_parquet(temporary, rows, columns)


def _rows(answers: Answers) -> Iterator[ExportRow]:
    for query, related in answers:
        for rank, each in enumerate(related, 1):
            score = None if each.score is None else round(each.score, 6)
            names = (" ".join(text.split()) for text in (query.title, each.title, "; ".join(each.why.reasons)))
            yield ExportRow(query.url, rank, each.url, round(each.similarity, 6), score, *names)


def _rounded(row: ExportRow, columns: Sequence[str]) -> list[Any]:
    return [f"{value:.6f}" if isinstance(value, float) else value for value in row.select(columns)]


def _jsonl(row: ExportRow, columns: Sequence[str]) -> str:
    values = dict(zip(columns, row.select(columns), strict=True))
    return json.dumps({name: value for name, value in values.items() if value is not None}, ensure_ascii=False)


def _write_parquet(path: Path, rows: Iterator[ExportRow], columns: Sequence[str]) -> int:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    kinds = {"rank": pyarrow.int32(), "similarity": pyarrow.float64(), "score": pyarrow.float64()}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in columns])
    count = 0
    with path.open("wb") as file, ParquetWriter(file, schema) as writer:
        while group := list(islice(rows, ROW_GROUP)):
            values = zip(*(row.select(columns) for row in group), strict=True)
            writer.write_table(pyarrow.table(list(values), schema=schema))
            count += len(group)
    return count
