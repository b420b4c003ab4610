"""Graphs as sets of edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Edges = Mapping[tuple[int, int], float]


def components(nodes: int, edges: Edges) -> list[int]:
    """The smallest node that each is connected with.

    >>> components(4, {(1, 3): 0.5})
    [0, 1, 2, 1]
    """
    smallest = list(range(nodes))
    for _ in range(nodes):
        for a, b in edges:
            smallest[a] = smallest[b] = min(smallest[a], smallest[b])
    return smallest


def beside(nodes: int, edges: Edges) -> list[list[tuple[int, float]]]:
    """The neighbours of every node, in order.

    >>> beside(3, {(0, 2): 0.5})
    [[(2, 0.5)], [], [(0, 0.5)]]
    """
    both = [*edges.items(), *(((b, a), value) for (a, b), value in edges.items())]
    return [sorted((b, value) for (a, b), value in both if a == node) for node in range(nodes)]


def goodness(nodes: int, edges: Edges, start: int) -> dict[int, float]:
    """The best product along any way from `start`, for every node that there is a way to.

    >>> goodness(4, {(0, 1): 0.5, (1, 2): 0.5, (0, 2): 0.125}, 0)
    {0: 1.0, 1: 0.5, 2: 0.25}
    """
    best = {start: 1.0}
    for _ in range(nodes):
        for node, good in list(best.items()):
            for other, value in beside(nodes, edges)[node]:
                if good * value > best.get(other, 0.0):
                    best[other] = good * value
    return best


def reached(nodes: int, edges: Edges, start: int, most: int) -> list[int]:
    """The best of them.

    >>> reached(4, {(0, 1): 0.5, (1, 2): 0.5, (0, 3): 0.5}, 0, 3)
    [0, 1, 3]
    """
    best = goodness(nodes, edges, start)
    return sorted(best, key=lambda node: (-best[node], node))[:most]


def distances(nodes: list[int], edges: Edges) -> list[list[float]]:
    """1 - value between any two of some nodes.

    >>> distances([0, 2], {(0, 2): 0.25})
    [[0.0, 0.75], [0.75, 0.0]]
    """
    return [[0.0 if a == b else 1.0 - edges.get((min(a, b), max(a, b)), 0.0) for b in nodes] for a in nodes]


@dataclass(frozen=True)
class Web:
    """The anchors (target, flags) of each page, the nodes of targets and pages, and what is not followed."""

    anchors: Sequence[Sequence[tuple[int, int]]]
    node_of_target: Sequence[int]
    node_of_page: Sequence[int]
    nodes: int
    refused: int
    refusing: Sequence[bool]

    def links(self) -> Iterator[tuple[int, int, int]]:
        """(node, page, anchor) of every link."""
        for page, anchors in enumerate(self.anchors):
            for anchor, (target, flags) in enumerate(anchors):
                node = self.node_of_target[target] if target < len(self.node_of_target) else None
                follows = not self.refusing[page] and not flags & self.refused
                if node is not None and node != self.node_of_page[page] and follows:
                    yield node, page, anchor


def in_links(web: Web) -> list[list[tuple[int, int]]]:
    """(page, anchor) of the links to each node."""
    return [[(page, anchor) for node, page, anchor in web.links() if node == wanted] for wanted in range(web.nodes)]


def degrees(web: Web) -> tuple[list[int], list[int]]:
    """How many other nodes link to each node, and how many it links to."""
    pairs = {(web.node_of_page[page], node) for node, page, _ in web.links()}
    incoming = [sum(node == wanted for _, node in pairs) for wanted in range(web.nodes)]
    return incoming, [sum(source == wanted for source, _ in pairs) for wanted in range(web.nodes)]
