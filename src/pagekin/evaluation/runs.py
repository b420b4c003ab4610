"""Run files and qrels: rankings of other systems are read, and ours are written.

A run has a line per result: in TREC `query Q0 result rank score tag`, in TSV `query<TAB>rank<TAB>result<TAB>score`. CSV
with a header line, JSON lines and Parquet have the columns query, rank, url, similarity, and perhaps score and others.
"""

import csv
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.errors import MisuseError, need
from pagekin.evaluation.judge import System
from pagekin.evaluation.labels import LeftOut, lines_of
from pagekin.evaluation.measures import gain
from pagekin.evaluation.population import ComparedPages, Population
from pagekin.evaluation.run_lines import RunLine, run_field
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.files import open_unpacked
from pagekin.search.evidence import UNLISTED
from pagekin.store.catalog import Find

Ranking = tuple[str, Iterable[tuple[str, float]]]  # a query, and its results with scores, the highest first
RUN_COLUMNS = ("query", "rank", "url", "similarity")  # of csv, jsonl and Parquet, perhaps with others after them
_PARQUET_MAGIC = b"PAR1"
_FORMATS = (
    "query, rank, result and score separated by tabs, or as in TREC query, Q0, result, rank, score and tag, or csv with"
    " a header, JSON lines or Parquet with query, url and similarity"
)


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
            f"{file} has no line with a query and a result that are compared, such as {population.urls[0]};"
            " a run names pages by their URLs, or by their paths in the folder that was read"
        )
    rows = [listed.get(source, {}) for source in range(len(population))]
    return RunSystem(
        str(file),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        np.array([page for row in rows for page in row], np.int64),
        np.array([score for row in rows for score in row.values()], np.float64),
    )


def read_lines(file: Path, left_out: LeftOut) -> Iterator[RunLine]:
    """The lines of a run in any of the formats that `export` writes; the content tells which."""
    if _begins_with(file, _PARQUET_MAGIC):
        yield from _parquet_lines(file)
        return
    header: list[str] = []  # of CSV
    for number, line in lines_of(file, left_out):
        if number == 1 and line.startswith(",".join(RUN_COLUMNS[:2])):
            header = next(csv.reader([line]))
            continue
        query, result, score = _parts(line, header)
        if not query or not result:
            raise MisuseError(f"{file}, line {number} is not a line of a run: {_FORMATS}")
        yield RunLine(query.strip(), 0, result.strip(), _score(score, f"{file}, line {number}"))


def _parts(line: str, header: list[str]) -> tuple[str, str, Any]:
    """Query, result and score of a line; query and result are empty if it is no line of a run."""
    tsv, trec = line.split("\t"), line.split()
    if header:
        cells = next(csv.reader([line]), [])
        return _values(dict(zip(header, cells, strict=True)) if len(cells) == len(header) else None)
    if line.startswith("{"):
        try:
            return _values(json.loads(line))
        except (ValueError, RecursionError):
            return "", "", None
    if len(tsv) == 4:
        return tsv[0], tsv[2], tsv[3]
    return (trec[0], trec[2], trec[4]) if len(trec) == 6 else ("", "", None)


def _values(row: Any) -> tuple[str, str, Any]:
    """Query, result and score of a row with names; without a score the similarity counts."""
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("query", "url")):
        return "", "", None
    score = row.get("score")
    return row["query"], row["url"], row.get("similarity") if score is None else score


def _score(score: Any, where: str) -> float:
    try:
        value = math.nan if isinstance(score, bool) else float(score)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        told = score.strip() if isinstance(score, str) else score
        raise MisuseError(f"{where}: the score {told!r} is not a number")
    return value


def _begins_with(file: Path, magic: bytes) -> bool:
    with open_unpacked(file) as stream:
        return stream.read(len(magic)) == magic


def _parquet_lines(file: Path) -> Iterator[RunLine]:
    need("pyarrow.parquet", what="Parquet", extra="parquet")
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(file) as table:
            names = [name for name in (*RUN_COLUMNS, "score") if name in table.schema_arrow.names]
            row = 0
            for batch in table.iter_batches(columns=names):
                for values in batch.to_pylist():
                    row += 1
                    query, result, score = _values(values)
                    if not query or not result:
                        raise MisuseError(f"{file}, row {row} has no query or no url; {_FORMATS}")
                    yield RunLine(query, 0, result, _score(score, f"{file}, row {row}"))
    except (ArrowException, OSError) as error:
        raise MisuseError(f"{file} cannot be read as Parquet: {error}") from error


def qrel_lines(judgements: Iterable[tuple[str, str, int]]) -> Iterator[str]:
    for query, result, relevance in judgements:
        yield f"{run_field(query)} 0 {run_field(result)} {relevance}"


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
