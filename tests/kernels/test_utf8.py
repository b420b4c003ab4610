"""UTF-8: validation, and single characters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels import utf8
from pagekin.kernels.compile import kernel
from pagekin.kernels.utf8 import peek, poke
from reference import utf8 as reference


def is_utf8(data: bytes) -> bool:
    words = np.frombuffer(data, np.uint64, len(data) // 8)
    return bool(utf8.is_utf8(np.frombuffer(data, np.uint8), words))


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


@settings(deadline=None, max_examples=300)
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
    assert utf8.decode_character(data, 0, len(data)) == (ord(char), len(char.encode()))


@pytest.mark.parametrize("data", [b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xff", b"\xc0a", b"\xf5aaa"])
def test_a_sequence_cut_short_counts_as_one_byte(data: bytes) -> None:
    assert utf8.decode_character(np.array(list(data), np.uint8), 0, len(data)) == (0xFFFD, 1)


@pytest.mark.parametrize("data", [b"\xc3a", b"\xe2a\x82", b"\xe2\x82a", b"\xf0\x9f\x98a", b"\xc3\xc3\xa9"])
def test_a_broken_sequence_swallows_no_letters(data: bytes) -> None:
    assert utf8.decode_character(np.array(list(data), np.uint8), 0, len(data)) == (0xFFFD, 1)


@settings(deadline=None, max_examples=100)
@given(st.characters(codec="utf-8"))
def test_a_character_is_written_as_utf_8(char: str) -> None:
    out = np.zeros(8, np.uint8)
    end = utf8.encode_character(ord(char), out, 2)
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
