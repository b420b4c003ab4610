"""`pagekin cluster`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.link_options import LABELS_HELP, judge_all, link_options, opened, picture_or, say_judged
from pagekin.cli.output import clean, counted, json_option, say_json, say_table, store_argument
from pagekin.errors import MisuseError
from pagekin.shapes.cluster import describe, describe_bridges

if TYPE_CHECKING:
    from pagekin.links.clusters import Clusters
    from pagekin.search.link_analysis import LinkAnalysis

_SHOWN = 5  # pages of a cluster


@click.command("cluster")
@store_argument
@click.argument("page", required=False)
@click.option(
    "--alpha",
    "alphas",
    multiple=True,
    default=(0.5,),
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    help="How tightly to cluster, from chains near 0 to tight groups at 1; several are compared.",
)
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1), help="At most so many pages.")
@click.option("--clusters", "parts", type=click.IntRange(1), help="Cut the pages that hang together into so many.")
@click.option(
    "--most", default=2000, show_default=True, type=click.IntRange(2, 20_000), help="Cluster at most so many pages."
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Draw the tree, as svg, png or pdf; needs pagekin[plots]."
)
@click.option("--cross-topic", is_flag=True, help="List the pages of the collection that lie between topics.")
@click.option("--labels", metavar="FILE|path", help=f"Compare clusters with the categories of pages: {LABELS_HELP}")
@click.option("--depth", default=1, show_default=True, type=click.IntRange(1), help="So many levels of the labels.")
@link_options
@json_option
def command(
    store: str,
    page: str | None,
    alphas: tuple[float, ...],
    limit: int,
    parts: int | None,
    most: int,
    output: str | None,
    cross_topic: bool,
    labels: str | None,
    depth: int,
    json: bool,
    **settings: Any,
) -> None:
    """Order pages around PAGE by clusters of their links, as tightly as alpha says."""
    if bool(page) + cross_topic + bool(labels) != 1:
        raise MisuseError("ask for a PAGE, or with --cross-topic, or with --labels")
    kind = picture_or(output, ()) if output else ""
    if labels:
        judged = judge_all(store, settings, labels, depth, alphas)
        return say_json(judged) if json else say_judged(judged)
    analysis = opened(store, settings)
    if page is None:
        bridges = describe_bridges(analysis, alphas[0], limit, _watched)
        return say_json({"cross_topic": bridges}) if json else say_bridges(bridges)
    clusters = analysis.clusters(page, most)
    if output and len(clusters) > 1:
        draw(analysis, clusters, alphas, limit, Path(output), kind)
    report = describe(analysis, clusters, page, alphas, limit, parts)
    return say_json(report) if json else say(report)


def draw(
    analysis: LinkAnalysis, clusters: Clusters, alphas: tuple[float, ...], limit: int, path: Path, kind: str
) -> None:
    """Draw the page and whoever is among its first kin at any alpha, a panel for each alpha."""
    import numpy as np

    from pagekin.links.plots import draw_dendrograms
    from pagekin.model.files import written_whole

    shown = {node for alpha in alphas for node, _ in clusters.order(alpha)[:limit]}
    nodes = [clusters.node, *sorted(shown)]
    leaves = np.searchsorted(clusters.subgraph.nodes, nodes).tolist()
    names = [each["title"] or each["url"] for each in analysis.named(nodes)]
    with written_whole(path) as file:
        draw_dendrograms(file, kind, [clusters.hierarchy(alpha).restrict_to(leaves) for alpha in alphas], names, 0)


def _watched(nodes: list[int]) -> Iterable[int]:
    """Behind a bar if somebody watches."""
    if not sys.stderr.isatty():
        yield from nodes
        return
    with click.progressbar(nodes, label="clustering", file=sys.stderr) as bar:
        yield from bar


def say(report: dict[str, Any]) -> None:
    """Tell people about the surroundings of a page."""
    query, around = report["query"], report["subgraph"]
    click.echo(f"{clean(query['title'] or query['url'])}, by {query['measure']} at alpha {query['alphas'][0]:g}")
    if not report["related"]:
        click.echo("No page hangs together with it: none shares a link that counts, or is similar enough (--delta).")
        return
    whole = around["pages"] == around["of"]
    rest = "hang together" if whole else f"of {around['of']:,} that hang together: the nearest (--most)"
    click.echo(f"{around['pages']:,} pages {rest}")
    for url in report["same"]:
        click.echo(f"  stands also for {clean(url)}, which is nearly the same by its links")
    for rank, each in enumerate(report["related"], 1):
        alike = f"similarity {each['similarity']:.3f}" if each["similarity"] else "not similar itself"
        click.echo(f"{rank:3}  {each['distance']:.3f}  {clean(each['title'] or each['url'])}  ({alike})")
        click.echo(f"            {clean(each['url'])}")
    click.echo()
    click.echo("\n".join(_drawn(report)))
    if report["positions"]:
        click.echo("\nPositions by similarity alone, and at each alpha:")
        head = ["", "alone", *(f"{alpha:g}" for alpha in query["alphas"])]
        rows = [
            [each["title"] or each["url"], each["by_similarity"], *each["by_alpha"]] for each in report["positions"]
        ]
        say_table([head, *([row[0], *(str(each or "-") for each in row[1:])] for row in rows)])
    for number, part in enumerate(report["clusters"], 1):
        click.echo(f"\nCluster {number}: {counted(part['pages'], 'page')}")
        say_table([(each["title"], each["url"]) for each in part["members"][:_SHOWN]])


def _drawn(report: dict[str, Any]) -> list[str]:
    """The tree of the page and its first kin, as lines."""
    import numpy as np

    from pagekin.links.hierarchy import Hierarchy
    from pagekin.links.plots import dendrogram_lines

    *merges, heights = zip(*report["tree"]["merges"], strict=True)
    hierarchy = Hierarchy(report["query"]["alphas"][0], np.column_stack(merges), np.array(heights))
    names = [clean(each["title"] or each["url"]) for each in (report["query"], *report["related"])]
    return dendrogram_lines(hierarchy, [f"{names[0]}  <--", *names[1:]])


def say_bridges(bridges: list[dict[str, Any]]) -> None:
    """Tell people which pages lie between topics."""
    for each in bridges:
        click.echo(f"{each['strength']:.3f}  {clean(each['title'] or each['url'])}")
        click.echo(f"       {clean(each['url'])}")
        click.echo(f"       is between two that are {each['distance']:.3f} apart:")
        for end in each["between"]:
            click.echo(f"       - {clean(end['title'] or end['url'])} (about {clean(', '.join(end['terms']))})")
