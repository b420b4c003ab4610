"""`pagekin completion`: scripts for three shells, and what they then offer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Pagekin
from cli.processes import PAGEKIN
from pagekin.cli.main import COMMANDS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(pagekin: Pagekin, tmp_path: Path, shell: str) -> None:
    answer = pagekin("completion", shell)
    assert (answer.code, answer.err) == (0, "")
    assert "_PAGEKIN_COMPLETE" in answer.out
    assert f"{shell}_complete" in answer.out
    program = shutil.which(shell)
    if program is not None:
        (tmp_path / "script").write_text(answer.out)
        subprocess.run([program, "-n", str(tmp_path / "script")], check=True, timeout=600)


@pytest.mark.parametrize(
    ("words", "word", "expected"), [("pagekin ", "1", set(COMMANDS)), ("pagekin in", "1", {"info"})]
)
def test_bash_is_offered_commands(words: str, word: str, expected: set[str]) -> None:
    environment = {**os.environ, "_PAGEKIN_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": word}
    done = subprocess.run(PAGEKIN, capture_output=True, text=True, env=environment, timeout=600, check=True)
    assert {line.partition(",")[2] for line in done.stdout.split()} == expected


def test_bash_is_offered_options() -> None:
    environment = {"_PAGEKIN_COMPLETE": "bash_complete", "COMP_WORDS": "pagekin build --max", "COMP_CWORD": "2"}
    done = subprocess.run(
        PAGEKIN, capture_output=True, text=True, env={**os.environ, **environment}, timeout=600, check=True
    )
    assert "plain,--max-links" in done.stdout.split()


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_the_script_works_in_bash(pagekin: Pagekin, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(pagekin("completion", "bash").out)
    (tmp_path / "pagekin").write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{PAGEKIN[2]}" "$@"\n')
    (tmp_path / "pagekin").chmod(0o755)
    ask = f'. "{script}"; COMP_WORDS=(pagekin sh); COMP_CWORD=1; _pagekin_completion pagekin; echo "${{COMPREPLY[@]}}"'
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, env=environment, timeout=600)
    assert done.stdout.split() == ["show"], done.stderr
