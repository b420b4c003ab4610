"""Where descent begins: flat, or near OKAPI.

The units of a network are spread over its inputs: the k-th of them bends where the k-th of evenly spaced inputs lies
(evenly in the logarithm for tf and length, most of which are small), so that each has something to learn. Flat, their
outer weights are small random numbers from the seed. Near OKAPI, outer weights make the functions as near as can be to
sqrt(tf (K + 1) / (K + tf)), sqrt(idf) and 1 / (K ((1 - B) + B ndl) + 1): roots, since both pages bring theirs. In both
cases linked pages score about 1, the margin of the loss.
"""

from __future__ import annotations

import numpy as np

from pagekin.learning.corpus import CorpusPart
from pagekin.learning.networks import InputScales, Units, bases, inputs_of, learned_of
from pagekin.learning.ranking import Ranker, sampled
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.weighting import Learned, Okapi

FLAT, OKAPI = STARTS = ("flat", "okapi")
_EDGE = 0.005  # of the inputs lie below the first unit, and above the last
_SPREAD = 0.1  # of the outer weights
_LEAST = 1e-3  # a function is nowhere smaller
_RIDGE = 1e-3  # keeps outer weights small where inputs do not tell
_ASKED = 200  # pages whose links tell the scale


def start(part: CorpusPart, scales: InputScales, units: Units, seed: int, okapi: Okapi | None = None) -> Floats:
    """The parameters to begin with: flat, or near OKAPI."""
    random = np.random.default_rng((seed, 1))
    theta = np.zeros(bases(units)[-1])
    for n, ((value, times), k) in enumerate(zip(inputs_of(part), units, strict=True)):
        base = bases(units)[n]
        centre, width = _spread(value, times, k, even=n == 1)
        inner = 1.0 / (width * scales.scale[n])
        theta[base : base + k] = inner
        theta[base + k : base + 2 * k] = -inner * (centre - scales.shift[n]) * scales.scale[n]
        theta[base + 2 * k : base + 3 * k] = random.normal(0.0, _SPREAD / np.sqrt(k), k)
    targets = [np.ones(len(value)) for value, _ in inputs_of(part)] if okapi is None else _near(part, okapi)
    fit = _level if okapi is None else _fit
    fit(theta, part, scales, units, targets)
    score = _linked_score(part, learned_of(theta, scales, units), seed)
    scale = score ** (-1.0 / 6.0) if score > 0.0 else 1.0  # a score is a sum of products of six values
    fit(theta, part, scales, units, [scale * each for each in targets])
    return theta


def _near(part: CorpusPart, okapi: Okapi) -> list[Floats]:
    """What the functions should say, at each input, to be near OKAPI."""
    (tf, _), (idf, _), (length, _) = inputs_of(part)
    k, b = okapi.k, okapi.b
    shorter = 1.0 / (k * ((1.0 - b) + b * length / max(part.mean_length, 1.0)) + 1.0)
    return [np.sqrt(tf * (k + 1.0) / (k + tf)), np.sqrt(idf), shorter / shorter.mean()]


def _level(theta: Floats, part: CorpusPart, scales: InputScales, units: Units, targets: list[Floats]) -> None:
    """Let networks say about the same everywhere."""
    for n, target in enumerate(targets):
        theta[bases(units)[n + 1] - 1] = np.log(np.expm1(target[0]))


def _fit(theta: Floats, part: CorpusPart, scales: InputScales, units: Units, targets: list[Floats]) -> None:
    """Choose outer weights such that networks say nearly what they should, by least squares."""
    for n, ((value, times), k, target) in enumerate(zip(inputs_of(part), units, targets, strict=True)):
        base = bases(units)[n]
        x = (value - scales.shift[n]) * scales.scale[n]
        hidden = np.tanh(np.multiply.outer(x, theta[base : base + k]) + theta[base + k : base + 2 * k])
        weight = np.sqrt(times / times.sum())
        rows = np.column_stack([hidden, np.ones(len(x))]) * weight[:, None]
        wanted = np.log(np.expm1(np.maximum(target, _LEAST))) * weight
        ridge = _RIDGE * np.eye(k + 1)
        found = np.linalg.lstsq(np.vstack([rows, ridge]), np.concatenate([wanted, np.zeros(k + 1)]), rcond=None)[0]
        theta[base + 2 * k : base + 3 * k + 1] = found


def _linked_score(part: CorpusPart, weighting: Learned, seed: int) -> float:
    """What linked pages score in the mean."""
    asked = sampled(part, _ASKED, seed)
    total = 0.0
    for rows, scores in Ranker(part, weighting, asked).rows():
        for k, row in zip(rows.tolist(), scores, strict=True):
            total += float(row[asked.right[asked.right_offsets[k] : asked.right_offsets[k + 1]]].sum())
    return total / max(1, len(asked.right))


def _spread(value: Floats, times: Int64s, units: int, even: bool) -> tuple[Floats, Floats]:
    """Where the units of a network bend, and over which width."""
    if len(value) == 0:
        return np.zeros(units), np.ones(units)
    reached = np.cumsum(times) / times.sum()
    low = float(value[np.searchsorted(reached, _EDGE)])
    high = float(value[np.minimum(np.searchsorted(reached, 1.0 - _EDGE), len(value) - 1)])
    if even:
        width = max(high - low, 1e-3) / units
        return np.asarray(low + width * (np.arange(units) + 0.5), np.float64), np.full(units, width, np.float64)
    low = max(low, 1.0)
    step = np.log(max(high / low, 1.1)) / units
    centre = low * np.exp(step * (np.arange(units) + 0.5))
    return centre, centre * step
