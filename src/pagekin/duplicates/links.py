"""The links of pages -> sets, which are compared as those of chunks are (the paper, end of section 1)."""

from __future__ import annotations

import numpy as np

from pagekin.duplicates.sets import Chunks, offsets_of
from pagekin.model.arrays import Bytes, Int64s, UInt32s, UInt64s
from pagekin.model.reading import Anchors


def linked_nodes(anchors: Anchors, node_of_target: UInt32s, node_of_page: UInt32s) -> tuple[Int64s, UInt64s]:
    """The nodes that each page links to, each once and not itself, as rows: (offsets, nodes)."""
    page = np.repeat(np.arange(len(node_of_page), dtype=np.uint64), anchors.lengths())
    known = anchors.target < len(node_of_target)
    page, node = page[known], node_of_target[anchors.target[known]]
    others = node != node_of_page[page]
    pairs = np.unique(page[others] << np.uint64(32) | node[others])
    counts = np.bincount((pairs >> np.uint64(32)).astype(np.int64), minlength=len(node_of_page))
    return offsets_of(counts), pairs & np.uint64(0xFFFFFFFF)


def link_sets(offsets: Int64s, nodes: UInt64s, silent: Bytes) -> Chunks:
    """The sets of links, without those that are silent."""
    page = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[silent == 0]
    counts = np.bincount(page, minlength=len(offsets) - 1)
    return Chunks(offsets_of(counts), _stirred(nodes[silent == 0]), np.zeros((len(counts), 2), np.uint64))


def _stirred(numbers: UInt64s) -> UInt64s:
    """Numbers with even bits: splitmix64 (Steele, Lea and Flood 2014)."""
    value = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ value >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ value >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(value ^ value >> np.uint64(31))
