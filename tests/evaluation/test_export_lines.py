"""Answers that become lines without an object each are those of every page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pagekin
from pagekin.errors import MisuseError
from pagekin.evaluation import export_lines
from pagekin.evaluation.export import export_answers
from pagekin.evaluation.export_lines import LINE_FORMATS
from pagekin.kernels.page_rows import ScoredRows
from pagekin.search.options import RelatedOptions
from pagekin.search.results import PageLink, RelatedPage, unexplained

NAMES = [
    ("http://a.example/a,b", 'Oaks, "old" ones'),
    ("http://a.example/\u00e9 b", " two\n lines\t"),
    ("http://a.example/c", ""),
]
LINKS = [PageLink(*each) for each in NAMES]
ROWS = [[(1, 1.0), (2, 0.0000005)], [], [(0, 0.123456789)], [(1, 0.25), (0, 0.25)]]


def written_by_lines(path: Path, kind: str, queries: list[PageLink]) -> int:
    some = [ROWS[:3], ROWS[3:]]
    found = (
        ScoredRows(
            np.cumsum([0, *map(len, rows)], dtype=np.int64),
            np.array([page for row in rows for page, _ in row], np.int64),
            np.array([score for row in rows for _, score in row], np.float64),
        )
        for rows in some
    )
    names = {page: {"url": url, "title": title} for page, (url, title) in enumerate(NAMES)}
    watched = iter(range(len(queries)))
    count = export_lines.export_lines(
        path, LINE_FORMATS[kind], queries, found, lambda nodes: {node: names[node] for node in nodes}, watched
    )
    assert not list(watched)
    return count


@pytest.mark.parametrize("kind", sorted(LINE_FORMATS))
def test_lines_are_those_of_answers(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_lines, "_AT_ONCE", 2)
    monkeypatch.setattr(export_lines, "_MOST_NAMES", 1)
    queries = [LINKS[0], LINKS[1], LINKS[1], LINKS[2]]
    answers: list[tuple[PageLink, list[RelatedPage]]] = [
        (query, unexplained((*NAMES[page], score) for page, score in row))
        for query, row in zip(queries, ROWS, strict=True)
    ]
    count = export_answers(tmp_path / "answers", kind, answers, by_score=False)
    assert written_by_lines(tmp_path / "lines", kind, queries) == count == 5
    assert (tmp_path / "lines").read_bytes() == (tmp_path / "answers").read_bytes()


def test_a_page_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="without a name"):
        written_by_lines(tmp_path / "lines", "tsv", [*LINKS, PageLink(" ", "")])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("least", [0.0, 0.3])
def test_an_export_has_the_answers_of_every_page(sample_index: Path, tmp_path: Path, least: float) -> None:
    collection = pagekin.open(sample_index)
    options = RelatedOptions(limit=4, min_similarity=least, explain=False, group_duplicates=False)
    report = collection.export(tmp_path / "run.tsv", options)
    lines = [line.split("\t") for line in (tmp_path / "run.tsv").read_text("utf-8").splitlines()]
    expected = [
        [page.url, str(rank), each.url, f"{each.similarity:.6f}"]
        for page in collection
        for rank, each in enumerate(collection.indexed.related(page.url, options), 1)
    ]
    assert lines == expected
    assert report.answers == len(lines) > 10
