"""Results of a sweep: stored, loaded, and as a table."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.builders import Table, peopled
from pagekin.evaluation.judge import judge
from pagekin.evaluation.measures import ratios
from pagekin.evaluation.report import as_json, evaluate_system
from pagekin.evaluation.sweep_results import (
    ResultStore,
    SweepResult,
    csv_lines,
    flat_columns,
    result_key,
    write_parquet,
)

POPULATION = peopled(["A/B/C", "A/B/C", "A/B/D", "E/F/G"])
SCORES = [[9, 3, 2, 1], [1, 9, 2, 3], [1, 1, 9, 1], [1, 2, 3, 9]]


@pytest.fixture
def result() -> SweepResult:
    system = Table(SCORES, "a system")
    judgement = judge(system, POPULATION)
    facts = as_json(evaluate_system(system, judgement, POPULATION, resamples=3))
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
