"""The three functions of LinkLearn while they are learned (paper, 3.2): one vector of parameters, and its first value.

All begin flat, at values for which linked pages score about 1, the margin of the loss. The units of a network are
spread over its inputs: the k-th of them bends where the k-th of evenly spaced inputs lies (evenly in the logarithm for
tf and length, most of which are small), so that each has something to learn; their outer weights are small random
numbers from the seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.arrays import Floats, Int64s
from pagekin.kernels.descending import Corpus, Desk, Network, Table
from pagekin.learning.corpus import Part, offsets_of
from pagekin.model.weighting import Learned
from pagekin.model.weighting import Network as Weights

Units = tuple[int, int, int]  # of the networks of tf, idf and length
_EDGE = 0.005  # of the inputs lie below the first unit, and above the last
_START = 0.1  # the spread of the outer weights


@dataclass(frozen=True)
class Scales:
    """What is taken off the inputs of each network, and what they are multiplied with."""

    shift: tuple[float, float, float]
    scale: tuple[float, float, float]


Networks = tuple[Network, Network, Network]


@dataclass(frozen=True)
class Layout:
    """A part of the corpus as the kernels take it: distinct values, and postings in runs of equal tf."""

    corpus: Corpus
    values: tuple[Floats, Floats, Floats]  # distinct tf, idf and lengths

    def networks(self, scales: Scales, units: Units) -> Networks:
        """Networks of so many units on these values."""
        tf, idf, length = (
            Network(bases(units)[n], units[n], (self.values[n] - scales.shift[n]) * scales.scale[n]) for n in range(3)
        )
        return tf, idf, length

    def desk(self, networks: Networks) -> Desk:
        """Room to work."""
        pages = len(self.corpus.length)
        most = int(np.diff(self.corpus.link_offsets).max(initial=0)) + 2
        tf, idf, length = (_table(each) for each in networks)
        of_pages = (np.zeros(pages), np.zeros(pages), np.zeros(pages, bool))
        return Desk(tf, idf, length, *of_pages, np.zeros(most), np.zeros(most), np.zeros(most, np.int64))


def _table(network: Network) -> Table:
    n = len(network.x)
    return Table(np.zeros(n), np.zeros(n), np.zeros(n * network.units), np.zeros(n), np.zeros(n, bool))


def laid_out(part: Part) -> Layout:
    """A part laid out for descent."""
    counts = part.counts
    tf, tf_of = np.unique(counts.count, return_inverse=True)
    idf, idf_of = np.unique(part.idf(), return_inverse=True)
    length, length_of = np.unique(part.lengths, return_inverse=True)
    rows = counts.rows()
    order = np.lexsort((rows, tf_of, counts.term))
    term, run = counts.term[order], tf_of[order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (term[1:] != term[:-1]) | (run[1:] != run[:-1])
    begins = np.flatnonzero(fresh)
    corpus = Corpus(
        counts.offsets,
        counts.term,
        tf_of.astype(np.uint32),
        idf_of.astype(np.uint32),
        length_of.astype(np.uint32),
        offsets_of(np.bincount(term[begins], minlength=len(part.terms))),
        run[begins].astype(np.uint32),
        np.append(begins, len(order)).astype(np.int64),
        rows[order].astype(np.uint32),
        part.link_offsets,
        part.link,
    )
    return Layout(corpus, (tf.astype(np.float64), idf, length.astype(np.float64)))


def inputs_of(part: Part) -> tuple[tuple[Floats, Int64s], tuple[Floats, Int64s], tuple[Floats, Int64s]]:
    """Every input of each network and how often it comes up: tf and idf with a term of a page, length with a page."""
    tf, times = np.unique(part.counts.count, return_counts=True)
    idf, of_term = np.unique(part.idf(), return_inverse=True)
    length, pages = np.unique(part.lengths, return_counts=True)
    of_idf = np.bincount(of_term, part.frequency, len(idf)).astype(np.int64)
    return (tf.astype(np.float64), times), (idf, of_idf), (length.astype(np.float64), pages)


def scales_of(part: Part) -> Scales:
    """Inputs of mean 0 and variance 1 over a part."""
    shifts, scales = [], []
    for value, times in inputs_of(part):
        total = max(1, int(times.sum()))
        mean = float((value * times).sum()) / total
        spread = float(np.sqrt((np.square(value - mean) * times).sum() / total))
        shifts.append(mean)
        scales.append(1.0 / spread if spread > 0.0 else 1.0)
    return Scales((shifts[0], shifts[1], shifts[2]), (scales[0], scales[1], scales[2]))


def bases(units: Units) -> tuple[int, int, int, int]:
    """Where the parameters of each network begin, and where they end."""
    tf, idf, length = (3 * each + 1 for each in units)
    return 0, tf, tf + idf, tf + idf + length


def start(part: Part, scales: Scales, units: Units, seed: int) -> Floats:
    """The parameters to begin with."""
    random = np.random.default_rng((seed, 1))
    flat = linked_overlap(part) ** (-1.0 / 6.0)  # a score is a sum of products of six values
    theta = np.zeros(bases(units)[-1])
    for n, ((value, times), k) in enumerate(zip(inputs_of(part), units, strict=True)):
        base = bases(units)[n]
        centre, width = _spread(value, times, k, even=n == 1)
        inner = 1.0 / (width * scales.scale[n])
        theta[base : base + k] = inner
        theta[base + k : base + 2 * k] = -inner * (centre - scales.shift[n]) * scales.scale[n]
        theta[base + 2 * k : base + 3 * k] = random.normal(0.0, _START / np.sqrt(k), k)
        theta[base + 3 * k] = np.log(np.expm1(flat))
    return theta


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


def linked_overlap(part: Part) -> float:
    """How many terms linked pages share, in the mean; at least one."""
    counts, pages = part.counts, part.linked()
    shared = 0
    links = 0
    here = np.zeros(len(part.terms), bool)
    for page in pages[np.linspace(0, len(pages) - 1, min(len(pages), 200)).astype(np.int64)].tolist():
        own = counts.term[counts.offsets[page] : counts.offsets[page + 1]]
        here[own] = True
        near = counts.of(part.link[part.link_offsets[page] : part.link_offsets[page + 1]].astype(np.int64))
        shared += int(here[near.term].sum())
        links += len(near)
        here[own] = False
    return max(1.0, shared / max(1, links))


def learned_of(theta: Floats, scales: Scales, units: Units, facts: Mapping[str, Any] | None = None) -> Learned:
    """The weighting that parameters stand for."""
    networks = []
    for n, (base, k) in enumerate(zip(bases(units)[:-1], units, strict=True)):
        inner, bias, outer = (tuple(theta[base + j * k : base + (j + 1) * k].tolist()) for j in range(3))
        networks.append(Weights(scales.shift[n], scales.scale[n], inner, bias, outer, float(theta[base + 3 * k])))
    tf, idf, length = networks
    return Learned(tf, idf, length, facts or {})
