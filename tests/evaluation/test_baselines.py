"""Baselines, by hand and compared with scikit-learn."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from pagekin.errors import MisuseError
from pagekin.evaluation.baselines import (
    Baseline,
    CountMatrix,
    co_citation,
    count_matrix,
    lsa,
    more_like_this,
    query_terms,
    tf_idf,
)
from pagekin.model.bags import Bags

PAGES = [{0: 2, 1: 1}, {0: 1, 2: 3}, {3: 1}, {}]


def counts_of(pages: list[dict[int, int]]) -> CountMatrix:
    """The whole collection is compared."""
    offsets = np.cumsum([0, *map(len, pages)])
    term = np.array([term for page in pages for term in page], np.uint32)
    count = np.array([count for page in pages for count in page.values()], np.float32)
    return count_matrix(
        Bags(offsets, term, count, count.astype(np.uint32), np.zeros_like(count)), np.arange(len(pages))
    )


def row(system: Baseline, source: int) -> list[float]:
    scores: list[float] = system.scores(np.array([source]))[0].tolist()
    return scores


def test_counts_know_the_whole_collection_also_where_only_some_pages_are_compared() -> None:
    whole = counts_of(PAGES)
    content = whole.count.astype(np.uint32)
    bags = Bags(whole.offsets, whole.term, whole.count, content, np.zeros_like(whole.count))
    some = count_matrix(bags, np.array([1, 2]))
    assert (some.term.tolist(), some.count.tolist()) == ([0, 2, 3], [1, 3, 1])
    assert (some.frequency.tolist(), some.pages, some.mean_length) == ([2, 1, 1, 1], 4, 2.0)


def test_tf_idf_by_hand() -> None:
    # N = 4. idf(0) = ln(5/3) + 1, the others' is ln(5/2) + 1; tf counts 1 + ln tf.
    common, rare = math.log(5 / 3) + 1, math.log(5 / 2) + 1
    first = np.array([(1 + math.log(2)) * common, rare])
    second = np.array([common, (1 + math.log(3)) * rare])
    expected = first[0] * second[0] / (np.linalg.norm(first) * np.linalg.norm(second))
    assert row(tf_idf(counts_of(PAGES)), 0) == pytest.approx([1.0, expected, -math.inf, -math.inf], abs=1e-6)


def test_tf_idf_is_that_of_scikit_learn() -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    matrix = np.zeros((4, 4))
    for page, each in enumerate(PAGES):
        for term, count in each.items():
            matrix[page, term] = count
    theirs = text.TfidfTransformer(sublinear_tf=True).fit_transform(matrix).toarray()
    found = tf_idf(counts_of(PAGES)).scores(np.arange(4))
    assert np.maximum(found, 0.0) == pytest.approx(theirs @ theirs.T, abs=1e-6)


def test_the_terms_of_a_query_are_those_of_lucene() -> None:
    """Terms that are once in the page, or in fewer than five pages, are not asked for."""
    many = [{0: 3, 1: 1, 2: 2}, *({0: 1, 1: 1} for _ in range(4)), {2: 1}]
    counts = counts_of(many)
    assert counts.term[query_terms(counts) > 0].tolist() == [0]  # of the first page; others have nothing twice
    long = [{term: 2 + term for term in range(30)}, *(dict.fromkeys(range(30), 1) for _ in range(4))]
    counts = counts_of(long)
    assert counts.term[query_terms(counts) > 0].tolist() == list(range(5, 30))  # equal idf: the 25 of most tf


def test_more_like_this_by_hand() -> None:
    # Term 0 is in 5 of 6 pages, 7 times in the first of 10 words; the mean page has (10 + 4 * 1 + 4) / 6 = 3 words.
    pages = [{0: 7, 1: 3}, *({0: 1} for _ in range(4)), {2: 4}]
    idf = math.log(1 + (6 - 5 + 0.5) / (5 + 0.5))
    one = idf * 1 / (1 + 1.2 * (0.25 + 0.75 * 1 / 3))
    itself = idf * 7 / (7 + 1.2 * (0.25 + 0.75 * 10 / 3))
    assert row(more_like_this(counts_of(pages)), 0) == pytest.approx([itself, one, one, one, one, -math.inf], abs=1e-6)


def test_co_citation_is_the_jaccard_coefficient_of_sets() -> None:
    # Cited by {0, 1}, {0, 2}, {3}, nobody: one of three citing pages cites the first two.
    assert row(co_citation(counts_of(PAGES)), 0) == pytest.approx([1.0, 1 / 3, -math.inf, -math.inf])


def test_lsa_with_all_dimensions_is_the_cosine_of_tf_idf() -> None:
    pytest.importorskip("sklearn")
    pages = [{0: 2, 1: 1}, {0: 1, 3: 3}, {1: 1, 3: 1}, {0: 1, 1: 1, 3: 1}]  # three terms, which span three dimensions
    found = lsa(counts_of(pages), dimensions=3).scores(np.arange(4))
    assert found == pytest.approx(tf_idf(counts_of(pages)).scores(np.arange(4)), abs=1e-6)


def test_a_page_without_words_is_like_none_by_lsa() -> None:
    pytest.importorskip("sklearn")
    assert row(lsa(counts_of(PAGES), dimensions=2), 0)[3] == -math.inf


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MisuseError, match=r"pip install 'pagekin\[lsa\]', or leave 'lsa' out"):
        lsa(counts_of(PAGES))
