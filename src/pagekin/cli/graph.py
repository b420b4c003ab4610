"""`pagekin graph`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.link_options import LABELS_HELP, link_options, opened, picture_or, read_categories
from pagekin.cli.output import json_option, say_json, say_table, store_argument
from pagekin.errors import MisuseError

if TYPE_CHECKING:
    from pagekin.search.link_analysis import LinkAnalysis


@click.command("graph")
@store_argument
@click.option("--core", type=str, metavar="FILE", help="A file of pages, one a line; only these are compared.")
@click.option(
    "--steps",
    default=1,
    show_default=True,
    type=click.IntRange(1, 10),
    help="2 also compares what the core links with.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="Write the graph (graphml, gexf), its pairs (csv, parquet) or a picture (svg, png, pdf).",
)
@click.option("--labels", metavar="FILE|path", help=f"Colour a picture by the categories of pages: {LABELS_HELP}")
@click.option("--depth", default=1, show_default=True, type=click.IntRange(1), help="So many levels of the labels.")
@link_options
@json_option
def command(
    store: str,
    core: str | None,
    steps: int,
    output: str | None,
    labels: str | None,
    depth: int,
    json: bool,
    **settings: Any,
) -> None:
    """The graph of pages that are similar by their links: how large it is, for other programs, or as a picture."""
    kind = picture_or(output, ("graphml", "gexf", "csv", "parquet")) if output else ""
    analysis = opened(store, settings, core, steps)
    if output:
        write(analysis, Path(output), kind, read_categories(analysis, labels, depth)[0] if labels else {})
    facts = analysis.statistics() | ({"output": output} if output else {})
    return say_json(facts) if json else say(facts)


def write(analysis: LinkAnalysis, target: Path, kind: str, labels: dict[int, set[str]]) -> None:
    """Write a file, whole or not at all."""
    import numpy as np

    from pagekin.links.export import GRAPH_WRITERS, PAIR_WRITERS
    from pagekin.links.plots import MAX_NODES, draw_graph
    from pagekin.model.files import written_whole

    graph = analysis.graph
    if kind in PAIR_WRITERS:
        nodes = np.unique(np.concatenate([graph.pairs.first, graph.pairs.second])).tolist()
        urls = dict(zip(nodes, (each["url"] for each in analysis.named(nodes)), strict=True))
        with written_whole(target) as path:
            PAIR_WRITERS[kind](path, urls, graph.pairs)
        return
    vertices = analysis.vertices()
    if kind in GRAPH_WRITERS:
        with written_whole(target) as path:
            GRAPH_WRITERS[kind](path, vertices, graph.edges)
        return
    if len(vertices) > MAX_NODES:
        raise MisuseError(
            f"the graph has {len(vertices):,} pages, and a picture shows at most {MAX_NODES}; take a --core of pages or"
            " a larger --delta, or write a .gexf for Gephi"
        )
    groups = [min(labels.get(each.node, {""})) for each in vertices]
    names = [each.title or each.url for each in vertices]
    with written_whole(target) as path:
        draw_graph(path, kind, graph.edges, np.array([each.node for each in vertices]), names, groups)


def say(facts: dict[str, Any]) -> None:
    """Tell people about a graph."""
    click.echo(f"by {facts['measure']}, pairs that are at least {facts['delta']:.4f} alike")
    say_table(
        [
            (facts["pages"], "pages compared"),
            (facts["in_links"], f"in-links, {facts['in_links_per_page']:.1f} a page"),
            (facts["out_links"], f"out-links, {facts['out_links_per_page']:.1f} a page"),
            (facts["all_pages"], "pages, with those that link and are linked to"),
            (facts["pairs"], f"pairs, {facts['share_of_pairs']:.2%} of all; mean {facts['mean_similarity']:.4f}"),
            (facts["collapsed"], "pages that are nearly the same as another, and one with it"),
            (facts["subgraphs"], f"connected subgraphs; the largest has {facts['largest_subgraph']:,} pages"),
        ]
    )
    left_out = facts["left_out"]
    click.echo("Left out or changed:")
    say_table(
        [
            (left_out["portals"], "portals, whose links do not count"),
            (left_out["in_links_dropped"], "in-links beyond those that a page keeps"),
            (left_out["popular"], "popular pages, which count less"),
            (left_out["stopped"], "pages on the stop list"),
            (left_out["backed_off"], "pages that share in-links of a URL above them"),
        ]
    )
    if "output" in facts:
        click.echo(f"Written: {facts['output']}")
