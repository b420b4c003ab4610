"""`pagekin export`."""

from __future__ import annotations

import csv
import io
import json as jsons
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekin.cli.output import counted, json_option, say_json, store_argument
from pagekin.cli.similarity_options import (
    links_option,
    measured,
    share_of,
    similarity_option,
    weighting_of,
    weights_option,
)
from pagekin.errors import MisuseError, need
from pagekin.model.files import write_lines, written_whole

if TYPE_CHECKING:
    from pagekin.search.indexed_store import IndexedStore
    from pagekin.search.results import RelatedPage

FORMATS = ("tsv", "trec", "csv", "jsonl", "parquet")
ROW_GROUP = 1 << 16  # answers that a Parquet file is written in at a time, and all that are held in memory


@click.command("export")
@store_argument
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    help="The file to write, such as answers.tsv; answers.parquet needs pagekin[parquet].",
)
@click.option("--format", "kind", type=click.Choice(FORMATS), help="By default the suffix of the output.")
@click.option("--queries", type=click.Path(exists=True, dir_okay=False), help="A file of URLs, one a line; else all.")
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1), help="At most so many answers a page.")
@click.option(
    "--min-similarity",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Leave out what is less similar.",
)
@similarity_option
@weights_option
@links_option
@json_option
def command(
    store: str,
    output: str,
    kind: str | None,
    queries: str | None,
    limit: int,
    min_similarity: float,
    similarity: str | None,
    weights: str | None,
    share: str | None,
    json: bool,
) -> None:
    """Write the answers for every page into a file that other programs read."""
    from pagekin.search.indexed_store import IndexedStore
    from pagekin.search.options import RelatedOptions

    if output == "-":
        raise MisuseError("answers go into a file, whole or not at all, not to the standard output; name one with -o")
    target = Path(output)
    kind = kind or target.suffix.removeprefix(".")
    if kind not in FORMATS:
        raise MisuseError(f"{output}: which format? The suffix or --format can be {', '.join(FORMATS)}")
    if kind == "parquet":
        need("pyarrow.parquet", what="Parquet", extra="parquet")
    indexed = IndexedStore.open(store)
    names = _asked(indexed, queries)
    options = RelatedOptions(
        limit=limit,
        min_similarity=min_similarity,
        similarity=measured(similarity, weights),
        weighting=weighting_of(weights),
        link_share=share_of(share),
        explain=False,
        group_duplicates=False,
    )
    answers = (
        (indexed.node_url(indexed.find_node(name)) if queries else name, indexed.related(name, options))
        for name in _watched(names)
    )
    count = _write(target, kind, answers, by_score=indexed.blend(options).single is not None)
    if json:
        say_json({"output": output, "format": kind, "pages": len(names), "answers": count})
    else:
        click.echo(f"{output}: {counted(count, 'answer')} for {counted(len(names), 'page')}")


def _asked(indexed: IndexedStore, queries: str | None) -> list[str]:
    if queries is None:
        return [
            row["url"]
            for row in indexed.catalog.rows("SELECT url FROM nodes WHERE first_row IS NOT NULL ORDER BY node")
        ]
    lines = Path(queries).read_text("utf-8", "replace").splitlines()
    return [line.strip() for line in lines if line.strip()]


def _watched(names: list[str]) -> Iterable[str]:
    """The names, behind a bar if somebody watches."""
    if not sys.stderr.isatty():
        yield from names
        return
    with click.progressbar(names, label="asking", file=sys.stderr) as bar:
        yield from bar


Answers = Iterable[tuple[str, "list[RelatedPage]"]]


def _write(target: Path, kind: str, answers: Answers, by_score: bool) -> int:
    """Write the answers, all or none; how many."""
    if kind in ("trec", "tsv"):
        return write_lines(target, _run(answers, kind, by_score and kind == "trec"))
    if kind != "parquet":
        return write_lines(target, _LINES[kind](answers))
    with written_whole(target) as path:
        return _write_parquet(path, answers)


def _write_parquet(path: Path, answers: Answers) -> int:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    schema = pyarrow.schema(
        [
            ("query", pyarrow.string()),
            ("rank", pyarrow.int32()),
            ("url", pyarrow.string()),
            ("similarity", pyarrow.float64()),
            ("score", pyarrow.float64()),
        ]
    )
    rows = _rows(answers)
    count = 0
    with path.open("wb") as file, ParquetWriter(file, schema) as writer:
        while group := list(islice(rows, ROW_GROUP)):
            writer.write_table(pyarrow.table(list(zip(*group, strict=True)), schema=schema))
            count += len(group)
    return count


def _rows(answers: Answers) -> Iterator[tuple[str, int, str, float, float | None]]:
    for name, neighbors in answers:
        for rank, each in enumerate(neighbors, 1):
            yield name, rank, each.url, round(each.similarity, 6), None if each.score is None else round(each.score, 6)


def _run(answers: Answers, kind: str, by_score: bool = False) -> Iterator[str]:
    """A run of TREC or TSV; by score if answers have that order, which many similarities of 1 would not show."""
    from pagekin.evaluation.runs import RunLine, run_lines

    lines = (
        RunLine(name, rank, url, score if by_score and score is not None else similarity)
        for name, rank, url, similarity, score in _rows(answers)
    )
    return run_lines(lines, kind, score_format=".6f")


def _csv(answers: Answers) -> Iterator[str]:
    for name, rank, url, similarity, _ in _rows(answers):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow([name, rank, url, f"{similarity:.6f}"])
        yield line.getvalue()


def _jsonl(answers: Answers) -> Iterator[str]:
    for name, rank, url, similarity, score in _rows(answers):
        row = {"query": name, "rank": rank, "url": url, "similarity": similarity}
        yield jsons.dumps(row if score is None else {**row, "score": score}, ensure_ascii=False)


_LINES: dict[str, Callable[[Answers], Iterator[str]]] = {"csv": _csv, "jsonl": _jsonl}
