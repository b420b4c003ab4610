"""What others do, as systems beside ours: tf-idf cosine, more-like-this, co-citation, LSA.

They take the words of pages as counted (stop words and templates left out, nothing stemmed), so that what differs is
the weighting and the comparison, not the reading.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import need
from pagekin.kernels.all_pairs import PLACES, invert, products
from pagekin.model.arrays import Floats, Int64s, UInt32s, spans
from pagekin.model.bags import Bags
from pagekin.model.strategy import Strategy
from pagekin.search.evidence import UNLISTED

TF_IDF, MORE_LIKE_THIS, CO_CITATION, LSA = "tf-idf", "more-like-this", "co-citation", "lsa"
REFERENCES = (TF_IDF, MORE_LIKE_THIS, CO_CITATION, LSA)
CONTENTS = Strategy(anchors=False, links=False, stemming="none", lead=0.0, frequency_weight="none")
CITING = Strategy(content=False, anchors=False, links=True, frequency_weight="none")

# Lucene's: MoreLikeThis and BM25Similarity.
QUERY_TERMS, LEAST_COUNT, LEAST_PAGES = 25, 2, 5
K1, B = 1.2, 0.75
DIMENSIONS = 256


@dataclass(frozen=True)
class CountMatrix:
    """How often each term is in each page of a population, and in how many pages of the collection it is."""

    offsets: Int64s
    term: UInt32s
    count: NDArray[np.float32]
    frequency: Int64s
    pages: int  # of the collection
    mean_length: float  # of its pages, in terms

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def rows(self) -> Int64s:
        """The page that each count belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


def counted(bags: Bags, nodes: Int64s) -> CountMatrix:
    """The contents of the pages of a population, from the bags of a collection; citing pages count as words."""
    counts = np.diff(bags.offsets)[nodes]
    places = spans(bags.offsets[nodes], counts)
    said = np.maximum(bags.content, bags.around).astype(np.float32)
    return CountMatrix(
        np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        bags.term[places],
        said[places],
        np.bincount(bags.term).astype(np.int64),
        len(bags),
        float(said.sum()) / max(1, len(bags)),
    )


class ProductSystem:
    """Pages by the sum of products of weights, of which those of the source may be others than those of the pages."""

    longest = None

    def __init__(self, name: str, asking: CountMatrix, weight: Floats, there: Floats) -> None:
        """`weight` is what each count of `asking` is worth in a source, `there` in a page that is compared with it."""
        self.name = name
        kept = weight != 0.0
        self._term, self._weight = asking.term[kept], weight[kept].astype(np.float32)
        lengths = np.bincount(asking.rows()[kept], minlength=len(asking))
        self._offsets: Int64s = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        terms = int(asking.term.max(initial=0)) + 1
        self._inverted = invert(asking.offsets, asking.term, there.astype(np.float32), terms)

    def scores(self, sources: Int64s) -> Floats:
        """The sums, to nine places."""
        rows = np.empty((len(sources), len(self._offsets) - 1))
        products(sources, self._offsets, self._term, self._weight, self._inverted, rows)
        return _listed(rows)


class SetSystem(ProductSystem):
    """Pages by the Jaccard coefficient of sets: how many pages cite both, of those that cite either."""

    def __init__(self, name: str, counts: CountMatrix) -> None:
        ones = np.ones(len(counts.term))
        super().__init__(name, counts, ones, ones)
        self._sizes = np.diff(counts.offsets)

    def scores(self, sources: Int64s) -> Floats:
        """The coefficients, to nine places."""
        both = np.maximum(super().scores(sources), 0.0)
        either = self._sizes[sources][:, np.newaxis] + self._sizes - both
        return _listed(np.divide(both, either, out=np.zeros_like(both), where=either > 0))


