"""What the commands that look at links have in common: how links are prepared and measured, and labels of pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pagekin.cli.output import counted, say_table
from pagekin.errors import MisuseError, need

if TYPE_CHECKING:
    from pagekin.search.link_analysis import LinkAnalysis

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--measure",
        type=click.Choice(["co-citation", "coupling", "amsler", "proximity"]),
        default="amsler",
        show_default=True,
        help="Compare in-links, out-links, both, or in-links by how close together they stand.",
    ),
    click.option("--delta", type=click.FloatRange(0, 1), help="Least similarity; by default a tenth of the mean."),
    click.option("--in-links", default=50, show_default=True, type=click.IntRange(1), help="So many a page are kept."),
    click.option(
        "--out-links", default=1000, show_default=True, type=click.IntRange(1), help="A page with more does not count."
    ),
    click.option(
        "--popular",
        default=0.1,
        show_default=True,
        type=click.FloatRange(0, 1, min_open=True),
        help="Links to a page count less if more than this share of the pages link to it.",
    ),
    click.option(
        "--back-off",
        default=0,
        show_default=True,
        type=click.IntRange(0),
        help="A page with fewer in-links shares those of a URL above it.",
    ),
    click.option("--chop-hosts", is_flag=True, help="Treat all pages of a host as one."),
    click.option("--stop", multiple=True, help="Leave out URLs that match this regular expression; may be repeated."),
    click.option("--outside", is_flag=True, help="Also compare pages that are known only from links."),
)


def link_options(command: Command) -> Command:
    """Add the options of preparation and measure."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def opened(store: str, settings: dict[str, Any], core: str | None = None, steps: int = 1) -> LinkAnalysis:
    """The links of a store, measured as the options say."""
    from pagekin.links.link_graph import Preparation
    from pagekin.search.indexed_store import IndexedStore
    from pagekin.search.link_analysis import analyse_links

    rest = dict(settings)
    measure, delta = rest.pop("measure"), rest.pop("delta")
    names = tuple(_lines(core)) if core else ()
    return analyse_links(IndexedStore.open(store), measure, delta, Preparation(**rest), names, steps)


def labelled(analysis: LinkAnalysis, file: str, depth: int) -> tuple[dict[int, set[str]], int]:
    """The categories of nodes, from lines of a URL or file, a tab and Top/Middle/Leaf; and how many name no page."""
    labels: dict[int, set[str]] = {}
    unknown = 0
    for line in _lines(file):
        name, _, label = line.partition("\t")
        row = _row(analysis, name)
        if row is None:
            unknown += 1
        else:
            category = "/".join(label.strip().split("/")[:depth])
            labels.setdefault(analysis.node_of_row(row), set()).add(category)
    if not labels:
        raise MisuseError(f"{file} names no page of the collection; its lines are a URL or file, a tab, and a category")
    return labels, unknown


def _row(analysis: LinkAnalysis, name: str) -> int | None:
    catalog = analysis.indexed.catalog
    for url in analysis.indexed.urls_meant(name):
        row = catalog.page_at(url)
        if row is not None:
            return row
    rows = catalog.pages_from(name)
    return rows[0] if len(rows) == 1 else None


def _lines(file: str) -> list[str]:
    try:
        lines = Path(file).read_text("utf-8", "replace").splitlines()
    except OSError as error:
        raise MisuseError(f"{file} cannot be read: {error.strerror or error}") from error
    return [line for line in lines if line.strip()]


def picture_or(output: str, others: tuple[str, ...]) -> str:
    """The kind of file that a name means, checked before any work is done."""
    from pagekin.links.dendrogram import KINDS

    kind = Path(output).suffix.removeprefix(".").lower()
    if kind not in (*KINDS, *others):
        raise MisuseError(f"{output}: which format? The suffix can be {', '.join((*KINDS, *others))}")
    if kind in KINDS:
        need("matplotlib", what="a picture", extra="plots")
    if kind == "parquet":
        need("pyarrow.parquet", what="Parquet", extra="parquet")
    return kind


def judge_all(store: str, settings: dict[str, Any], file: str, depth: int, alphas: tuple[float, ...]) -> dict[str, Any]:
    """Tables 6 and 7 for the measure and every alpha."""
    from pagekin.links.cluster_quality import judge

    analysis = opened(store, settings)
    labels, unknown = labelled(analysis, file, depth)
    verdicts = [(alpha, judge(analysis.graph, labels, alpha)) for alpha in alphas]
    return {
        "measure": analysis.measure,
        "labelled": len(labels),
        "unknown": unknown,
        "recall": verdicts[0][1].recall,
        "judged": verdicts[0][1].judged,
        "by_alpha": [
            {
                "alpha": alpha,
                "precision": verdict.precision_mean,
                "recall": verdict.recall_mean,
                "categories": [
                    {"category": each.name, "pages": each.pages, "precision": each.precision, "recall": each.recall}
                    for each in verdict.categories
                ],
            }
            for alpha, verdict in verdicts
        ],
    }


def say_judged(judged: dict[str, Any]) -> None:
    """Tell people how clusters and categories agree."""
    click.echo(
        f"{counted(judged['labelled'], 'labelled page')}, by {judged['measure']}: {judged['recall']:.1%} hang together,"
        f" {judged['judged']:,} judged" + (f"; {judged['unknown']:,} lines name no page" if judged["unknown"] else "")
    )
    for row in judged["by_alpha"]:
        click.echo(f"alpha {row['alpha']:g}: precision {row['precision']:.1%}, recall {row['recall']:.1%}")
        say_table(
            [("pages", "precision", "recall", "category")]
            + [
                (f"{c['pages']:,}", f"{c['precision']:.1%}", f"{c['recall']:.1%}", c["category"])
                for c in row["categories"]
            ]
        )
