"""Pages by words and links together, as answers mix them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pagekin.evaluation.systems import UNLISTED, System
from pagekin.model.arrays import Floats, Int64s


class BlendedSystem:
    """Pages by (1 - share) times their similarity by words plus share times that by links."""

    longest = None

    def __init__(
        self, words: System, nodes: Int64s, beside: Callable[[int], tuple[Int64s, Floats]], share: float
    ) -> None:
        """`beside` gives the nodes that links make similar to a node, and how similar; -1 is a page without a node."""
        self.name = f"{words.name}, {share:g} by links"
        self._words, self._nodes, self._beside, self._share = words, nodes, beside, share
        self._place = {node: page for page, node in enumerate(nodes.tolist()) if node >= 0}

    def scores(self, sources: Int64s) -> Floats:
        """The similarities, to nine places."""
        words = np.maximum(self._words.scores(sources), 0.0)
        own = words[np.arange(len(sources)), sources][:, np.newaxis]
        similar = np.clip(np.divide(words, own, out=np.zeros_like(words), where=own > 0.0), 0.0, 1.0)
        rows: Floats = ((1.0 - self._share) * similar + self._share * self._links(sources)).round(9)
        return np.where(rows > 0.0, rows, UNLISTED)

    def _links(self, sources: Int64s) -> Floats:
        rows = np.zeros((len(sources), len(self._nodes)))
        for row, node in zip(rows, self._nodes[sources].tolist(), strict=True):
            near, similar = self._beside(node) if node >= 0 else (np.empty(0, np.int64), np.empty(0))
            for other, value in zip(near.tolist(), similar.tolist(), strict=True):
                if other in self._place:
                    row[self._place[other]] = value
        return rows
