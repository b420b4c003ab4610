"""`pagekin cluster` and `pagekin graph`: clusters around a page by links, and the similarity graph of a collection."""

from __future__ import annotations

import click

import pagekin
from pagekin.cli.options import json_option, options_from, store_argument
from pagekin.cli.output import clean, counted, print_result, print_table, read_names
from pagekin.cli.progress import watched
from pagekin.errors import MisuseError
from pagekin.links.settings import ClusterOptions, GraphOptions

_SHOWN = 5  # pages of a cluster

LABELS_HELP = (
    "lines of a page, a tab and Top/Leaf; content.rdf.u8 of the Open Directory; or `path`, the folders of URLs."
)
depth_option = click.option("--depth", default=1, type=click.IntRange(1), help="Cut the labels at this level.")


@click.command(short_help="Cluster the pages around a page by links.")
@store_argument
@click.argument("page", required=False)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Draw the tree, as svg, png or pdf; needs pagekin[plots]."
)
@click.option("--cross-topic", is_flag=True, help="List the pages of the collection that lie between topics.")
@click.option("--labels", metavar="FILE|path", help=f"Compare clusters with the categories of pages: {LABELS_HELP}")
@depth_option
@options_from(ClusterOptions)
@json_option
def cluster(
    store: str,
    page: str | None,
    output: str | None,
    cross_topic: bool,
    labels: str | None,
    depth: int,
    options: ClusterOptions,
    json: bool,
) -> None:
    """Cluster the pages around PAGE by their links, and list them by their distance from PAGE."""
    if bool(page) + cross_topic + bool(labels) != 1:
        raise MisuseError("name a PAGE, or give --cross-topic, or --labels")
    collection = pagekin.open(store)
    if labels:
        return print_result(collection.cluster_quality(labels, options, depth=depth), json, print_quality)
    if page is None:
        found = collection.bridges(options, progress=lambda nodes: watched(nodes, "clustering", quiet=json))
        return print_result({"cross_topic": found}, json, lambda _: print_bridges(found))
    return print_result(collection.clusters(page, options, output=output), json, print_clusters)


def print_clusters(report: pagekin.PageClusters) -> None:
    query, around = report.query, report.subgraph
    click.echo(f"{clean(query.title or query.url)}, by {query.measure} at alpha {query.alphas[0]:g}")
    if not report.related:
        return click.echo(
            "No page is connected with it: none shares a link that counts, or is similar enough (--delta)."
        )
    nearest = "" if around.pages == around.of else f" of {around.of:,}, the nearest (--most)"
    click.echo(f"{around.pages:,} connected pages{nearest}")
    for url in report.same:
        click.echo(f"  stands also for {clean(url)}, which has nearly the same links")
    for rank, each in enumerate(report.related, 1):
        alike = f"similarity {each.similarity:.3f}" if each.similarity else "not similar itself"
        click.echo(f"{rank:3}  {each.distance:.3f}  {clean(each.title or each.url)}  ({alike})")
        click.echo(f"            {clean(each.url)}")
    click.echo()
    click.echo("\n".join(_drawn(report)))
    if report.positions:
        click.echo("\nPositions by similarity alone, and at each alpha:")
        head = ["", "alone", *(f"{alpha:g}" for alpha in query.alphas)]
        rows = [[each.title or each.url, each.by_similarity, *each.by_alpha] for each in report.positions]
        print_table([head, *([row[0], *(str(each or "-") for each in row[1:])] for row in rows)])
    for number, part in enumerate(report.clusters, 1):
        click.echo(f"\nCluster {number}: {counted(part.pages, 'page')}")
        print_table([(each.title, each.url) for each in part.members[:_SHOWN]])
    return None


def _drawn(report: pagekin.PageClusters) -> list[str]:
    import numpy as np

    from pagekin.links.clusters import Hierarchy
    from pagekin.links.export import dendrogram_lines

    *merges, heights = zip(*report.tree.merges, strict=True)
    hierarchy = Hierarchy(report.query.alphas[0], np.column_stack(merges), np.array(heights).round(6))
    first = clean(report.query.title or report.query.url)
    return dendrogram_lines(hierarchy, [f"{first}  <--", *(clean(each.title or each.url) for each in report.related)])


def print_bridges(bridges: list[pagekin.Bridge]) -> None:
    for each in bridges:
        click.echo(f"{each.strength:.3f}  {clean(each.title or each.url)}")
        click.echo(f"       {clean(each.url)}")
        click.echo(f"       is between two pages at distance {each.distance:.3f}:")
        for end in each.between:
            click.echo(f"       - {clean(end.title or end.url)} (about {clean(', '.join(end.terms))})")


def print_quality(found: pagekin.ClusterEvaluation) -> None:
    click.echo(
        f"{counted(found.labelled, 'labelled page')}, by {found.measure}: {found.recall:.1%} in one connected subgraph,"
        f" {found.judged:,} clustered"
    )
    for each in found.left_out:
        click.echo(f"{each.count:,} {each.reason}, e.g. {clean(each.example)}")
    for row in found.by_alpha:
        click.echo(f"alpha {row.alpha:g}: precision {row.precision:.1%}, recall {row.recall:.1%}")
        cells = [(f"{c.pages:,}", f"{c.precision:.1%}", f"{c.recall:.1%}", c.category) for c in row.categories]
        print_table([("pages", "precision", "recall", "category"), *cells])


@click.command(short_help="Write or draw the graph of similar links.")
@store_argument
@click.option("--core", metavar="FILE", help="A file of pages, one a line; compare only these.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="Write the graph (graphml, gexf), its pairs (csv, parquet) or a picture (svg, png, pdf).",
)
@click.option("--labels", metavar="FILE|path", help=f"Colour a picture by the categories of pages: {LABELS_HELP}")
@depth_option
@options_from(GraphOptions)
@json_option
def graph(
    store: str, core: str | None, output: str | None, labels: str | None, depth: int, options: GraphOptions, json: bool
) -> None:
    """Measure the graph of pages with similar links, and write it to a file or draw it."""
    names = tuple(read_names(core)) if core else ()
    found = pagekin.open(store).graph(options, core=names, output=output, labels=labels, depth=depth)
    print_result(found, json, print_graph)


def print_graph(found: pagekin.GraphStatistics) -> None:
    click.echo(f"by {found.measure}, pairs with a similarity of at least {found.delta:.4f}")
    print_table(
        [
            (found.pages, "pages compared"),
            (found.in_links, f"in-links, {found.in_links_per_page:.1f} a page"),
            (found.out_links, f"out-links, {found.out_links_per_page:.1f} a page"),
            (found.all_pages, "pages, including those that link to them or that they link to"),
            (found.pairs, f"pairs, {found.share_of_pairs:.2%} of all; mean {found.mean_similarity:.4f}"),
            (found.collapsed, "pages merged with another that has nearly the same links"),
            (found.subgraphs, f"connected subgraphs; the largest has {found.largest_subgraph:,} pages"),
        ]
    )
    click.echo("Left out or changed:")
    print_table(
        [
            (found.left_out["portals"], "pages with too many links (--out-links), whose links are ignored"),
            (found.left_out["in_links_dropped"], "in-links ignored because a page has too many (--in-links)"),
            (found.left_out["popular"], "popular pages, links to which count less (--popular)"),
            (found.left_out["stopped"], "pages ignored by --stop"),
            (found.left_out["backed_off"], "pages compared by the in-links of a parent URL (--back-off)"),
        ]
    )
    if found.output:
        click.echo(f"Written: {found.output}")
