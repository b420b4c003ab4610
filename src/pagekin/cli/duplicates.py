"""`pagekin duplicates`."""

from __future__ import annotations

import json as jsons
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagekin.cli import duplicates_output as twins
from pagekin.cli import duplicates_report as pictures
from pagekin.cli.duplicates_output import how, is_store
from pagekin.cli.output import clean, counted, json_option, say_json
from pagekin.errors import MisuseError
from pagekin.shapes.groups import entry_of, report
from pagekin.shapes.twins import report as report_of_twins

if TYPE_CHECKING:
    from pagekin.duplicates.groups import DuplicateGroup
    from pagekin.duplicates.result_formats import Result
    from pagekin.duplicates.result_list import Grouping, ResultEntry
    from pagekin.duplicates.settings import GroupSettings

LISTS = (".json", ".jsonl", ".ndjson")


@click.command("duplicates")
@click.argument("sources", nargs=-1, metavar="RESULTS | STORE | FILE...")
@click.option(
    "--files-from", metavar="LIST", help="A file that names the files to compare, one a line; - is the input."
)
@click.option(
    "--threshold",
    default=0.7,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    help="How similar near-duplicates are: the share of the chunks of one that are in the other.",
)
@click.option("--complete-link", is_flag=True, help="No chains: all of a group are similar to each other.")
@click.option("--chunk-size", default=256, show_default=True, type=int, help="Bytes of a chunk, a power of two.")
@click.option("--text-field", metavar="NAME", help="Where a result has its text; else text, content, body or contents.")
@click.option("--html-field", metavar="NAME", help="Where a result has HTML; else html.")
@click.option("--query", metavar="WORDS", help="Compare results by what they say around these words.")
@click.option("--whole-text", is_flag=True, help="Of a STORE, count the blocks that recur on a host as well.")
@click.option(
    "--link-weight",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0, 1, max_open=True),
    help="Of a STORE, how much the sets of links count beside the texts.",
)
@click.option("--report", "picture", metavar="FILE", help="Draw how many there are: a .png, .svg or .pdf file.")
@click.option("--page", metavar="PAGE", help="In the report, the page or result to hold against all others.")
@click.option("--stream", is_flag=True, help="Print a line of JSON for every result as it comes.")
@json_option
def command(
    sources: tuple[str, ...],
    files_from: str | None,
    threshold: float,
    complete_link: bool,
    chunk_size: int,
    text_field: str | None,
    html_field: str | None,
    query: str | None,
    whole_text: bool,
    link_weight: float,
    picture: str | None,
    page: str | None,
    stream: bool,
    json: bool,
) -> None:
    """Group the near-duplicates of a result list, or of a collection, under the best of them.

    RESULTS is a .json or .jsonl file, or - for the input: a list of results with id, url, title, text or html, and
    rank, or a response of Elasticsearch, OpenSearch, Solr, Meilisearch or Typesense. STORE is a collection that was
    built; of a group the page that most others link to comes first. FILEs are compared themselves.
    """
    from pagekin.duplicates.result_formats import Fields
    from pagekin.duplicates.result_list import Grouping, group
    from pagekin.duplicates.settings import GroupSettings

    link = "complete" if complete_link else "single"
    settings = GroupSettings(chunk_bytes=chunk_size, threshold=threshold, link=link, link_weight=link_weight)
    if len(sources) == 1 and is_store(sources[0]):
        if query is not None:
            raise MisuseError("--query is for a list of results; a collection is compared by its main texts")
        if picture is not None:
            pictures.say_collection(sources[0], settings, whole_text, page, Path(picture), json)
        else:
            _say_twins(sources[0], settings, whole_text, json)
        return
    if whole_text or link_weight:
        raise MisuseError("--whole-text and --link-weight are for a collection; name a store, such as my.kin")
    fields = Fields()
    fields = Fields(
        text=(text_field,) if text_field else fields.text, html=(html_field,) if html_field else fields.html
    )
    results = _results(sources, files_from, fields)
    if stream:
        _stream(results, Grouping(settings, query=query))
        return
    grouping = group(results, settings, query=query)
    if picture is not None:
        pictures.say(grouping.report(page), Path(picture), sources[0] if sources else "files", json)
    elif json:
        say_json(report(grouping))
    else:
        say(grouping)


def _say_twins(store: str, settings: GroupSettings, whole_text: bool, json: bool) -> None:
    from pagekin.search.duplicates import find_duplicates

    found = find_duplicates(store, settings, whole_text=whole_text)
    if json:
        say_json(report_of_twins(found))
    else:
        twins.say(found)


def _results(sources: tuple[str, ...], files_from: str | None, fields: Any) -> Iterator[Result]:
    """The results to group, as they come."""
    from pagekin.duplicates.result_formats import read_results
    from pagekin.duplicates.result_list import files

    if bool(sources) == bool(files_from):
        raise MisuseError("name a list of results, or files to compare, or with --files-from a list of files")
    if files_from:
        with _opened(files_from) as file:
            names = file.read().decode("utf-8", "surrogateescape").splitlines()
        yield from files(name.strip() for name in names if name.strip())
    elif len(sources) == 1 and (sources[0] == "-" or sources[0].lower().endswith(LISTS)):
        with _opened(sources[0]) as file:
            yield from read_results(file, "the input" if sources[0] == "-" else sources[0], fields)
    else:
        for name in sources:
            if not Path(name).exists():
                raise MisuseError(f"{name} does not exist")
        yield from files(sources)


def _opened(name: str) -> Any:
    try:
        return click.open_file(name, "rb")
    except OSError as error:
        raise MisuseError(f"{name} cannot be read: {error.strerror or error}") from error


def _stream(results: Iterator[Result], grouping: Grouping) -> None:
    """One line a result: which before it say the same, and the anchor of its group as far as is known."""
    for result in results:
        similar = [earlier for _, earlier in grouping.add([result])]
        entry = grouping.entries[-1]
        row = {
            **entry_of(entry),
            "anchor": grouping.anchors()[-1].result.id,
            "similar": [{"id": each.result.id, "position": each.position} for each in similar],
        }
        click.echo(jsons.dumps(row))


def say(grouping: Grouping) -> None:
    """Tell people the groups."""
    groups = grouping.groups()
    for each in groups:
        _say_group(each)
    similar = sum(len(each.members) for each in groups)
    click.echo(f"{counted(len(grouping.entries), 'result')} in {counted(len(groups), 'group')}, {similar} grouped")
    for reason, count in grouping.uncompared().items():
        click.echo(f"not compared: {count} ({clean(reason)})")
    if grouping.without_words:
        click.echo(f"without a word of the query, compared as a whole: {grouping.without_words}")
    if grouping.repeated_ids():
        click.echo(f"ids that came before: {grouping.repeated_ids()}")


def _say_group(group: DuplicateGroup[ResultEntry]) -> None:
    click.echo(clean(_name(group.anchor)))
    for member in group.members:
        like = member.overlap
        click.echo(f"  {like.similarity:.3f}  {clean(_name(member.page))}{how(like)}")


def _name(entry: ResultEntry) -> str:
    parts = [str(entry.result.id), entry.result.title, entry.result.url if entry.result.url != entry.result.id else ""]
    return "  ".join(part for part in parts if part)
