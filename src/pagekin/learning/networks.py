"""The three networks of LinkLearn during training (paper, 3.2): their parameters, and the corpus for the kernels.

The hidden units of a network are spread over its inputs, evenly for idf and evenly in the logarithm for tf and length
(most of which are small), so that every unit has something to learn. With the flat start, outer weights are small
random numbers. With the OKAPI start, they are fitted to sqrt(tf (K + 1) / (K + tf)), sqrt(idf) and
1 / (K ((1 - B) + B ndl) + 1): square roots, since both pages contribute a factor. In both cases linked pages score
about 1, the margin of the loss.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.kernels.linklearn import Corpus, NetworkArrays, Networks, ValueTable, Workspace
from pagekin.learning.corpus import CorpusPart
from pagekin.learning.options import Units
from pagekin.learning.ranking import Ranker, sample_queries
from pagekin.model.arrays import Floats, Int64s, offsets_of
from pagekin.model.weighting import Learned, Network, Okapi

_TAIL = 0.005  # share of the inputs below the first unit, and above the last
_SPREAD = 0.1  # standard deviation of the outer weights
_MIN_VALUE = 1e-3  # of a function
_RIDGE = 1e-3  # keeps outer weights small where inputs do not determine them
_QUERIES = 200  # pages whose links determine the scale
Inputs = tuple[Floats, Int64s]  # distinct values, and how often each occurs


@dataclass(frozen=True)
class InputScales:
    """Standardisation of each network's input: x -> (x - shift) * scale."""

    shift: tuple[float, ...]
    scale: tuple[float, ...]


@dataclass(frozen=True)
class Layout:
    """A part of the corpus as the kernels need it: distinct input values, and postings in runs of equal tf."""

    corpus: Corpus
    values: tuple[Floats, Floats, Floats]  # distinct tf, idf and lengths

    def networks(self, scales: InputScales, units: Units) -> Networks:
        offsets = parameter_offsets(units)
        inputs = [(self.values[n] - scales.shift[n]) * scales.scale[n] for n in range(3)]
        return Networks(*(NetworkArrays(offsets[n], units[n], inputs[n]) for n in range(3)))

    def workspace(self, networks: Networks) -> Workspace:
        pages = len(self.corpus.length)
        most = int(np.diff(self.corpus.link_offsets).max(initial=0)) + 2
        tf, idf, length = (_value_table(each) for each in networks)
        of_pages = (np.zeros(pages), np.zeros(pages), np.zeros(pages, bool))
        return Workspace(tf, idf, length, *of_pages, np.zeros(most), np.zeros(most), np.zeros(most, np.int64))


def _value_table(network: NetworkArrays) -> ValueTable:
    n = len(network.x)
    return ValueTable(np.zeros(n), np.zeros(n), np.zeros(n * network.units), np.zeros(n), np.zeros(n, bool))


def layout_of(part: CorpusPart) -> Layout:
    counts = part.counts
    tf, tf_of = np.unique(counts.count, return_inverse=True)
    idf, idf_of = np.unique(part.idf(), return_inverse=True)
    length, length_of = np.unique(part.lengths, return_inverse=True)
    rows = counts.rows()
    order = np.lexsort((rows, tf_of, counts.term))
    term, run = counts.term[order], tf_of[order]
    starts_run = np.ones(len(order), bool)
    starts_run[1:] = (term[1:] != term[:-1]) | (run[1:] != run[:-1])
    starts = np.flatnonzero(starts_run)
    of_values = tf_of.astype(np.uint32), idf_of.astype(np.uint32), length_of.astype(np.uint32)
    runs = offsets_of(np.bincount(term[starts], minlength=len(part.terms))), run[starts].astype(np.uint32)
    pages = np.append(starts, len(order)).astype(np.int64), rows[order].astype(np.uint32)
    corpus = Corpus(counts.offsets, counts.term, *of_values, *runs, *pages, part.link_offsets, part.link)
    return Layout(corpus, (tf.astype(np.float64), idf, length.astype(np.float64)))


def inputs_of(part: CorpusPart) -> tuple[Inputs, Inputs, Inputs]:
    """The inputs of each network: tf and idf occur once per term of a page, length once per page."""
    tf, times = np.unique(part.counts.count, return_counts=True)
    idf, of_term = np.unique(part.idf(), return_inverse=True)
    length, pages = np.unique(part.lengths, return_counts=True)
    of_idf = np.bincount(of_term, part.frequency, len(idf)).astype(np.int64)
    return (tf.astype(np.float64), times), (idf, of_idf), (length.astype(np.float64), pages)


def scales_of(part: CorpusPart) -> InputScales:
    shifts, scales = [], []
    for value, times in inputs_of(part):
        total = max(1, int(times.sum()))
        mean = float((value * times).sum()) / total
        deviation = float(np.sqrt((np.square(value - mean) * times).sum() / total))
        shifts.append(mean)
        scales.append(1.0 / deviation if deviation > 0.0 else 1.0)
    return InputScales(tuple(shifts), tuple(scales))


def parameter_offsets(units: Units) -> tuple[int, int, int, int]:
    """The offset of each network in the parameter vector, and the length of the vector.

    >>> parameter_offsets((5, 10, 10))
    (0, 16, 47, 78)
    """
    tf, idf, length = (3 * each + 1 for each in units)
    return 0, tf, tf + idf, tf + idf + length


def weighting_from(
    parameters: Floats, scales: InputScales, units: Units, facts: Mapping[str, Any] | None = None
) -> Learned:
    networks = []
    for n, (base, k) in enumerate(zip(parameter_offsets(units)[:-1], units, strict=True)):
        inner, bias, outer = (tuple(parameters[base + j * k : base + (j + 1) * k].tolist()) for j in range(3))
        networks.append(Network(scales.shift[n], scales.scale[n], inner, bias, outer, float(parameters[base + 3 * k])))
    tf, idf, length = networks
    return Learned(tf, idf, length, facts or {})


def initial_parameters(
    part: CorpusPart, scales: InputScales, units: Units, seed: int, okapi: Okapi | None = None
) -> Floats:
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
