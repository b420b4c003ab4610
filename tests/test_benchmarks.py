"""The page of benchmarks says what was measured, and everything that can be measured is."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import table

    return table


def defines_main(file: Path) -> bool:
    return any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in ast.parse(file.read_text()).body)


def test_the_page_of_benchmarks_is_made_from_the_kept_results(table: ModuleType) -> None:
    assert (ROOT / "docs" / "benchmarks.md").read_text("utf-8") == table.page(BENCHMARKS / "results")


def test_the_page_of_findings_is_made_from_the_kept_results(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("selectolax")
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import findings

    assert (ROOT / "docs" / "findings.md").read_text("utf-8") == findings.page(BENCHMARKS / "results")


@pytest.mark.parametrize("name", ["learning", "beyond"])
def test_the_tables_of_learning_are_made_from_the_kept_results(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("selectolax")
    pytest.importorskip("scipy")
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import beyond, learning

    result = json.loads((BENCHMARKS / "results" / f"{name}.json").read_text())
    tables = {
        "learning": (learning.quality_table, learning.home_table, learning.transfer_table),
        "beyond": (beyond.table, beyond.class_table),
    }
    told = (ROOT / "docs" / "learning.md").read_text("utf-8")
    for table in tables[name]:
        assert table(result) in told


def test_the_table_of_vectors_is_made_from_the_kept_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import vectors

    result = json.loads((BENCHMARKS / "results" / "vectors.json").read_text())
    assert vectors.table(result) in (ROOT / "docs" / "vectors.md").read_text("utf-8")


def test_the_estimates_of_scale_are_made_from_the_kept_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import spark

    result = json.loads((BENCHMARKS / "results" / "spark.json").read_text())
    page = (ROOT / "docs" / "scale.md").read_text("utf-8")
    assert [table(result) in page for table in (spark.stages, spark.data, spark.estimates)] == [True] * 3


def test_estimates_are_proportional_to_the_largest_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: the executors worked 7.2 s for 1,000 pages, so they work 7,200 s for a million, 2 core-hours.

    An index of more than 200,000 pages has no neighbours.
    """
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import spark

    row = {
        "pages": 1000,
        "bytes": {"heads": 4_000_000, "tokens": 2_000_000},
        "batch_bytes": 5_000_000,
        "shuffle_bytes": 1_000_000,
        "spark": {"reading": 4.0, "inverting": 2.0, "choosing pages": 0.01, "neighbours": 2.0},
        "driver_work": {"reading": 0.0, "inverting": 3.6, "choosing pages": 0.01, "neighbours": 9.0},
        "executor_work": {"reading": 6.4, "inverting": 0.8, "neighbours": 10.0},
    }
    lines = spark.estimates({"rows": [row]}).splitlines()
    assert lines[2] == "| work of the executors | core-hours | 2 | 90 | 4,000 |"
    assert lines[3] == "| work of the driver | core-hours | 1 | 45 | 2,000 |"
    assert lines[5] == "| shuffle | GB | 1 | 45 | 2,000 |"
    assert lines[6].endswith("| GB | 6 | 270 | 12,000 |")
    assert lines[7].endswith("| GB | 4 | 180 | 8,000 |")
    assert spark.stages({"rows": [row]}).splitlines()[2:] == [
        "| reading | 0 | 6.4 | 160 |",
        "| inverting | 3.6 | 0.8 | 230 |",
        "| neighbours | 9 | 10 | 53 |",
    ]
    monkeypatch.setattr(spark, "ESTIMATED", (100_000, 200_000, 200_001))
    assert (
        spark.estimates({"rows": [row]}).splitlines()[2] == "| work of the executors | core-hours | 0.48 | 0.96 | 0.4 |"
    )
    assert "| sent from executor to executor | 1,000 |" in spark.data({"rows": [row]}).splitlines()


