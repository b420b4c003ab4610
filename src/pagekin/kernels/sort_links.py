"""The links of pages, sorted by target; and degrees."""

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
    excluded_flags: int,
    excluded_pages: Bools,
) -> tuple[Int64s, UInt32s, UInt32s]:
    """(offsets, page, anchor) of the links to each node, by page and then by anchor.

    Page k has the anchors offsets[k] to offsets[k + 1]. Skipped: targets without a node, links of a node to itself,
    links with a flag of `excluded_flags`, and links of pages in `excluded_pages`.
    """
    ends = np.zeros(nodes + 1, np.int64)
    page = np.empty(0, np.uint32)
    anchor = np.empty(0, np.uint32)
    for placing in (False, True):
        if placing:  # the beginning of the links of a node; placing them moves it to their end
            total = 0
            for node in range(nodes + 1):
                count = ends[node]
                ends[node] = total
                total += count
            page = np.empty(total, np.uint32)
            anchor = np.empty(total, np.uint32)
        for k in range(len(offsets) - 1):
            if excluded_pages[k]:
                continue
            for i in range(offsets[k], offsets[k + 1]):
                if target[i] >= len(node_of_target) or flags[i] & excluded_flags:
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
    """The in-degree and out-degree of each node. The pages of a node are consecutive."""
    incoming = np.zeros(len(offsets) - 1, np.int64)
    outgoing = np.zeros(len(offsets) - 1, np.int64)
    for node in range(len(offsets) - 1):
        for i in range(offsets[node], offsets[node + 1]):
            source = node_of_page[page[i]]
            if i == offsets[node] or source != node_of_page[page[i - 1]]:
                incoming[node] += 1
                outgoing[source] += 1
    return incoming, outgoing
