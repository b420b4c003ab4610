"""What the frequency of a term makes of its weight (paper, 3.3 and figure 7)."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pagekin.model.arrays import Floats, Int64s, UInt32s
from pagekin.model.bags import Contents
from pagekin.model.strategy import Strategy
from pagekin.model.weighting import Weighting

_LEAST = 1e-30
Shares: TypeAlias = NDArray[np.float64]


def nmdf_shape(strategy: Strategy, bags: int) -> tuple[float, float]:
    """Centre and width of the non-monotonic weight, over ln df.

    By default the centre is half of ln of the number of bags: a term in the square root of the collection tells
    most. The width is 15 % of it, and at least 1. Collections of 5,000 to 9,000 pages were seen to do best at a centre
    of 4 to 5 and a width of 1 to 1.5.
    """
    size = math.log(max(bags, 2))
    center = strategy.nmdf_center if strategy.nmdf_center is not None else 0.5 * size
    width = strategy.nmdf_width if strategy.nmdf_width is not None else max(1.0, 0.15 * size)
    return center, width


def factors(strategy: Strategy, frequency: Int64s, bags: int) -> NDArray[np.float64]:
    """What each term's count is multiplied with."""
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
    # Never quite nothing: a page all of whose terms are far from the centre still has a bag.
    return np.maximum(np.exp(-0.5 * ((np.log(df) - center) / width) ** 2), _LEAST)


def weighed_contents(weighting: Weighting, contents: Contents, term: UInt32s, count: UInt32s, length: Int64s) -> Floats:
    """What terms weigh that are so often in pages of these lengths; nothing if they are not in their contents."""
    words = len(contents.frequency)
    word = np.minimum(term, words)  # citing nodes are in no contents
    weight = weighting.weigh(count, np.append(contents.frequency, 0)[word], length, contents.size)
    weight[np.append(contents.stopped, True)[word]] = 0.0
    # Never quite nothing, as above.
    return np.where(count > 0, np.maximum(weight, _LEAST), 0.0)


def shares_of_others(strategy: Strategy, voices: Int64s) -> tuple[Shares, Shares]:
    """The shares of windows and of citing nodes in the bags of nodes of which so many speak. What is left is that of
    the contents.

    One page's words about another are an opinion; the more pages speak, the more they are worth. A page that few
    link to, such as a mirror, is thus known by what it says itself.
    """
    heard = voices / np.maximum(voices + strategy.evidence, 1e-9) if strategy.content else np.ones(len(voices))
    links = strategy.link_share if strategy.content or strategy.anchors else 1.0
    anchors = strategy.anchor_share if strategy.content else 1.0 - links * strategy.links
    return heard * (anchors * strategy.anchors), heard * (links * strategy.links)
