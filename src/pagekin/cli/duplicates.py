"""`pagekin duplicates`."""

from __future__ import annotations

import json as jsons
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeVar

import click

import pagekin
from pagekin.cli.options import json_option, options_from
from pagekin.cli.output import clean, containment, counted, input_file, print_result
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import MisuseError
from pagekin.figures.charts import PLOT_FORMATS

T = TypeVar("T")
LISTS = (".json", ".jsonl", ".ndjson")


@click.command(short_help="Group near-duplicates.")
@click.argument("sources", nargs=-1, metavar="RESULTS | STORE | FILE...")
@click.option(
    "--files-from", metavar="LIST", help="A file that names the files to compare, one a line; - is the standard input."
)
@options_from(GroupSettings)
@click.option(
    "--complete-link",
    is_flag=True,
    help="Require that all pages of a group are near-duplicates of each other (complete linkage).",
)
@click.option(
    "--text-field",
    metavar="NAME",
    help="The field with the text, such as doc.body; HTML is then ignored. Default: text, content, body or contents.",
)
@click.option("--html-field", metavar="NAME", help="The field with HTML. Default: html.")
@click.option(
    "--query", metavar="WORDS", help="Compare results only by the passages that contain these words of a search."
)
@click.option(
    "--whole-text",
    is_flag=True,
    help="In a STORE, also compare menus and other text that many pages of a host have in common.",
)
@click.option(
    "--report", "picture", metavar="FILE", help="Draw how many near-duplicates there are, into a png, svg or pdf file."
)
@click.option("--page", metavar="PAGE", help="In the report, the page or result to compare with all others.")
@click.option("--stream", is_flag=True, help="Print a line of JSON for every result as it arrives.")
@json_option
def duplicates(
    sources: tuple[str, ...],
    files_from: str | None,
    complete_link: bool,
    text_field: str | None,
    html_field: str | None,
    query: str | None,
    whole_text: bool,
    picture: str | None,
    page: str | None,
    stream: bool,
    options: GroupSettings,
    json: bool,
) -> None:
    """Group near-duplicates in a result list or a collection, each under the best page of its group.

    RESULTS is a .json or .jsonl file, or - for the standard input: a list of results with id, url, title, text or html,
    and rank, or a response of Elasticsearch, OpenSearch, Solr, Meilisearch or Typesense. In a STORE the page with most
    in-links comes first in its group. FILEs are compared with each other.
    """
    settings = replace(options, link="complete" if complete_link else "single")
    kind = _picture_format(picture) if picture else ""
    if len(sources) == 1 and _is_store(sources[0]):
        if query is not None:
            raise MisuseError("--query is for a list of results; a collection is compared by its main texts")
        collection, chosen = pagekin.open(sources[0]), {"whole_text": whole_text, **asdict(settings)}
        if picture is None:
            return print_result(collection.duplicates(**chosen), json, print_groups)
        return _draw(collection.duplicate_report(page, **chosen), picture, kind, sources[0], json)
    if whole_text or settings.link_weight:
        raise MisuseError("--whole-text and --link-weight are for a collection; name a store, such as my.kin")
    from pagekin.duplicates.result_list import group

    fields = pagekin.Fields.named(text_field, html_field)
    results = _results(sources, files_from, fields)
    if stream:
        return _stream(results, pagekin.Grouping(settings, fields, query))
    grouping = group(results, settings, fields, query)
    if picture is not None:
        return _draw(grouping.report(page), picture, kind, sources[0] if sources else "files", json)
    return print_result(grouping.grouped(), json, print_results)


def _is_store(name: str) -> bool:
    return (Path(name) / "manifest.json").exists() or Path(name).suffix == ".kin"


def _picture_format(picture: str) -> str:
    kind = Path(picture).suffix.lower().removeprefix(".")
    if kind not in PLOT_FORMATS:
        raise MisuseError(f"{picture} is no kind of picture; its suffix must be one of {', '.join(PLOT_FORMATS)}")
    return kind


