"""What commands share: tables for people, JSON for programs, and safe text on a terminal."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, TypeVar

import click

import pagekin
from pagekin.errors import MisuseError
from pagekin.figures import counted as counted

T = TypeVar("T")

# Characters that JSON need not escape but a terminal obeys: controls and changes of direction. Lone surrogates cannot
# be printed; escaped, they survive a round trip.
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def print_result(result: T, as_json: bool, print_text: Callable[[T], None]) -> None:
    if not as_json:
        return print_text(result)
    text = json.dumps(pagekin.to_json(result), ensure_ascii=False, indent=2)
    return click.echo(_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def clean(text: str) -> str:
    r"""Text from a page, safe to print: control and direction characters become U+FFFD.

    >>> clean("a\x1b[2Jb")
    'a�[2Jb'
    """
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c != "\n" else c for c in text)


def print_table(rows: Sequence[Sequence[Any]], indent: str = "  ") -> None:
    cells = [[f"{cell:,}" if isinstance(cell, int) else clean(str(cell)) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))] if cells else []
    for row, original in zip(cells, rows, strict=True):
        padded = [
            cell.rjust(width) if isinstance(value, int) else cell.ljust(width)
            for cell, width, value in zip(row, widths, original, strict=True)
        ]
        click.echo((indent + "  ".join(padded)).rstrip())


def bytes_in_words(count: int) -> str:
    """A size for people.

    >>> bytes_in_words(1536)
    '1.5 KiB'
    """
    power = min(max(count.bit_length() - 1, 0) // 10, 3)
    return f"{count / 1024**power:.1f} {' KMG'[power]}iB" if power else f"{count} bytes"


def vectors_in_words(facts: Mapping[str, Any]) -> str:
    """What a build did with vectors from a file.

    >>> vectors_in_words({"dimensions": 256, "pages": 1200, "without": 3, "unknown": 1, "repeated": 0})
    '1,200 pages with vectors of 256 dimensions, 3 pages without, 1 vector of no page of the collection'
    """
    words = [f"{counted(facts['pages'], 'page')} with vectors of {facts['dimensions']:,} dimensions"]
    words += [f"{counted(facts['without'], 'page')} without"] if facts["without"] else []
    words += [f"{counted(facts['unknown'], 'vector')} of no page of the collection"] if facts["unknown"] else []
    words += [f"{counted(facts['repeated'], 'vector')} of a page that has one"] if facts["repeated"] else []
    return ", ".join(words)


def bytes_of(size: str) -> int:
    """A size as users write it.

    >>> bytes_of("4GiB"), bytes_of("1.5 mib"), bytes_of("2000")
    (4294967296, 1572864, 2000)
    """
    parts = re.fullmatch(r"\s*([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*(?:([KMGT])i?B?|B)?\s*", size, re.IGNORECASE)
    if parts is None:
        raise MisuseError(f"{size!r} is not a size; write it like 4GiB or 500MiB")
    return int(float(parts[1]) * 1024 ** " KMGT".index((parts[2] or " ").upper()))


@contextmanager
def input_file(name: str) -> Iterator[IO[bytes]]:
    """Open a file, or the standard input for "-"; raise MisuseError if it cannot be read."""
    try:
        with click.open_file(name, "rb") as file:
            yield file
    except OSError as error:
        raise MisuseError(f"{name} cannot be read: {error.strerror or error}") from error


def read_names(file: str) -> list[str]:
    with input_file(file) as stream:
        lines = stream.read().decode("utf-8", "replace").splitlines()
    return [line.strip() for line in lines if line.strip()]


def containment(overlap: pagekin.Overlap) -> str:
    """A remark if one of a member and its anchor contains the other."""
    if overlap.a_in_b and overlap.b_in_a:
        return "  (the same)"
    return "  (contained)" if overlap.a_in_b else "  (contains it)" if overlap.b_in_a else ""
