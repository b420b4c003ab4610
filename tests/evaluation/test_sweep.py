"""Many strategies side by side, on the sample web."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.builders import Table, peopled
from pagekin.errors import MisuseError
from pagekin.evaluation.evaluate import evaluate_system
from pagekin.evaluation.judge import judge
from pagekin.evaluation.labelled import open_labelled
from pagekin.evaluation.measures import ratios
from pagekin.evaluation.sweep import ResultStore, SweepResult, csv_lines, flat_columns, result_key, sweep, write_parquet
from pagekin.evaluation.sweep_plan import SweepPlan, plan_of
from pagekin.evaluation.sweep_report import report
from pagekin.model.jsons import to_json
from pagekin.model.progress import Progress
from pagekin.model.strategy import PRESETS
from pagekin.search.indexed_store import IndexedStore

FIGURE = {"title": "Windows", "strategies": {"none": {"window_width": 0}, "default": {}, "paper": {"preset": "paper"}}}
POPULATION = peopled(["A/B/C", "A/B/C", "A/B/D", "E/F/G"])
SCORES = [[9, 3, 2, 1], [1, 9, 2, 3], [1, 1, 9, 1], [1, 2, 3, 9]]


@pytest.fixture
def plan(sample_folder: Path) -> Callable[..., SweepPlan]:
    def make(**table: Any) -> SweepPlan:
        common = {"store": "sample_web.kin", "hierarchy": "labels.tsv", "resamples": 50, "figure": [FIGURE]}
        return plan_of({**common, **table}, "s.toml", sample_folder)

    return make


def stages(log: list[Progress]) -> list[str]:
    return [each.stage for each in log]


def test_a_sweep_measures_what_separate_judgements_measure(plan: Any, sample_folder: Path, tmp_path: Path) -> None:
    swept = sweep(plan(references=["more-like-this"]), tmp_path, threads=2)
    indexed = IndexedStore.open(sample_folder / "sample_web.kin")
    case = open_labelled(str(sample_folder / "labels.tsv"), indexed)
    alone = ratios(judge(case.under(PRESETS["paper"], "paper"), case.population), case.population.regions)
    assert [row["name"] for row in swept.rows()] == ["none", "default", "paper", "more-like-this"]
    paper = swept.rows()[2]
    for name, value in alone.values().items():
        assert paper[name] == pytest.approx(value, abs=1e-6)
    assert (paper["window_width"], paper["mix"], paper["pages"], paper["seed"]) == (32, "sum", 178, 2002)
    assert np.array_equal(swept.of(swept.plan.figures[0].entries[2]).table.numerator, alone.numerator)


def test_a_stopped_sweep_resumes_with_the_same_result(plan: Any, tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.stage == "judging paper":
            raise StopError

    with pytest.raises(StopError):
        sweep(plan(), tmp_path / "stopped", progress=stop)
    log: list[Progress] = []
    later = sweep(plan(), tmp_path / "stopped", progress=log.append)
    assert later.judged == 1
    assert stages(log) == ["opening", "bags of paper", "judging paper", "keeping paper"]
    assert [(each.done, each.total) for each in log[1:]] == [(2, 3)] * 3
    whole = sweep(plan(), tmp_path / "whole")
    assert (whole.judged, later.rows()) == (3, whole.rows())
    assert report(later) == report(whole)


def test_only_what_a_result_depends_on_makes_it_new(plan: Any, tmp_path: Path) -> None:
    sweep(plan(), tmp_path)
    assert sweep(plan(), tmp_path).judged == 0
    renamed = {"title": "Other", "strategies": {"another name": {"window_width": 0}}}
    assert sweep(plan(figure=[renamed]), tmp_path).judged == 0
    assert sweep(plan(seed=5), tmp_path).judged == 3
    assert sweep(plan(depth=2), tmp_path).judged == 3
    assert sweep(plan(min_in_links=1), tmp_path).judged == 3
    other = {"title": "Other", "strategies": {"another name": {"window_width": 1}}}
    assert sweep(plan(figure=[FIGURE, other]), tmp_path).judged == 1


def test_equal_strategies_are_judged_once_and_shown_wherever_they_are_named(plan: Any, tmp_path: Path) -> None:
    again = {"title": "Again", "strategies": {"same as default": {"window_width": 16}}}
    swept = sweep(plan(figure=[FIGURE, again]), tmp_path)
    assert swept.judged == 3
    rows = {row["name"]: row for row in swept.rows()}
    assert len(rows) == 4
    assert rows["same as default"]["P@10"] == rows["default"]["P@10"]


def test_a_run_file_is_judged_with_the_rest_and_anew_when_it_changes(plan: Any, tmp_path: Path) -> None:
    oak, birch = "http://treeroom.example/oak.html", "http://treeroom.example/birch.html"
    run = tmp_path / "run.tsv"
    run.write_text(f"{oak}\t1\t{birch}\t0.5\n")
    first = sweep(plan(runs=[str(run)]), tmp_path / "out").rows()[-1]
    assert (first["kind"], first["longest_list"], first["unanswered"]) == ("run", 1, first["sources"] - 1)
    run.write_text(f"{oak}\t1\t{birch}\t0.5\n{birch}\t1\t{oak}\t0.5\n")
    later = sweep(plan(runs=[str(run)]), tmp_path / "out")
    assert later.judged == 1
    assert later.rows()[-1]["unanswered"] == first["unanswered"] - 1


def test_the_number_of_threads_does_not_matter(plan: Any, tmp_path: Path) -> None:
    one, four = (sweep(plan(), tmp_path / str(n), threads=n).rows() for n in (1, 4))
    assert one == four


def test_the_report_draws_every_figure_and_says_who_is_best(plan: Any, tmp_path: Path) -> None:
    weights = {"title": "Weights", "grid": {"frequency_weight": ["none", "nmdf"]}}
    widths = {"title": "Widths", "grid": {"window_width": [0, 4, 8]}, "measures": ["orthogonal"]}
    swept = sweep(plan(figure=[FIGURE, weights, widths], references=["tf-idf"]), tmp_path)
    html = report(swept)
    for title in ("Windows", "Weights", "Widths", "References", "figure 2", "All numbers", "Left out"):
        assert title in html
    assert html.count("<svg") == 3 + 4 + 1 + 3  # the weights have their curves beside them
    best = max((row for row in swept.rows() if row["figure"] == "Windows"), key=lambda row: row["gamma sibling"])
    assert f"By sibling Gamma {best['name']} " in html
    assert "nothing in common is highest at" in html or "nothing in common rises" in html or "in common falls" in html


def test_a_hierarchy_without_siblings_is_shown_by_all_pairs(plan: Any, tmp_path: Path) -> None:
    html = report(sweep(plan(depth=1), tmp_path))
    assert "sibling" not in html.partition("All numbers")[0].partition("figure 2")[0]


def test_a_sweep_without_a_store_or_a_hierarchy_is_refused(plan: Any, tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="names no store"):
        sweep(replace(plan(), store=""), tmp_path)
    with pytest.raises(MisuseError, match="names no hierarchy"):
        sweep(replace(plan(), population={}), tmp_path)


@pytest.fixture
def result() -> SweepResult:
    system = Table(SCORES, "a system")
    judgement = judge(system, POPULATION)
    facts = to_json(evaluate_system(system, judgement, POPULATION, resamples=3))
    return SweepResult(facts, judgement.sources, ratios(judgement, POPULATION.regions))


def test_a_saved_result_is_loaded_unchanged(tmp_path: Path, result: SweepResult) -> None:
    store = ResultStore(tmp_path / "done")
    assert store.load("k") is None
    store.save("k", result)
    found = ResultStore(tmp_path / "done").load("k")
    assert found is not None
    assert found.facts == result.facts
    assert found.table.names == result.table.names
    for mine, theirs in ((found.sources, result.sources), (found.table.numerator, result.table.numerator)):
        assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("left", [None, 0, 20])
def test_an_incomplete_result_counts_as_missing(
    tmp_path: Path, result: SweepResult, suffix: str, left: int | None
) -> None:
    store = ResultStore(tmp_path)
    store.save("k", result)
    file = tmp_path / f"k.{suffix}"
    if left is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:left])
    assert store.load("k") is None


def test_a_key_tells_settings_apart_and_not_their_order() -> None:
    assert result_key({"a": 1, "b": 2}) == result_key({"b": 2, "a": 1})
    assert len({result_key({"a": 1}), result_key({"a": 1.5}), result_key({"a": "1"}), result_key({"b": 1})}) == 4


def test_every_measure_is_a_column_with_its_interval(result: SweepResult) -> None:
    columns = flat_columns(result.facts)
    for name in result.table.names:
        value = result.table.values()[name]
        assert columns[name] == (None if np.isnan(value) else pytest.approx(value, abs=1e-6)), name
        assert {f"{name} low", f"{name} high"} <= columns.keys()
    assert (columns["sources"], columns["longest_list"]) == (3, None)  # from the last page all are equally far


def test_the_table_is_the_same_as_csv_and_parquet(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"name": 'a "b", c', "P@10": 0.5, "lead": 1.0},
        {"name": "d", "P@10": None, "source": "e"},
    ]
    (tmp_path / "t.csv").write_text("\n".join(csv_lines(rows)))
    with (tmp_path / "t.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == [
            {"name": 'a "b", c', "P@10": "0.5", "lead": "1.0", "source": ""},
            {"name": "d", "P@10": "", "lead": "", "source": "e"},
        ]
    parquet = pytest.importorskip("pyarrow.parquet")
    write_parquet(rows, tmp_path / "t.parquet")
    assert parquet.read_table(tmp_path / "t.parquet").to_pylist() == [
        {"name": 'a "b", c', "P@10": 0.5, "lead": 1.0, "source": None},
        {"name": "d", "P@10": None, "lead": None, "source": "e"},
    ]
