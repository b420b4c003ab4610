"""Stores whose files were changed on purpose: every command gives an answer or one sentence.

More cases: `python -m benchmarks.hostile`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks import hostile
from benchmarks.hostile import COMMANDS, Scene, in_a_child, replace_file, scene, seal, work
from pagekin.cli.main import COMMANDS as ALL
from pagekin.errors import StoreError

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(sys.platform != "linux", reason="needs fork and pidfd"),
]
# These crashed `evaluate --strategy`, or a build onto the store.
LEADING = ["tokens.form", "titles.form", "links.page", "links.anchor", "anchors.end", "blocks.token", "forms.word"]
OTHERS = ["sweep", "learn", "graph", "duplicates --chunk-size", "build --strategy"]

EXPECTED = {"evaluate --strategy": "refused", "sweep": "refused", "learn": "refused", "build --strategy": "answered"}


@pytest.fixture(scope="module")
def whole() -> Iterator[Scene]:
    with scene() as made:
        yield made


@pytest.mark.parametrize("sealed", [False, True], ids=["checksums wrong", "checksums right"])
@pytest.mark.parametrize("column", LEADING)
def test_a_number_that_leads_nowhere_is_one_sentence(whole: Scene, column: str, sealed: bool) -> None:
    for command in ("evaluate --strategy", OTHERS[LEADING.index(column) % len(OTHERS)]):
        root = whole.copy()
        path = next(root.glob("store-*")).relative_to(root) / f"{column}.npy"
        array = np.load(root / path)
        array[len(array) // 2] = 2**32 - 2
        replace_file(root / path, hostile._packed(array))
        if sealed:
            seal(root, path)
        outcome = in_a_child(lambda command=command: work(command), whole.work)  # type: ignore[misc]
        repaired = command.startswith("build")
        assert outcome.kind == ("answered" if repaired else "refused") or command in (
            "graph",
            "duplicates --chunk-size",
        )
        assert not outcome.is_finding, (command, outcome)
        if outcome.kind == "refused":
            assert outcome.said.startswith("pagekin: ")
            assert len(outcome.said.strip().splitlines()) == 1
            assert f"{column}.npy" in outcome.said


def test_a_sample_of_the_campaign_finds_nothing(whole: Scene) -> None:
    _, _, findings = hostile.campaign(whole, range(60), seed=3)
    assert findings == []


def test_a_sample_of_damaged_shards_finds_nothing(whole: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "_OF_DIVIDED", 1.0)
    assert any("shard-0002" in path.parts for path in whole.divided_files)
    outcomes, _, findings = hostile.campaign(whole, range(0, 180, 3), seed=5)
    assert findings == []
    assert outcomes["refused"] > 0


def test_every_file_and_every_command_takes_part(whole: Scene) -> None:
    turns = {hostile.file_of(whole, number) for number in range(2 * len(whole.files))}
    assert turns >= set(whole.files)
    assert {path.suffix for path in whole.files} >= {".npy", ".sqlite", ".json"}
    assert any(path.name.startswith("batch-") for path in whole.files)
    used = {arguments[0] for _, arguments in COMMANDS.values()}
    without_store = {"completion", "crawl", "demo"}
    assert used == set(ALL) - without_store, "a new command takes part in the campaign"
    assert {path.name.partition(".")[0] for path in whole.files} >= {"answers-2", "vectors"}
    assert {path.suffix for path in whole.site_files} >= {".npy", ".sqlite", ".json"}


def test_a_wrong_outcome_is_a_finding(tmp_path: Path) -> None:
    """The campaign sees crashes, tracebacks and refusals."""

    def fail(error: Exception) -> None:
        raise error

    assert in_a_child(lambda: None, tmp_path).kind == "answered"
    assert in_a_child(lambda: fail(StoreError("it is damaged")), tmp_path).kind == "refused"
    assert in_a_child(lambda: fail(IndexError("out of bounds")), tmp_path).kind == "traceback"
    assert in_a_child(lambda: os.kill(os.getpid(), signal.SIGKILL), tmp_path).kind == "signal"
