"""One byte of many. The reference is what Python does with square brackets."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.bits import peek, poke
from pagekin.kernels.compile import kernel


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
