"""The class of each character."""

from __future__ import annotations

import runpy
import unicodedata
from importlib.resources import files
from pathlib import Path

import pytest

from pagekin.kernels.words import CLOSER, FULL_STOP, LETTER, MARK, OTHER, SPACE, SPACELESS, STOP
from pagekin.reading.markup import classes

TABLE = files("pagekin.reading").joinpath("letters.txt").read_text("ascii")
GENERATOR = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "letters.py"))
VERSION = TABLE.split()[2].removesuffix(":")

KINDS = {
    LETTER: "aZéßŁøАяΩאبहᎣ한ªʻǅ𐐀ﬁ",
    MARK: "\u0301\u20dd\u093f\u0e31\u200c\u200d\ufe0f",
    SPACELESS: "木村ひカｶーㄅกລកမꀀ々〇𠀀",
    SPACE: " \n\t\r\u00a0\u2003\u3000",
    STOP: ".!?…؟।",
    FULL_STOP: "。！？｡",
    CLOSER: "\"')]}»”’",
    OTHER: "0٣²½_-–,;:/@#€+=<>|~(«“‘\u00ad\u200b\0😀",
}


@pytest.mark.parametrize(("kind", "characters"), KINDS.items())
def test_characters_are_what_people_take_them_for(kind: int, characters: str) -> None:
    assert [(c, classes()[ord(c)]) for c in characters] == [(c, kind) for c in characters]
    assert [(c, GENERATOR["classify"](c)) for c in characters] == [(c, kind) for c in characters]


def test_every_code_point_has_a_class() -> None:
    assert len(classes()) == 0x110000
    assert set(classes().tolist()) == set(KINDS)


@pytest.mark.skipif(unicodedata.unidata_version != VERSION, reason="this Python has another version of Unicode")
def test_the_table_is_what_the_program_writes() -> None:
    assert GENERATOR["table"]() == TABLE


def test_the_table_agrees_with_this_python_on_letters_that_it_knows() -> None:
    """A later Unicode adds letters; it takes none away."""
    table = classes()
    wrong = [
        hex(point)
        for point in range(0x110000)
        if table[point] in (LETTER, SPACELESS) and not unicodedata.category(chr(point)).startswith(("L", "Cn", "N"))
    ]
    assert wrong == []


def test_the_lines_of_the_table_ascend() -> None:
    rows = [line.split() for line in TABLE.splitlines() if not line.startswith("#")]
    bounds = [int(cell, 16) for first, last, _ in rows for cell in (first, last)]
    assert bounds == sorted(bounds)
