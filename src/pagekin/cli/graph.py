"""`pagekin graph`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.cluster import LABELS_HELP, depth_option
from pagekin.cli.options import options_from
from pagekin.cli.output import json_option, opened, print_result, print_table, store_argument
from pagekin.links.settings import GraphOptions
from pagekin.model.options import from_values

if TYPE_CHECKING:
    from pagekin.collection.clusters import GraphStatistics


@click.command("graph")
@store_argument
@click.option("--core", "core_file", metavar="FILE", help="A file of pages, one a line; compare only these.")
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
def command(
    store: str,
    core_file: str | None,
    output: str | None,
    labels: str | None,
    depth: int,
    json: bool,
    **values: Any,
) -> None:
    """The graph of pages with similar links: its size, a file for other programs, or a picture."""
    from pagekin.collection.clusters import read_names

    core = tuple(read_names(core_file)) if core_file else ()
    options = from_values(GraphOptions, {**values, "core": core})
    print_result(opened(store).graph(options, output=output, labels=labels, depth=depth), json, print_graph)


def print_graph(found: GraphStatistics) -> None:
    """Print the size of a graph, and what was left out."""
    click.echo(f"by {found.measure}, pairs with a similarity of at least {found.delta:.4f}")
    print_table(
        [
            (found.pages, "pages compared"),
            (found.in_links, f"in-links, {found.in_links_per_page:.1f} a page"),
            (found.out_links, f"out-links, {found.out_links_per_page:.1f} a page"),
            (found.all_pages, "pages, with those that link and are linked to"),
            (found.pairs, f"pairs, {found.share_of_pairs:.2%} of all; mean {found.mean_similarity:.4f}"),
            (found.collapsed, "pages that are nearly the same as another, and one with it"),
            (found.subgraphs, f"connected subgraphs; the largest has {found.largest_subgraph:,} pages"),
        ]
    )
    click.echo("Left out or changed:")
    print_table(
        [
            (found.left_out["portals"], "portals, whose links do not count"),
            (found.left_out["in_links_dropped"], "in-links beyond those that a page keeps"),
            (found.left_out["popular"], "popular pages, which count less"),
            (found.left_out["stopped"], "pages on the stop list"),
            (found.left_out["backed_off"], "pages that share in-links of a URL above them"),
        ]
    )
    if found.output:
        click.echo(f"Written: {found.output}")
