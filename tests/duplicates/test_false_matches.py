"""False matches of Bloom filters, section 2.3.1 of the paper."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

RATIOS = (1, 2, 4, 8, 10, 11)
PAPER = [0.6973, 0.4658, 0.1929, 0.0295, 0.0113, 0.0070]


@pytest.fixture
def law(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    from benchmarks import false_matches

    return false_matches


def test_the_formula_gives_the_numbers_of_the_paper(law: ModuleType) -> None:
    assert law.RATIOS == RATIOS
    assert [round(law.paper_ratio(ratio), 4) for ratio in RATIOS] == PAPER


def test_everything_matches_where_everything_is_common(law: ModuleType) -> None:
    for ratio in RATIOS:
        assert law.paper_ratio(ratio, 1.0) == pytest.approx(1.0)
        assert law.expected_ratio(ratio, law.best_hashes(ratio), 1.0) == pytest.approx(1.0)


def test_the_number_of_hash_functions_is_whole(law: ModuleType) -> None:
    """(m / n) ln 2 is 0.69, 1.39, 2.77, 5.55, 6.93, 7.62."""
    assert [law.best_hashes(ratio) for ratio in RATIOS] == [1, 1, 3, 6, 7, 8]


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("common", [0.0, 0.5])
def test_simulations_agree_with_the_expectation_for_whole_k(law: ModuleType, ratio: int, common: float) -> None:
    hashes = law.best_hashes(ratio)
    simulated = law.simulated_ratio(1000, 1000 * ratio, hashes, common, rounds=30, seed=7)
    assert simulated == pytest.approx(law.expected_ratio(ratio, hashes, common), abs=0.006)


def test_the_papers_formula_overestimates_matches_of_small_filters(law: ModuleType) -> None:
    """By hand, for m = n and k = 1: e^-1 of all bits are not set, so .632 of B match; each match is a set bit.

    The paper draws .632 n bits out of m: (1 - e^-.632) / .632 = .741. They fall on .632 m bits: 1 - e^-1 = .632.
    """
    assert law.paper_ratio_for_hashes(1, 1) == pytest.approx(0.741, abs=0.0005)
    assert law.expected_ratio(1, 1) == pytest.approx(0.632, abs=0.0005)
    assert law.simulated_ratio(1000, 1000, 1, 0.0, rounds=30, seed=7) == pytest.approx(0.632, abs=0.01)


def test_false_matches_are_drawn(law: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("law.svg", "again.svg"):
        law.draw_false_matches(tmp_path / name, ratios=(1, 8))
    assert (tmp_path / "law.svg").read_text("utf-8").rstrip().endswith("</svg>")
    assert (tmp_path / "law.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()
