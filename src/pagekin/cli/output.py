"""How commands speak: tables for people, JSON for programs, and nothing from a crawl that moves the cursor."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from pagekin.errors import MisuseError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pagekin.pipeline import Progress

# Characters that JSON need not escape, and that a terminal obeys all the same: controls and changes of direction.
# Lone surrogates cannot be printed, and are what they were once the JSON is read again.
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")

json_option = click.option("--json", is_flag=True, help="Print JSON, for programs.")
store_argument = click.argument("store", type=click.Path(), metavar="STORE")


def say_json(value: Any) -> None:
    """Print a value as JSON."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    click.echo(_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def clean(text: str) -> str:
    r"""Text of a crawl, safe to print: control and direction characters are shown as U+FFFD.

    >>> clean("a\x1b[2Jb")
    'a�[2Jb'
    """
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c != "\n" else c for c in text)


def say_table(rows: Sequence[Sequence[Any]], indent: str = "  ") -> None:
    """Print rows in columns; numbers stand to the right."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else clean(str(cell)) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))] if cells else []
    for row, original in zip(cells, rows, strict=True):
        padded = [
            cell.rjust(width) if isinstance(value, int) else cell.ljust(width)
            for cell, width, value in zip(row, widths, original, strict=True)
        ]
        click.echo((indent + "  ".join(padded)).rstrip())


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "host"), counted(2000, "page")
    ('1 host', '2,000 pages')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def bytes_in_words(count: int) -> str:
    """A size for people.

    >>> bytes_in_words(1536)
    '1.5 KiB'
    """
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError


def bytes_of(size: str) -> int:
    """A size that people wrote.

    >>> bytes_of("4GiB"), bytes_of("1.5 mib"), bytes_of("2000")
    (4294967296, 1572864, 2000)
    """
    parts = re.fullmatch(r"\s*([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*(?:([KMGT])i?B?|B)?\s*", size, re.IGNORECASE)
    if parts is None:
        raise MisuseError(f"{size!r} is no size; write it like 4GiB or 500MiB")
    return int(float(parts[1]) * 1024 ** " KMGT".index((parts[2] or " ").upper()))


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """A bar on a terminal, silence elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=1, label="reading", file=sys.stderr, width=40) as bar:

        def show(progress: Progress) -> None:
            bar.label = progress.stage
            if progress.total:
                bar.length = progress.total
                bar.update(progress.done - bar.pos)
            bar.render_progress()

        yield show
