"""Related pairs: how they are read, and the measures of rankings by them."""

from __future__ import annotations

from math import log2
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, R, nDCG

from evaluation.builders import Table, rows_of
from pagekin.errors import MisuseError
from pagekin.evaluation.labels import LeftOut
from pagekin.evaluation.population import ComparedPages
from pagekin.evaluation.related_pairs import (
    RELATED_MEASURES,
    RelatedPairs,
    judge_related,
    read_pairs,
    related_pairs,
    related_ratios,
)

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20)


def pairs_of(pairs: list[tuple[int, int]], pages: int = 6) -> RelatedPairs:
    return related_pairs(pairs, pages, LeftOut(), [f"p{page}" for page in range(pages)])


def test_measures_by_hand() -> None:
    """Two sources. The first has three related pages, at places 2 and 20, and one that is not listed.

    R@10 = 1/3, MRR = 1/2, AP = (1/2 + 2/20) / 3, nDCG@10 = 1/log2(3) / (1 + 1/log2(3) + 1/log2(4)). The second has one
    related page, which is not listed: all measures are 0.
    """
    table = related_ratios(np.array([2, 20, 0, 0]), np.array([3, 1]))
    ideal = 1 + 1 / log2(3) + 1 / 2
    assert table.by_source()[0].tolist() == pytest.approx([1 / 3, 1 / 2, 0.6 / 3, 1 / log2(3) / ideal])
    assert table.by_source()[1].tolist() == [0.0] * 4
    assert table.values()["MRR"] == pytest.approx(1 / 4)


def test_a_perfect_ranking_of_more_than_ten_related_pages_has_a_recall_below_one() -> None:
    assert related_ratios(np.arange(1, 21), np.array([20])).values() == {"R@10": 0.5, "MRR": 1, "AP": 1, "nDCG@10": 1}


@given(PAIRS)
def test_pairs_count_in_both_directions_whatever_their_order_and_number(pairs: list[tuple[int, int]]) -> None:
    found = pairs_of(pairs)
    expected = [sorted({b for a, b in [*pairs, *((b, a) for a, b in pairs)] if a == page != b}) for page in range(6)]
    assert [found.page[found.row(page)].tolist() for page in range(6)] == expected
    assert found.count == len({frozenset(pair) for pair in pairs if pair[0] != pair[1]})


def test_what_is_no_new_pair_is_counted() -> None:
    notes = LeftOut()
    related_pairs([(0, 1), (1, 0), (0, 1), (2, 2)], 3, notes, ["a", "b", "c"])
    assert rows_of(notes) == [
        ("pairs of a page with itself", 1, "c"),
        ("pairs that occur more than once, in either order", 2, ""),
    ]


def test_linked_pairs_are_left_out_and_counted() -> None:
    notes = LeftOut()
    found = pairs_of([(0, 1), (2, 1), (4, 3)]).without(np.array([1 * 6 + 2, 0 * 6 + 5]), notes, [*"abcdef"])
    assert found.lengths().tolist() == [1, 1, 0, 1, 1, 0]
    assert rows_of(notes) == [("related pairs in which a page links to the other", 1, "b c")]


def test_lines_name_pages_and_what_is_missing_is_counted(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("a\tb\textra\nb \t c\nalone\n\tb\na\tx\nx\ty\n\n")
    notes = LeftOut()
    assert list(read_pairs(tmp_path / "pairs.tsv", {"a": 0, "b": 1, "c": 2}.get, notes)) == [(0, 1), (1, 2)]
    assert rows_of(notes) == [
        ("lines that are no pair", 2, f"line 3 of {tmp_path / 'pairs.tsv'}"),
        ("pairs with a page that the collection does not have", 2, "a x"),
        ("pages of related pairs that the collection does not have", 2, "x"),
    ]


def test_a_file_without_pairs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("a\nb\n")
    with pytest.raises(MisuseError, match="has no pairs; a line is a page, a tab and a related page"):
        list(read_pairs(tmp_path / "pairs.tsv", {"a": 0}.get, LeftOut()))


def test_ties_go_to_the_earlier_page_and_the_source_is_not_ranked() -> None:
    system = Table([[9, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 9]])
    pages = ComparedPages(np.arange(4), [*"abcd"])
    judged = judge_related(system, pages, pairs_of([(0, 3)], 4), np.array([0, 3]))
    assert judged.table.by_source()[:, RELATED_MEASURES.index("MRR")].tolist() == [1 / 3, 1.0]


def test_a_source_without_any_answer_is_counted() -> None:
    system = Table([[1.0, -np.inf, -np.inf], [0.5, 1.0, -np.inf], [-np.inf, -np.inf, 1.0]])
    pages = ComparedPages(np.arange(3), [*"abc"])
    judged = judge_related(system, pages, pairs_of([(0, 1), (1, 2)], 3), np.arange(3))
    assert judged.answered.tolist() == [False, True, False]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 40))
def test_measures_are_those_of_trec_eval(seed: int, size: int) -> None:
    """Without ties, which trec_eval orders otherwise."""
    rng = np.random.default_rng(seed)
    scores = rng.permuted(np.tile(np.arange(1.0, size + 1), (size, 1)), axis=1)
    scores[rng.random((size, size)) < 0.2] = -np.inf
    related = pairs_of([(int(a), int(b)) for a, b in rng.integers(0, size, (size, 2))] + [(0, 1)], size)
    sources = np.flatnonzero(related.lengths())
    pages = ComparedPages(np.arange(size), [f"p{page}" for page in range(size)])
    ours = judge_related(Table(scores.tolist()), pages, related, sources).table
    qrels = {f"p{a}": {f"p{b}": 1 for b in related.page[related.row(a)].tolist()} for a in sources.tolist()}
    run = {
        f"p{a}": {f"p{b}": scores[a, b] for b in range(size) if b != a and scores[a, b] > -np.inf}
        for a in sources.tolist()
    }
    measures = [R @ 10, RR, AP, nDCG @ 10]
    theirs: dict[str, dict[object, float]] = {source: dict.fromkeys(measures, 0.0) for source in qrels}
    for found in ir_measures.iter_calc(measures, qrels, run):
        theirs[found.query_id][found.measure] = found.value
    expected = [[theirs[f"p{a}"][measure] for measure in measures] for a in sources.tolist()]
    assert ours.by_source() == pytest.approx(np.array(expected))
