"""Scores of pages under weightings, by their definitions: pages are words and how often they are there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pagekin.model.weighting import Learned, Network, Okapi

Page = Mapping[int, int]


def value(network: Network, x: float) -> float:
    """A perceptron, as the paper writes it.

    >>> value(Network(0.0, 1.0, (), (), (), 0.0), 5.0)  # ln 2
    0.6931471805599453
    """
    scaled = (x - network.shift) * network.scale
    units = zip(network.inner, network.bias, network.outer, strict=True)
    return math.log(1.0 + math.exp(sum(v * math.tanh(w * scaled + b) for w, b, v in units) + network.last))


@dataclass(frozen=True)
class Collection:
    """Pages; words on more than `most` of them are stop words."""

    pages: Sequence[Page]
    most: float

    def frequency(self, word: int) -> int:
        return sum(word in page for page in self.pages)

    def kept(self, page: Page) -> dict[int, int]:
        return {word: count for word, count in page.items() if self.frequency(word) <= self.most}

    def weights(self, page: Page, kind: Okapi | Learned) -> dict[int, float]:
        """What the words of a page weigh."""
        kept = self.kept(page)
        length = sum(kept.values())
        mean = sum(sum(self.kept(each).values()) for each in self.pages) / len(self.pages)
        weights = {}
        for word, count in kept.items():
            idf = math.log(len(self.pages) / max(1, self.frequency(word)))
            if isinstance(kind, Okapi):
                normal = length / mean if mean else 0.0
                weights[word] = (kind.k + 1) * count * idf / (kind.k * ((1 - kind.b) + kind.b * normal) + count)
            else:
                weights[word] = value(kind.tf, count) * value(kind.idf, idf) * value(kind.length, length)
        return weights

    def score(self, asked: Page, page: Page, kind: Okapi | Learned) -> float:
        """The inner product; what is asked for has binary weights if the kind is Okapi."""
        there, mine = self.weights(page, kind), self.weights(asked, kind)
        return math.fsum((1.0 if isinstance(kind, Okapi) else mine[word]) * there.get(word, 0.0) for word in mine)
