"""Term weights applied to the parts of bags (paper, 3.3)."""

import numpy as np

from pagekin.model.arrays import Floats, Int64s, UInt32s
from pagekin.model.bags import Contents
from pagekin.model.strategy import Strategy
from pagekin.model.term_weights import LEAST, TERM_WEIGHTS
from pagekin.model.weighting import Weighting


def factors(strategy: Strategy, frequency: Int64s, bags: int) -> Floats:
    """The factor that the count of each term is multiplied by; never 0."""
    weight = TERM_WEIGHTS[strategy.frequency_weight]
    return weight.factors(frequency, bags, *strategy.values(weight.settings))


def weighed_contents(weighting: Weighting, contents: Contents, term: UInt32s, count: UInt32s, length: Int64s) -> Floats:
    """The weights of terms, given their counts in pages and the lengths of these; 0 for terms not in the contents."""
    words = len(contents.frequency)
    word = np.minimum(term, words)  # citing nodes are not in contents
    weight = weighting.weigh(count, np.append(contents.frequency, 0)[word], length, contents.size)
    weight[np.append(contents.stopped, True)[word]] = 0.0
    return np.where(count > 0, np.maximum(weight, LEAST), 0.0)


def shares_of_others(strategy: Strategy, voices: Int64s) -> tuple[Floats, Floats]:
    """The shares of windows and of citing nodes in the bags of nodes, given the number of citing pages of each node.
    The rest is the share of the contents.

    The more pages cite a node, the more reliable is what they say about it. A page with few in-links, such as a mirror,
    is described by its own contents.
    """
    heard = voices / np.maximum(voices + strategy.evidence, 1e-9) if strategy.content else np.ones(len(voices))
    links = strategy.link_share if strategy.content or strategy.anchors else 1.0
    anchors = strategy.anchor_share if strategy.content else 1.0 - links * strategy.links
    return heard * (anchors * strategy.anchors), heard * (links * strategy.links)
