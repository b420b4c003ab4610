"""System calls that fail at any moment of any command: one sentence, and the old or the new store.

More cases: `python -m benchmarks.injected`.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator

import pytest

from benchmarks import hostile, injected
from benchmarks.hostile import Outcome, Scene, scene
from benchmarks.injected import Campaign, Ended, Error, Usual
from pagekin.cli.main import COMMANDS

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(sys.platform != "linux", reason="needs fork and pidfd"),
    pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace (tests/system_tools.sh)"),
]


@pytest.fixture(scope="module")
def whole() -> Iterator[Scene]:
    if not injected.is_there():
        pytest.skip("strace may not trace here")
    with scene() as made:
        yield made


@pytest.fixture(scope="module")
def every(whole: Scene) -> Campaign:
    return Campaign(whole, seed=5)


def test_a_sample_of_the_campaign_finds_nothing(whole: Scene) -> None:
    tally = injected.campaign(whole, range(0, 60, 3), seed=4)
    assert tally.findings == []
    assert tally.outcomes["refused"] > 5, "then few of the errors have met a command"


def test_all_commands_and_all_calls_take_part(every: Campaign) -> None:
    used = {injected.arguments_of(name)[0] for name in every.commands}
    assert used >= set(COMMANDS) - {"completion", "crawl", "demo"}
    calls = every.usual("build, more sources").calls[False]
    assert {call for call, count in calls.items() if count} >= {"fsync", "write", "rename", "mmap", "openat", "pread64"}


@pytest.mark.parametrize("lasting", [False, True])
def test_a_failed_sync_of_a_build_leaves_the_old_store(every: Campaign, lasting: bool) -> None:
    error = Error("fsync", "EIO", 3, lasting)
    every.scene.copy()
    ended = injected.run(every.scene, "build, more sources", False, ["-e", "trace=fsync", "-e", error.option])
    assert "EIO (Input/output error) (INJECTED)" in ended.calls
    assert ended.outcome.said == (
        "pagekin: hostile.kin cannot be written: Input/output error; what was there before is untouched\n"
    )
    assert every._problem("build, more sources", ended, every.usual("build, more sources")) is None


def test_the_campaign_sees_what_is_wrong(every: Campaign) -> None:
    expected = Usual({}, "answer\n", every.files)

    def problem(outcome: Outcome, shown: str = "answer\n") -> str:
        return every._problem("related", Ended(outcome, shown, ""), expected) or ""

    root = every.scene.copy()
    assert problem(Outcome("answered")) == ""
    assert problem(Outcome("refused", "pagekin: no\n")) == ""
    assert problem(Outcome("answered"), "another\n") == "another answer, and nothing is said"
    for said in ("", "no\n", "pagekin: no\npagekin: no\n"):
        assert problem(Outcome("refused", said)).startswith("not one sentence")
    (every.scene.work / "out.tsv.new").write_text("a")
    assert problem(Outcome("refused", "pagekin: no\n")).startswith("half a result")
    (every.scene.work / "out.tsv.new").unlink()
    hostile.replace_file(next(root.glob("index-*/postings.npy")), b"")
    assert problem(Outcome("answered")) == "the store is not what it was"