class VectorSystem:
    """Pages by the cosine of vectors, dense ones of length one; a page without a vector is like none."""

    longest = None

    def __init__(self, name: str, vectors: Floats) -> None:
        self.name = name
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        self._vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        self._there = lengths[:, 0] > 0

    def scores(self, sources: Int64s) -> Floats:
        """The cosines, to nine places."""
        rows = np.rint(self._vectors[sources] @ self._vectors.T * PLACES) / PLACES
        return np.where(self._there[sources][:, np.newaxis] & self._there, rows, UNLISTED)


def _listed(rows: Floats) -> Floats:
    return np.where(rows > 0.0, np.rint(rows * PLACES) / PLACES, UNLISTED)


def tf_idf_weights(counts: CountMatrix) -> Floats:
    """(1 + ln tf) (ln((1 + N) / (1 + df)) + 1), every page of length one: scikit-learn's, with `sublinear_tf`.

    With tf as it is, which is scikit-learn's default, both tf-idf and LSA are much worse at finding kin.
    """
    idf = np.log((1.0 + counts.pages) / (1.0 + counts.frequency[counts.term])) + 1.0
    weight = (1.0 + np.log(counts.count)) * idf
    lengths = np.sqrt(np.bincount(counts.rows(), np.square(weight), len(counts)))
    return np.asarray(weight / lengths[counts.rows()])


def tf_idf(counts: CountMatrix) -> ProductSystem:
    """The cosine of tf-idf vectors."""
    weight = tf_idf_weights(counts)
    return ProductSystem(f"{TF_IDF} cosine", counts, weight, weight)


def query_terms(counts: CountMatrix) -> Floats:
    """1 for the terms that Lucene's MoreLikeThis would ask for in place of each page, else 0.

    Of the terms that are at least twice in the page and in at least five pages, the 25 of largest
    tf (ln((N + 1) / (df + 1)) + 1).
    """
    frequency = counts.frequency[counts.term]
    worth = counts.count * (np.log((counts.pages + 1.0) / (frequency + 1.0)) + 1.0)
    worth[(counts.count < LEAST_COUNT) | (frequency < LEAST_PAGES)] = 0.0
    order = np.lexsort((counts.term, -worth, counts.rows()))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(counts.offsets[:-1], np.diff(counts.offsets))
    return np.where((rank < QUERY_TERMS) & (worth > 0.0), 1.0, 0.0)


def more_like_this(counts: CountMatrix) -> ProductSystem:
    """A query of 25 terms of the source, by Okapi BM25 as Lucene has it; lengths of pages are not rounded, as there."""
    frequency = counts.frequency[counts.term]
    idf = np.log(1.0 + (counts.pages - frequency + 0.5) / (frequency + 0.5))
    length = np.bincount(counts.rows(), counts.count, len(counts))[counts.rows()]
    damped = counts.count / (counts.count + K1 * (1.0 - B + B * length / counts.mean_length))
    return ProductSystem(f"{MORE_LIKE_THIS}, {QUERY_TERMS} terms", counts, query_terms(counts), idf * damped)


def co_citation(citing: CountMatrix) -> SetSystem:
    """The pages that cite both, of those that cite either."""
    return SetSystem(f"{CO_CITATION} Jaccard", citing)


def lsa(counts: CountMatrix, dimensions: int = DIMENSIONS, seed: int = 2002) -> VectorSystem:
    """The cosine after latent semantic analysis: tf-idf vectors, projected on so many dimensions."""
    need_lsa()
    from scipy.sparse import csr_matrix
    from sklearn.decomposition import TruncatedSVD

    matrix = csr_matrix((tf_idf_weights(counts), counts.term.astype(np.int64), counts.offsets))
    most = max(1, min(dimensions, matrix.shape[0] - 1, matrix.shape[1] - 1))
    vectors = TruncatedSVD(most, random_state=seed % 2**32).fit_transform(matrix)
    return VectorSystem(f"LSA, {most} dimensions", np.asarray(vectors, np.float64))


def need_lsa() -> None:
    """Raise MisuseError if LSA cannot be computed here."""
    need("sklearn", what="LSA", extra="lsa", otherwise=f", or leave {LSA!r} out of the references")
