"""Term weights applied to the parts of bags (paper, section 3.3)."""

import math

import numpy as np

from pagekin.model.arrays import Floats, Int64s, UInt32s
from pagekin.model.bags import Contents
from pagekin.model.strategy import Strategy
from pagekin.model.weighting import Weighting

LEAST = 1e-30  # the smallest factor or weight: a page whose terms all weigh next to nothing still has a bag


def term_factors(strategy: Strategy, frequency: Int64s, bags: int) -> Floats:
    """The factor of each term's count by its document frequency df (figure 7); never 0."""
    df = np.maximum(frequency, 1).astype(np.float64)
    if (weighting := strategy.weighting_named(strategy.frequency_weight)) is not None:
        factors = weighting.rarity(frequency, bags)
    elif strategy.frequency_weight == "log":
        factors = 1.0 / (1.0 + np.log2(df))
    elif strategy.frequency_weight == "sqrt":
        factors = 1.0 / np.sqrt(df)
    elif strategy.frequency_weight == "nmdf":
        center, width = nmdf_shape(bags, strategy.nmdf_center, strategy.nmdf_width)
        factors = np.exp(-0.5 * ((np.log(df) - center) / width) ** 2)
    else:
        factors = np.ones(len(df))
    return np.maximum(factors, LEAST)


def nmdf_shape(bags: int, center: float | None = None, width: float | None = None) -> tuple[float, float]:
    """Centre and width of the non-monotonic weight, a bell curve over ln df.

    By default the centre is half of ln of the number of bags: a term in the square root of the collection counts most.
    The width is 15 % of that ln, and at least 1. On collections of 5,000 to 9,000 pages a centre of 4 to 5 and a width
    of 1 to 1.5 were best.
    """
    size = math.log(max(bags, 2))
    return (0.5 * size if center is None else center, max(1.0, 0.15 * size) if width is None else width)


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
