"""Canonical text: case, punctuation and layout that should not distinguish two texts are removed."""

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from pagekin.kernels import canonical as kernel
from pagekin.kernels.canonical import AT_LINE_START, LINE, MOST_NUMBERING, NOTHING, SPACE
from pagekin.model.arrays import UInt32s

_TABLE_SIZE = 0x1E944  # no character from here on has a lower case
_LINE_BREAKS = "\n\r\v\f\x85\u2028\u2029"
_SPACES = "\"'`´‘’‚‛“”„‟«»‹›′″＂＇" + ":：﹕" + "•‣⁃◦∙·●○■□▪▫►▸◆◇" + "\ufffd"  # quotes, colons, bullets, undecodable
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"


@cache
def character_table() -> UInt32s:
    """The canonical form of every character below _TABLE_SIZE; others stay as they are."""
    folded = np.arange(_TABLE_SIZE, dtype=np.uint32)
    for point in range(_TABLE_SIZE):
        character = chr(point)
        folded[point] = ord(character.lower()[0])
        if character in _LINE_BREAKS:
            folded[point] = LINE
        elif character.isspace() or unicodedata.category(character) in ("Cc", "Pd") or character == "−":
            folded[point] = SPACE
    folded[[ord(character) for character in _SPACES]] = SPACE
    folded[[ord(character) for character in _INVISIBLE]] = NOTHING
    return folded


def canonical(text: bytes) -> bytes:
    r"""The canonical form of a UTF-8 text.

    >>> canonical("a.1  “Robins”: they sing,\n\t* all winter–long".encode())
    b'robins they sing, all winter long'
    """
    return kernel.canonical(np.frombuffer(text, np.uint8), character_table(), AT_LINE_START)[0].tobytes()


def canonical_stream(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The canonical form of one text in pieces of any size, piece by piece."""
    flags, rest = AT_LINE_START, b""
    for piece in pieces:
        rest += piece
        end = _safe_end(rest)
        if end:
            folded, flags = kernel.canonical(np.frombuffer(rest[:end], np.uint8), character_table(), flags)
            rest = rest[end:]
            yield folded.tobytes()
    if rest:
        yield kernel.canonical(np.frombuffer(rest, np.uint8), character_table(), flags)[0].tobytes()


def _safe_end(text: bytes) -> int:
    """Where a piece may end: after a line, or inside a long line at a character boundary beyond any numbering."""
    end = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    if len(text) - end > 2 * MOST_NUMBERING:
        end = len(text)
        while end and text[end - 1] & 0xC0 == 0x80:
            end -= 1
        end -= end > 0 and text[end - 1] >= 0xC0
    return end
