"""The files of a release: versions of numba, the citation, and the workflow of a public forge."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
# The titles of the four papers, as they were published.
PAPERS = {
    "Evaluating Strategies for Similarity Search on the Web": 2002,
    "Inferring Document Similarity from Hyper-Links": 2005,
    "Using Bloom Filters to Refine Web Search Results": 2005,
    "User-Assisted Similarity Estimation for Searching Related Web Pages": 2007,
}


def load(name: str) -> Any:
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"{name} is not in this copy")
    return yaml.safe_load(path.read_text("utf-8"))


def test_the_range_of_numba_is_the_same_wherever_it_stands() -> None:
    (required,) = (each for each in map(Requirement, PYPROJECT["project"]["dependencies"]) if each.name == "numba")
    (compiling,) = re.findall(r"'(numba[^']*)'", PYPROJECT["tool"]["cibuildwheel"]["before-build"])
    assert Requirement(compiling) == required
    bounds = {each.operator: each.version for each in required.specifier}
    assert bounds.keys() == {">=", "<"}
    (tested,) = re.findall(r"^\tfor version in (\S+) '0\.\*'; do", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert tested == f"{bounds['>=']}.0"


def test_the_four_papers_are_cited() -> None:
    citation = load("CITATION.cff")
    assert citation.keys() >= {"cff-version", "message", "title", "authors"}
    assert {each["title"]: each["year"] for each in citation["references"]} == PAPERS
    assert all(each["authors"] and each["type"] for each in citation["references"])


def test_the_workflow_tests_three_systems_and_all_supported_pythons() -> None:
    workflow = load(".github/workflows/ci.yml")
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert {each.partition("-")[0] for each in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"][0] == PYPROJECT["project"]["requires-python"].removeprefix(">=")
    assert len(matrix["python"]) >= 3
    for job in workflow["jobs"].values():
        assert job["runs-on"] and all("uses" in step or "run" in step for step in job["steps"])
    assert any("cibuildwheel" in step.get("uses", "") for step in workflow["jobs"]["wheels"]["steps"])
