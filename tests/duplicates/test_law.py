"""The false-match law of section 2.3.1."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekin.duplicates.law import (
    RATIOS,
    draw_law,
    expected_ratio,
    paper_ratio,
    paper_ratio_for,
    simulated_ratio,
    whole_hashes,
)

PAPER = [0.6973, 0.4658, 0.1929, 0.0295, 0.0113, 0.0070]


def test_the_formula_gives_the_numbers_of_the_paper() -> None:
    assert [round(paper_ratio(ratio), 4) for ratio in RATIOS] == PAPER


def test_everything_matches_where_everything_is_common() -> None:
    for ratio in RATIOS:
        assert paper_ratio(ratio, 1.0) == pytest.approx(1.0)
        assert expected_ratio(ratio, whole_hashes(ratio), 1.0) == pytest.approx(1.0)


def test_hash_functions_are_whole() -> None:
    """(m / n) ln 2 is 0.69, 1.39, 2.77, 5.55, 6.93, 7.62."""
    assert [whole_hashes(ratio) for ratio in RATIOS] == [1, 1, 3, 6, 7, 8]


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("common", [0.0, 0.5])
def test_trials_agree_with_the_expectation_for_whole_k(ratio: int, common: float) -> None:
    hashes = whole_hashes(ratio)
    trials = simulated_ratio(1000, 1000 * ratio, hashes, common, rounds=30, seed=7)
    assert trials == pytest.approx(expected_ratio(ratio, hashes, common), abs=0.006)


def test_the_papers_formula_counts_too_many_bits_where_filters_are_small() -> None:
    """By hand, for m = n and k = 1: e^-1 of all bits are not set, so .632 of B match; each match is a set bit.

    The paper throws .632 n bits at m places: (1 - e^-.632) / .632 = .741. They fall on .632 m places: 1 - e^-1 = .632.
    """
    assert paper_ratio_for(1, 1) == pytest.approx(0.741, abs=0.0005)
    assert expected_ratio(1, 1) == pytest.approx(0.632, abs=0.0005)
    assert simulated_ratio(1000, 1000, 1, 0.0, rounds=30, seed=7) == pytest.approx(0.632, abs=0.01)


def test_the_law_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("law.svg", "again.svg"):
        draw_law(tmp_path / name, ratios=(1, 8))
    assert (tmp_path / "law.svg").read_text("utf-8").rstrip().endswith("</svg>")
    assert (tmp_path / "law.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()
