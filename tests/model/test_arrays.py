"""Many strings as two arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.model.arrays import Strings

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=8)


@given(TEXTS)
def test_what_goes_in_comes_out(texts: list[str]) -> None:
    packed = Strings.of(texts)
    assert list(packed) == texts == [packed[k] for k in range(len(packed))]
    assert packed.all_raw() == [text.encode() for text in texts] == [packed.raw(k) for k in range(len(packed))]
    assert len(packed) == len(texts)
    assert packed.offsets.dtype == np.int64
    assert packed.data.tobytes() == "".join(texts).encode()


def test_bytes_and_strings_may_be_mixed() -> None:
    assert list(Strings.of([b"kin", "page", b""])) == ["kin", "page", ""]


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    assert list(Strings.of(["a\ud800b"])) == ["a?b"]
    assert list(Strings.of(["\ud83d", "\ude00é", "page"])) == ["?", "?é", "page"]


def test_bytes_that_are_no_utf8_are_shown_as_such_and_kept() -> None:
    packed = Strings.of([b"caf\xe9"])
    assert packed[0] == "caf\ufffd"
    assert packed.raw(0) == b"caf\xe9"


def test_there_is_no_string_beyond_the_last() -> None:
    with pytest.raises(IndexError):
        Strings.of(["one"])[1]
