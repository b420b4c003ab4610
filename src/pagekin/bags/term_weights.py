"""Term weights applied to the parts of bags (paper, section 3.3)."""

import numpy as np

from pagekin.model.arrays import Floats, Int64s, UInt32s
from pagekin.model.bags import Contents
from pagekin.model.strategy import Strategy
from pagekin.model.term_weights import LEAST, TERM_WEIGHTS
from pagekin.model.weighting import Weighting


def term_factors(strategy: Strategy, frequency: Int64s, bags: int) -> Floats:
    """The factor of each term's count, from its document frequency; never 0."""
    weight = TERM_WEIGHTS[strategy.frequency_weight]
    return weight.factors(frequency, bags, *strategy.values(weight.settings))


def content_weights(weighting: Weighting, contents: Contents, term: UInt32s, count: UInt32s, length: Int64s) -> Floats:
    """The weights of terms with these counts in pages of these lengths; 0 for a term with count 0."""
    word = np.minimum(term, len(contents.frequency))  # citing nodes are in no contents
    weight = weighting.weigh(count, np.append(contents.frequency, 0)[word], length, contents.size)
    weight[np.append(contents.stopped, True)[word]] = 0.0
    return np.where(count > 0, np.maximum(weight, LEAST), 0.0)


def outside_shares(strategy: Strategy, evidence: Int64s) -> tuple[Floats, Floats]:
    """The shares of anchor windows and of citing nodes in each bag; the rest is the share of the contents.

    The shares grow with the evidence (citing pages, and the title): what one page says of another is an opinion. A page
    with few in-links, such as a mirror, is described by its own words.
    """
    trust = evidence / np.maximum(evidence + strategy.evidence, 1e-9) if strategy.content else np.ones(len(evidence))
    links = strategy.link_share if strategy.content or strategy.anchors else 1.0
    anchors = strategy.anchor_share if strategy.content else 1.0 - links * strategy.links
    return trust * (anchors * strategy.anchors), trust * (links * strategy.links)
