"""Threshold graphs as GraphML, GEXF (Gephi) and plots (figure 4); pairs of pages as CSV and Parquet; dendrograms."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from pagekin.figures.charts import new_figure, save_figure
from pagekin.links.clusters import Hierarchy
from pagekin.links.measures import SimilarPairs
from pagekin.model.arrays import Floats, Int64s

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # invalid in XML 1.0
_BATCH = 1 << 16  # pairs
MAX_NODES = 300  # of a plotted graph
_LINES, _QUERY, _UNLABELLED = "#37474f", "#c62828", "#b0bec5"
_TITLE_LENGTH = 40
_MAX_ANNOTATED = 60  # nodes; more names would overlap


@dataclass(frozen=True)
class Vertex:
    """A page of a graph that represents `pages` near-identical pages."""

    node: int
    url: str
    title: str
    subgraph: int
    pages: int


def write_graphml(path: Path, vertices: Sequence[Vertex], edges: SimilarPairs) -> None:
    """Write a graph as GraphML: nodes with url, label, subgraph and pages; edges with their similarity as weight."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for name, kind in (("url", "string"), ("label", "string"), ("subgraph", "int"), ("pages", "int")):
            file.write(f'<key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>\n')
        file.write('<key id="weight" for="edge" attr.name="weight" attr.type="double"/>\n')
        file.write('<graph edgedefault="undirected">\n')
        for each in vertices:
            values = {"url": each.url, "label": each.title, "subgraph": each.subgraph, "pages": each.pages}
            data = "".join(f'<data key="{name}">{escape(_valid(value))}</data>' for name, value in values.items())
            file.write(f'<node id="{each.node}">{data}</node>\n')
        for first, second, value in _rows(edges):
            file.write(f'<edge source="{first}" target="{second}"><data key="weight">{value:.6f}</data></edge>\n')
        file.write("</graph>\n</graphml>\n")


def write_gexf(path: Path, vertices: Sequence[Vertex], edges: SimilarPairs) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://gexf.net/1.3" version="1.3">\n')
        file.write('<graph defaultedgetype="undirected">\n<attributes class="node">\n')
        for name, kind in (("url", "string"), ("subgraph", "integer"), ("pages", "integer")):
            file.write(f'<attribute id="{name}" title="{name}" type="{kind}"/>\n')
        file.write("</attributes>\n<nodes>\n")
        for each in vertices:
            values = {"url": each.url, "subgraph": each.subgraph, "pages": each.pages}
            data = "".join(f'<attvalue for="{name}" value={quoteattr(_valid(v))}/>' for name, v in values.items())
            label = quoteattr(_valid(each.title or each.url))
            file.write(f'<node id="{each.node}" label={label}><attvalues>{data}</attvalues></node>\n')
        file.write("</nodes>\n<edges>\n")
        for k, (first, second, value) in enumerate(_rows(edges)):
            file.write(f'<edge id="{k}" source="{first}" target="{second}" weight="{value:.6f}"/>\n')
        file.write("</edges>\n</graph>\n</gexf>\n")


def write_csv(path: Path, urls: Mapping[int, str], pairs: SimilarPairs) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["first", "second", "similarity"])
        for first, second, value in _rows(pairs):
            writer.writerow([urls[first], urls[second], f"{value:.6f}"])


def write_parquet(path: Path, urls: Mapping[int, str], pairs: SimilarPairs) -> None:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    names = ("first", "second", "similarity")
    schema = pyarrow.schema(zip(names, (pyarrow.string(), pyarrow.string(), pyarrow.float64()), strict=True))
    with path.open("wb") as file, ParquetWriter(file, schema) as writer:
        for begin in range(0, len(pairs), _BATCH):
            part = slice(begin, begin + _BATCH)
            ends = [[urls[node] for node in each[part].tolist()] for each in (pairs.first, pairs.second)]
            writer.write_table(pyarrow.table([*ends, pairs.value[part]], schema=schema))


GRAPH_WRITERS = {"graphml": write_graphml, "gexf": write_gexf}
PAIR_WRITERS = {"csv": write_csv, "parquet": write_parquet}


def _rows(pairs: SimilarPairs) -> Iterator[tuple[int, int, float]]:
    for begin in range(0, len(pairs), _BATCH):
        part = slice(begin, begin + _BATCH)
        columns = (each[part].tolist() for each in (pairs.first, pairs.second, pairs.value))
        yield from zip(*columns, strict=True)


def _valid(value: object) -> str:
    return _NOT_XML.sub("\ufffd", str(value))


