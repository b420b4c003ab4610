"""Run files and qrels: rankings of other systems are read, and ours are written and exported for other programs.

A run has a line per result: in TREC `query Q0 result rank score tag`, in TSV `query<TAB>rank<TAB>result<TAB>score`.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from pagekin.errors import MisuseError, need
from pagekin.evaluation.judge import System
from pagekin.evaluation.labels import LeftOut, lines_of
from pagekin.evaluation.measures import gain
from pagekin.evaluation.population import ComparedPages, Population
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.files import write_lines, written_whole
from pagekin.search.evidence import UNLISTED
from pagekin.search.results import RelatedPage
from pagekin.store.catalog import Find

Ranking = tuple[str, Iterable[tuple[str, float]]]  # a query, and its results with scores, the highest first
EXPORT_FORMATS = ("tsv", "trec", "csv", "jsonl", "parquet")
ROW_GROUP = 1 << 16  # rows of a Parquet row group, the only ones held in memory
Answers = Iterable[tuple[str, list[RelatedPage]]]
_SEPARATORS = {"trec": re.compile(r"\s"), "tsv": re.compile(r"[\t\r\n]")}


class RunLine(NamedTuple):
    """A line of a run."""

    query: str
    rank: int
    result: str
    score: float


class RunSystem:
    """Pages as a run lists them: the listed pages of source k are page[offsets[k]] to page[offsets[k + 1]]."""

    def __init__(self, name: str, offsets: Int64s, page: Int64s, score: Floats) -> None:
        self.name, self.offsets, self.page, self.score = name, offsets, page, score

    @property
    def longest(self) -> int | None:
        """None if some source has all other pages listed: then nothing was cut off."""
        longest = int(np.diff(self.offsets).max(initial=0))
        return longest if longest < len(self.offsets) - 2 else None

    def scores(self, sources: Int64s) -> Floats:
        rows = np.full((len(sources), len(self.offsets) - 1), UNLISTED)
        for row, source in zip(rows, sources.tolist(), strict=True):
            listed = slice(self.offsets[source], self.offsets[source + 1])
            row[self.page[listed]] = self.score[listed]
        return rows


def read_run(file: Path, population: ComparedPages, find: Find, left_out: LeftOut) -> RunSystem:
    """The lines of a run about pages of the population; `find` gives the node that a name means.

    If a result occurs twice for a query, its best score counts.
    """
    pages: dict[int | None, int] = {node: page for page, node in enumerate(population.nodes.tolist())}
    listed: dict[int, dict[int, float]] = {}
    for query, _, result, score in read_lines(file, left_out):
        source, page = pages.get(find(query)), pages.get(find(result))
        if source is None:
            left_out.add(f"lines of {file} with a query that is not compared", query)
        elif page is None:
            left_out.add(f"lines of {file} with a result that is not compared", result)
        elif page == source:
            left_out.add(f"lines of {file} with the query itself as a result", query)
        else:
            row = listed.setdefault(source, {})
            if page in row:
                left_out.add(f"lines of {file} that repeat a result of their query", f"{query} {result}")
            row[page] = max(score, row.get(page, UNLISTED))
    if not listed:
        raise MisuseError(
            f"{file} has no line with a query and a result that are compared, such as {population.urls[0]}"
        )
    rows = [listed.get(source, {}) for source in range(len(population))]
    return RunSystem(
        str(file),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        np.array([page for row in rows for page in row], np.int64),
        np.array([score for row in rows for score in row.values()], np.float64),
    )


def read_lines(file: Path, left_out: LeftOut) -> Iterator[RunLine]:
    for number, line in lines_of(file, left_out):
        tsv = line.split("\t")
        trec = line.split()
        if len(tsv) == 4:
            query, _, result, score = tsv
        elif len(trec) == 6:
            query, _, result, _, score, _ = trec
        else:
            raise MisuseError(
                f"{file}, line {number} is not a line of a run file: query, rank, result and score separated by tabs,"
                " or as in TREC query, Q0, result, rank, score and tag"
            )
        try:
            value = float(score)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise MisuseError(f"{file}, line {number}: the score {score.strip()!r} is not a number")
        yield RunLine(query.strip(), 0, result.strip(), value)


def run_lines(
    lines: Iterable[RunLine], kind: str = "trec", tag: str = "pagekin", score_format: str = ".9g"
) -> Iterator[str]:
    for query, rank, result, score in lines:
        first, second, value = _field(query, kind), _field(result, kind), format(score, score_format)
        yield f"{first} Q0 {second} {rank} {value} {tag}" if kind == "trec" else f"{first}\t{rank}\t{second}\t{value}"


def qrel_lines(judgements: Iterable[tuple[str, str, int]]) -> Iterator[str]:
    for query, result, relevance in judgements:
        yield f"{_field(query)} 0 {_field(result)} {relevance}"


def untie(rankings: Iterable[Ranking]) -> Iterator[RunLine]:
    """The lines of rankings with strictly decreasing scores.

    Programs that read a run sort by score alone, as 32-bit floats, and break ties by name. So a tied score is written
    as the next smaller float.
    """
    for query, results in rankings:
        last = np.float32(np.inf)
        for rank, (result, score) in enumerate(results, 1):
            last = min(np.float32(score), np.nextafter(last, np.float32(-np.inf)))
            yield RunLine(query, rank, result, float(last))


def top_pages(system: System, source: int, depth: int) -> list[tuple[int, float]]:
    (scores,) = system.scores(np.array([source]))
    scores[source] = UNLISTED
    order = np.argsort(-scores, kind="stable")[:depth]
    return [(page, float(scores[page])) for page in order[scores[order] > UNLISTED].tolist()]


def rankings_of(system: System, population: ComparedPages, sources: Int64s, depth: int) -> Iterator[Ranking]:
    """The top `depth` results of a system for each source."""
    for source in sources.tolist():
        top = top_pages(system, source, depth)
        yield population.urls[source], [(population.urls[page], score) for page, score in top]


def qrels_of(population: Population, sources: Int64s) -> Iterator[tuple[str, str, int]]:
    """The related pages of every source: relevance 3 for the same class, 2 for siblings, 1 for cousins."""
    for source in sources.tolist():
        gains = gain(population.distances(source)).astype(np.int64)
        gains[source] = 0
        for page in np.flatnonzero(gains).tolist():
            yield population.urls[source], population.urls[page], int(gains[page])


def _field(name: str, kind: str = "trec") -> str:
    """A name as a field of a line: characters that separate fields are percent-encoded.

    >>> _field("http://a.example/a page.html"), _field("a page", "tsv")
    ('http://a.example/a%20page.html', 'a page')
    """
    if not name.strip():
        raise MisuseError("a page without a name cannot be written into a run; give it a URL")
    return _SEPARATORS[kind].sub(lambda found: quote(found[0]), name)


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
        raise MisuseError("export cannot write to the standard output; name a file with -o")
    kind = kind or path.suffix.removeprefix(".")
    if kind not in EXPORT_FORMATS:
        raise MisuseError(f"{path}: which format? The suffix or --format can be {', '.join(EXPORT_FORMATS)}")
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
    return csv_line([*row[:3], f"{row.similarity:.6f}"])


def csv_line(values: Iterable[Any]) -> str:
    """A line of CSV, without its end; None is an empty field."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
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
