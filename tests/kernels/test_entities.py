"""Character references."""

from __future__ import annotations

from html.entities import html5

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.html_strategies import REFERENCES
from pagekin.kernels.entities import decode_references
from pagekin.reading.markup import entities
from reference import entities as reference

BOTH = pytest.mark.parametrize("in_attribute", [False, True])


def decode(text: str, in_attribute: bool) -> str:
    """The result of the kernel, which must not write beyond the room of an output."""
    data = text.encode()
    out = np.full(len(data) + len(data) // 4 + 16, 0xFF, np.uint8)
    end = decode_references(
        np.frombuffer(b"[" + data + b"]", np.uint8), 1, len(data) + 1, in_attribute, entities(), out, 0
    )
    assert (out[end:] == 0xFF).all()
    return out[:end].tobytes().decode()


@BOTH
def test_a_reference_has_three_spellings(in_attribute: bool) -> None:
    assert decode("&eacute;&#233;&#xE9;&#Xe9;", in_attribute) == "éééé"


@BOTH
def test_every_name_of_the_standard_is_known(in_attribute: bool) -> None:
    for name, text in html5.items():
        assert decode(f"&{name} ", in_attribute) == f"{text} "


@BOTH
def test_names_distinguish_case(in_attribute: bool) -> None:
    assert decode("&Eacute;&eacute;&AMP;&Amp;", in_attribute) == "Éé&&Amp;"


@BOTH
def test_what_is_no_reference_stands_for_itself(in_attribute: bool) -> None:
    text = "& && &; &# &#; &#x; &#xg; &#a; &nonsense; &é; AT&T &a&b &#x"
    assert decode(text, in_attribute) == text


@BOTH
def test_a_reference_is_decoded_once(in_attribute: bool) -> None:
    assert decode("&amp;lt; &#38;lt; &amp;amp;", in_attribute) == "&lt; &lt; &amp;"


@BOTH
def test_a_name_may_stand_for_two_characters(in_attribute: bool) -> None:
    assert decode("&nLt;&fjlig;", in_attribute) == "\u226a\u20d2fj"


@BOTH
def test_a_number_needs_no_semicolon(in_attribute: bool) -> None:
    assert decode("&#65&#x42=&#67z", in_attribute) == "AB=Cz"


@BOTH
def test_hexadecimal_digits_end_a_decimal_number(in_attribute: bool) -> None:
    assert decode("&#65a;&#x41g;", in_attribute) == "Aa;Ag;"


@BOTH
def test_a_number_that_is_no_character_is_replaced(in_attribute: bool) -> None:
    assert decode("&#0;&#xD800;&#xDFFF;&#x110000;&#1114112;", in_attribute) == "\ufffd" * 5


@BOTH
def test_a_number_may_have_any_count_of_digits(in_attribute: bool) -> None:
    assert decode(f"&#{'0' * 5000}65;&#{'9' * 5000};&#x{'f' * 5000};", in_attribute) == "A\ufffd\ufffd"


@BOTH
def test_numbers_of_controls_mean_windows_1252(in_attribute: bool) -> None:
    assert decode("&#128;&#x85;&#150;&#159;", in_attribute) == "€…–Ÿ"


@BOTH
def test_numbers_that_windows_1252_lacks_stay(in_attribute: bool) -> None:
    assert decode("&#x81;&#x8D;&#x8F;&#x90;&#x9D;", in_attribute) == "\x81\x8d\x8f\x90\x9d"


@BOTH
def test_other_controls_and_noncharacters_stay(in_attribute: bool) -> None:
    assert decode("&#1;&#11;&#127;&#xFDD0;&#xFFFE;&#x10FFFF;", in_attribute) == "\x01\x0b\x7f\ufdd0\ufffe\U0010ffff"


def test_in_text_an_old_name_counts_as_far_as_it_goes() -> None:
    assert decode("&copy2 &notit; &ampamp; &times=", in_attribute=False) == "©2 ¬it; &amp; ×="


def test_in_text_the_longest_name_counts() -> None:
    assert decode("&not;in; &notin; &notin &supe; &supex", in_attribute=False) == "¬in; ∉ ¬in ⊇ &supex"


def test_in_an_attribute_an_old_name_does_not_break_a_query() -> None:
    for query in ("?a=1&copy=2", "?a=1&copy2", "?a=1&notit;", "?a=1&notit=2", "?lt&gta"):
        assert decode(query, in_attribute=True) == query


def test_in_an_attribute_an_old_name_that_stands_alone_counts() -> None:
    assert decode("&copy &copy-2 &copy/&copy", in_attribute=True) == "© ©-2 ©/©"


def test_in_an_attribute_a_semicolon_settles_it() -> None:
    assert decode("?a&copy;=2&copy;b&notin;", in_attribute=True) == "?a©=2©b∉"


@BOTH
def test_the_longest_name_and_longer_ones(in_attribute: bool) -> None:
    name = "CounterClockwiseContourIntegral"
    assert decode(f"&{name};&{name}&{name}s;&{name * 9};", in_attribute) == f"∳&{name}&{name}s;&{name * 9};"


@settings(deadline=None, max_examples=400)
@given(
    st.lists(REFERENCES | st.text(max_size=3) | st.sampled_from("=;&#x1aZ"), max_size=12).map("".join), st.booleans()
)
def test_references_are_those_of_the_reference(text: str, in_attribute: bool) -> None:
    assert decode(text, in_attribute) == reference.decode(text, in_attribute)
