"""`pagekin related`, `export` and `answers`: the pages related to a page, those of every page, and those in advance."""

from __future__ import annotations

import os
import sys

import click

import pagekin
from pagekin.cli.options import json_option, options_from, store_argument
from pagekin.cli.output import bytes_in_words, clean, containment, counted, input_file, print_result, read_names
from pagekin.cli.progress import progress_bar, watched
from pagekin.errors import MisuseError
from pagekin.search.options import MOST_ANSWERS, RelatedOptions


@click.command(short_help="Find the pages related to a page.")
@store_argument
@click.argument("pages", nargs=-1, metavar="[PAGE...]")
@click.option("--html", metavar="FILE", help="Query with an HTML file outside the collection; - is the standard input.")
@click.option("--text", metavar="FILE", help="Query with a text; - is the standard input.")
@options_from(RelatedOptions)
@click.option(
    "--expand", is_flag=True, help="Print the URLs of near-duplicates below each result, not only their number."
)
@json_option
def related(
    store: str,
    pages: tuple[str, ...],
    html: str | None,
    text: str | None,
    options: RelatedOptions,
    expand: bool,
    json: bool,
) -> None:
    """Find the pages that are related to PAGE: a URL, a file of the collection, or words of a title.

    Several PAGEs are one query.
    """
    if bool(pages) + bool(html) + bool(text) != 1:
        raise MisuseError("name at least one PAGE, or a file with --html or --text")
    if "numpy" not in sys.modules:  # as it is loaded, its BLAS library starts a thread for every processor
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    collection = pagekin.open(store)
    if file := html or text:
        with input_file(file) as stream:  # one byte more than a page may have, so that a larger one is noticed
            body = stream.read(collection.indexed.settings.max_page_bytes + 1)
        answer = collection.related_to(**{"html" if html else "text": body}, options=options)
    else:
        answer = collection.related(pages, options)
    print_result(answer, json, lambda answer: print_related(answer, expand))


def print_related(answer: pagekin.RelatedPages, expand: bool = False) -> None:
    for title, url in zip(answer.query.titles, answer.query.pages, strict=True):
        click.echo(f"Related to {clean(title or '(no title)')}, {clean(url)}")
    if not answer:
        click.echo("No page is similar enough; --min-similarity 0 shows the nearest.")
    for each in answer:
        click.echo(f"{each.similarity:.3f}  {clean(each.title or '(no title)')}{_remarks(each)}")
        click.echo(f"       {clean(each.url)}")
        for reason in each.why.reasons:
            click.echo(f"       {clean(reason)}")
        for duplicate in each.duplicates if expand else ():
            click.echo(f"       = {clean(duplicate.url)}{containment(duplicate.overlap)}")


def _remarks(page: pagekin.RelatedPage) -> str:
    count = len(page.duplicates)
    remarks = ["pinned"] if page.pinned else []
    remarks += ["near-duplicate of the query page"] if page.is_duplicate else []
    remarks += [f"and {counted(count, 'near-duplicate')}"] if count else []
    return f"  ({', '.join(remarks)})" if remarks else ""


@click.command(short_help="Write the related pages of all pages.")
@store_argument
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    help="The file to write, such as answers.tsv; answers.parquet needs pagekin[parquet].",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["tsv", "trec", "csv", "jsonl", "parquet"]),
    help="The format. Default: the suffix of the output.",
)
@click.option(
    "--queries",
    type=click.Path(exists=True, dir_okay=False),
    help="A file of page names, one a line. Default: all pages.",
)
@options_from(RelatedOptions, leave_out=("group_duplicates",), min_similarity=0.0, explain=False)
@json_option
def export(store: str, output: str, kind: str | None, queries: str | None, options: RelatedOptions, json: bool) -> None:
    """Write the related pages of every page into a file for other programs.

    csv (with a header line), jsonl and parquet have the titles and, with --explain, the reasons. tsv and trec are run
    files without them. `pagekin evaluate --run` reads all of these formats.
    """
    names = read_names(queries) if queries is not None else None
    report = pagekin.open(store).export(
        output, options, format=kind, queries=names, progress=lambda names: watched(names, "ranking", quiet=json)
    )
    text = f"{output}: {counted(report.answers, 'answer')} for {counted(report.pages, 'page')}"
    print_result(report, json, lambda _: click.echo(text))


@click.command(short_help="Keep the related pages of all pages.")
@store_argument
@click.option(
    "--limit",
    default=10,
    type=click.IntRange(0, MOST_ANSWERS),
    help="Keep this number of related pages for each page; 0 removes what is kept.",
)
@click.option("--engine", type=click.Choice(["local", "spark"]), default="local", help="Where the pages are compared.")
@click.option("--master", metavar="URL", help="The Spark cluster, such as spark://HOST:7077. Default: this machine.")
@json_option
def answers(store: str, limit: int, engine: str, master: str | None, json: bool) -> None:
    """Find the related pages of every page in advance, and keep them in the index.

    `related`, `export` and `serve` then read an answer instead of searching, if a request has no filters, uses the
    default ranking and asks for at most --limit pages. Later builds find the same number in advance.
    """
    with progress_bar(json) as progress:
        report = pagekin.open(store).keep_answers(limit, progress, engine=engine, master=master)
    text = (
        f"{store}: {report.limit} answers for each of {counted(report.pages, 'page')}, {bytes_in_words(report.bytes)}"
    )
    print_result(report, json, lambda _: click.echo(text if limit else f"{store}: no answers are kept"))
