"""How commands speak."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.cli.output import bytes_in_words, clean, print_table


@given(st.text(max_size=30))
def test_clean_text_holds_no_control_or_direction_characters_and_keeps_the_rest(text: str) -> None:
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    for before, after in zip(text, cleaned, strict=True):
        if unicodedata.category(before) in ("Cc", "Cf", "Cs") and before != "\n":
            assert after == "\ufffd"
        else:
            assert after == before


def test_what_everybody_reads_stays_as_it_is() -> None:
    assert clean("Bücher, 木村の家 – “kin” 😀") == "Bücher, 木村の家 – “kin” 😀"


def test_tables_have_columns_and_numbers_stand_to_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([(1, "one", "x"), (12345, "two", ""), (7, "three\x1b[2J", "y")])
    assert capsys.readouterr().out.splitlines() == [
        "       1  one        x",
        "  12,345  two",
        "       7  three\ufffd[2J  y",
    ]
    print_table([])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB"), (5 * 2**40, "5120.0 GiB")],
)
def test_sizes_are_told_in_words(count: int, words: str) -> None:
    assert bytes_in_words(count) == words
