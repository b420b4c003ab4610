"""A linear projection on top of learned weights.

The learned vectors of train are decomposed (LSA), and the score of two pages is that of LinkLearn plus beta times the
inner product of what the decomposition keeps of them. The learned projection goes on from there by descent on the loss
of equation 4, the weights of terms being fixed. Parameters are chosen on valid, figures are of test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD

from pagekin.arrays import Floats, Int64s
from pagekin.kernels.precision import measure_rows
from pagekin.learning.corpus import Part
from pagekin.learning.judging import AP, MEASURES, questions_of, weights_in
from pagekin.lesson import Outcome

RANKS = (64, 128)
BETAS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
BATCHES, BATCH = 150, 32
RATES = (0.01, 0.1)
SEED = 2005
Matrix: TypeAlias = Any  # scipy's, which has no types


class Row(NamedTuple):
    """What was tried, and the measures of each question without it and with it."""

    what: str
    before: Floats
    after: Floats


def vectors(part: Part, outcome: Outcome, terms: int) -> Matrix:
    """The learned vectors of the pages of a part, over the terms of the collection."""
    weight = weights_in(part, outcome.weighting)
    return csr_matrix((weight, part.terms[part.counts.term], part.counts.offsets), shape=(len(part), terms))


def measured(part: Part, scores: Floats) -> Floats:
    """The measures of each page that has links."""
    asked = questions_of(part)
    result = np.empty((len(asked), len(MEASURES)))
    measure_rows(asked.pages, asked.right_offsets, asked.right, np.maximum(scores[asked.pages], 0.0), result)
    return result


@dataclass
class Projection:
    """A linear map of vectors of terms."""

    matrix: Floats  # terms x dimensions

    def scores(self, x: Matrix) -> Floats:
        """Inner products of what it makes of vectors."""
        z = x @ self.matrix
        return np.asarray(z @ z.T)


def projecting(outcome: Outcome) -> Iterator[Row]:
    """LinkLearn alone, with LSA on top, and with a projection that is learned."""
    parts = outcome.parts
    terms = 1 + max(int(part.terms.max(initial=0)) for part in parts.values())
    x = {name: vectors(part, outcome, terms) for name, part in parts.items()}
    plain = {name: np.asarray((each @ each.T).todense()) for name, each in x.items()}
    average = partial(_average, parts["valid"])
    lone = measured(parts["test"], plain["test"])
    best, chosen, beta = -1.0, Projection(np.zeros((terms, 1))), 0.0
    for rank in RANKS:
        svd = TruncatedSVD(min(rank, len(parts["train"]) - 1), random_state=SEED).fit(x["train"])
        each = Projection(svd.components_.T.copy())
        scores = each.scores(x["valid"])
        for b in BETAS:
            value = average(plain["valid"] + b * scores)
            if value > best:
                best, chosen, beta = value, each, b
    what = f"LSA of {chosen.matrix.shape[1]} dimensions, beta {beta:g}"
    yield Row(what, lone, measured(parts["test"], plain["test"] + beta * chosen.scores(x["test"])))
    found = [_descended(Projection(np.sqrt(beta or BETAS[1]) * chosen.matrix), rate, parts, x, plain) for rate in RATES]
    learned = max(found, key=lambda each: average(plain["valid"] + each.scores(x["valid"])))
    after = measured(parts["test"], plain["test"] + learned.scores(x["test"]))
    yield Row("a learned projection", lone, after)


def _average(part: Part, scores: Floats) -> float:
    return float(measured(part, scores)[:, MEASURES.index(AP)].mean())


def _descended(
    begin: Projection, rate: float, parts: dict[str, Part], x: dict[str, Matrix], plain: dict[str, Floats]
) -> Projection:
    """Descent on the loss by the projection alone, and the best of several looks at valid."""
    train, random = parts["train"], np.random.default_rng(SEED)
    a, pages = begin.matrix.copy(), train.linked()
    best, value = begin, _average(parts["valid"], plain["valid"] + begin.scores(x["valid"]))
    transposed = x["train"].T.tocsr()
    for batch in range(1, BATCHES + 1):
        drawn = random.choice(pages, BATCH)
        z = x["train"] @ a
        wish = _wishes(train, drawn, plain["train"][drawn] + z[drawn] @ z.T)
        slope = transposed @ (csr_matrix((np.ones(BATCH), (drawn, np.arange(BATCH))), (len(train), BATCH)) @ (wish @ z))
        slope += transposed @ (wish.T @ z[drawn])
        a -= rate * slope
        if batch % 25 == 0:
            look = _average(parts["valid"], plain["valid"] + Projection(a).scores(x["valid"]))
            if look > value:
                best, value = Projection(a.copy()), look
    return best


def _wishes(train: Part, drawn: Int64s, scores: Floats) -> Floats:
    """The derivative of the loss by the scores of all pages, for some pages that ask."""
    wish = np.zeros_like(scores)
    for k, page in enumerate(drawn.tolist()):
        linked = train.link[train.link_offsets[page] : train.link_offsets[page + 1]]
        others = np.ones(len(train), bool)
        others[linked] = False
        others[page] = False
        close = scores[k][linked][:, None] - 1.0 < scores[k][others][None]
        pairs = close.shape[0] * close.shape[1] * len(drawn)
        wish[k, others] = close.sum(axis=0) / pairs
        wish[k, linked] = -close.sum(axis=1) / pairs
    return wish
