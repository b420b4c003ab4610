"""A linear projection on top of learned weights, the outlook of the paper's conclusion.

The score of two pages is that of LinkLearn plus the inner product of what a matrix makes of their vectors, so that
words that go together count for each other. The matrix begins as the heaviest directions of train (LSA), scaled as
suits valid, and goes on by descent on the loss of equation 4, the weights of terms being fixed. It knows nothing of
test. It needs scipy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pagekin.errors import need
from pagekin.kernels.precision import measure_rows
from pagekin.learning.corpus import CorpusPart
from pagekin.learning.ranking import AP, MEASURES, RankingQueries, sampled, weights_in
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.weighting import Weighting

RANKS = (64, 128)  # dimensions
BETAS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # how much of what LSA keeps counts at the start
RATES = (0.01, 0.1)
BATCHES, BATCH, EVERY = 150, 32, 25  # steps of descent, pages a step, and steps between two looks at valid
MOST_LOOKED_AT = 2000  # pages of valid
_ROWS = 64  # of scores that are found at a time
_KEPT = 1 << 26  # scores of valid that are held
Matrix: TypeAlias = Any  # scipy's, which has no types


def need_projection() -> None:
    """Raise MisuseError if a projection cannot be learned here."""
    need("scipy.sparse", what="a projection", extra="lsa")


@dataclass(frozen=True)
class WeightedSpace:
    """The pages of a part as vectors of learned weights, over the terms of the collection."""

    part: CorpusPart
    x: Matrix

    def measured(self, matrix: Floats, queries: RankingQueries) -> Floats:
        """The four measures of each question, with the projection; a matrix of no columns changes nothing."""
        return self._measured(matrix, queries, self.products(queries))

    def products(self, queries: RankingQueries) -> Iterator[Floats]:
        """Inner products of the weights alone, some rows at a time."""
        transposed = self.x.T.tocsc()
        for first in range(0, len(queries), _ROWS):
            yield (self.x[queries.pages[first : first + _ROWS]] @ transposed).toarray()

    def average(self, matrix: Floats, queries: RankingQueries, products: Iterable[Floats] | None = None) -> float:
        """Average precision; products that are known need not be found again."""
        known = self.products(queries) if products is None else products
        return float(self._measured(matrix, queries, known)[:, MEASURES.index(AP)].mean())

    def _measured(self, matrix: Floats, queries: RankingQueries, products: Iterable[Floats]) -> Floats:
        z, first = self.x @ matrix, 0
        result = np.empty((len(queries), len(MEASURES)))
        for rows in products:
            last = first + len(rows)
            pages, offsets = queries.pages[first:last], queries.right_offsets[first : last + 1]
            scores = np.maximum(rows + z[pages] @ z.T, 0.0)
            measure_rows(pages, offsets, queries.right, scores, result[first:last])
            first = last
        return result


def space_of(part: CorpusPart, weighting: Weighting, terms: int) -> WeightedSpace:
    """A part of a collection that has so many terms."""
    from scipy.sparse import csr_matrix

    columns = weights_in(part, weighting), part.terms[part.counts.term], part.counts.offsets
    return WeightedSpace(part, csr_matrix(columns, shape=(len(part), terms)))


def learn_projection(
    train: WeightedSpace, valid: WeightedSpace, seed: int, progress: Callable[[str], None] = lambda _: None
) -> tuple[Floats, dict[str, float]]:
    """The matrix that does best on valid, terms x dimensions, of no columns if none helps; and AP there."""
    queries = sampled(valid.part, min(MOST_LOOKED_AT, _KEPT // len(valid.part)), seed)
    known = list(valid.products(queries))

    def look(matrix: Floats) -> float:
        return valid.average(matrix, queries, known)

    nothing = np.zeros((train.x.shape[1], 0))
    without = look(nothing)
    begins = [(look(each), each) for each in scales_of_lsa(train, seed)]
    if not begins:
        return nothing, {"without": without, "with": without}
    _, begin = max(begins, key=lambda each: each[0])
    tried = [(without, nothing)]
    for rate in RATES:
        tried.append(_descended(train, look, begin, rate, seed))
        progress(f"learning a projection, rate {rate:g}: AP {tried[-1][0]:.4f} ({without:.4f} without)")
    value, best = max(tried, key=lambda each: each[0])
    return best, {"without": without, "with": value}


def scales_of_lsa(train: WeightedSpace, seed: int) -> list[Floats]:
    """What LSA keeps of train, at several scales."""
    from scipy.sparse.linalg import svds

    shape = train.x.shape
    most = min(shape) - 1
    if most < 1 or not train.x.nnz:
        return []
    begin = np.random.default_rng((seed, 6)).normal(size=min(shape))
    kept = svds(train.x, min(max(RANKS), most), v0=begin)[2][::-1].T  # the heaviest first
    return [np.sqrt(beta) * kept[:, :rank] for rank in RANKS for beta in BETAS]


def _descended(
    train: WeightedSpace, look: Callable[[Floats], float], begin: Floats, rate: float, seed: int
) -> tuple[float, Floats]:
    """Descent on the loss by the matrix alone; the best of several looks at valid."""
    from scipy.sparse import csr_matrix

    x, pages = train.x, train.part.linked()
    transposed = x.T.tocsr()
    a, random = begin.copy(), np.random.default_rng((seed, 5))
    best = (look(begin), begin)
    for batch in range(1, BATCHES + 1):
        drawn = random.choice(pages, BATCH)
        z = x @ a
        wish = _wishes(train.part, drawn, (x[drawn] @ transposed).toarray() + z[drawn] @ z.T)
        places = csr_matrix((np.ones(BATCH), (drawn, np.arange(BATCH))), (len(train.part), BATCH))
        a -= rate * (transposed @ (places @ (wish @ z) + wish.T @ z[drawn]))
        if batch % EVERY == 0 and np.isfinite(a).all():
            best = max(best, (look(a), a.copy()), key=lambda each: each[0])
    return best


def _wishes(train: CorpusPart, drawn: Int64s, scores: Floats) -> Floats:
    """The derivative of the mean loss of some pages by the scores of all pages."""
    wish = np.zeros_like(scores)
    for k, page in enumerate(drawn.tolist()):
        linked = train.link[train.link_offsets[page] : train.link_offsets[page + 1]]
        others = np.ones(len(train), bool)
        others[linked] = False
        others[page] = False
        near, far = np.sort(scores[k][linked]), np.sort(scores[k][others])
        pairs = len(near) * len(far) * len(drawn)
        wish[k, others] = np.searchsorted(near, scores[k][others] + 1.0) / pairs
        wish[k, linked] = -(len(far) - np.searchsorted(far, scores[k][linked] - 1.0, side="right")) / pairs
    return wish
