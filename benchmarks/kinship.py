"""Link similarity: measures, alphas and bridges evaluated by categories that people assigned.

`python -m benchmarks.kinship` prints the figures, writes `results/kinship.json` and draws figures 3 and 4 of the paper
from the sample web. The collections are the sample web and, if PAGEKIN_BENCH_DATA names a folder with a `labels.tsv`,
that; for words and links together also manuals, whose categories are their folders, and of which only cppreference was
looked at when the rule for the share of links was made. P@10 is the share, of ten pages, of those that have a category
with the page in common; precision and recall are those of tables 6 and 7, with the top of each category. Cross-topic is
the chance that of two pages, one with categories of two tops and one with one, the first is the stronger bridge.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.agreement import collections
from benchmarks.labelled import MORE
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin import sample_web
from pagekin.collection.clusters import read_categories, write_graph
from pagekin.links.cluster_quality import Labels, evaluate_clusters
from pagekin.links.export import draw_dendrograms
from pagekin.links.settings import MEASURES, LinkOptions
from pagekin.model.files import written_whole
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.link_analysis import LinkAnalysis, analyse_links
from pagekin.search.options import RelatedOptions

ALPHAS = (0.06, 0.25, 0.5, 0.8)
FIGURES = Path(__file__).parents[1] / "docs" / "figures"
_ASKED = 100 if QUICK else 1000
_SHOWN = "http://treeroom.example/oak.html"


def main() -> None:
    """Measure the collections at hand."""
    figures = []
    with tempfile.TemporaryDirectory() as place:
        for name, source, labels in sources(Path(place)):
            build([source], Path(place) / f"{name}.kin")
            indexed = IndexedStore.open(Path(place) / f"{name}.kin")
            print(f"links of {name}")
            found = list(measure(name, indexed, labels))
            show(found)
            figures += found
            if name == "sample web" and not QUICK:
                draw(indexed, labels)
        for name, source in manuals().items():
            build([source], Path(place) / f"{name}.kin")
            indexed = IndexedStore.open(Path(place) / f"{name}.kin")
            found = list(together(name, indexed, folders(indexed)))
            show(found)
            figures += found
    keep("kinship", {"machine": facts(), "figures": kept(figures)})


def sources(place: Path) -> Iterator[tuple[str, Path, Path]]:
    """(name, source, labels) of each collection."""
    yield "sample web", sample_web.copy_to(place), place / "labels.tsv"
    given = Path(os.environ.get("PAGEKIN_BENCH_DATA", ""))
    if (given / "labels.tsv").is_file():
        yield given.name, given, given / "labels.tsv"


def measure(name: str, indexed: IndexedStore, file: Path) -> Iterator[Figure]:
    """The figures of one collection."""
    for kind in MEASURES:
        links = analyse_links(indexed, LinkOptions(measure=kind))
        labels, _ = read_categories(links, str(file), 9)
        tops = {node: {label.partition("/")[0] for label in each} for node, each in labels.items()}
        yield Figure(f"{name}, {kind}: P@10", round(by_links(links, labels), 3))
        for alpha in ALPHAS:
            quality = evaluate_clusters(links.graph, tops, alpha)
            if alpha == ALPHAS[0]:
                yield Figure(f"{name}, {kind}: recall of the core set", round(quality.recall, 3))
            what = f"{name}, {kind}, alpha {alpha:g}"
            yield Figure(f"{what}: precision of categories", round(quality.precision_mean, 3))
            yield Figure(f"{what}: recall of categories", round(quality.recall_mean, 3))
        yield Figure(f"{name}, {kind}: cross-topic", round(cross_topic(links, tops), 3))
    yield from together(name, indexed, labels)


def manuals() -> dict[str, Path]:
    """Collections whose categories are folders."""
    every = {} if QUICK else collections() | MORE
    return {name: each for name, each in every.items() if each.is_dir() and not (each / "labels.tsv").exists()}


def folders(indexed: IndexedStore) -> Labels:
    """The folder of every page as its category."""
    pages = indexed.catalog.each("SELECT node, url FROM nodes WHERE rows > 0 ORDER BY node")
    return {row["node"]: {row["url"].rpartition("/")[0]} for row in pages}


def together(name: str, indexed: IndexedStore, labels: Labels) -> Iterator[Figure]:
    """Words and links in one similarity."""
    share = indexed.automatic_link_weight
    yield Figure(f"{name}: share of links, as far as they agree with words", share)
    options: list[tuple[str, float | Literal["auto"]]] = [("words alone", 0.0), ("words and links", "auto")]
    for what, wish in (*options, ("half words, half links", 0.5)):
        yield Figure(f"{name}: P@10 of `pagekin related`, {what}", round(by_answers(indexed, labels, wish), 3))


def asked(labels: Labels) -> list[int]:
    """Some of the labelled nodes, evenly."""
    nodes = sorted(labels)
    return nodes[:: max(1, len(nodes) // _ASKED)]


def share_of_kin(labels: Labels, node: int, others: list[int]) -> float:
    """The share of ten that have a category in common with a node, of labelled pages."""
    known = [other for other in others if other in labels][:10]
    return sum(bool(labels[node] & labels[other]) for other in known) / 10


def by_links(links: LinkAnalysis, labels: Labels) -> float:
    """P@10 of the pages that are most similar by links alone."""
    pairs = links.graph.pairs
    ends = np.concatenate([pairs.first, pairs.second]), np.concatenate([pairs.second, pairs.first])
    order = np.lexsort((ends[1], -np.tile(pairs.value, 2), ends[0]))
    rows = np.searchsorted(ends[0][order], np.arange(len(links.link_graph) + 1))
    beside = ends[1][order]
    shares = [share_of_kin(labels, node, beside[rows[node] : rows[node + 1]].tolist()) for node in asked(labels)]
    return float(np.mean(shares))


def by_answers(indexed: IndexedStore, labels: Labels, share: float | Literal["auto"]) -> float:
    """P@10 of answers."""
    urls = [row[0] for row in indexed.catalog.each("SELECT url FROM nodes ORDER BY node")]
    number = {url: node for node, url in enumerate(urls)}
    options = RelatedOptions(limit=20, min_similarity=0.0, link_share=share, group_duplicates=False, explain=False)
    answers = ((node, indexed.related(urls[node], options)) for node in asked(labels))
    return float(np.mean([share_of_kin(labels, node, [number[each.url] for each in found]) for node, found in answers]))


def cross_topic(links: LinkAnalysis, tops: Labels) -> float:
    """The chance that a page of two tops is a stronger bridge than a page of one."""
    nodes = {node for node, each in tops.items() if len(each) > 1} | set(asked(tops))
    strengths = {
        each.node: each.strength for each in links.cross_topic_pages(0.5, lambda all_: [n for n in all_ if n in nodes])
    }
    two = np.array([strengths[node] for node in strengths if len(tops[node]) > 1])
    one = np.array([strengths[node] for node in strengths if len(tops[node]) == 1])
    return float(((two[:, None] > one).mean() + (two[:, None] >= one).mean()) / 2) if len(two) and len(one) else 0.0


def draw(indexed: IndexedStore, labels: Path) -> None:
    """Figure 3: one page at four alphas. Figure 4: the graph, with the categories."""
    FIGURES.mkdir(exist_ok=True)
    links = analyse_links(indexed)
    clusters = links.clusters(_SHOWN)
    nodes = [clusters.node, *sorted({n for alpha in ALPHAS for n, _ in clusters.order(alpha)[:8]})]
    leaves = np.searchsorted(clusters.subgraph.nodes, nodes).tolist()
    names = [each["title"] for each in links.named(nodes)]
    with written_whole(FIGURES / "alphas.svg") as path:
        draw_dendrograms(path, "svg", [clusters.hierarchy(alpha).restrict_to(leaves) for alpha in ALPHAS], names, 0)
    tight = analyse_links(indexed, LinkOptions(delta=0.2))
    write_graph(tight, FIGURES / "graph.svg", "svg", read_categories(tight, str(labels), 1)[0])


if __name__ == "__main__":
    main()
