"""Links sorted by where they lead: what lists and sets do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


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