def draw_dendrograms(path: Path, kind: str, hierarchies: Sequence[Hierarchy], names: Sequence[str], page: int) -> None:
    """Draw one dendrogram per alpha, two in a row; the name of the query page is red."""
    columns = min(2, len(hierarchies))
    rows = -(-len(hierarchies) // columns)
    figure = new_figure(7.0 * columns, rows * (1.2 + 0.24 * len(names)))
    for k, hierarchy in enumerate(hierarchies, 1):
        _draw_dendrogram(figure.add_subplot(rows, columns, k), hierarchy, names, page)
    save_figure(figure, path, kind)


def _draw_dendrogram(axes: "Axes", hierarchy: Hierarchy, names: Sequence[str], page: int) -> None:
    n, leaves = len(hierarchy), hierarchy.leaves.tolist()
    y = np.zeros(2 * n - 1)
    y[leaves] = np.arange(n)
    height = np.concatenate([np.zeros(n), hierarchy.heights])
    for k, (a, b) in enumerate(hierarchy.merges.tolist()):
        y[n + k] = (y[a] + y[b]) / 2
        top = height[n + k]
        axes.plot([height[a], top, top, height[b]], [y[a], y[a], y[b], y[b]], color=_LINES, linewidth=1.1)
    axes.set_yticks(range(n), [_shorten(names[leaf]) for leaf in leaves], fontsize=8)
    axes.get_yticklabels()[leaves.index(page)].set_color(_QUERY)
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("combination distance", fontsize=8)
    axes.set_title(f"α = {hierarchy.alpha:g}", fontsize=10)
    axes.tick_params(length=0, labelsize=8)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def dendrogram_lines(hierarchy: Hierarchy, names: Sequence[str]) -> list[str]:
    r"""Draw a dendrogram as text, with a line for each leaf and each height of a merge.

    >>> from pagekin.links.clusters import build_hierarchy
    >>> distance = np.array([[0, 0.2, 0.9], [0.2, 0, 0.7], [0.9, 0.7, 0]])
    >>> print("\n".join(dendrogram_lines(build_hierarchy(distance, 0.5), ["oak", "beech", "gale"])))
    0.800
    ├── 0.200
    │   ├── oak
    │   └── beech
    └── gale
    """
    n = len(hierarchy)
    lines: list[str] = []
    stack = [(2 * n - 2, "", "")]  # a cluster, the prefix of its line, the prefix of the lines below it
    while stack:
        cluster, prefix, below = stack.pop()
        if cluster < n:
            lines.append(prefix + names[cluster])
            continue
        lines.append(f"{prefix}{hierarchy.heights[cluster - n]:.3f}")
        *others, last = _children(hierarchy, cluster)
        stack.append((last, below + "└── ", below + "    "))
        stack += [(child, below + "├── ", below + "│   ") for child in others[::-1]]
    return lines


def _children(hierarchy: Hierarchy, cluster: int) -> list[int]:
    """The clusters that are merged at the height of this cluster, in one merge or several."""
    n, height = len(hierarchy), hierarchy.heights[cluster - len(hierarchy)]
    children, stack = [], [cluster]
    while stack:
        each = stack.pop()
        if each >= n and hierarchy.heights[each - n] == height:
            stack += hierarchy.merges[each - n][::-1].tolist()
        else:
            children.append(each)
    return children


def draw_graph(
    path: Path, kind: str, edges: SimilarPairs, nodes: Int64s, names: Sequence[str], labels: Sequence[str]
) -> None:
    """Draw pages as dots, coloured by label, and their edges. Pages with an empty label are grey."""
    figure = new_figure(10.0, 8.0)
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    axes = figure.add_subplot()
    first, second = np.searchsorted(nodes, edges.first), np.searchsorted(nodes, edges.second)
    position = _layout(len(nodes), first, second, edges.value)
    opacity = np.minimum(0.6, 0.05 + edges.value)
    segments = list(position[np.column_stack([first, second])])
    axes.add_collection(LineCollection(segments, colors=_LINES, alpha=opacity, linewidths=0.6, zorder=1))
    distinct = sorted(set(labels))
    for k, label in enumerate(distinct, -("" in distinct)):
        x, y = position[[each == label for each in labels]].T
        colour = colormaps["tab10" if len(distinct) <= 11 else "tab20"](k % 20) if label else _UNLABELLED
        axes.scatter(x, y, s=26, color=colour, label=_shorten(label) or None, zorder=2, linewidths=0)
    if len(nodes) <= _MAX_ANNOTATED:
        for name, place in zip(names, position, strict=True):
            axes.annotate(_shorten(name), place, fontsize=6, xytext=(3, 3), textcoords="offset points")
    if distinct != [""]:
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    axes.set_axis_off()
    save_figure(figure, path, kind)


def _layout(count: int, first: Int64s, second: Int64s, value: Floats, rounds: int = 300) -> Floats:
    """Force-directed positions of nodes (Fruchterman and Reingold), from a fixed start, so deterministic."""
    angle = np.arange(count) * 2.399963  # the golden angle spreads points evenly over a disc
    position = np.sqrt(np.arange(count) + 0.5)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    position /= np.sqrt(max(1, count))
    ideal = 1.0 / np.sqrt(max(1, count))
    for step in range(rounds):
        between_all = position[:, None] - position[None]
        square = np.maximum((between_all**2).sum(axis=2), 1e-9)
        force = (between_all * (ideal**2 / square)[:, :, None]).sum(axis=1)
        between = position[first] - position[second]
        attraction = between * (np.linalg.norm(between, axis=1) * value / ideal)[:, None]
        np.add.at(force, first, -attraction)
        np.add.at(force, second, attraction)
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        position += force / length * np.minimum(length, 0.1 * (1.0 - step / rounds))
        position -= 0.01 * position  # keeps unconnected parts within the plot
    return np.asarray(position, np.float64)


def _shorten(name: str) -> str:
    flat = " ".join(name.split()).replace("$", r"\$")  # matplotlib reads $ as mathematics
    return flat if len(flat) <= _TITLE_LENGTH else flat[: _TITLE_LENGTH - 1] + "…"
