"""Statistics of the links that count: what an index adds to the links of its store.

Scores by links are computed from the store's own columns, so the link graph is not stored twice. Added are, for every
anchor, whether its link counts under the strategy; and for every page its in-degree and its norm for coupling.
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.model.arrays import Array, Bytes, Floats, Int64s, UInt32s, row_ranges
from pagekin.model.link_columns import LinkColumns
from pagekin.store.checks import check, check_below, check_finite
from pagekin.store.columns import open_array, write_columns
from pagekin.store.pieces import write_pieces
from pagekin.store.stage_columns import Sums, gathered, ranges_of
from pagekin.store.stage_files import Stages
from pagekin.store.store import Store

_SHRINKAGE = 3.0  # average link targets that the norm of every page has in addition to its own
_PIECE = 1 << 22  # links of a job
_AT_ONCE = 1 << 20  # nodes of a job, or eighths of anchors


class _Counted(NamedTuple):
    """A store, 1 for each of its links that counts, and the node of each of its pages."""

    store: Store
    links: Bytes
    node_of_page: UInt32s


def write_link_statistics(
    folder: Path, store: Store, counting_links: Bytes, node_of_page: UInt32s, stages: Stages
) -> None:
    """Write the statistics of a store's links; `counting_links` is 1 for every link that counts.

    The norm of a page is the length of the vector of its link targets, each with weight idf. Its square is increased by
    three times the mean squared weight: pages with few links have a small coupling, even if all their links agree.
    """
    pages, anchors = len(store.nodes) - 1, len(store.reading.anchors.start)
    counted, nodes = _Counted(store, counting_links, node_of_page), row_ranges(store.links.offsets[: pages + 1], _PIECE)
    sums = {"counts": Sums(anchors, "anchor", np.uint8), "squares": Sums(pages, "citing", np.float64)}
    found = gathered(stages, "cited", _cited, counted, nodes or [(0, 0)], sums)
    linked = int(found["linked"].sum())
    mean = math.fsum(found["squares_of_linked"].tolist()) / linked if linked else 1.0
    write_columns(folder, {"nodes.in_degree": found["in_degree"]})
    norms = found["squares"], _SHRINKAGE * mean
    write_pieces(stages, folder, "norms", _norms, norms, ranges_of(pages, _AT_ONCE))
    write_pieces(stages, folder, "packing", _packed, found["counts"], ranges_of(anchors, 8 * _AT_ONCE))


def _cited(counted: _Counted, nodes: tuple[int, int]) -> dict[str, Array]:
    """The in-degrees of some nodes, and what the links to them add to their anchors and to the pages they are on."""
    store, (first, last) = counted.store, nodes
    links, pages = store.links, len(store.nodes) - 1
    ends = links.offsets[first : last + 1]
    link = ends[0] + np.flatnonzero(counted.links[ends[0] : ends[-1]])
    page = links.page[link]
    anchor = store.reading.anchors.offsets[page] + links.anchor[link]
    cited = np.searchsorted(ends, link, side="right") - 1
    citing = counted.node_of_page[page].astype(np.int64)  # ascending for each cited node
    distinct = (np.diff(cited, prepend=-1) != 0) | (np.diff(citing, prepend=-1) != 0)
    cited, citing = cited[distinct], citing[distinct]
    in_degree = np.bincount(cited, minlength=last - first).astype(np.uint32)
    squares = np.square(_idf(in_degree, pages))
    nodes_citing, place = np.unique(citing, return_inverse=True)
    linked = in_degree > 0
    return {
        "in_degree": in_degree,
        "linked": np.array([np.count_nonzero(linked)]),
        "squares_of_linked": np.array([squares[linked].sum()]),
        "anchor": anchor,
        "counts": np.ones(len(anchor), np.uint8),
        "citing": nodes_citing,
        "squares": np.bincount(place, squares[cited], len(nodes_citing)),
    }


def _norms(norms: tuple[Floats, float], nodes: range) -> dict[str, Array]:
    squares, added = norms
    return {"nodes.coupling_norm": np.sqrt(squares[nodes.start : nodes.stop] + added).astype(np.float32)}


def _packed(counts: Bytes, anchors: range) -> dict[str, Array]:
    return {"anchors.counting": np.packbits(counts[anchors.start : anchors.stop], bitorder="little")}


def open_link_columns(folder: Path, store: Store) -> LinkColumns:
    """Open the links of a store with the statistics that its index, in `folder`, has of them.

    Kernels index arrays without bounds checks. Types and lengths are therefore checked here; numbers of pages, anchors
    and targets are too many for that, and kernels skip those that are out of range.
    """
    links, anchors, targets, pages = store.links, store.reading.anchors, store.node_of_target, len(store.nodes) - 1
    counting = open_array(folder, "anchors.counting", np.uint8, below=None)
    in_degree = open_array(folder, "nodes.in_degree", np.uint32, below=pages + 1)
    norm = open_array(folder, "nodes.coupling_norm", np.float32, below=None)
    check_finite(norm, folder / "nodes.coupling_norm.npy", least=1e-30)
    fitting = {
        folder / "anchors.counting.npy": len(counting) == (len(anchors.start) + 7) // 8,
        folder / "nodes.in_degree.npy": len(in_degree) == pages,
        folder / "nodes.coupling_norm.npy": len(norm) == pages,
    }
    for path, fits in fitting.items():
        check(fits, path, "it belongs to other pages")
    rarity = np.log1p(pages / (1.0 + in_degree)) / np.log1p(max(1, pages))
    cited = (links.offsets, links.page, links.anchor)
    citing = (anchors.offsets, anchors.start, anchors.target, counting, targets)
    by_node = (in_degree, norm, _idf(in_degree, pages), rarity)
    columns: tuple[Array, ...] = (store.nodes, _node_of_page(store.nodes), *cited, *citing, *by_node)
    return LinkColumns._make(map(_read_only, columns))


def check_link_columns(links: LinkColumns, path: Path) -> None:
    """Raise StoreError unless every link that counts leads to a page."""
    counting = np.unpackbits(links.counting, count=len(links.target), bitorder="little").astype(bool)
    targets = links.target[counting]
    check_below(targets, len(links.node_of_target), path)
    check_below(links.node_of_target[targets], len(links.in_degree), path)


def _read_only(column: Array) -> Array:
    """The column, read-only as maps are: for others, such as empty columns, kernels would be compiled again."""
    view = column.view()
    view.flags.writeable = False
    return view


def _node_of_page(nodes: Int64s) -> UInt32s:
    return np.repeat(np.arange(len(nodes) - 1, dtype=np.uint32), np.diff(nodes))


def _idf(in_degree: UInt32s, pages: int) -> Floats:
    return np.asarray(np.log(pages / np.maximum(in_degree, 1)), np.float64)