def _results(sources: tuple[str, ...], files_from: str | None, fields: pagekin.Fields) -> Iterator[pagekin.Result]:
    from pagekin.duplicates.result_formats import read_results
    from pagekin.duplicates.result_list import files

    if bool(sources) == bool(files_from):
        raise MisuseError("name a list of results, or files to compare, or with --files-from a list of files")
    if files_from:
        with input_file(files_from) as file:
            names = file.read().decode("utf-8", "surrogateescape").splitlines()
        yield from files(name.strip() for name in names if name.strip())
    elif len(sources) == 1 and (sources[0] == "-" or sources[0].lower().endswith(LISTS)):
        with input_file(sources[0]) as file:
            yield from read_results(file, "the input" if sources[0] == "-" else sources[0], fields)
    else:
        for name in sources:
            if not Path(name).exists():
                raise MisuseError(f"{name} does not exist")
        yield from files(sources)


def _stream(results: Iterator[pagekin.Result], grouping: pagekin.Grouping) -> None:
    """A line for each result: the earlier results that it is similar to, and the anchor of its group so far."""
    for result in results:
        similar = [{"id": earlier.id, "position": earlier.position} for _, earlier in grouping.add([result])]
        row = {**pagekin.to_json(grouping.entries[-1]), "anchor": grouping.anchors()[-1].id, "similar": similar}
        click.echo(jsons.dumps(row))


def _draw(report: pagekin.DuplicateReport, picture: str, kind: str, title: str, json: bool) -> None:
    from pagekin.duplicates.report import draw_report
    from pagekin.model.files import written_whole

    with written_whole(Path(picture)) as path:
        draw_report(path, kind, title, report)
    if json:
        return print_result({"picture": picture, **pagekin.to_json(report)}, True, lambda _: None)
    click.echo(f"{picture}: {counted(report.pages, 'page')}")
    for curve in report.curves:
        click.echo(f"  {curve.threshold:.0%} similar or more: {curve.shares[-1]:6.1%} are near-duplicates of others")
    if report.profile:
        click.echo(f"  against all others: {clean(report.profile.name)}")
    return None


def print_groups(found: pagekin.DuplicateGroups) -> None:
    grouped = _print_members(found, lambda page: (page.url, page.title))
    pages, groups = counted(found.pages, "page"), counted(len(found), "group")
    click.echo(f"{pages}, {groups} of near-duplicates, {grouped:,} grouped")
    click.echo(f"pairs compared: {found.compared:,}")
    if found.cut:
        click.echo(f"pages with a rare chunk that over 1,000 others have, compared with only some: {found.cut:,}")
    _print_uncompared(found.uncompared)


def print_results(found: pagekin.GroupedResults) -> None:
    grouped = _print_members(found.groups, lambda it: (str(it.id), it.title, it.url if it.url != it.id else ""))
    click.echo(f"{counted(found.results, 'result')} in {counted(len(found.groups), 'group')}, {grouped} grouped")
    _print_uncompared(found.uncompared)
    if found.without_words:
        click.echo(f"without a word of the query, compared as a whole: {found.without_words}")
    if found.repeated_ids:
        click.echo(f"ids that came before: {found.repeated_ids}")


def _print_members(groups: Sequence[pagekin.DuplicateGroup[T]], names: Callable[[T], tuple[str, ...]]) -> int:
    """Print groups, pages by their names; return the number of near-duplicates in them."""

    def name(page: T) -> str:
        return clean("  ".join(part for part in names(page) if part))

    for group in groups:
        click.echo(name(group.anchor))
        for each in group.members:
            click.echo(f"  {each.similarity:.3f}  {name(each.page)}{containment(each.overlap)}")
    return sum(len(group.members) for group in groups)


def _print_uncompared(uncompared: dict[str, int]) -> None:
    for reason, count in uncompared.items():
        click.echo(f"not compared: {count} ({clean(reason)})")
