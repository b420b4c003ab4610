"""False matches of Bloom filters: the ratio of section 2.3.1 of the paper, a corrected expectation, and a simulation.

Sets A and B have n elements each; a share of them is common. An element of B is inferred to be in A if its k bits are
all set in A's filter of m bits. The ratio is the share of A's set bits that belong to inferred elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pagekin.figures.charts import new_figure, save_figure

RATIOS = (1, 2, 4, 8, 10, 11)  # m / n, as in the paper


def paper_ratio(bits_per_element: float, common: float = 0.0) -> float:
    """The ratio by the paper's formula, in which k = (m / n) ln 2 is a real number.

    >>> [round(paper_ratio(each), 4) for each in RATIOS]
    [0.6973, 0.4658, 0.1929, 0.0295, 0.0113, 0.007]
    """
    inferred = common + (1 - common) * math.exp(-bits_per_element * math.log(2) ** 2)
    return 2 * (1 - math.exp(-inferred * math.log(2)))


def best_hashes(bits_per_element: float) -> int:
    """The whole number of hash functions nearest to (m / n) ln 2, at least one."""
    return max(1, round(bits_per_element * math.log(2)))


def paper_ratio_for_hashes(bits_per_element: float, hashes: int, common: float = 0.0) -> float:
    """The ratio by the paper's formula for a given number of hash functions."""
    load = hashes / bits_per_element
    inferred = common + (1 - common) * (1 - math.exp(-load)) ** hashes
    return math.expm1(-load * inferred) / math.expm1(-load)


def expected_ratio(bits_per_element: float, hashes: int, common: float = 0.0) -> float:
    """The expected ratio. Unlike the paper, it counts that the bits of a false match are all among A's set bits.

    Bits that are drawn from the set bits coincide more often than bits that are drawn from the whole filter.
    """
    load = hashes / bits_per_element
    full = -math.expm1(-load)
    matched = -math.expm1(-load * common)
    false_matches = (1 - common) * full**hashes
    return 1 - (1 - matched / full) * math.exp(-load * false_matches / full)


def simulated_ratio(elements: int, bits: int, hashes: int, common: float, rounds: int, seed: int) -> float:
    """The mean ratio over some rounds with random sets."""
    random = np.random.default_rng(seed)
    shared = round(common * elements)
    ratios = []
    for _ in range(rounds):
        a, b = random.integers(0, bits, (2, elements, hashes))
        b[:shared] = a[:shared]
        in_a = np.zeros(bits, np.bool_)
        in_a[a] = True
        matched = np.zeros(bits, np.bool_)
        matched[b[in_a[b].all(axis=1)]] = True
        ratios.append(matched.sum() / in_a.sum())
    return float(np.mean(ratios))


def draw_false_matches(path: Path, ratios: Sequence[float] = RATIOS, elements: int = 1000, seed: int = 2005) -> None:
    """Draw the formulas and simulations of them as SVG."""
    hashes = [best_hashes(each) for each in ratios]
    pairs = list(zip(ratios, hashes, strict=True))
    simulated = [simulated_ratio(elements, round(each * elements), k, 0.0, 20, seed) for each, k in pairs]
    figure = new_figure(7, 4)
    axes = figure.add_subplot()
    smooth = np.linspace(min(ratios), max(ratios), 200).tolist()
    axes.plot(smooth, [paper_ratio(each) for each in smooth], label="the paper's formula, real k", color="0.6")
    expected = [expected_ratio(each, k) for each, k in pairs]
    axes.plot(ratios, expected, "o", fillstyle="none", markersize=10, label="expected for whole k", color="black")
    axes.plot(ratios, simulated, "+", markersize=10, label=f"simulated, {elements:,} elements, whole k", color="black")
    axes.set(xlabel="bits per element, m / n", ylabel="share of set bits with false matches", ylim=(0, None))
    axes.legend(frameon=False)
    save_figure(figure, path, "svg")
