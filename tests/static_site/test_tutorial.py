"""The tutorial of docs/site.md, word for word."""

from __future__ import annotations

import re
import shlex
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from cli.processes import in_this_process
from static_site.conftest import content

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "site.md").read_text("utf-8")


def test_the_commands_of_the_tutorial_print_what_it_says(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    shutil.copytree(ROOT / "examples" / "site", folder)
    before = content(folder / "public")
    (settings,) = re.findall(r"^```toml\n(.*?)^```", TEXT, re.M | re.S)
    assert (folder / "pagekin.toml").read_text("utf-8") == settings
    commands = [
        (command, said)
        for block in re.findall(r"^```console\n(.*?)^```", TEXT, re.M | re.S)
        for command, said in re.findall(r"^\$ pagekin (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)
    ]
    assert len(commands) == 4
    for command, said in commands:
        done = in_this_process(*shlex.split(command), folder=folder)
        assert (done.code, done.err, done.out) == (0, "", said), command
        if command == "site public":
            assert "<h2>Read on</h2>" in (folder / "public" / "bread" / "rye.html").read_text("utf-8")
    assert content(folder / "public") == before


def test_the_python_of_the_page_works(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = [each for each in re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S) if "import pagekin" in each]
    before = content(site)
    with chdir(site.parent):
        exec(code, {})
    assert capsys.readouterr().out == "8 [SiteChange(action='insert', path='birds/finch.html')]\n"
    assert content(site) == before


def test_every_option_of_the_command_is_documented() -> None:
    from pagekin.cli.main import command_named

    for option in command_named("site").params:
        name = option.opts[-1].lstrip("-")
        assert f"`{name}`" in TEXT or f"--{name}" in TEXT or name in ("folder", "quiet", "json"), name
