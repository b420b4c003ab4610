"""Answers without reasons as lines of a file: arrays of nodes and similarities become text, without an object each."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from pagekin.evaluation.run_lines import TAG, run_field
from pagekin.kernels.page_rows import ScoredRows
from pagekin.kernels.result_lines import LineParts, PackedStrings, result_lines
from pagekin.model.arrays import Bytes, Strings
from pagekin.model.files import csv_line, written_whole
from pagekin.search.results import PageLink

_MOST_NAMES = 1 << 17  # pages whose parts of lines are held in memory
_AT_ONCE = 256  # queries whose lines are made together
Names = Callable[[Sequence[int]], dict[int, dict[str, str]]]  # URL and title of nodes


@dataclass(frozen=True)
class LineFormat:
    """The parts of lines in a format, as in `kernels/result_lines.py`."""

    header: str
    query: Callable[[PageLink], tuple[str, str]]
    page: Callable[[PageLink], tuple[str, str, str]]


def csv_cell(value: str) -> str:
    """A value as one of several cells of a line of CSV.

    >>> csv_cell("a, b"), csv_cell("")
    ('"a, b"', '')
    """
    return csv_line(("", value))[1:]


def one_line(text: str) -> str:
    """A text with single spaces in place of white space."""
    return " ".join(text.split())


def _tsv_query(page: PageLink) -> tuple[str, str]:
    return f"{run_field(page.url, 'tsv')}\t", ""


def _tsv_page(page: PageLink) -> tuple[str, str, str]:
    return "", f"\t{run_field(page.url, 'tsv')}\t", ""


def _trec_query(page: PageLink) -> tuple[str, str]:
    return f"{run_field(page.url)} Q0 ", f" {TAG}"


def _trec_page(page: PageLink) -> tuple[str, str, str]:
    return f"{run_field(page.url)} ", " ", ""


def _csv_query(page: PageLink) -> tuple[str, str]:
    return f"{csv_cell(page.url)},", f",{csv_cell(one_line(page.title))},"


def _csv_page(page: PageLink) -> tuple[str, str, str]:
    return "", f",{csv_cell(page.url)},", csv_cell(one_line(page.title))


LINE_FORMATS = {
    "tsv": LineFormat("", _tsv_query, _tsv_page),
    "trec": LineFormat("", _trec_query, _trec_page),
    "csv": LineFormat("query,rank,url,similarity,query_title,title\n", _csv_query, _csv_page),
}


def export_lines(
    path: Path,
    kind: LineFormat,
    queries: Sequence[PageLink],
    found: Iterable[ScoredRows],
    names: Names,
    watched: Iterable[object],
) -> int:
    """Write rows of results, a row for each query, all or none; return the number of lines.

    `watched` has an item for each query, which is taken when its results are known.
    """
    count, asked, steps = 0, iter(queries), iter(watched)
    parts = _PageParts(kind, names)
    with written_whole(path) as temporary, temporary.open("wb") as file:
        file.write(kind.header.encode())
        for rows in found:
            some = list(islice(asked, len(rows.offsets) - 1))
            for lines in _lines(kind, some, *parts.numbered(rows)):
                file.write(lines.data)
            count += len(rows.node)
            for _ in islice(steps, len(some)):
                pass
        next(steps, None)
    return count


def _lines(
    kind: LineFormat, queries: Sequence[PageLink], rows: ScoredRows, pages: Sequence[PackedStrings]
) -> Iterator[Bytes]:
    for begin in range(0, len(queries), _AT_ONCE):
        some = queries[begin : begin + _AT_ONCE]
        heads = packed(list(map(kind.query, some)))
        yield result_lines(
            rows._replace(offsets=rows.offsets[begin : begin + len(some) + 1]), LineParts(*heads, *pages)
        )


class _PageParts:
    """The parts of lines that belong to results. They are kept, since a page is in many answers."""

    def __init__(self, kind: LineFormat, names: Names) -> None:
        self._kind, self._names = kind, names
        self._known: dict[int, tuple[str, str, str]] = {}

    def numbered(self, rows: ScoredRows) -> tuple[ScoredRows, list[PackedStrings]]:
        """Rows with the numbers of results instead of nodes, and the parts of these results."""
        here = np.zeros(int(rows.node.max(initial=-1)) + 1, bool)
        here[rows.node] = True
        nodes = np.flatnonzero(here).tolist()
        number = np.cumsum(here) - 1
        if len(self._known) > _MOST_NAMES:
            self._known.clear()
        named = self._names([node for node in nodes if node not in self._known])
        self._known |= {node: self._kind.page(PageLink(**name)) for node, name in named.items()}
        return rows._replace(node=number[rows.node]), packed([self._known[node] for node in nodes], 3)


def packed(parts: Sequence[tuple[str, ...]], count: int = 2) -> list[PackedStrings]:
    """The parts of each place as one array of strings."""
    strings = [Strings.of(each) for each in zip(*parts, strict=True)] or [Strings.of([])] * count
    return [PackedStrings(each.offsets, each.data) for each in strings]
