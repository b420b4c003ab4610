"""The three functions of LinkLearn while they are learned (paper, 3.2): one vector of parameters, and its layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.kernels.linklearn import Corpus, NetworkArrays, ValueTable, Workspace
from pagekin.learning.corpus import CorpusPart, offsets_of
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.weighting import Learned
from pagekin.model.weighting import Network as Weights

Units = tuple[int, int, int]  # of the networks of tf, idf and length


@dataclass(frozen=True)
class InputScales:
    """What is taken off the inputs of each network, and what they are multiplied with."""

    shift: tuple[float, float, float]
    scale: tuple[float, float, float]


Networks = tuple[NetworkArrays, NetworkArrays, NetworkArrays]


@dataclass(frozen=True)
class Layout:
    """A part of the corpus as the kernels take it: distinct values, and postings in runs of equal tf."""

    corpus: Corpus
    values: tuple[Floats, Floats, Floats]  # distinct tf, idf and lengths

    def networks(self, scales: InputScales, units: Units) -> Networks:
        """Networks of so many units on these values."""
        tf, idf, length = (
            NetworkArrays(bases(units)[n], units[n], (self.values[n] - scales.shift[n]) * scales.scale[n])
            for n in range(3)
        )
        return tf, idf, length

    def workspace(self, networks: Networks) -> Workspace:
        """Room to work."""
        pages = len(self.corpus.length)
        most = int(np.diff(self.corpus.link_offsets).max(initial=0)) + 2
        tf, idf, length = (_table(each) for each in networks)
        of_pages = (np.zeros(pages), np.zeros(pages), np.zeros(pages, bool))
        return Workspace(tf, idf, length, *of_pages, np.zeros(most), np.zeros(most), np.zeros(most, np.int64))


def _table(network: NetworkArrays) -> ValueTable:
    n = len(network.x)
    return ValueTable(np.zeros(n), np.zeros(n), np.zeros(n * network.units), np.zeros(n), np.zeros(n, bool))


def laid_out(part: CorpusPart) -> Layout:
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


def inputs_of(part: CorpusPart) -> tuple[tuple[Floats, Int64s], tuple[Floats, Int64s], tuple[Floats, Int64s]]:
    """Every input of each network and how often it comes up: tf and idf with a term of a page, length with a page."""
    tf, times = np.unique(part.counts.count, return_counts=True)
    idf, of_term = np.unique(part.idf(), return_inverse=True)
    length, pages = np.unique(part.lengths, return_counts=True)
    of_idf = np.bincount(of_term, part.frequency, len(idf)).astype(np.int64)
    return (tf.astype(np.float64), times), (idf, of_idf), (length.astype(np.float64), pages)


def scales_of(part: CorpusPart) -> InputScales:
    """Inputs of mean 0 and variance 1 over a part."""
    shifts, scales = [], []
    for value, times in inputs_of(part):
        total = max(1, int(times.sum()))
        mean = float((value * times).sum()) / total
        spread = float(np.sqrt((np.square(value - mean) * times).sum() / total))
        shifts.append(mean)
        scales.append(1.0 / spread if spread > 0.0 else 1.0)
    return InputScales((shifts[0], shifts[1], shifts[2]), (scales[0], scales[1], scales[2]))


def bases(units: Units) -> tuple[int, int, int, int]:
    """Where the parameters of each network begin, and where they end."""
    tf, idf, length = (3 * each + 1 for each in units)
    return 0, tf, tf + idf, tf + idf + length


def learned_of(theta: Floats, scales: InputScales, units: Units, facts: Mapping[str, Any] | None = None) -> Learned:
    """The weighting that parameters stand for."""
    networks = []
    for n, (base, k) in enumerate(zip(bases(units)[:-1], units, strict=True)):
        inner, bias, outer = (tuple(theta[base + j * k : base + (j + 1) * k].tolist()) for j in range(3))
        networks.append(Weights(scales.shift[n], scales.scale[n], inner, bias, outer, float(theta[base + 3 * k])))
    tf, idf, length = networks
    return Learned(tf, idf, length, facts or {})
