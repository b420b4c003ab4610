"""A linear projection on top of learned term weights, as suggested in the paper's conclusion.

The score of two pages is that of LinkLearn plus the inner product of their projected vectors, so that related words
match each other. The matrix starts as the leading singular vectors of the training set (LSA), scaled by validation,
and is trained by gradient descent on the loss of equation 4 with fixed term weights. The test set is not used.
The projection needs scipy.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pagekin.errors import need
from pagekin.learning.corpus import CorpusPart
from pagekin.learning.ranking import AP, MEASURES, RankingQueries, sample_queries, term_weights
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.weighting import Weighting

RANKS = (64, 128)  # dimensions
BETAS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # initial weights of the LSA similarity
RATES = (0.01, 0.1)  # learning rates
BATCHES, BATCH, VALIDATE_EVERY = 150, 32, 25  # steps, pages per step, and steps between two validations
MAX_QUERIES = 2000  # of the validation set
_ROWS = 64  # of scores in memory at a time
_MAX_SCORES = 1 << 26  # of the validation set, in memory
Matrix: TypeAlias = Any  # a sparse matrix of scipy, which has no types


def need_projection() -> None:
    need("scipy.sparse", what="a projection", extra="lsa")


@dataclass(frozen=True)
class WeightedSpace:
    """The pages of a part as vectors of learned weights, over the terms of the collection."""

    part: CorpusPart
    x: Matrix

    def measure(self, matrix: Floats, queries: RankingQueries, products: Iterable[Floats] | None = None) -> Floats:
        """The four measures of each query with a projection; a matrix without columns changes nothing.

        `products` are those of `self.products(queries)` if they are known.
        """
        z, first = self.x @ matrix, 0
        measures = np.empty((len(queries), len(MEASURES)))
        for rows in self.products(queries) if products is None else products:
            pages = queries.pages[first : first + len(rows)]
            queries.measure(first, np.maximum(rows + z[pages] @ z.T, 0.0), measures)
            first += len(rows)
        return measures

    def products(self, queries: RankingQueries) -> Iterator[Floats]:
        transposed = self.x.T.tocsc()
        for first in range(0, len(queries), _ROWS):
            yield (self.x[queries.pages[first : first + _ROWS]] @ transposed).toarray()


def weighted_space(part: CorpusPart, weighting: Weighting, terms: int) -> WeightedSpace:
    from scipy.sparse import csr_matrix

    columns = term_weights(part, weighting), part.terms[part.counts.term], part.counts.offsets
    return WeightedSpace(part, csr_matrix(columns, shape=(len(part), terms)))


def learn_projection(
    train: WeightedSpace, valid: WeightedSpace, seed: int, progress: Callable[[str], None] = lambda _: None
) -> tuple[Floats, dict[str, float]]:
    """The best matrix by validation, terms x dimensions (no columns if none helps), and average precision there."""
    queries = sample_queries(valid.part, min(MAX_QUERIES, _MAX_SCORES // len(valid.part)), seed)
    products = list(valid.products(queries))

    def validate(matrix: Floats) -> float:
        return float(valid.measure(matrix, queries, products)[:, MEASURES.index(AP)].mean())

    nothing = np.zeros((train.x.shape[1], 0))
    without = validate(nothing)
    starts = [(validate(each), each) for each in lsa_matrices(train, seed)]
    if not starts:
        return nothing, {"without": without, "with": without}
    _, start = max(starts, key=lambda each: each[0])
    tried = [(without, nothing)]
    for rate in RATES:
        tried.append(_descend(train, validate, start, rate, seed))
        progress(f"learning a projection, rate {rate:g}: AP {tried[-1][0]:.4f} ({without:.4f} without)")
    value, best = max(tried, key=lambda each: each[0])
    return best, {"without": without, "with": value}


def lsa_matrices(train: WeightedSpace, seed: int) -> list[Floats]:
    """The leading singular vectors of the training set, for each rank and scale to try."""
    from scipy.sparse.linalg import svds

    shape = train.x.shape
    most = min(shape) - 1
    if most < 1 or not train.x.nnz:
        return []
    start = np.random.default_rng((seed, 6)).normal(size=min(shape))
    vectors = svds(train.x, min(max(RANKS), most), v0=start)[2][::-1].T  # largest singular value first
    return [np.sqrt(beta) * vectors[:, :rank] for rank in RANKS for beta in BETAS]


def _descend(
    train: WeightedSpace, validate: Callable[[Floats], float], start: Floats, rate: float, seed: int
) -> tuple[float, Floats]:
    """Gradient descent on the loss by the matrix alone; the best validation and its matrix."""
    from scipy.sparse import csr_matrix

    x, pages = train.x, train.part.linked()
    transposed = x.T.tocsr()
    a, random = start.copy(), np.random.default_rng((seed, 5))
    best = (validate(start), start)
    for batch in range(1, BATCHES + 1):
        drawn = random.choice(pages, BATCH)
        z = x @ a
        gradient = _loss_gradient(train.part, drawn, (x[drawn] @ transposed).toarray() + z[drawn] @ z.T)
        places = csr_matrix((np.ones(BATCH), (drawn, np.arange(BATCH))), (len(train.part), BATCH))
        a -= rate * (transposed @ (places @ (gradient @ z) + gradient.T @ z[drawn]))
        if batch % VALIDATE_EVERY == 0 and np.isfinite(a).all():
            best = max(best, (validate(a), a.copy()), key=lambda each: each[0])
    return best


def _loss_gradient(train: CorpusPart, drawn: Int64s, scores: Floats) -> Floats:
    """The derivative of the mean loss of some pages by the scores of all pages."""
    gradient = np.zeros_like(scores)
    for k, page in enumerate(drawn.tolist()):
        linked = train.link[train.link_offsets[page] : train.link_offsets[page + 1]]
        others = np.ones(len(train), bool)
        others[linked] = False
        others[page] = False
        near, far = np.sort(scores[k][linked]), np.sort(scores[k][others])
        pairs = len(near) * len(far) * len(drawn)
        gradient[k, others] = np.searchsorted(near, scores[k][others] + 1.0) / pairs
        gradient[k, linked] = -(len(far) - np.searchsorted(far, scores[k][linked] - 1.0, side="right")) / pairs
    return gradient
