"""Are bytes UTF-8?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels import utf8 as kernel
from reference import utf8 as twin


def is_utf8(data: bytes) -> bool:
    words = np.frombuffer(data, np.uint64, len(data) // 8)
    return bool(kernel.is_utf8(np.frombuffer(data, np.uint8), words))


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
def test_kernel_and_twin_say_the_same(data: bytes) -> None:
    assert is_utf8(data) == twin.is_utf8(data)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_every_text_is_utf8_once_encoded(text: str) -> None:
    assert is_utf8(text.encode("utf-8"))
