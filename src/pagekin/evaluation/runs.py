"""Run files and qrels: the orders of other systems, and ours for other programs.

A run has a line a result: `query<TAB>rank<TAB>result<TAB>score`, or as in TREC `query Q0 result rank score tag`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.errors import MisuseError
from pagekin.evaluation.measures import gain
from pagekin.evaluation.notes import LeftOut, lines_of
from pagekin.evaluation.page_names import Find
from pagekin.evaluation.population import Population
from pagekin.evaluation.systems import RunSystem, System
from pagekin.model.arrays import Int64s
from pagekin.search.evidence import UNLISTED


class RunLine(NamedTuple):
    """A line of a run."""

    query: str
    result: str
    score: float


def read_run(file: Path, population: Population, find: Find, notes: LeftOut) -> RunSystem:
    """A run, as far as it speaks of the population; `find` gives the number in the collection of what a line names.

    A result that is listed twice for a query counts with its best score.
    """
    pages = {node: page for page, node in enumerate(population.nodes.tolist())}
    listed: dict[int, dict[int, float]] = {}
    for line in _lines(file, notes):
        source, page = pages.get(_known(find, line.query)), pages.get(_known(find, line.result))
        if source is None:
            notes.add(f"lines of {file} with a query that is not compared", line.query)
        elif page is None:
            notes.add(f"lines of {file} with a result that is not compared", line.result)
        elif page == source:
            notes.add(f"lines of {file} with the query itself as a result", line.query)
        else:
            row = listed.setdefault(source, {})
            if page in row:
                notes.add(f"lines of {file} that repeat a result of their query", f"{line.query} {line.result}")
            row[page] = max(line.score, row.get(page, UNLISTED))
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


def _known(find: Find, key: str) -> int:
    found = find(key)
    return -1 if found is None else found


def _lines(file: Path, notes: LeftOut) -> Iterator[RunLine]:
    for number, line in lines_of(file, notes):
        tsv = line.split("\t")
        trec = line.split()
        if len(tsv) == 4:
            query, _, result, score = tsv
        elif len(trec) == 6:
            query, _, result, _, score, _ = trec
        else:
            raise MisuseError(
                f"{file}, line {number} is no line of a run: query, rank, result and score parted by tabs,"
                " or as in TREC query, Q0, result, rank, score and tag"
            )
        try:
            value = float(score)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise MisuseError(f"{file}, line {number}: the score {score.strip()!r} is no number")
        yield RunLine(query.strip(), result.strip(), value)


def run_lines(system: System, population: Population, sources: Int64s, depth: int) -> Iterator[str]:
    """The run of a system in the format of TREC, so many results a source.

    Programs that read it order by score alone, as numbers of 32 bits, and equal ones by name; so of equal scores each
    is written a trifle smaller than the one before.
    """
    for source in sources.tolist():
        (scores,) = system.scores(np.array([source]))
        scores[source] = UNLISTED
        order = np.argsort(-scores, kind="stable")[:depth]
        last = np.float32(np.inf)
        for rank, page in enumerate(order[scores[order] > UNLISTED].tolist(), 1):
            last = min(np.float32(scores[page]), np.nextafter(last, np.float32(-np.inf)))
            names = f"{_word(population.urls[source])} Q0 {_word(population.urls[page])}"
            yield f"{names} {rank} {last:.9g} pagekin"


def qrel_lines(population: Population, sources: Int64s) -> Iterator[str]:
    """The kin of every source in the format of TREC: 3 for the same class, 2 for siblings, 1 for cousins."""
    for source in sources.tolist():
        gains = gain(population.distances(source)).astype(np.int64)
        gains[source] = 0
        for page in np.flatnonzero(gains).tolist():
            yield f"{_word(population.urls[source])} 0 {_word(population.urls[page])} {gains[page]}"


def _word(name: str) -> str:
    """A name without white space, which would part it.

    >>> _word("a page.html")
    'a%20page.html'
    """
    return "%20".join(name.split())
