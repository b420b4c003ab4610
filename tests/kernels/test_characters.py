"""UTF-8: validation, and single characters."""

from __future__ import annotations

from html.entities import html5

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.html_strategies import REFERENCES
from pagekin.kernels import characters
from pagekin.kernels.characters import decode_references, peek, poke
from pagekin.kernels.compile import kernel
from pagekin.reading.markup import entities
from reference import entities as entity_reference
from reference import utf8 as reference


def is_utf8(data: bytes) -> bool:
    words = np.frombuffer(data, np.uint64, len(data) // 8)
    return bool(characters.is_utf8(np.frombuffer(data, np.uint8), words))


@pytest.mark.parametrize("text", ["", "a", "é", "kin " * 9, "木" * 9, "a𝄞" * 5, "\0", "\ud7ff\ue000\U0010ffff"])
def test_text_in_utf8_is_utf8(text: str) -> None:
    assert is_utf8(text.encode())


@pytest.mark.parametrize(
    "data",
    [
        b"\x80",
        b"caf\xe9",
        b"\xc3",
        b"\xc1\xbf",  # too long for what it holds
        b"\xe0\x9f\xbf",
        b"\xf0\x8f\xbf\xbf",
        b"\xed\xa0\x80",  # a surrogate
        b"\xf4\x90\x80\x80",  # beyond the last character
        b"\xf5\x80\x80\x80",
        b"\xe6\x9c",
        b"\xe6a\x80",
        b"\xff",
    ],
)
@pytest.mark.parametrize("before", [0, 5, 8, 16, 23])
def test_what_is_broken_is_not(data: bytes, before: int) -> None:
    assert not is_utf8(b"a" * before + data)
    assert not is_utf8(b"a" * before + data + b"b" * 20)


PIECES = st.sampled_from([b"a", b"b" * 8, "é".encode(), "木".encode(), "𝄞".encode()]) | st.binary(max_size=4)


@given(st.lists(PIECES, max_size=12).map(b"".join))
def test_kernel_and_reference_say_the_same(data: bytes) -> None:
    assert is_utf8(data) == reference.is_utf8(data)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_every_text_is_utf8_once_encoded(text: str) -> None:
    assert is_utf8(text.encode("utf-8"))


@pytest.mark.parametrize("char", ["a", "\x7f", "\x80", "é", "\u07ff", "\u0800", "木", "\uffff", "𐀀", "\U0010ffff"])
def test_a_character_is_read_with_its_length(char: str) -> None:
    data = np.array(list(char.encode() + b"x"), np.uint8)
    assert characters.decode_character(data, 0, len(data)) == (ord(char), len(char.encode()))


@pytest.mark.parametrize("data", [b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xff", b"\xc0a", b"\xf5aaa"])
def test_a_sequence_cut_short_counts_as_one_byte(data: bytes) -> None:
    assert characters.decode_character(np.array(list(data), np.uint8), 0, len(data)) == (0xFFFD, 1)


@pytest.mark.parametrize("data", [b"\xc3a", b"\xe2a\x82", b"\xe2\x82a", b"\xf0\x9f\x98a", b"\xc3\xc3\xa9"])
def test_a_broken_sequence_swallows_no_letters(data: bytes) -> None:
    assert characters.decode_character(np.array(list(data), np.uint8), 0, len(data)) == (0xFFFD, 1)


@given(st.characters(codec="utf-8"))
def test_a_character_is_written_as_utf_8(char: str) -> None:
    out = np.zeros(8, np.uint8)
    end = characters.encode_character(ord(char), out, 2)
    assert out[2:end].tobytes() == char.encode()
    assert not out[:2].any() and not out[end:].any()


# --- bytes by unsigned index -----------------------------------------------------------------------------


@kernel
def moved(source: np.typing.NDArray[np.uint8], target: np.typing.NDArray[np.uint8], a: int, b: int) -> None:
    poke(target, b, peek(source, a))


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=20), st.data())
def test_a_byte_is_read_and_written_at_its_place(data: bytes, drawn: st.DataObject) -> None:
    a, b = (drawn.draw(st.integers(0, len(data) - 1)) for _ in range(2))
    target = np.zeros(len(data), np.uint8)
    moved(np.frombuffer(data, np.uint8), target, a, b)
    expected = bytearray(len(data))
    expected[b] = data[a]
    assert target.tobytes() == expected


# --- references ------------------------------------------------------------------------------------------

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


@given(
    st.lists(REFERENCES | st.text(max_size=3) | st.sampled_from("=;&#x1aZ"), max_size=12).map("".join), st.booleans()
)
def test_references_are_those_of_the_reference(text: str, in_attribute: bool) -> None:
    assert decode(text, in_attribute) == entity_reference.decode(text, in_attribute)
