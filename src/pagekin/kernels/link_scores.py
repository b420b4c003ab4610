"""Scores of pages by links, for one page at a time: proximity, coupling, and the share of its links.

Columns come from files; numbers in them that are out of range are skipped.
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Floats, Int64s, Integer
from pagekin.model.link_columns import LinkColumns, LinkLimits


class LinkSums(NamedTuple):
    """Scratch arrays over all nodes, zero before and after every call, and a list of nodes with room for each twice."""

    total: Floats
    best: Floats
    nodes: Int64s


@inlined
def counts(anchor: int, links: LinkColumns) -> bool:
    """Whether the link of an anchor counts."""
    return bool(links.counting[np.uint64(anchor >> 3)] >> (anchor & 7) & 1)


@inlined
def target_node(anchor: int, links: LinkColumns) -> Integer:
    """The node that an anchor leads to, or -1 if its link does not count."""
    if not counts(anchor, links) or links.target[anchor] >= len(links.node_of_target):
        return np.int64(-1)
    node = links.node_of_target[links.target[anchor]]
    return np.int64(node) if node < len(links.in_degree) else np.int64(-1)


@inlined
def anchor_of(link: int, links: LinkColumns) -> int:
    """The place of a link among all anchors, or -1 if it does not count."""
    page = np.uint64(links.page[link])  # numba would look out for negative numbers
    if page >= len(links.offsets) - 1:
        return -1
    anchor = links.offsets[page] + np.int64(links.anchor[link])
    return anchor if anchor < len(links.start) and counts(anchor, links) else -1


@kernel
def proximity(node: int, half: float, links: LinkColumns, limits: LinkLimits, sums: LinkSums) -> tuple[Int64s, Floats]:
    """The nodes that are cited close to a node, and their scores.

    The sum over citing pages of half / (half + words apart), for the closest links on the page, divided by
    sqrt((in-degree + 3) (in-degree + 3)).
    """
    begin, end = links.cited[node], links.cited[node + 1]
    counted = end - begin
    if counted > limits.links:
        counted = 0
        for link in range(begin, end):
            counted += anchor_of(link, links) >= 0
    wanted = min(counted, limits.links)
    found = seen = taken = 0
    while begin < end:
        page = links.page[begin]
        near, last = found, -1
        while begin < end and links.page[begin] == page:
            anchor = anchor_of(begin, links)
            begin += 1
            if anchor < 0:
                continue
            seen += 1
            if wanted < counted and seen - 1 != taken * counted // wanted:  # evenly spaced
                continue
            taken += 1
            # Between two links of a page to the node, each is the closest one to what it is closer to.
            if last >= 0:
                near = _close_links(last, 1, anchor, node, half, links, limits, sums, near)
            before = max(last, links.offsets[page] - 1)
            near = _close_links(anchor, -1, before, node, half, links, limits, sums, near)
            last = anchor
        if last >= 0:
            near = _close_links(last, 1, links.offsets[page + 1], node, half, links, limits, sums, near)
        for k in range(found, near):
            target = sums.nodes[k]
            if sums.total[target] == 0.0:
                sums.nodes[found] = target
                found += 1
            sums.total[target] += sums.best[target]
            sums.best[target] = 0.0
    nodes = sums.nodes[:found].copy()
    scores = np.empty(found)
    for k in range(found):
        norm = np.sqrt((links.in_degree[node] + 3.0) * (links.in_degree[nodes[k]] + 3.0))
        scores[k] = sums.total[nodes[k]] / norm
        sums.total[nodes[k]] = 0.0
    return nodes, scores


@inlined
def _close_links(
    anchor: int,
    step: int,
    stop: int,
    node: int,
    half: float,
    links: LinkColumns,
    limits: LinkLimits,
    sums: LinkSums,
    near: int,
) -> int:
    """Note the nodes that the links on one side of an anchor, up to `stop`, lead to, with the weight of the closest.

    `near` nodes are noted already; the return value is how many there are then.
    """
    place, other = np.int64(links.start[anchor]), anchor
    for _ in range(limits.anchors):
        other += step
        if (other - stop) * step >= 0:
            break
        apart = abs(np.int64(links.start[other]) - place)
        if apart > limits.words:
            break
        target = target_node(other, links)
        if target < 0 or target == node:
            continue
        if sums.best[target] == 0.0:
            sums.nodes[near] = target
            near += 1
        sums.best[target] = max(sums.best[target], half / (half + apart))
    return near


@kernel
def coupling(node: int, links: LinkColumns, limits: LinkLimits, sums: LinkSums) -> tuple[Int64s, Floats]:
    """The nodes that link to the same pages as a node, and the cosines of their vectors of link targets.

    Link targets with the fewest in-links come first, as long as the in-links of all are at most `limits.postings`.
    """
    begin, end = links.offsets[links.rows[node]], links.offsets[links.rows[node + 1]]
    keys = np.empty(end - begin, np.int64)
    targets = 0
    for anchor in range(begin, end):
        target = target_node(anchor, links)
        if target >= 0 and sums.best[target] == 0.0:
            sums.best[target] = 1.0
            keys[targets] = np.int64(links.in_degree[target]) << 32 | target
            targets += 1
    keys = np.sort(keys[:targets])
    left = limits.postings
    found = 0
    for k in range(targets):
        target = keys[k] & 0xFFFFFFFF
        sums.best[target] = 0.0
        left -= links.cited[target + 1] - links.cited[target]
        square = links.idf[target] * links.idf[target]
        if left < 0 or square == 0.0:
            continue
        last = np.int64(node)
        for link in range(np.uint64(links.cited[target]), np.uint64(links.cited[target + 1])):
            citing = np.int64(links.node[links.page[link]]) if links.page[link] < len(links.node) else last
            if citing != last and anchor_of(link, links) >= 0:
                if citing != node:
                    if sums.total[citing] == 0.0:
                        sums.nodes[found] = citing
                        found += 1
                    sums.total[citing] += square
                last = citing
    nodes = sums.nodes[:found].copy()
    scores = np.empty(found)
    for k in range(found):
        scores[k] = sums.total[nodes[k]] / (np.float64(links.norm[node]) * np.float64(links.norm[nodes[k]]))
        sums.total[nodes[k]] = 0.0
    return nodes, scores


@kernel
def link_shares(node: int, half: float, links: LinkColumns, sums: LinkSums) -> tuple[Int64s, Floats]:
    """The nodes that a node links to, and their shares of its links."""
    found = 0
    for anchor in range(links.offsets[links.rows[node]], links.offsets[links.rows[node + 1]]):
        target = target_node(anchor, links)
        if target >= 0:
            if sums.total[target] == 0.0:
                sums.nodes[found] = target
                found += 1
            sums.total[target] += half / (half + links.start[anchor])
    nodes = sums.nodes[:found].copy()
    scores = np.empty(found)
    total = 1.0
    for k in range(found):
        scores[k] = np.sqrt(sums.total[nodes[k]]) * links.rarity[nodes[k]]
        sums.total[nodes[k]] = 0.0
        total += scores[k]
    return nodes, scores / total


@kernel
def rarest_shared(queries: Int64s, nodes: Int64s, most: int, links: LinkColumns, sums: LinkSums) -> Int64s:
    """For each node the nodes that both it and the queries link to, the fewest in-links first; then -1.

    At most `most` of them are listed; of equal ones the first.
    """
    shared, found = np.full((len(nodes), most), -1, np.int64), 0
    for query in queries:
        if query < len(links.in_degree):
            for anchor in range(links.offsets[links.rows[query]], links.offsets[links.rows[query + 1]]):
                target = target_node(anchor, links)
                if target >= 0 and sums.best[target] == 0.0:
                    sums.best[target] = 1.0
                    sums.nodes[found] = target
                    found += 1
    for k in range(len(nodes)):
        if nodes[k] < len(links.in_degree):
            for anchor in range(links.offsets[links.rows[nodes[k]]], links.offsets[links.rows[nodes[k] + 1]]):
                target = target_node(anchor, links)
                if target >= 0 and sums.best[target] > 0.0:
                    _insert_rarest(target, shared[k], links)
    for k in range(found):
        sums.best[sums.nodes[k]] = 0.0
    return shared


@inlined
def _insert_rarest(target: Integer, listed: Int64s, links: LinkColumns) -> None:
    """Insert a node into a list in the order of in-links, unless it is there; the list ends with -1."""
    place, degree = 0, links.in_degree[target]
    while place < len(listed) and listed[place] >= 0:
        other = links.in_degree[listed[place]]
        if other > degree or (other == degree and listed[place] >= target):
            break
        place += 1
    if place < len(listed) and listed[place] != target:
        for i in range(len(listed) - 1, place, -1):
            listed[i] = listed[i - 1]
        listed[place] = target


@kernel
def closest_citing(own: Int64s, row: Int64s, position: Int64s, count: int, most: int) -> tuple[Int64s, Int64s]:
    """For each of `count` nodes the pages that link both to it and to a page, and the words between the two links.

    A position has the citing page in its upper 32 bits and the number of the word in the lower: those of the links to
    the page are `own`, ascending; those of the links to others are `position`, with the number of the node in `row`.
    The closest `most` pages come first, equally close ones in order; then -1.
    """
    page, apart = np.full((count, most), -1, np.int64), np.zeros((count, most), np.int64)
    for i in range(len(row)):
        citing, distance = position[i] >> 32, np.int64(-1)
        after = np.searchsorted(own, position[i])
        for near in range(max(after - 1, 0), min(after + 1, len(own))):
            if own[near] >> 32 == citing:
                words = abs(own[near] - position[i])
                distance = words if distance < 0 else min(distance, words)
        if distance >= 0:
            _insert_closest(citing, distance, page[row[i]], apart[row[i]])
    return page, apart


@inlined
def _insert_closest(citing: Integer, distance: Integer, page: Int64s, apart: Int64s) -> None:
    """Insert a page into a list in the order of distances; a page that is there keeps the smaller one."""
    place = 0
    while place < len(page) and page[place] >= 0 and (apart[place], page[place]) < (distance, citing):
        if page[place] == citing:
            return
        place += 1
    last = place
    while last < len(page) - 1 and page[last] != citing and page[last] >= 0:
        last += 1
    if place < len(page):
        for i in range(last, place, -1):
            page[i], apart[i] = page[i - 1], apart[i - 1]
        page[place], apart[place] = citing, distance
