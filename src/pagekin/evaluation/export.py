"""Answers of a collection in files for other programs: `collection.export("answers.csv")`."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from pagekin.errors import MisuseError, need
from pagekin.evaluation.export_lines import one_line
from pagekin.evaluation.run_lines import RunLine, run_lines
from pagekin.model.files import csv_line, write_lines, written_whole
from pagekin.search.results import PageLink, RelatedPage

EXPORT_FORMATS = ("tsv", "trec", "csv", "jsonl", "parquet")
ROW_GROUP = 1 << 16  # rows of a Parquet row group, the only ones held in memory
_TITLES = 1 << 16  # kept, since a page is in many answers
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
    if kind in ("trec", "tsv"):
        lines = _run(answers, by_score and kind == "trec")
        return write_lines(path, run_lines(lines, kind, score_format=".6f"))
    absent = {name for name, left_out in (("why", not explained), ("score", kind == "csv")) if left_out}
    columns = [name for name in ExportRow._fields if name not in absent]
    values = map(attrgetter(*columns), _rows(answers, explained))
    if kind == "csv":
        return write_lines(path, chain([csv_line(columns)], map(csv_line, map(_rounded, values)))) - 1
    if kind == "jsonl":
        return write_lines(path, (_jsonl(dict(zip(columns, each, strict=True))) for each in values))
    with written_whole(path) as temporary:
        return _write_parquet(temporary, values, columns)


def _run(answers: Answers, scored: bool) -> Iterator[RunLine]:
    for query, related in answers:
        for rank, each in enumerate(related, 1):
            score = each.score if scored and each.score is not None else each.similarity
            yield RunLine(query.url, rank, each.url, score)


def _rows(answers: Answers, explained: bool) -> Iterator[ExportRow]:
    for query, related in answers:
        title = one_line(query.title)
        for rank, each in enumerate(related, 1):
            score = None if each.score is None else round(each.score, 6)
            why = one_line("; ".join(each.why.reasons)) if explained else ""
            yield ExportRow(query.url, rank, each.url, round(each.similarity, 6), score, title, _title(each.title), why)


_title = lru_cache(_TITLES)(one_line)


def _rounded(values: Sequence[Any]) -> list[Any]:
    return [f"{value:.6f}" if isinstance(value, float) else value for value in values]


_JSON = json.JSONEncoder(ensure_ascii=False)  # json.dumps would make one for each line


def _jsonl(values: Mapping[str, Any]) -> str:
    return _JSON.encode({name: value for name, value in values.items() if value is not None})


def _write_parquet(path: Path, rows: Iterator[Sequence[Any]], columns: Sequence[str]) -> int:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    kinds = {"rank": pyarrow.int32(), "similarity": pyarrow.float64(), "score": pyarrow.float64()}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in columns])
    count = 0
    with path.open("wb") as file, ParquetWriter(file, schema) as writer:
        while group := list(islice(rows, ROW_GROUP)):
            writer.write_table(pyarrow.table(list(zip(*group, strict=True)), schema=schema))
            count += len(group)
    return count
