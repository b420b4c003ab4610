"""Long work shows its progress, also where there is no terminal."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cli.conftest import Pagekin
from pagekin import Progress
from pagekin.cli import progress as module
from pagekin.cli.progress import progress_bar, progress_line, watched

Printed = pytest.CaptureFixture[str]


def first_lines(capsys: Printed, count: int = 1) -> list[str]:
    """Wait for these lines on standard error; a line never comes where progress is silent, and the test hangs."""
    printed = ""
    while printed.count("\n") < count:
        time.sleep(0.001)
        printed += capsys.readouterr().err
    return printed.splitlines()


def test_lines_tell_the_stage_without_a_terminal(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INTERVAL", 0.001)
    with progress_bar(quiet=False) as show:
        show(Progress("reading", 1, 4))
        first_lines(capsys)
        lines = first_lines(capsys, 2)
    assert lines[-1].startswith("pagekin: reading, 25% after ")
    capsys.readouterr()
    time.sleep(0.01)
    assert capsys.readouterr().err == ""  # no line comes after the work


def test_items_are_counted_in_lines(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INTERVAL", 0.001)
    seen = []
    for item in watched(["a", "b"], "ranking"):
        first_lines(capsys)
        seen.append((item, first_lines(capsys, 2)[-1].partition(" after")[0]))
    assert seen == [("a", "pagekin: ranking, 0%"), ("b", "pagekin: ranking, 50%")]


def test_quiet_work_and_short_work_print_nothing(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INTERVAL", 1e6)
    with progress_bar(quiet=False) as show:  # shorter than the interval
        show(Progress("reading"))
    monkeypatch.setattr(module, "INTERVAL", 0.001)
    with progress_bar(quiet=True) as show:
        show(Progress("reading"))
        time.sleep(0.01)
    assert capsys.readouterr().err == ""


def test_a_line_holds_no_control_characters() -> None:
    assert progress_line(Progress("judging \x1b[2J"), 2.0) == "pagekin: judging \ufffd[2J after 2 s"


def test_an_error_ends_the_lines(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INTERVAL", 0.001)
    with pytest.raises(ValueError, match="wrong"), progress_bar(quiet=False):
        raise ValueError("wrong")
    capsys.readouterr()
    time.sleep(0.01)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", [["export", "-o", "a.tsv"], ["cluster", "--cross-topic"]])
def test_commands_over_many_pages_show_progress(
    pagekin: Pagekin, library: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    labels: list[tuple[str, bool]] = []

    def watch(items: list[str], label: str, quiet: bool = False) -> list[str]:
        labels.append((label, quiet))
        return items

    name = "related" if command[0] == "export" else "cluster"
    monkeypatch.setattr(f"pagekin.cli.{name}.watched", watch)
    for flags, quiet in (([], False), (["--json"], True)):
        labels.clear()
        assert pagekin(command[0], library, *command[1:], *flags).code == 0
        assert [was_quiet for _, was_quiet in labels] == [quiet]
