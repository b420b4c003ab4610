"""Sweep files: plans, and errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from model.learned import DRAWN
from pagekin.errors import MisuseError
from pagekin.evaluation.sweep_plan import RUN, SweepPlan, paper_plan, plan_of, read_plan
from pagekin.model.strategy import PRESETS, TEXT_ONLY, Strategy
from pagekin.model.weighting import save_weights


def plan(**table: Any) -> SweepPlan:
    return plan_of(table, "s.toml", Path("there"))


def names(of: SweepPlan) -> list[list[str]]:
    return [[entry.name for entry in figure.entries] for figure in of.figures]


def test_a_grid_is_every_combination_of_its_values() -> None:
    found = plan(figure=[{"title": "W", "grid": {"window_width": [0, 4], "links": [True, False]}}])
    assert names(found) == [
        [
            "window_width 0, links true",
            "window_width 0, links false",
            "window_width 4, links true",
            "window_width 4, links false",
        ]
    ]
    assert found.figures[0].entries[3].strategy == Strategy(window_width=4, links=False, blend=TEXT_ONLY)


def test_bases_and_presets_are_where_strategies_begin() -> None:
    found = plan(
        base={"preset": "paper", "templates": False},
        figure=[{"title": "W", "base": {"window_width": 8}, "strategies": {"a": {}, "b": {"preset": "default"}}}],
    )
    first, second = (entry.strategy for entry in found.figures[0].entries)
    assert first is not None
    assert (first.mix, first.templates, first.window_width) == ("sum", False, 8)
    assert second == PRESETS["default"]


def test_a_figure_can_have_the_strategies_of_one_before_it() -> None:
    figures = [
        {"title": "W", "grid": {"window_width": [0, 4]}},
        {"title": "O", "same": "W", "measures": ["orthogonal"]},
    ]
    one, other = plan(figure=figures).figures
    assert one.entries == other.entries
    assert other.measures == ("orthogonal",)


def test_paths_are_seen_from_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "run.tsv").write_text("")
    (tmp_path / "s.toml").write_text('store = "my.kin"\nhierarchy = "labels.tsv"\nruns = ["run.tsv"]\n')
    found = read_plan(tmp_path / "s.toml")
    assert (found.store, found.population["hierarchy"]) == (str(tmp_path / "my.kin"), str(tmp_path / "labels.tsv"))
    assert [(entry.kind, entry.source) for entry in found.baselines] == [(RUN, str(tmp_path / "run.tsv"))]
    assert plan(store="/else/my.kin", hierarchy="path", references=["tf-idf"]).population["hierarchy"] == "path"


def test_the_sweep_of_the_paper_has_its_figures_and_references() -> None:
    found = paper_plan()
    told = " ".join(figure.title for figure in found.figures)
    assert all(f"figure {n}" in told or f"and {n}" in told for n in (3, 4, 5, 6, 8, 9))
    assert "figures 7 and 8" in told
    windows = found.figures[0]
    assert [entry.strategy.window_width for entry in windows.entries[:5] if entry.strategy] == [0, 4, 8, 16, 32]
    assert [entry.source for entry in found.baselines] == ["tf-idf", "more-like-this", "co-citation"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "s.toml has nothing to evaluate"),
        ({"figures": []}, "there is no 'figures'; there are"),
        ({"store": 5}, "store = 5 should be a text"),
        ({"depth": True}, "depth = True should be a whole number"),
        ({"resamples": 0, "references": ["tf-idf"]}, "resamples is 0; it must be at least 1"),
        ({"references": ["google"]}, "there is no reference 'google'; there are tf-idf"),
        ({"runs": ["gone.tsv"]}, "there is no run file 'gone.tsv'"),
        ({"figure": [5]}, "figure 1 should be a table"),
        ({"figure": [{}]}, "figure 1 has no title"),
        ({"figure": [{"title": "W"}]}, r"figure 1 \(W\) has no strategies"),
        ({"figure": [{"title": "W", "grid": {"window_width": 5}}]}, "window_width = 5 should be a list of values"),
        ({"figure": [{"title": "W", "grid": {"seed": []}}]}, "should be a list of values"),
        ({"figure": [{"title": "W", "grid": {"windows": [5]}}]}, "there is no setting 'windows'"),
        ({"figure": [{"title": "W", "grid": {"window": ["round"]}}]}, "window is 'round'; it can be"),
        ({"figure": [{"title": "W", "grid": {"seed": list(range(101)), "min_in_links": list(range(101))}}]}, "10,000"),
        ({"figure": [{"title": "W", "grid": {"seed": [1, 1]}}]}, "two strategies are called 'seed 1'"),
        ({"figure": [{"title": "W", "grid": {"seed": [1]}}] * 2}, "two figures are called 'W'"),
        ({"figure": [{"title": "W", "same": "V"}]}, "no figure before it is called 'V'"),
        ({"figure": [{"title": "W", "strategies": {"a": 5}}]}, "a = 5 should be a table of settings"),
        ({"figure": [{"title": "W", "grid": {"seed": [1]}, "measures": ["joy"]}]}, "there is no measure 'joy'"),
        ({"base": {"preset": "best"}}, "there is no preset 'best'; there are default, paper"),
    ],
)
def test_a_bad_sweep_is_refused_with_what_and_where(table: dict[str, Any], said: str) -> None:
    with pytest.raises(MisuseError, match=said) as told:
        plan(**table)
    assert str(told.value).startswith("s.toml")


@pytest.mark.parametrize("text", [b"store = ", b"\xff", None])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, text: bytes | None) -> None:
    if text is not None:
        (tmp_path / "s.toml").write_bytes(text)
    with pytest.raises(MisuseError, match=r"s\.toml is not a sweep file"):
        read_plan(tmp_path / "s.toml")


def test_weights_are_seen_from_the_folder_of_the_file_wherever_they_are_named(tmp_path: Path) -> None:
    save_weights(tmp_path / "w.json", DRAWN)
    (tmp_path / "s.toml").write_text(
        '[base]\nweights = "w.json"\n[[figure]]\ntitle = "A"\ngrid = { similarity = ["okapi", "linklearn"] }\n'
        '[[figure]]\ntitle = "B"\nbase = { similarity = "linklearn" }\ngrid = { weights = ["w.json"] }\n'
        '[[figure]]\ntitle = "C"\n[figure.strategies.c]\nweights = "w.json"\n'
    )
    for figure in read_plan(tmp_path / "s.toml").figures:
        for entry in figure.entries:
            assert entry.strategy is not None and entry.strategy.weighting_named("linklearn") == DRAWN
