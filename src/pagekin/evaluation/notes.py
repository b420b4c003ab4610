"""What was left out, counted by reason, with an example of each; and lines of files, none of them endless."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pagekin.model.files import open_unpacked

_LONGEST = 1 << 16  # bytes of a line


class LeftOut:
    """Reasons, how often each applied, and its first example.

    >>> notes = Notes()
    >>> notes.add("lines without a tab", "line 3")
    >>> notes.add("lines without a tab", "line 7")
    >>> notes.rows()
    [('lines without a tab', 2, 'line 3')]
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, str] = {}

    def add(self, reason: str, example: str = "", count: int = 1) -> None:
        """Count a reason."""
        if count:
            self._counts[reason] = self._counts.get(reason, 0) + count
            self._examples.setdefault(reason, example)

    def example(self, reason: str) -> str:
        """The first example of a reason, if there is one."""
        return self._examples.get(reason, "")

    def rows(self) -> list[tuple[str, int, str]]:
        """(reason, count, example), in the order in which reasons came up."""
        return [(reason, count, self._examples[reason]) for reason, count in self._counts.items()]


def lines_of(file: Path, notes: LeftOut) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines of a file that say something."""
    with open_unpacked(file) as stream:
        number = 0
        while line := stream.readline(_LONGEST + 1):
            number += 1
            if len(line) > _LONGEST:
                notes.add(f"lines longer than {_LONGEST:,} bytes", f"line {number} of {file}")
                while line and not line.endswith(b"\n"):
                    line = stream.readline(_LONGEST)
                continue
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n")
            except UnicodeDecodeError:
                notes.add("lines that are not UTF-8", f"line {number} of {file}")
                continue
            if text.strip():
                yield number, text
