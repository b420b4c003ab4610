"""The three networks of LinkLearn during training (paper, 3.2): their parameters, and the corpus for the kernels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.kernels.linklearn import Corpus, NetworkArrays, Networks, ValueTable, Workspace
from pagekin.learning.corpus import CorpusPart, offsets_of
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.weighting import Learned, Network

Units = tuple[int, int, int]  # hidden units of the networks of tf, idf and length
Inputs = tuple[Floats, Int64s]  # distinct values, and how often each occurs


@dataclass(frozen=True)
class InputScales:
    """Standardisation of each network's input: x -> (x - shift) * scale."""

    shift: tuple[float, float, float]
    scale: tuple[float, float, float]


@dataclass(frozen=True)
class Layout:
    """A part of the corpus as the kernels need it: distinct input values, and postings in runs of equal tf."""

    corpus: Corpus
    values: tuple[Floats, Floats, Floats]  # distinct tf, idf and lengths

    def networks(self, scales: InputScales, units: Units) -> Networks:
        """Networks with these numbers of hidden units, over these values."""
        return Networks(
            *(
                NetworkArrays(
                    parameter_offsets(units)[n], units[n], (self.values[n] - scales.shift[n]) * scales.scale[n]
                )
                for n in range(3)
            )
        )

    def workspace(self, networks: Networks) -> Workspace:
        """The buffers of the kernels."""
        pages = len(self.corpus.length)
        most = int(np.diff(self.corpus.link_offsets).max(initial=0)) + 2
        tf, idf, length = (_value_table(each) for each in networks)
        of_pages = (np.zeros(pages), np.zeros(pages), np.zeros(pages, bool))
        return Workspace(tf, idf, length, *of_pages, np.zeros(most), np.zeros(most), np.zeros(most, np.int64))


def _value_table(network: NetworkArrays) -> ValueTable:
    n = len(network.x)
    return ValueTable(np.zeros(n), np.zeros(n), np.zeros(n * network.units), np.zeros(n), np.zeros(n, bool))


def layout_of(part: CorpusPart) -> Layout:
    """The training set for gradient descent."""
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
    corpus = Corpus(
        counts.offsets,
        counts.term,
        tf_of.astype(np.uint32),
        idf_of.astype(np.uint32),
        length_of.astype(np.uint32),
        offsets_of(np.bincount(term[starts], minlength=len(part.terms))),
        run[starts].astype(np.uint32),
        np.append(starts, len(order)).astype(np.int64),
        rows[order].astype(np.uint32),
        part.link_offsets,
        part.link,
    )
    return Layout(corpus, (tf.astype(np.float64), idf, length.astype(np.float64)))


def inputs_of(part: CorpusPart) -> tuple[Inputs, Inputs, Inputs]:
    """The inputs of each network: tf and idf occur once per term of a page, length once per page."""
    tf, times = np.unique(part.counts.count, return_counts=True)
    idf, of_term = np.unique(part.idf(), return_inverse=True)
    length, pages = np.unique(part.lengths, return_counts=True)
    of_idf = np.bincount(of_term, part.frequency, len(idf)).astype(np.int64)
    return (tf.astype(np.float64), times), (idf, of_idf), (length.astype(np.float64), pages)


def scales_of(part: CorpusPart) -> InputScales:
    """Standardisation to mean 0 and variance 1 over a part."""
    shifts, scales = [], []
    for value, times in inputs_of(part):
        total = max(1, int(times.sum()))
        mean = float((value * times).sum()) / total
        deviation = float(np.sqrt((np.square(value - mean) * times).sum() / total))
        shifts.append(mean)
        scales.append(1.0 / deviation if deviation > 0.0 else 1.0)
    return InputScales((shifts[0], shifts[1], shifts[2]), (scales[0], scales[1], scales[2]))


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
    """The term weighting that a parameter vector describes."""
    networks = []
    for n, (base, k) in enumerate(zip(parameter_offsets(units)[:-1], units, strict=True)):
        inner, bias, outer = (tuple(parameters[base + j * k : base + (j + 1) * k].tolist()) for j in range(3))
        networks.append(Network(scales.shift[n], scales.scale[n], inner, bias, outer, float(parameters[base + 3 * k])))
    tf, idf, length = networks
    return Learned(tf, idf, length, facts or {})
