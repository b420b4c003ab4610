"""Baselines: tf-idf cosine, more-like-this, co-citation and LSA.

They use the term frequencies of the page contents (without stop words and templates, not stemmed), so that systems
differ in weighting and comparison, not in reading.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pagekin.errors import need
from pagekin.kernels.all_pairs import PLACES, invert, products
from pagekin.model.arrays import Float32s, Floats, Int64s, UInt32s, offsets_of, spans
from pagekin.model.bags import Bags
from pagekin.model.reading import Ragged
from pagekin.model.strategy import Strategy
from pagekin.search.evidence import UNLISTED

TF_IDF, MORE_LIKE_THIS, CO_CITATION, LSA = "tf-idf", "more-like-this", "co-citation", "lsa"
CONTENTS = Strategy(anchors=False, links=False, stemming="none", lead=0.0, frequency_weight="none")
CITING = Strategy(content=False, anchors=False, links=True, frequency_weight="none")

# The defaults of Lucene's MoreLikeThis and BM25Similarity.
QUERY_TERMS, MIN_COUNT, MIN_PAGES = 25, 2, 5
K1, B = 1.2, 0.75
DIMENSIONS = 256


@dataclass(frozen=True)
class CountMatrix(Ragged):
    """Term frequencies of the pages of a population, and document frequencies in the collection."""

    term: UInt32s
    count: Float32s
    frequency: Int64s
    pages: int  # of the collection
    mean_length: float  # of its pages, in terms

    def rows(self) -> Int64s:
        return np.repeat(np.arange(len(self)), self.lengths())


def count_matrix(bags: Bags, nodes: Int64s) -> CountMatrix:
    """The counts of the pages of a population, from the bags of a collection; citing pages count as words."""
    counts = np.diff(bags.offsets)[nodes]
    places = spans(bags.offsets[nodes], counts)
    occurrences = np.maximum(bags.content, bags.around).astype(np.float32)
    frequency, mean_length = np.bincount(bags.term).astype(np.int64), float(occurrences.sum()) / max(1, len(bags))
    columns = offsets_of(counts), bags.term[places], occurrences[places]
    return CountMatrix(*columns, frequency, len(bags), mean_length)


@dataclass(frozen=True)
class Baseline:
    """A system that ranks all pages by a function of the sources. Pages with nothing in common are not listed."""

    name: str
    rows: Callable[[Int64s], Floats]
    longest = None

    def scores(self, sources: Int64s) -> Floats:
        return np.asarray(np.rint(self.rows(sources) * PLACES) / PLACES)  # to nine places


def _products(counts: CountMatrix, source_weight: Floats, page_weight: Floats) -> Callable[[Int64s], Floats]:
    """Inner products, given the weight of each count in a source and in a page that is compared with it."""
    kept = source_weight != 0.0
    lengths = np.bincount(counts.rows()[kept], minlength=len(counts))
    sources_side = offsets_of(lengths), counts.term[kept], source_weight[kept].astype(np.float32)
    terms = int(counts.term.max(initial=0)) + 1
    inverted = invert(counts.offsets, counts.term, page_weight.astype(np.float32), terms)

    def rows(sources: Int64s) -> Floats:
        rows = np.empty((len(sources), len(counts)))
        products(sources, *sources_side, inverted, rows)
        return np.where(rows > 0.0, rows, UNLISTED)

    return rows


def tf_idf_weights(counts: CountMatrix) -> Floats:
    """(1 + ln tf) (ln((1 + N) / (1 + df)) + 1), normalised to unit length: scikit-learn's with `sublinear_tf`.

    With scikit-learn's default, linear tf, both tf-idf and LSA find related pages much worse.
    """
    idf = np.log((1.0 + counts.pages) / (1.0 + counts.frequency[counts.term])) + 1.0
    weight = (1.0 + np.log(counts.count)) * idf
    norms = np.sqrt(np.bincount(counts.rows(), np.square(weight), len(counts)))
    return np.asarray(weight / norms[counts.rows()])


def tf_idf(counts: CountMatrix) -> Baseline:
    weight = tf_idf_weights(counts)
    return Baseline(f"{TF_IDF} cosine", _products(counts, weight, weight))


def query_terms(counts: CountMatrix) -> Floats:
    """1 for the query terms that Lucene's MoreLikeThis selects from each page, else 0.

    They are the 25 terms with the largest tf (ln((N + 1) / (df + 1)) + 1) of those that occur at least twice in the
    page and in at least five pages.
    """
    frequency = counts.frequency[counts.term]
    value = counts.count * (np.log((counts.pages + 1.0) / (frequency + 1.0)) + 1.0)
    value[(counts.count < MIN_COUNT) | (frequency < MIN_PAGES)] = 0.0
    order = np.lexsort((counts.term, -value, counts.rows()))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(counts.offsets[:-1], counts.lengths())
    return np.where((rank < QUERY_TERMS) & (value > 0.0), 1.0, 0.0)


def more_like_this(counts: CountMatrix) -> Baseline:
    """A query of 25 terms of the source, ranked by Lucene's BM25 with exact instead of rounded page lengths."""
    frequency = counts.frequency[counts.term]
    idf = np.log(1.0 + (counts.pages - frequency + 0.5) / (frequency + 0.5))
    length = np.bincount(counts.rows(), counts.count, len(counts))[counts.rows()]
    saturated = counts.count / (counts.count + K1 * (1.0 - B + B * length / counts.mean_length))
    return Baseline(f"{MORE_LIKE_THIS}, {QUERY_TERMS} terms", _products(counts, query_terms(counts), idf * saturated))


def co_citation(citing: CountMatrix) -> Baseline:
    """The number of pages that cite both, divided by the number of pages that cite either."""
    ones, sizes = np.ones(len(citing.term)), citing.lengths()
    common = _products(citing, ones, ones)

    def rows(sources: Int64s) -> Floats:
        both = np.maximum(common(sources), 0.0)
        either = np.maximum(sizes[sources][:, np.newaxis] + sizes - both, 1.0)
        return np.where(both > 0.0, both / either, UNLISTED)

    return Baseline(f"{CO_CITATION} Jaccard", rows)


def lsa(counts: CountMatrix, dimensions: int = DIMENSIONS, seed: int = 2002) -> Baseline:
    """Latent semantic analysis: the cosine of tf-idf vectors after a truncated SVD."""
    need_lsa()
    from scipy.sparse import csr_matrix
    from sklearn.decomposition import TruncatedSVD

    matrix = csr_matrix((tf_idf_weights(counts), counts.term.astype(np.int64), counts.offsets))
    most = max(1, min(dimensions, matrix.shape[0] - 1, matrix.shape[1] - 1))
    vectors = np.asarray(TruncatedSVD(most, random_state=seed % 2**32).fit_transform(matrix), np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    nonzero = norms[:, 0] > 0

    def rows(sources: Int64s) -> Floats:
        return np.where(nonzero[sources][:, np.newaxis] & nonzero, unit[sources] @ unit.T, UNLISTED)

    return Baseline(f"LSA, {most} dimensions", rows)


def need_lsa() -> None:
    need("sklearn", what="LSA", extra="lsa", otherwise=f", or leave {LSA!r} out of the references")


# By name: the strategy whose bags are counted, and the system over the counts.
BASELINES: dict[str, tuple[Strategy, Callable[[CountMatrix], Baseline]]] = {
    TF_IDF: (CONTENTS, tf_idf),
    MORE_LIKE_THIS: (CONTENTS, more_like_this),
    CO_CITATION: (CITING, co_citation),
    LSA: (CONTENTS, lsa),
}
