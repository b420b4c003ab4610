"""Write `letters.txt`, the table of character classes, for the Unicode version of this Python.

python tools/letters.py > src/pagekin/reading/letters.txt
"""

import sys
import unicodedata

from pagekin.kernels.words import CLOSER, FULL_STOP, LETTER, MARK, OTHER, SPACE, SPACELESS, STOP

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
    """The class of a character, by its Unicode properties.

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


def _ranges() -> list[tuple[int, int, int]]:
    """Ranges (first, last, class) of code points of one class, without those of OTHER."""
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


def table() -> str:
    """The table for the Unicode version of this Python."""
    lines = [f"{first:X} {last:X} {kind}" for first, last, kind in _ranges()]
    return "\n".join([f"# Unicode {unicodedata.unidata_version}: first last class (see letters.py)", *lines, ""])


if __name__ == "__main__":
    sys.stdout.write(table())
