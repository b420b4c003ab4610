"""The tutorials of docs: every command and program in them, word for word."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pagekin.cli.main import main

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.M | re.S)


def blocks(name: str) -> Iterator[tuple[str, str]]:
    yield from BLOCK.findall((DOCS / name).read_text("utf-8"))


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", shlex.split(line))
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0, line


@pytest.mark.slow
@pytest.mark.parametrize("name", ["assistants.md", "gaps.md"])
def test_every_command_of_a_tutorial_works(
    name: str, sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`pagekin demo` is replaced by what it leaves: building the sample web is tested elsewhere."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pagekin-demo").symlink_to(sample_folder)
    commands = [line for kind, text in blocks(name) if kind == "sh" for line in text.splitlines()]
    assert "pagekin demo --no-serve" in commands
    for line in commands:
        if line != "pagekin demo --no-serve" and not line.startswith("pip "):
            run(line, monkeypatch)
    for kind, text in blocks(name):
        if kind == "python":
            exec(compile(text, name, "exec"), {})
    assert capsys.readouterr().out
