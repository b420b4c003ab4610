"""What was left out, counted by reason; and the lines of text files, within bounds."""

from collections.abc import Iterator
from pathlib import Path

from pagekin.model.files import open_unpacked

_MAX_LINE = 1 << 16  # bytes


class LeftOut:
    """Reasons, how often each applied, and its first example.

    >>> left_out = LeftOut()
    >>> left_out.add("lines without a tab", "line 3")
    >>> left_out.add("lines without a tab", "line 7")
    >>> left_out.rows()
    [('lines without a tab', 2, 'line 3')]
    """

    def __init__(self) -> None:
        self._reasons: dict[str, tuple[int, str]] = {}

    def add(self, reason: str, example: str = "", count: int = 1) -> None:
        """Count a reason."""
        if count:
            known, first = self._reasons.get(reason, (0, example))
            self._reasons[reason] = (known + count, first)

    def example(self, reason: str) -> str:
        """The first example of a reason; empty if it did not occur."""
        return self._reasons.get(reason, (0, ""))[1]

    def rows(self) -> list[tuple[str, int, str]]:
        """(reason, count, example), in the order of their first occurrence."""
        return [(reason, count, example) for reason, (count, example) in self._reasons.items()]


def lines_of(file: Path, left_out: LeftOut) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines of a file that are not blank."""
    with open_unpacked(file) as stream:
        number = 0
        while line := stream.readline(_MAX_LINE + 1):
            number += 1
            if len(line) > _MAX_LINE:
                left_out.add(f"lines longer than {_MAX_LINE:,} bytes", f"line {number} of {file}")
                while line and not line.endswith(b"\n"):
                    line = stream.readline(_MAX_LINE)
                continue
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n")
            except UnicodeDecodeError:
                left_out.add("lines that are not UTF-8", f"line {number} of {file}")
                continue
            if text.strip():
                yield number, text
