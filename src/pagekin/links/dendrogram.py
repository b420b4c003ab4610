"""Pictures: dendrograms (figure 3 of the paper) and neighbourhood graphs (figure 4). They need matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import need
from pagekin.links.hierarchy import Hierarchy
from pagekin.links.measures import SimilarPairs
from pagekin.model.arrays import Floats, Int64s

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("svg", "png", "pdf")
MOST = 300  # pages in the picture of a graph
_INK, _PAGE, _NONE = "#37474f", "#c62828", "#b0bec5"
_LONGEST = 40  # letters of a title


def draw_dendrograms(path: Path, kind: str, hierarchies: Sequence[Hierarchy], names: Sequence[str], page: int) -> None:
    """A panel for each alpha, two a row; the name of the page that was asked for is red."""
    columns = min(2, len(hierarchies))
    rows = -(-len(hierarchies) // columns)
    figure = _figure(7.0 * columns, rows * (1.2 + 0.24 * len(names)))
    for k, hierarchy in enumerate(hierarchies, 1):
        axes = figure.add_subplot(rows, columns, k)
        _dendrogram(axes, hierarchy, names, page)
    _save(figure, path, kind)


def _dendrogram(axes: Axes, hierarchy: Hierarchy, names: Sequence[str], page: int) -> None:
    n, leaves = len(hierarchy), hierarchy.leaves.tolist()
    at = np.zeros(2 * n - 1)
    at[leaves] = np.arange(n)
    height = np.concatenate([np.zeros(n), hierarchy.heights])
    for k, (a, b) in enumerate(hierarchy.merges.tolist()):
        at[n + k] = (at[a] + at[b]) / 2
        top = height[n + k]
        axes.plot([height[a], top, top, height[b]], [at[a], at[a], at[b], at[b]], color=_INK, linewidth=1.1)
    axes.set_yticks(range(n), [_short(names[leaf]) for leaf in leaves], fontsize=8)
    axes.get_yticklabels()[leaves.index(page)].set_color(_PAGE)
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("combination distance", fontsize=8)
    axes.set_title(f"α = {hierarchy.alpha:g}", fontsize=10)
    axes.tick_params(length=0, labelsize=8)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def draw_graph(
    path: Path, kind: str, edges: SimilarPairs, nodes: Int64s, names: Sequence[str], groups: Sequence[str]
) -> None:
    """Pages as dots, edges between them, a colour for each group."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    place = {node: k for k, node in enumerate(nodes.tolist())}
    first, second = (
        np.array([place[node] for node in each.tolist()], np.int64) for each in (edges.first, edges.second)
    )
    spot = _laid_out(len(nodes), first, second, edges.value)
    figure = _figure(10.0, 8.0)
    axes = figure.add_subplot()
    strong = np.minimum(0.6, 0.05 + edges.value)
    lines = LineCollection(
        list(spot[np.column_stack([first, second])]), colors=_INK, alpha=strong, linewidths=0.6, zorder=1
    )
    axes.add_collection(lines)
    known = sorted(set(groups))  # pages without a group come first, in grey
    for k, group in enumerate(known, -("" in known)):
        mine = [place for place, each in enumerate(groups) if each == group]
        colour = colormaps["tab10" if len(known) <= 11 else "tab20"](k % 20) if group else _NONE
        axes.scatter(
            spot[mine, 0], spot[mine, 1], s=26, color=colour, label=_short(group) or None, zorder=2, linewidths=0
        )
    if len(nodes) <= 60:
        for name, (x, y) in zip(names, spot, strict=True):
            axes.annotate(_short(name), (x, y), fontsize=6, xytext=(3, 3), textcoords="offset points")
    if known != [""]:
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    axes.set_axis_off()
    _save(figure, path, kind)


def _laid_out(count: int, first: Int64s, second: Int64s, value: Floats, rounds: int = 300) -> NDArray[np.float64]:
    """Places for nodes: all push each other away, edges pull (Fruchterman and Reingold). No chance is in it."""
    turn = np.arange(count) * 2.399963  # the golden angle: even on a disc, and never in line
    spot = np.sqrt(np.arange(count) + 0.5)[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    spot /= np.sqrt(max(1, count))
    ideal = 1.0 / np.sqrt(max(1, count))
    for round_ in range(rounds):
        apart = spot[:, None] - spot[None]
        square = np.maximum((apart**2).sum(axis=2), 1e-9)
        push = (apart * (ideal**2 / square)[:, :, None]).sum(axis=1)
        between = spot[first] - spot[second]
        pull = between * (np.linalg.norm(between, axis=1) * value / ideal)[:, None]
        np.add.at(push, first, -pull)
        np.add.at(push, second, pull)
        length = np.maximum(np.linalg.norm(push, axis=1, keepdims=True), 1e-9)
        spot += push / length * np.minimum(length, 0.1 * (1.0 - round_ / rounds))
        spot -= 0.01 * spot  # keeps parts that hang on nothing in the picture
    return np.asarray(spot, np.float64)


def _figure(width: float, height: float) -> Figure:
    need("matplotlib", what="a picture", extra="plots")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Figure, path: Path, kind: str) -> None:
    import matplotlib

    # The same picture has the same bytes.
    dates: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with matplotlib.rc_context({"svg.hashsalt": "pagekin", "svg.fonttype": "none"}):
        figure.savefig(path, format=kind, dpi=130, metadata=dates.get(kind))


def _short(name: str) -> str:
    flat = " ".join(name.split()).replace("$", r"\$")  # no mathematics
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
