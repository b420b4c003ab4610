"""Options of the commands for link analysis, and the labels that `cluster` and `graph` read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pagekin.cli.output import clean, counted, say_table
from pagekin.errors import MisuseError, need

if TYPE_CHECKING:
    from pagekin.evaluation.notes import LeftOut
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


LABELS_HELP = (
    "lines of a page, a tab and Top/Leaf; content.rdf.u8 of the Open Directory; or `path`, the folders of URLs."
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


def read_categories(analysis: LinkAnalysis, hierarchy: str, depth: int) -> tuple[dict[int, set[str]], LeftOut]:
    """Read the categories of nodes, cut at `depth`, from anything that `pagekin evaluate --hierarchy` reads."""
    from pagekin.evaluation.labelled import BY_PATH
    from pagekin.evaluation.labels import UNMET, join, path_labels, read_labels
    from pagekin.evaluation.notes import LeftOut
    from pagekin.store.page_names import page_names_of

    notes, names = LeftOut(), page_names_of(analysis.indexed)
    rows = analysis.indexed.catalog.each("SELECT url FROM nodes WHERE first_row IS NOT NULL ORDER BY node")
    by_path = hierarchy == BY_PATH
    labels = path_labels((row[0] for row in rows), notes) if by_path else read_labels(Path(hierarchy), notes)
    categories: dict[int, set[str]] = {}
    for page, classes in join(labels, names.find, notes).items():
        node = int(analysis.link_graph.node_of[page])
        categories.setdefault(node, set()).update("/".join(each[:depth]) for each in classes)
    if not categories:
        raise MisuseError(
            f"paths give no categories: all pages of {analysis.indexed.root} are in one folder; name a file of labels"
            if by_path
            else f"{hierarchy} labels no page of {analysis.indexed.root} (the first label is for"
            f" {notes.example(UNMET)!r}); a line is a URL or a path in the folder that was read, a tab, and a category"
        )
    return categories, notes


def _lines(file: str) -> list[str]:
    try:
        lines = Path(file).read_text("utf-8", "replace").splitlines()
    except OSError as error:
        raise MisuseError(f"{file} cannot be read: {error.strerror or error}") from error
    return [line for line in lines if line.strip()]


def picture_or(output: str, others: tuple[str, ...]) -> str:
    """The kind of file that a name means, checked before any work is done."""
    from pagekin.figures.plot_files import PLOT_FORMATS

    kind = Path(output).suffix.removeprefix(".").lower()
    if kind not in (*PLOT_FORMATS, *others):
        raise MisuseError(f"{output}: which format? The suffix can be {', '.join((*PLOT_FORMATS, *others))}")
    if kind in PLOT_FORMATS:
        need("matplotlib", what="a picture", extra="plots")
    if kind == "parquet":
        need("pyarrow.parquet", what="Parquet", extra="parquet")
    return kind


def judge_all(
    store: str, settings: dict[str, Any], hierarchy: str, depth: int, alphas: tuple[float, ...]
) -> dict[str, Any]:
    """Tables 6 and 7 for the measure and every alpha."""
    from pagekin.evaluation.labels import UNMET
    from pagekin.links.cluster_quality import evaluate_clusters

    analysis = opened(store, settings)
    labels, notes = read_categories(analysis, hierarchy, depth)
    left_out = notes.rows()
    found = [(alpha, evaluate_clusters(analysis.graph, labels, alpha)) for alpha in alphas]
    return {
        "measure": analysis.measure,
        "labelled": len(labels),
        "unknown": sum(count for reason, count, _ in left_out if reason == UNMET),
        "left_out": [{"reason": reason, "count": n, "example": example} for reason, n, example in left_out],
        "recall": found[0][1].recall,
        "judged": found[0][1].judged,
        "by_alpha": [
            {
                "alpha": alpha,
                "precision": quality.precision_mean,
                "recall": quality.recall_mean,
                "categories": [
                    {"category": each.name, "pages": each.pages, "precision": each.precision, "recall": each.recall}
                    for each in quality.categories
                ],
            }
            for alpha, quality in found
        ],
    }


def say_judged(judged: dict[str, Any]) -> None:
    """Print how well clusters and categories agree."""
    click.echo(
        f"{counted(judged['labelled'], 'labelled page')}, by {judged['measure']}: {judged['recall']:.1%} in one"
        f" connected subgraph, {judged['judged']:,} clustered"
    )
    for row in judged["left_out"]:
        click.echo(f"{row['count']:,} {row['reason']}, e.g. {clean(row['example'])}")
    for row in judged["by_alpha"]:
        click.echo(f"alpha {row['alpha']:g}: precision {row['precision']:.1%}, recall {row['recall']:.1%}")
        say_table(
            [("pages", "precision", "recall", "category")]
            + [
                (f"{c['pages']:,}", f"{c['precision']:.1%}", f"{c['recall']:.1%}", c["category"])
                for c in row["categories"]
            ]
        )
