"""The ranking by a weighting: by hand, and by ir_measures from files."""

from __future__ import annotations

import math
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP as THEIR_AP
from ir_measures import P, Rprec

from learning.builders import topical, whole
from pagekin.evaluation.run_lines import run_lines
from pagekin.evaluation.runs import qrel_lines, untie
from pagekin.learning.corpus import split
from pagekin.learning.ranking import (
    AP,
    BREAK_EVEN,
    MEASURES,
    P10,
    Ranker,
    compare_measures,
    page_queries,
    qrels_of,
    rankings_of,
    sample_queries,
    signed_rank,
)
from pagekin.model.weighting import Learned, Network, Okapi


def test_scores_of_okapi_by_hand() -> None:
    """Page 0 asks with the terms 0 and 1, which count one each. Page 1 has term 0 three times, and four occurrences
    where the mean is 2.5: 2 * 3 * ln(4/2) / ((0.5 + 0.5 * 1.6) + 3), and 2 * ln(4/3) / (1.3 + 1) for term 1.
    """
    part = whole([{0: 1, 1: 1}, {0: 3, 1: 1}, {1: 2}, {2: 2}], [(0, 1)])
    (_, scores), *_ = Ranker(part, Okapi(1.0, 0.5), page_queries(part)).rows()
    expected = 6 * np.log(2) / 4.3 + 2 * np.log(4 / 3) / 2.3
    assert scores[0][1] == pytest.approx(expected, rel=1e-6)
    assert scores[0][3] == 0.0


def test_scores_of_learned_weights_are_products_of_both_pages() -> None:
    """f_tf = softplus(tanh(tf)), the others say log 2."""
    flat = Network(0.0, 1.0, (), (), (), 0.0)
    weighting = Learned(Network(0.0, 1.0, (1.0,), (0.0,), (1.0,), 0.0), flat, flat)
    part = whole([{0: 1, 1: 1}, {0: 3}, {1: 2}, {2: 2}], [(0, 1)])
    (_, scores), *_ = Ranker(part, weighting, page_queries(part)).rows()
    one, three = (np.log1p(np.exp(np.tanh(tf))) * np.log(2) ** 2 for tf in (1, 3))
    assert scores[0][1] == pytest.approx(one * three, rel=1e-6)


def test_ir_measures_finds_the_same_in_the_files_that_are_written(tmp_path: Path) -> None:
    part = split(*topical(), seed=1)["test"]
    ranker = Ranker(part, Okapi(), page_queries(part))
    names = [f"http://p.example/{page} {page % 7}" for page in part.pages.tolist()]
    asking = [names[page] for page in ranker.queries.pages.tolist()]
    (tmp_path / "qrels").write_text("\n".join(qrel_lines(qrels_of(ranker.queries, asking, names))))
    (tmp_path / "run").write_text("\n".join(run_lines(untie(rankings_of(ranker, asking, names)), tag="okapi")))
    theirs = ir_measures.calc_aggregate(
        [P @ 10, Rprec, THEIR_AP],
        ir_measures.read_trec_qrels(str(tmp_path / "qrels")),
        ir_measures.read_trec_run(str(tmp_path / "run")),
    )
    ours = dict(zip(MEASURES, ranker.measure().mean(axis=0).tolist(), strict=True))
    assert ours[AP] > 0.1
    assert ours[P10] == pytest.approx(theirs[P @ 10], abs=1e-9)
    assert ours[BREAK_EVEN] == pytest.approx(theirs[Rprec], abs=1e-9)
    assert ours[AP] == pytest.approx(theirs[THEIR_AP], abs=1e-9)


def test_a_comparison_reports_the_better_system_and_smaller_errors_are_better() -> None:
    random = np.random.default_rng(1)
    before = random.random((60, 4))
    after = before + np.array([0.2, 0.2, -0.2, 0.0]) * random.random((60, 1))
    table = compare_measures(before, after)
    assert [of["significantly_better"] for of in table.values()] == [False, True, False, False]
    assert table["AP"]["p"] == 1.0
    assert table["P@10"]["change"] == pytest.approx(after[:, 1].mean() / before[:, 1].mean() - 1)


def test_a_sample_of_queries_is_determined_by_its_seed() -> None:
    part = split(*topical(), seed=1)["valid"]
    one, same, other = (sample_queries(part, 20, seed).pages.tolist() for seed in (1, 1, 2))
    assert len(one) == 20
    assert one == same != other
    assert sample_queries(part, 10_000, 1).pages.tolist() == part.linked().tolist()


VALUES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]) | st.floats(0.0, 1.0)


def test_the_signed_rank_test_by_hand() -> None:
    """Differences 1, -2, 3, 4: the ranks of gains sum to 8, where 5 is expected; the variance is 4 5 9 / 24 = 7.5."""
    p = signed_rank(np.array([1.0, 0.0, 3.0, 4.0]), np.array([0.0, 2.0, 0.0, 0.0]))
    assert p == pytest.approx(math.erfc(3 / math.sqrt(2 * 7.5)))


def test_without_a_difference_chance_explains_all() -> None:
    assert signed_rank(np.ones(5), np.ones(5)) == 1.0


@settings(deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=12, max_size=60))
def test_the_signed_rank_test_says_what_scipy_says(pairs: list[tuple[float, float]]) -> None:
    from scipy import stats  # takes seconds, and every worker collects this module

    one, other = np.array(pairs).T
    if (one == other).all():
        return
    theirs = stats.wilcoxon(one, other, zero_method="wilcox", correction=False, method="approx").pvalue
    assert signed_rank(one, other) == pytest.approx(theirs, rel=1e-9, abs=1e-300)
