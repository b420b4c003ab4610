"""Text -> canonical text: what must not tell two texts apart is folded."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from pagekin.kernels import canonical as kernel
from pagekin.kernels.canonical import AT_LINE_START, LINE, MOST_NUMBERING, NOTHING, SPACE
from pagekin.model.arrays import UInt32s

_CASED = 0x1E944  # no character from here on has a lower case
_LINES = "\n\r\v\f\x85\u2028\u2029"
_QUOTES = "\"'`´‘’‚‛“”„‟«»‹›′″＂＇"
_COLONS = ":：﹕"
_BULLETS = "•‣⁃◦∙·●○■□▪▫►▸◆◇"
_UNDECODED = "\ufffd"
_UNSEEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff"


@cache
def table() -> UInt32s:
    """What becomes of every character that has a lower case or is folded; all others stay."""
    folded = np.arange(_CASED, dtype=np.uint32)
    for point in range(_CASED):
        character = chr(point)
        folded[point] = ord(character.lower()[0])
        if character in _LINES:
            folded[point] = LINE
        elif character.isspace() or unicodedata.category(character) in ("Cc", "Pd") or character == "−":
            folded[point] = SPACE
    for character in _QUOTES + _COLONS + _BULLETS + _UNDECODED:
        folded[ord(character)] = SPACE
    for character in _UNSEEN:
        folded[ord(character)] = NOTHING
    return folded


def canonical(text: bytes) -> bytes:
    r"""The canonical form of a text in UTF-8.

    >>> canonical("a.1  “Robins”: they sing,\n\t* all winter–long".encode())
    b'robins they sing, all winter long'
    """
    return kernel.canonical(np.frombuffer(text, np.uint8), table(), AT_LINE_START)[0].tobytes()


def canonical_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same of a text in pieces of any size, one piece at a time."""
    flags, rest = AT_LINE_START, b""
    for piece in pieces:
        rest += piece
        end = _safe_end(rest)
        if end:
            folded, flags = kernel.canonical(np.frombuffer(rest[:end], np.uint8), table(), flags)
            rest = rest[end:]
            yield folded.tobytes()
    if rest:
        yield kernel.canonical(np.frombuffer(rest, np.uint8), table(), flags)[0].tobytes()


def _safe_end(text: bytes) -> int:
    """Where a piece may end: after a line or, in a long one, before a character; and after no numbering."""
    end = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    if len(text) - end > 2 * MOST_NUMBERING:
        end = len(text)
        while end and text[end - 1] & 0xC0 == 0x80:
            end -= 1
        end -= end > 0 and text[end - 1] >= 0xC0
    return end
