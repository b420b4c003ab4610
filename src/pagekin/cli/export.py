"""`pagekin export`."""

from __future__ import annotations

import csv
import io
import json as jsons
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekin.cli.speaking import counted, json_option, say_json, store_argument
from pagekin.errors import FailureError, MisuseError

if TYPE_CHECKING:
    from pagekin.kin import Kin, Neighbor

FORMATS = ("tsv", "trec", "csv", "jsonl")


@click.command("export")
@store_argument
@click.option("-o", "--output", required=True, type=click.Path(), help="The file to write, such as answers.tsv.")
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
@json_option
def command(
    store: str, output: str, kind: str | None, queries: str | None, limit: int, min_similarity: float, json: bool
) -> None:
    """Write the answers for every page into a file that other programs read."""
    from pagekin.kin import Kin, Wishes

    target = Path(output)
    kind = kind or target.suffix.removeprefix(".")
    if kind not in FORMATS:
        raise MisuseError(f"{output}: which format? The suffix or --format can be {', '.join(FORMATS)}")
    kin = Kin.open(store)
    names = _asked(kin, queries)
    wishes = Wishes(limit=limit, min_similarity=min_similarity, explain=False)
    answers = ((name, kin.related(name, wishes)) for name in _watched(names))
    count = _write(target, _WRITERS[kind](answers))
    if json:
        say_json({"output": output, "format": kind, "pages": len(names), "answers": count})
    else:
        click.echo(f"{output}: {counted(count, 'answer')} for {counted(len(names), 'page')}")


def _asked(kin: Kin, queries: str | None) -> list[str]:
    if queries is None:
        return [
            row["url"] for row in kin.catalog.rows("SELECT url FROM nodes WHERE first_row IS NOT NULL ORDER BY node")
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


def _write(target: Path, lines: Iterator[str]) -> int:
    """Write lines, all or none; how many."""
    temporary = target.with_name(target.name + ".new")
    count = 0
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            for line in lines:
                file.write(line + "\n")
                count += 1
        temporary.replace(target)
    except OSError as error:
        raise FailureError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return count


Answers = Iterable[tuple[str, "list[Neighbor]"]]


def _tsv(answers: Answers) -> Iterator[str]:
    for name, neighbors in answers:
        for rank, each in enumerate(neighbors, 1):
            yield f"{name}\t{rank}\t{each.url}\t{each.similarity:.6f}"


def _trec(answers: Answers) -> Iterator[str]:
    for name, neighbors in answers:
        for rank, each in enumerate(neighbors, 1):
            yield f"{name} Q0 {each.url} {rank} {each.similarity:.6f} pagekin"


def _csv(answers: Answers) -> Iterator[str]:
    for name, neighbors in answers:
        for rank, each in enumerate(neighbors, 1):
            line = io.StringIO()
            csv.writer(line, lineterminator="").writerow([name, rank, each.url, f"{each.similarity:.6f}"])
            yield line.getvalue()


def _jsonl(answers: Answers) -> Iterator[str]:
    for name, neighbors in answers:
        for rank, each in enumerate(neighbors, 1):
            row = {"query": name, "rank": rank, "url": each.url, "similarity": round(each.similarity, 6)}
            yield jsons.dumps(row, ensure_ascii=False)


_WRITERS: dict[str, Callable[[Answers], Iterator[str]]] = {"tsv": _tsv, "trec": _trec, "csv": _csv, "jsonl": _jsonl}
