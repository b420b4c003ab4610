"""Links, as pages have them, sorted by where they lead."""

from __future__ import annotations

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Bools, Bytes, Int64s, UInt32s


@kernel
def in_links(
    offsets: Int64s,
    target: UInt32s,
    flags: Bytes,
    node_of_target: UInt32s,
    node_of_page: UInt32s,
    nodes: int,
    refused: int,
    refusing: Bools,
) -> tuple[Int64s, UInt32s, UInt32s]:
    """(offsets, page, anchor) of the links to each node, in the order of pages and of the anchors of each page.

    No link: a target that has no node, a link of a node to itself, one with a flag of `refused`, and those of pages
    that are `refusing`. Page k has the anchors offsets[k] to offsets[k+1].
    """
    ends = np.zeros(nodes + 1, np.int64)
    page = np.empty(0, np.uint32)
    anchor = np.empty(0, np.uint32)
    for placing in (False, True):
        if placing:  # where the links of a node begin; they move it to their end
            total = 0
            for node in range(nodes + 1):
                count = ends[node]
                ends[node] = total
                total += count
            page = np.empty(total, np.uint32)
            anchor = np.empty(total, np.uint32)
        for k in range(len(offsets) - 1):
            if refusing[k]:
                continue
            for i in range(offsets[k], offsets[k + 1]):
                if target[i] >= len(node_of_target) or flags[i] & refused:
                    continue
                node = node_of_target[target[i]]
                if node == node_of_page[k]:
                    continue
                if placing:
                    page[ends[node]] = k
                    anchor[ends[node]] = i - offsets[k]
                ends[node] += 1
    for node in range(nodes, 0, -1):
        ends[node] = ends[node - 1]
    ends[0] = 0
    return ends, page, anchor


@kernel
def degrees(offsets: Int64s, page: UInt32s, node_of_page: UInt32s) -> tuple[Int64s, Int64s]:
    """How many other nodes link to each node, and how many it links to; the pages of a node lie side by side."""
    incoming = np.zeros(len(offsets) - 1, np.int64)
    outgoing = np.zeros(len(offsets) - 1, np.int64)
    for node in range(len(offsets) - 1):
        for i in range(offsets[node], offsets[node + 1]):
            source = node_of_page[page[i]]
            if i == offsets[node] or source != node_of_page[page[i - 1]]:
                incoming[node] += 1
                outgoing[source] += 1
    return incoming, outgoing
