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
    parameters = np.zeros(parameter_offsets(units)[-1])
    for n, ((value, times), k) in enumerate(zip(inputs_of(part), units, strict=True)):
        base = parameter_offsets(units)[n]
        centre, width = _unit_positions(value, times, k, linear=n == 1)
        inner = 1.0 / (width * scales.scale[n])
        parameters[base : base + k] = inner
        parameters[base + k : base + 2 * k] = -inner * (centre - scales.shift[n]) * scales.scale[n]
        parameters[base + 2 * k : base + 3 * k] = random.normal(0.0, _SPREAD / np.sqrt(k), k)
    targets = [np.ones(len(value)) for value, _ in inputs_of(part)] if okapi is None else _okapi_targets(part, okapi)
    fit = _fit_constants if okapi is None else _fit_outer_weights
    fit(parameters, part, scales, units, targets)
    score = _mean_linked_score(part, weighting_from(parameters, scales, units), seed)
    scale = score ** (-1.0 / 6.0) if score > 0.0 else 1.0  # a score is a sum of products of six values
    fit(parameters, part, scales, units, [scale * each for each in targets])
    return parameters


def _okapi_targets(part: CorpusPart, okapi: Okapi) -> list[Floats]:
    """The values of the three functions at each input that approximate OKAPI."""
    (tf, _), (idf, _), (length, _) = inputs_of(part)
    k, b = okapi.k, okapi.b
    shorter = 1.0 / (k * ((1.0 - b) + b * length / max(part.mean_length, 1.0)) + 1.0)
    return [np.sqrt(tf * (k + 1.0) / (k + tf)), np.sqrt(idf), shorter / shorter.mean()]


def _fit_constants(
    parameters: Floats, part: CorpusPart, scales: InputScales, units: Units, targets: list[Floats]
) -> None:
    """Set the output biases so that each function is roughly constant."""
    for n, target in enumerate(targets):
        parameters[parameter_offsets(units)[n + 1] - 1] = np.log(np.expm1(target[0]))


def _fit_outer_weights(
    parameters: Floats, part: CorpusPart, scales: InputScales, units: Units, targets: list[Floats]
) -> None:
    """Fit the outer weights to the targets by weighted least squares with a ridge."""
    for n, ((value, times), k, target) in enumerate(zip(inputs_of(part), units, targets, strict=True)):
        base = parameter_offsets(units)[n]
        x = (value - scales.shift[n]) * scales.scale[n]
        hidden = np.tanh(np.multiply.outer(x, parameters[base : base + k]) + parameters[base + k : base + 2 * k])
        weight = np.sqrt(times / times.sum())
        rows = np.column_stack([hidden, np.ones(len(x))]) * weight[:, None]
        wanted = np.log(np.expm1(np.maximum(target, _MIN_VALUE))) * weight
        ridge = _RIDGE * np.eye(k + 1)
        found = np.linalg.lstsq(np.vstack([rows, ridge]), np.concatenate([wanted, np.zeros(k + 1)]), rcond=None)[0]
        parameters[base + 2 * k : base + 3 * k + 1] = found


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
