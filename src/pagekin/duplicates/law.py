"""How much of a Bloom filter matches by mistake: the paper's section 2.3.1, its expectation for whole k, and a trial.

Sets A and B have n elements each, c of them in common. Every element of B whose k bits are all set in A's filter of
m bits is inferred to be in A; the law is about the bits of these, as a share of all bits that are set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pagekin.errors import need

RATIOS = (1, 2, 4, 8, 10, 11)  # m / n, as in the paper


def paper_ratio(bits_an_element: float, common: float = 0.0) -> float:
    """The paper's ratio of matched bits, for the real k = (m / n) ln 2 and a share of common elements.

    >>> [round(paper_ratio(each), 4) for each in RATIOS]
    [0.6973, 0.4658, 0.1929, 0.0295, 0.0113, 0.007]
    """
    inferred = common + (1 - common) * math.exp(-bits_an_element * math.log(2) ** 2)
    return 2 * (1 - math.exp(-inferred * math.log(2)))


def whole_hashes(bits_an_element: float) -> int:
    """The whole number of hash functions next to (m / n) ln 2, at least one."""
    return max(1, round(bits_an_element * math.log(2)))


def paper_ratio_for(bits_an_element: float, hashes: int, common: float = 0.0) -> float:
    """The paper's ratio before k = (m / n) ln 2 is put in."""
    load = hashes / bits_an_element
    inferred = common + (1 - common) * (1 - math.exp(-load)) ** hashes
    return math.expm1(-load * inferred) / math.expm1(-load)


def expected_ratio(bits_an_element: float, hashes: int, common: float = 0.0) -> float:
    """The same with one thing more taken into account: an element is a false match because its bits are set in A.

    So its bits lie among the set ones, not anywhere in the filter, and coincide more often.
    """
    load = hashes / bits_an_element
    full = -math.expm1(-load)
    matched = -math.expm1(-load * common)
    false_matches = (1 - common) * full**hashes
    return 1 - (1 - matched / full) * math.exp(-load * false_matches / full)


def simulated_ratio(elements: int, bits: int, hashes: int, common: float, rounds: int, seed: int) -> float:
    """The mean ratio in a number of trials with random sets."""
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


def draw_law(path: Path, ratios: Sequence[float] = RATIOS, elements: int = 1000, seed: int = 2005) -> None:
    """Draw the law and trials of it into a file, such as law.svg."""
    need("matplotlib", what="a picture", extra="plots")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    whole = [whole_hashes(each) for each in ratios]
    trials = [
        simulated_ratio(elements, round(each * elements), k, 0.0, 20, seed)
        for each, k in zip(ratios, whole, strict=True)
    ]
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    smooth = np.linspace(min(ratios), max(ratios), 200).tolist()
    axes.plot(smooth, [paper_ratio(each) for each in smooth], label="the paper's formula, real k", color="0.6")
    expected = [expected_ratio(each, k) for each, k in zip(ratios, whole, strict=True)]
    axes.plot(ratios, expected, "o", fillstyle="none", markersize=10, label="expected for whole k", color="black")
    axes.plot(ratios, trials, "+", markersize=10, label=f"trials with {elements:,} elements, whole k", color="black")
    axes.set(xlabel="bits an element, m / n", ylabel="share of set bits that match by mistake", ylim=(0, None))
    axes.legend(frameon=False)
    with rc_context({"svg.hashsalt": "law"}):  # or every picture would have other names in it
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
