"""Canonical text by patterns, line by line."""

from __future__ import annotations

import re
from unicodedata import category

from pagekin.duplicates.chunks import character_table
from pagekin.kernels.canonical import LINE, NOTHING, SPACE

_TOKEN = re.compile(r"([^ \t]{1,32})(?=[ \t]+[^ \t\n\r])")
_BULLET = re.compile(r"[*+]")
_NUMBERING = re.compile(r"[(\[]?(?P<parts>[0-9A-Za-z]+(?:\.[0-9A-Za-z]+)*)(?P<end>[.)\]]?)")
_DIGITS = re.compile(r"[0-9]{1,3}")
_LETTERS = re.compile(r"[A-Za-z]|[ivxIVX]{1,5}")


def is_numbering(token: str) -> bool:
    """Whether this is a bullet or a numbering, if other words follow.

    >>> [is_numbering(each) for each in ("a.1", "1.", "(iv)", "*", "1.2.3", "1.5", "a", "e.g.", "2005.")]
    [True, True, True, True, True, False, False, False, False]
    """
    if _BULLET.fullmatch(token):
        return True
    match = _NUMBERING.fullmatch(token)
    if match is None:
        return False
    parts = match["parts"].split(".")
    letters = [part for part in parts if not _DIGITS.fullmatch(part)]
    if len(letters) > 1 or not all(_LETTERS.fullmatch(part) for part in letters):
        return False
    return bool(match["end"]) or len(parts) >= 3 or (len(parts) == 2 and len(letters) == 1)


def fold(character: str) -> int:
    """The canonical form of a character, from the properties of Unicode."""
    if character in "\u00ad\u200b\u200c\u200d\u2060\ufeff":
        return NOTHING
    if character in "\n\r\v\f\x85\u2028\u2029":
        return LINE
    if (
        character.isspace()
        or category(character) in ("Cc", "Pd")
        or character in "−\"'`´‘’‚‛“”„‟«»‹›′″＂＇:：﹕•‣⁃◦∙·●○■□▪▫►▸◆◇\ufffd"
    ):
        return SPACE
    return ord(character.lower()[0])


def canonical(text: str) -> str:
    """The canonical form of a text."""
    folds = character_table().tolist()
    points = [folds[ord(c)] if ord(c) < len(folds) else ord(c) for c in text]
    out: list[str] = []
    place, at_line_start = 0, True
    while place < len(text):
        token = _TOKEN.match(text, place)
        is_text = points[place] not in (NOTHING, LINE, SPACE)
        if is_text and at_line_start and token is not None and is_numbering(token[1]):
            place = token.end(1)
            continue
        if points[place] != NOTHING:
            out.append(chr(points[place]) if is_text else " ")
            at_line_start = not is_text and (at_line_start or points[place] == LINE)
        place += 1
    return re.sub(" +", " ", "".join(out)).strip(" ")


def canonical_blocks(blocks: list[str], silent: list[bool]) -> str:
    """The canonical form of a page of blocks, each a line, without the silent ones; of all, if nothing is left."""
    kept = canonical("".join(block for block, quiet in zip(blocks, silent, strict=True) if not quiet))
    return kept or canonical("".join(blocks))
