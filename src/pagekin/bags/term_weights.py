"""Term weights by document frequency (paper, section 3.3 and figure 7)."""

import math

import numpy as np

from pagekin.model.arrays import Floats, Int64s, UInt32s
from pagekin.model.bags import Contents
from pagekin.model.strategy import Strategy
from pagekin.model.weighting import Weighting

_LEAST = 1e-30  # instead of 0: a page all of whose terms have almost no weight still has a bag


def nmdf_shape(strategy: Strategy, bags: int) -> tuple[float, float]:
    """Centre and width of the non-monotonic weight, over ln df.

    The default centre is 0.5 ln(bags): a term in sqrt(bags) of the bags weighs most. The default width is 15 % of
    ln(bags), at least 1. Collections of 5,000 to 9,000 pages did best at a centre of 4 to 5 and a width of 1 to 1.5.
    """
    size = math.log(max(bags, 2))
    center = strategy.nmdf_center if strategy.nmdf_center is not None else 0.5 * size
    width = strategy.nmdf_width if strategy.nmdf_width is not None else max(1.0, 0.15 * size)
    return center, width


def term_factors(strategy: Strategy, frequency: Int64s, bags: int) -> Floats:
    """The factor of each term's count, from its document frequency."""
    df = np.maximum(frequency, 1).astype(np.float64)
    if strategy.frequency_weight == "none":
        return np.ones(len(df))
    if strategy.frequency_weight == "log":
        return np.asarray(1.0 / (1.0 + np.log2(df)))
    if strategy.frequency_weight == "sqrt":
        return np.asarray(1.0 / np.sqrt(df))
    weighting = strategy.weighting_named(strategy.frequency_weight)
    if weighting is not None:
        return np.maximum(weighting.rarity(frequency, bags), _LEAST)
    center, width = nmdf_shape(strategy, bags)
    return np.maximum(np.exp(-0.5 * ((np.log(df) - center) / width) ** 2), _LEAST)


def content_weights(weighting: Weighting, contents: Contents, term: UInt32s, count: UInt32s, length: Int64s) -> Floats:
    """The weights of terms with these counts in pages of these lengths; 0 for a term with count 0."""
    word = np.minimum(term, len(contents.frequency))  # citing nodes are in no contents
    weight = weighting.weigh(count, np.append(contents.frequency, 0)[word], length, contents.size)
    weight[np.append(contents.stopped, True)[word]] = 0.0
    return np.where(count > 0, np.maximum(weight, _LEAST), 0.0)


def outside_shares(strategy: Strategy, evidence: Int64s) -> tuple[Floats, Floats]:
    """The shares of anchor windows and of citing nodes in each bag; the rest is the share of the contents.

    The shares grow with the evidence (citing pages, and the title): what one page says of another is an opinion. A page
    with few in-links, such as a mirror, is described by its own words.
    """
    trust = evidence / np.maximum(evidence + strategy.evidence, 1e-9) if strategy.content else np.ones(len(evidence))
    links = strategy.link_share if strategy.content or strategy.anchors else 1.0
    anchors = strategy.anchor_share if strategy.content else 1.0 - links * strategy.links
    return trust * (anchors * strategy.anchors), trust * (links * strategy.links)
