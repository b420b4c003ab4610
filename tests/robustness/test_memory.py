"""Too little memory is one sentence. All limits: `python -m benchmarks.memory`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks import memory
from pagekin import sample_web

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of addresses"),
]


@pytest.mark.parametrize("megabytes", [40, 100, 148, 2000])
@pytest.mark.parametrize("command", memory.COMMANDS)
def test_a_command_ends_with_its_result_or_one_sentence(
    sample_index: Path, tmp_path: Path, command: str, megabytes: int
) -> None:
    sample_web.copy_to(tmp_path)
    shutil.copytree(sample_index, tmp_path / "x.kin")
    assert memory.run(command, tmp_path, megabytes) == (megabytes == 2000, "")


@pytest.mark.parametrize(
    ("does", "found"),
    [
        ("kill -9 $$", ""),
        ('while [ "$1" != -c ]; do python=$1; shift; done; exec "$python" "$@"', ""),
        ("echo Traceback >&2; exit 1", "exit code 1: Traceback\n"),
        ("kill -11 $$", "exit code -11: "),
        (": > x.kin/$(cd x.kin && echo index-*/postings.npy); kill -9 $$", "the index is damaged"),
    ],
)
def test_a_command_that_a_cgroup_kills_leaves_the_index_whole(
    sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, found: str
) -> None:
    """Not every machine has cgroups, so another program stands for the one that starts a command in a cgroup."""
    sample_web.copy_to(tmp_path)
    shutil.copytree(sample_index, tmp_path / "x.kin")
    starter = tmp_path / "bin" / "systemd-run"
    starter.parent.mkdir()
    starter.write_text(f"#!/bin/sh\n{does}\n", "utf-8")
    starter.chmod(0o755)
    monkeypatch.setenv("PATH", f"{starter.parent}{os.pathsep}{os.environ['PATH']}")
    assert memory.run_in_cgroup("build", tmp_path, 100) == found
