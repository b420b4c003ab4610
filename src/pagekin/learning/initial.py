"""The initial parameters of the networks: flat functions, or functions that approximate OKAPI.

The hidden units of a network are spread over its inputs, evenly for idf and evenly in the logarithm for tf and length
(most of which are small), so that every unit has something to learn. With the flat start, outer weights are small
random numbers. With the OKAPI start, they are fitted to sqrt(tf (K + 1) / (K + tf)), sqrt(idf) and
1 / (K ((1 - B) + B ndl) + 1): square roots, since both pages contribute a factor. In both cases linked pages score
about 1, the margin of the loss.
"""

import numpy as np

from pagekin.learning.corpus import CorpusPart
from pagekin.learning.networks import InputScales, Units, inputs_of, parameter_offsets, weighting_from
from pagekin.learning.ranking import Ranker, sample_queries
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.weighting import Learned, Okapi

FLAT, OKAPI = STARTS = ("flat", "okapi")
_TAIL = 0.005  # share of the inputs below the first unit, and above the last
_SPREAD = 0.1  # standard deviation of the outer weights
_MIN_VALUE = 1e-3  # of a function
_RIDGE = 1e-3  # keeps outer weights small where inputs do not determine them
_QUERIES = 200  # pages whose links determine the scale


def initial_parameters(
    part: CorpusPart, scales: InputScales, units: Units, seed: int, okapi: Okapi | None = None
) -> Floats:
    """The parameters to begin with: flat, or near OKAPI."""
    random = np.random.default_rng((seed, 1))
    offsets = parameter_offsets(units)
    parameters = np.zeros(offsets[-1])
    for n, ((value, times), k) in enumerate(zip(inputs_of(part), units, strict=True)):
        inner, bias, outer = np.split(parameters[offsets[n] : offsets[n + 1] - 1], 3)  # views
        centre, width = _unit_positions(value, times, k, linear=n == 1)
        inner[:] = 1.0 / (width * scales.scale[n])
        bias[:] = -inner * (centre - scales.shift[n]) * scales.scale[n]
        outer[:] = random.normal(0.0, _SPREAD / np.sqrt(k), k)
    _fit(parameters, part, scales, units, okapi, 1.0)
    score = _mean_linked_score(part, weighting_from(parameters, scales, units), seed)
    # A score is a sum of products of six function values.
    _fit(parameters, part, scales, units, okapi, score ** (-1.0 / 6.0) if score > 0.0 else 1.0)
    return parameters


def _fit(
    parameters: Floats, part: CorpusPart, scales: InputScales, units: Units, okapi: Okapi | None, scale: float
) -> None:
    """Make each function roughly constant or, by weighted least squares with a ridge, similar to its part of OKAPI."""
    offsets = parameter_offsets(units)
    if okapi is None:
        parameters[[end - 1 for end in offsets[1:]]] = np.log(np.expm1(scale))
        return
    for n, ((value, times), k, target) in enumerate(
        zip(inputs_of(part), units, _okapi_targets(part, okapi), strict=True)
    ):
        inner, bias, _ = np.split(parameters[offsets[n] : offsets[n + 1] - 1], 3)
        hidden = np.tanh(np.multiply.outer((value - scales.shift[n]) * scales.scale[n], inner) + bias)
        weight = np.sqrt(times / times.sum())
        rows = np.column_stack([hidden, np.ones(len(value))]) * weight[:, None]
        wanted = np.log(np.expm1(np.maximum(scale * target, _MIN_VALUE))) * weight
        ridge = _RIDGE * np.eye(k + 1)
        found = np.linalg.lstsq(np.vstack([rows, ridge]), np.concatenate([wanted, np.zeros(k + 1)]), rcond=None)[0]
        parameters[offsets[n + 1] - k - 1 : offsets[n + 1]] = found


def _okapi_targets(part: CorpusPart, okapi: Okapi) -> list[Floats]:
    """The values of the three functions at each input that approximate OKAPI."""
    (tf, _), (idf, _), (length, _) = inputs_of(part)
    k, b = okapi.k, okapi.b
    shorter = 1.0 / (k * ((1.0 - b) + b * length / max(part.mean_length, 1.0)) + 1.0)
    return [np.sqrt(tf * (k + 1.0) / (k + tf)), np.sqrt(idf), shorter / shorter.mean()]


def _mean_linked_score(part: CorpusPart, weighting: Learned, seed: int) -> float:
    queries = sample_queries(part, _QUERIES, seed)
    total = 0.0
    for rows, scores in Ranker(part, weighting, queries).rows():
        for k, row in zip(rows.tolist(), scores, strict=True):
            total += float(row[queries.relevant_to(k)].sum())
    return total / max(1, len(queries.relevant))


def _unit_positions(value: Floats, times: Int64s, units: int, linear: bool) -> tuple[Floats, Floats]:
    """The inputs at which the units of a network are centred, and their widths."""
    if len(value) == 0:
        return np.zeros(units), np.ones(units)
    cumulative = np.cumsum(times) / times.sum()
    low = float(value[np.searchsorted(cumulative, _TAIL)])
    high = float(value[np.minimum(np.searchsorted(cumulative, 1.0 - _TAIL), len(value) - 1)])
    if linear:
        width = max(high - low, 1e-3) / units
        return np.asarray(low + width * (np.arange(units) + 0.5), np.float64), np.full(units, width, np.float64)
    low = max(low, 1.0)
    step = np.log(max(high / low, 1.1)) / units
    centre = low * np.exp(step * (np.arange(units) + 0.5))
    return centre, centre * step
