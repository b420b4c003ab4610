"""What each character is to a word: a letter, a mark on a letter, a script without spaces, a stop.

The table is data (`letters.txt`), not a question to this Python's Unicode tables, so that the same page
gives the same words under every version of Python. `python -m pagekin.reading.letters` writes it anew.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.resources import files

import numpy as np

from pagekin.kernels.words import CLOSER, FULL_STOP, LETTER, MARK, OTHER, SPACE, SPACELESS, STOP
from pagekin.model.arrays import Bytes

_SPACELESS_NAMES = (
    "CJK UNIFIED",
    "CJK COMPATIBILITY IDEOGRAPH",
    "HIRAGANA",
    "KATAKANA",
    "HALFWIDTH KATAKANA",
    "BOPOMOFO",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
    "YI SYLLABLE",
    "HENTAIGANA",
    "NUSHU",
)
_TANGUT = range(0x17000, 0x18D80)  # has no names in older tables
_SPACELESS_SIGNS = "々〆〇〱〲〳〴〵ー"
_JOINERS = "\u200c\u200d"  # inside Persian and Indic words
_STOPS = ".!?…؟।"
_FULL_STOPS = "。！？｡"
_CLOSERS = "\"')]}»”’"


def classify(character: str) -> int:
    """The class of one character, by its Unicode properties.

    >>> classify("é") == LETTER, classify("7") == OTHER, classify("木") == SPACELESS
    (True, True, True)
    """
    if character in _SPACELESS_SIGNS:
        return SPACELESS
    if character in _JOINERS:
        return MARK
    if character in _STOPS:
        return STOP
    if character in _FULL_STOPS:
        return FULL_STOP
    if character in _CLOSERS:
        return CLOSER
    category = unicodedata.category(character)
    if category.startswith("M"):
        return MARK
    if category.startswith("L"):
        name = unicodedata.name(character, "")
        spaceless = name.startswith(_SPACELESS_NAMES) or ord(character) in _TANGUT
        return SPACELESS if spaceless else LETTER
    return SPACE if character.isspace() else OTHER


@cache
def classes() -> Bytes:
    """The class of every code point."""
    table = np.zeros(0x110000, np.uint8)
    for line in files("pagekin.reading").joinpath("letters.txt").read_text("ascii").splitlines():
        if not line.startswith("#"):
            first, last, kind = line.split()
            table[int(first, 16) : int(last, 16) + 1] = int(kind)
    return table


def _ranges() -> list[tuple[int, int, int]]:
    """Stretches of code points of one class, those of OTHER left out."""
    found: list[tuple[int, int, int]] = []
    for point in range(0x110000):
        kind = classify(chr(point))
        if kind == OTHER:
            continue
        if found and found[-1][1] == point - 1 and found[-1][2] == kind:
            found[-1] = (found[-1][0], point, kind)
        else:
            found.append((point, point, kind))
    return found


def main() -> None:
    """Print the table for this Python's version of Unicode."""
    print(f"# Unicode {unicodedata.unidata_version}: first last class (see letters.py)")
    for first, last, kind in _ranges():
        print(f"{first:X} {last:X} {kind}")


if __name__ == "__main__":
    main()
