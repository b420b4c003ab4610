"""The page on robustness says what the campaigns found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "robustness.md").read_text("utf-8")


def figures(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())["figures"]
    return rows


@pytest.mark.parametrize("figure", figures("kills")[2:], ids=lambda figure: figure["what"])
def test_kills_are_told_by_stage(figure: dict[str, Any]) -> None:
    stage = figure["what"].partition("'")[2].rstrip("'")
    assert f"| {stage} | {figure['at_least']} | {figure['measured']} |" in PAGE


@pytest.mark.parametrize("target", ["warc", "wacz", "html", "urls", "jsonl", "index"])
def test_inputs_and_findings_of_the_fuzzer_are_told(target: str) -> None:
    measured = {each["what"].partition(": ")[2]: each["measured"] for each in figures("fuzz") if target in each["what"]}
    assert f"| {target} | {measured['inputs tried']:,} | {measured['findings']} |" in PAGE