def test_tasks_are_read_from_the_log_of_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import spark

    metrics = {"Executor Run Time": 1500, "Shuffle Write Metrics": {"Shuffle Bytes Written": 70}}
    events = [
        {"Event": "SparkListenerApplicationStart"},
        {"Event": "SparkListenerTaskEnd", "Task Info": {"Launch Time": 2000}, "Task Metrics": metrics},
        {"Event": "SparkListenerTaskEnd", "Task Info": {"Launch Time": 3000}},  # of a lost executor
    ]
    assert list(spark.tasks_of("\n".join(map(json.dumps, events)))) == [spark.Task(2.0, 1.5, 70)]


def test_the_table_of_load_is_made_from_the_kept_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import load

    result = json.loads((BENCHMARKS / "results" / "load.json").read_text())
    assert load.table(result) in (ROOT / "docs" / "robustness.md").read_text("utf-8")


def test_learned_weights_beat_tuned_okapi_on_all_measures() -> None:
    measures = json.loads((BENCHMARKS / "results" / "learning.json").read_text())["report"]["test"]["measures"]
    assert [of["significantly_better"] for of in measures.values()] == [True] * 4


def test_the_default_beats_what_it_must_on_sources_that_had_no_part_in_its_choice() -> None:
    """The bar is for the encyclopedia, the collection whose hierarchy people made."""
    rows = json.loads((BENCHMARKS / "results" / "choosing.json").read_text())["figures"]
    bars = [row for row in rows if "at_least" in row and "-doc" not in row["what"]]
    assert len(bars) == 6
    assert [row["what"] for row in bars if row["measured"] <= row["at_least"]] == []


def test_every_benchmark_is_run_by_make_bench_or_make_study() -> None:
    runners = [ast.parse((BENCHMARKS / file).read_text()) for file in ("__main__.py", "study.py")]
    imports = [node for runner in runners for node in ast.walk(runner) if isinstance(node, ast.ImportFrom)]
    run = {each.name for node in imports if node.module == "benchmarks" for each in node.names}  # or ruff complains
    there = {file.stem for file in BENCHMARKS.glob("[a-z]*.py") if defines_main(file)}
    assert run == there - {"study"}


def test_a_figure_is_shown_beside_its_bar_and_a_missed_bar_is_called_missed(table: ModuleType, tmp_path: Path) -> None:
    machine = {"system": "Linux", "processors": 2, "python": "3.11", "versions": {"numpy": "2"}}
    rows = [
        {"what": "of peas", "measured": 3.0, "unit": "s", "at_most": 2.0},
        {"what": "of beans", "measured": 3.0, "at_least": 2.0},
        {"what": "of oats", "measured": 1234567},
    ]
    (tmp_path / "growth.json").write_text(json.dumps({"machine": machine, "figures": rows}))
    lines = table.page(tmp_path).splitlines()
    assert "| of peas | 3 | s | at most 2 | missed |" in lines
    assert "| of beans | 3 |  | at least 2 | met |" in lines
    assert "| of oats | 1,234,567 |  |  |  |" in lines
    assert "`python -m benchmarks.growth`. Linux, 2 processors; Python 3.11, numpy 2." in lines


def test_every_kept_result_is_on_the_page_or_belongs_elsewhere(table: ModuleType) -> None:
    results = {file.stem for file in (BENCHMARKS / "results").glob("*.json")}
    assert results <= {*table.ORDER, *table.ELSEWHERE}
    assert all((BENCHMARKS / f"{name}.py").exists() for name in results)


def test_what_is_kept_gains_on_two_collections_and_loses_on_none() -> None:
    """The rule of docs/learning.md, for what the command learns."""
    rows = json.loads((BENCHMARKS / "results" / "beyond.json").read_text())["figures"]
    value = {row["what"]: row["measured"] for row in rows}
    for kept in (r": links, share [\d.]+: AP", r": a learned projection, \d+ dimensions: AP"):
        found = [what for what in value if re.search(kept + ", p$", what) and value[what] < 0.05]
        change = [value[what.replace(", p", " after")] - value[what.replace(", p", " before")] for what in found]
        assert len(change) >= 2
        assert min(change) > 0


def test_the_table_of_missing_links_is_made_from_the_kept_results(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("selectolax")
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import missing_links

    result = json.loads((BENCHMARKS / "results" / "missing_links.json").read_text())
    assert missing_links.table(result) in (ROOT / "docs" / "gaps.md").read_text("utf-8")
