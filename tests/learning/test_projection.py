"""A projection on top of learned weights."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from learning.builders import topical, whole
from learning.test_leakage import poisoned
from pagekin.errors import MisuseError
from pagekin.learning import projection as projecting
from pagekin.learning.corpus import PARTS, CorpusLinks, split
from pagekin.learning.projection import WeightedSpace, learn_projection, need_projection, weighted_space
from pagekin.learning.ranking import AP, MEASURES, Ranker, page_queries
from pagekin.model.weighting import Learned, Network

FLAT = Network(0.0, 1.0, (), (), (), 0.0)
EQUAL = Learned(FLAT, FLAT, FLAT)
TERMS = 1400


def spaces(links: CorpusLinks | None = None) -> list[WeightedSpace]:
    counts, found = topical()
    parts = split(counts, links or found, 5)
    return [weighted_space(parts[name], EQUAL, TERMS) for name in PARTS]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projecting, "BATCHES", 10)
    monkeypatch.setattr(projecting, "VALIDATE_EVERY", 5)
    monkeypatch.setattr(projecting, "RANKS", (4, 8))


def test_without_columns_the_order_is_that_of_the_weights() -> None:
    test = spaces()[2]
    queries = page_queries(test.part)
    found = test.measure(np.zeros((TERMS, 0)), queries)
    assert found == pytest.approx(Ranker(test.part, EQUAL, queries).measure(), abs=1e-3)


def test_words_count_for_each_other_where_the_matrix_says_so() -> None:
    """Pages 0 and 3 have no word in common; words 1 and 3 add to the same dimension, as much as 4 takes away."""
    part = whole([{1: 2}, {1: 2, 2: 2}, {2: 2, 4: 2}, {3: 2}], [(0, 3), (0, 2)])
    space = weighted_space(part, EQUAL, 5)
    queries = page_queries(part, np.array([0]))
    matrix = np.zeros((5, 1))
    assert space.measure(matrix, queries)[0, 3] == 0.0  # neither is listed
    matrix[[1, 3]] = 2.0
    matrix[4] = -2.0
    # Page 1 scores w (1 + 4), page 3 scores 4 w, page 2 less than nothing: right is the second of two.
    assert space.measure(matrix, queries)[0, 3] == pytest.approx((1 / 2) / 2)


def test_the_gradient_is_that_of_the_loss() -> None:
    """Against finite differences of the loss of equation 4 by its definition."""
    train = spaces()[0].part
    drawn = train.linked()[:3]
    random = np.random.default_rng(3)
    scores = 2.0 * random.random((3, len(train)))

    def loss(scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        total = 0.0
        for row, page in zip(scores, drawn.tolist(), strict=True):
            linked = set(train.link[train.link_offsets[page] : train.link_offsets[page + 1]].tolist())
            others = set(range(len(train))) - linked - {page}
            pairs = [max(0.0, 1.0 - row[near] + row[far]) for near in linked for far in others]
            total += sum(pairs) / len(pairs) / 3
        return total

    gradient = projecting._loss_gradient(train, drawn, scores)
    for k, page in random.integers(0, (3, len(train)), (40, 2)).tolist():
        step = np.zeros_like(scores)
        step[k, page] = 1e-7
        assert gradient[k, page] == pytest.approx((loss(scores + step) - loss(scores - step)) / 2e-7, abs=1e-6)


def test_on_valid_what_is_learned_is_not_worse_than_nothing_and_the_same_again() -> None:
    train, valid, _ = spaces()
    matrix, told = learn_projection(train, valid, 1)
    assert told["with"] > told["without"]  # topics have words that go together
    queries = page_queries(valid.part)
    average = MEASURES.index(AP)
    assert valid.measure(matrix, queries)[:, average].mean() == told["with"]
    assert valid.measure(matrix[:, :0], queries)[:, average].mean() == told["without"]
    again, _ = learn_projection(train, valid, 1)
    assert (matrix == again).all()
    unknown = np.setdiff1d(np.arange(TERMS), train.part.terms)
    assert matrix[unknown] == pytest.approx(0.0, abs=1e-12)  # words that train does not have play no part


def test_what_is_learned_does_not_depend_on_the_links_of_test() -> None:
    counts, links = topical()
    found = []
    for each in (links, poisoned(links, split(counts, links, 5)["test"])):
        train, valid, _ = spaces(each)
        found.append(learn_projection(train, valid, 1)[0])
    assert (found[0] == found[1]).all()


def test_where_there_is_nothing_to_decompose_there_is_no_projection() -> None:
    for pages, terms in (([{0: 2}] * 3, 1), ([{}] * 3, 5)):
        space = weighted_space(whole(pages, [(0, 1)]), EQUAL, terms)
        matrix, told = learn_projection(space, space, 1)
        assert matrix.shape == (terms, 0)
        assert told["with"] == told["without"]


def test_without_scipy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(MisuseError, match=r"pip install 'pagekin\[lsa\]'"):
        need_projection()
