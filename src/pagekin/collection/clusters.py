"""Clusters around a page by links, pages between topics, and the similarity graph of a collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.errors import MisuseError, need
from pagekin.evaluation.labelled import BY_PATH
from pagekin.evaluation.labels import UNMET, LeftOut, LeftOutReason, join, path_labels, read_labels
from pagekin.figures.charts import PLOT_FORMATS
from pagekin.links.cluster_quality import CategoryQuality
from pagekin.links.cluster_quality import evaluate_clusters as compare_clusters
from pagekin.links.clusters import Clusters
from pagekin.links.export import GRAPH_WRITERS, MAX_NODES, PAIR_WRITERS, draw_dendrograms, draw_graph
from pagekin.links.settings import ClusterOptions
from pagekin.model.files import written_whole
from pagekin.model.jsons import json_field
from pagekin.model.tables import Tabular, scalars
from pagekin.search.link_analysis import LinkAnalysis
from pagekin.search.link_analysis import analyse_links as analyse_links
from pagekin.search.results import PageLink

GRAPH_FORMATS = (*GRAPH_WRITERS, *PAIR_WRITERS)
_TERMS = 5  # of an end of a bridge
NodeProgress = Callable[[list[int]], Iterable[int]]


@dataclass(frozen=True)
class ClusterQuery:
    """The page of a request, and how pages are compared."""

    page: str
    url: str
    title: str
    measure: str
    alphas: tuple[float, ...]
    delta: float


@dataclass(frozen=True)
class SubgraphSize:
    """The number of clustered pages, and of all pages that are connected with the page."""

    pages: int
    of: int


@dataclass(frozen=True)
class ClusteredPage(PageLink):
    """A page of the clustering: its estimated distance, which may exceed 1, and its own similarity."""

    distance: float = json_field(digits=6)
    similarity: float = json_field(digits=6)


@dataclass(frozen=True)
class ClusterTree:
    """The dendrogram of the page and the nearest pages; merge k makes cluster (number of leaves + k)."""

    leaves: list[str]  # URLs, the page first
    merges: list[tuple[int, int, float]] = json_field(digits=6)  # two clusters and their distance


@dataclass(frozen=True)
class ClusterPosition(PageLink):
    """The positions of a page by similarity alone and at each alpha, from 1; None: not among the first."""

    by_similarity: int | None
    by_alpha: list[int | None]


@dataclass(frozen=True)
class FlatCluster:
    """A cluster of a cut."""

    pages: int
    members: list[PageLink]


@dataclass(frozen=True, repr=False)
class PageClusters(Tabular):
    """The pages around a page, ordered by a clustering of their links."""

    query: ClusterQuery
    subgraph: SubgraphSize
    same: list[str]  # URLs with nearly the same links
    related: list[ClusteredPage]
    tree: ClusterTree
    positions: list[ClusterPosition]  # only for several alphas
    clusters: list[FlatCluster]  # only for a number of clusters; that of the page first, then the largest

    def table(self) -> list[dict[str, Any]]:
        """The related pages as rows; with a number of clusters, the pages of each of them."""
        if self.clusters:
            members = [(number, each) for number, one in enumerate(self.clusters, 1) for each in one.members]
            return [{"cluster": number, **scalars(each)} for number, each in members]
        return [scalars(each) for each in self.related]

    def __repr__(self) -> str:
        near = ", ".join(repr(each.title) for each in self.related[:3])
        return f"<PageClusters around {self.query.title!r} by {self.query.measure}: {near}>"


@dataclass(frozen=True)
class BridgeEnd(PageLink):
    """A page at one end of a bridge, and the terms with the highest weights in its bag."""

    terms: list[str]


@dataclass(frozen=True)
class Bridge(PageLink):
    """A page between two topics: similar to two pages that are far from each other."""

    strength: float = json_field(digits=6)
    distance: float = json_field(digits=6)
    between: list[BridgeEnd] = json_field()


@dataclass(frozen=True)
class AlphaQuality:
    """How well clusters match categories at one alpha: means over categories, and each category."""

    alpha: float
    precision: float
    recall: float
    categories: list[CategoryQuality]


@dataclass(frozen=True)
class ClusterEvaluation:
    """How well clusters match the categories of labelled pages (tables 6 and 7 of the paper)."""

    measure: str
    labelled: int
    unknown: int  # labels of pages that are not in the collection
    left_out: list[LeftOutReason]
    recall: float
    judged: int
    by_alpha: list[AlphaQuality]


@dataclass(frozen=True)
class GraphStatistics:
    """The size of the similarity graph, and what preparation left out (tables 2 to 5 of the paper)."""

    measure: str
    pages: int
    in_links: int
    in_links_per_page: float
    out_links: int
    out_links_per_page: float
    all_pages: int  # with those that link to them or are linked to
    delta: float
    pairs: int
    share_of_pairs: float
    mean_similarity: float
    collapsed: int
    subgraphs: int
    largest_subgraph: int
    left_out: dict[str, int]
    output: str | None = json_field(default=None, omit=None)


def describe_clusters(analysis: LinkAnalysis, clusters: Clusters, page: str, options: ClusterOptions) -> PageClusters:
    alphas, limit = options.alpha, options.limit
    first = clusters.order(alphas[0])[:limit]
    similarity = dict(zip(clusters.subgraph.nodes.tolist(), clusters.similarities().tolist(), strict=True))
    names = analysis.named([node for node, _ in first])
    graph = analysis.graph
    [name] = analysis.named([clusters.node])
    return PageClusters(
        ClusterQuery(page, **name, measure=analysis.measure, alphas=alphas, delta=graph.delta),
        SubgraphSize(len(clusters), clusters.subgraph.total),
        [each["url"] for each in analysis.named(graph.near_identical(clusters.node))],
        [
            ClusteredPage(**each, distance=distance, similarity=similarity[node])
            for each, (node, distance) in zip(names, first, strict=True)
        ],
        _tree(analysis, clusters, alphas[0], limit),
        _positions(analysis, clusters, options) if len(alphas) > 1 else [],
        _cut(analysis, clusters, alphas[0], options.clusters) if options.clusters else [],
    )


def _tree(analysis: LinkAnalysis, clusters: Clusters, alpha: float, limit: int) -> ClusterTree:
    hierarchy = clusters.hierarchy(alpha)
    leaves = [clusters.leaf, *hierarchy.order(clusters.leaf)[:limit].tolist()]
    smaller = hierarchy.restrict_to(leaves)
    merges = zip(smaller.merges.tolist(), smaller.heights.tolist(), strict=True)
    urls = [each["url"] for each in analysis.named(clusters.subgraph.nodes[leaves].tolist())]
    return ClusterTree(urls, [(a, b, height) for (a, b), height in merges])


def _positions(analysis: LinkAnalysis, clusters: Clusters, options: ClusterOptions) -> list[ClusterPosition]:
    table = clusters.positions(options.alpha, options.limit)
    rows = zip(analysis.named(list(table)), table.values(), strict=True)
    return [ClusterPosition(**name, by_similarity=row[0], by_alpha=row[1:]) for name, row in rows]


def _cut(analysis: LinkAnalysis, clusters: Clusters, alpha: float, count: int) -> list[FlatCluster]:
    part = clusters.hierarchy(alpha).cut(min(count, len(clusters)))
    members = [clusters.subgraph.nodes[part == number].tolist() for number in range(int(part.max()) + 1)]
    members.sort(key=lambda nodes: (clusters.node not in nodes, -len(nodes), nodes))
    return [FlatCluster(len(nodes), [PageLink(**each) for each in analysis.named(nodes)]) for nodes in members]


def find_bridges(analysis: LinkAnalysis, options: ClusterOptions, progress: NodeProgress) -> list[Bridge]:
    bridges = []
    for each in analysis.cross_topic_pages(options.alpha[0], progress)[: options.limit]:
        page, *ends = analysis.named([each.node, each.one, each.other])
        terms = [analysis.top_terms(node, _TERMS) for node in (each.one, each.other)]
        between = [BridgeEnd(**end, terms=some) for end, some in zip(ends, terms, strict=True)]
        bridges.append(Bridge(**page, strength=each.strength, distance=each.distance, between=between))
    return bridges


def evaluate_clusters(analysis: LinkAnalysis, labels: str, depth: int, alphas: tuple[float, ...]) -> ClusterEvaluation:
    categories, notes = read_categories(analysis, labels, depth)
    unknown = sum(each.count for each in notes.reasons() if each.reason == UNMET)
    found = [compare_clusters(analysis.graph, categories, alpha) for alpha in alphas]
    rows = ((each.precision_mean, each.recall_mean, each.categories) for each in found)
    by_alpha = [AlphaQuality(alpha, *row) for alpha, row in zip(alphas, rows, strict=True)]
    counts = len(categories), unknown, notes.reasons()
    return ClusterEvaluation(analysis.measure, *counts, found[0].recall, found[0].judged, by_alpha)


def read_categories(analysis: LinkAnalysis, hierarchy: str, depth: int) -> tuple[dict[int, set[str]], LeftOut]:
    """Read the categories of nodes, cut at `depth`, from anything that `pagekin evaluate --hierarchy` reads."""
    notes, names = LeftOut(), analysis.indexed.catalog.page_names()
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


def picture_format(output: str | Path, others: tuple[str, ...] = ()) -> str:
    """The format of an output file by its suffix; raise MisuseError before any work if it cannot be written."""
    kind = Path(output).suffix.removeprefix(".").lower()
    if kind not in (*PLOT_FORMATS, *others):
        known = ", ".join((*PLOT_FORMATS, *others))
        raise MisuseError(f"{output} has no known suffix; name a file whose suffix is one of {known}")
    if kind in PLOT_FORMATS:
        need("matplotlib", what="a picture", extra="plots")
    if kind == "parquet":
        need("pyarrow.parquet", what="Parquet", extra="parquet")
    return kind


def draw_clusters(analysis: LinkAnalysis, clusters: Clusters, options: ClusterOptions, output: Path, kind: str) -> None:
    """Draw the page and the pages that are among the first at any alpha, a dendrogram for each alpha."""
    shown = {node for alpha in options.alpha for node, _ in clusters.order(alpha)[: options.limit]}
    nodes = [clusters.node, *sorted(shown)]
    leaves = np.searchsorted(clusters.subgraph.nodes, nodes).tolist()
    names = [each["title"] or each["url"] for each in analysis.named(nodes)]
    hierarchies = [clusters.hierarchy(alpha).restrict_to(leaves) for alpha in options.alpha]
    with written_whole(output) as path:
        draw_dendrograms(path, kind, hierarchies, names, 0)


def write_graph(analysis: LinkAnalysis, output: Path, kind: str, labels: dict[int, set[str]]) -> None:
    graph, vertices = analysis.graph, [] if kind in PAIR_WRITERS else analysis.vertices()
    if kind in PLOT_FORMATS and len(vertices) > MAX_NODES:
        raise MisuseError(
            f"the graph has {len(vertices):,} pages, and a picture shows at most {MAX_NODES}; give a smaller --core or"
            " a larger --delta, or write a .gexf file for Gephi"
        )
    with written_whole(output) as path:
        if kind in PAIR_WRITERS:
            nodes = np.unique(np.concatenate([graph.pairs.first, graph.pairs.second])).tolist()
            urls = dict(zip(nodes, (each["url"] for each in analysis.named(nodes)), strict=True))
            PAIR_WRITERS[kind](path, urls, graph.pairs)
        elif kind in GRAPH_WRITERS:
            GRAPH_WRITERS[kind](path, vertices, graph.edges)
        else:
            groups = [min(labels.get(each.node, {""})) for each in vertices]
            names = [each.title or each.url for each in vertices]
            draw_graph(path, kind, graph.edges, np.array([each.node for each in vertices]), names, groups)
