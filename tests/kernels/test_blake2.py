"""BLAKE2b of spans, beside Python's own."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.blake2 import blake2b_spans


def digests(parts: list[bytes]) -> list[int]:
    bounds = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    found: list[int] = blake2b_spans(np.frombuffer(b"".join(parts), np.uint8), bounds[:-1], bounds[1:]).tolist()
    return found


def test_abc_has_the_digest_of_the_standard() -> None:
    """RFC 7693, appendix A: BA 80 A5 3F 98 1C 4D 0D ..."""
    assert digests([b"abc"]) == [int.from_bytes(bytes.fromhex("ba80a53f981c4d0d"), "little")]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=400) | st.integers(0, 400).map(bytes), max_size=5))
def test_digests_are_those_of_hashlib(parts: list[bytes]) -> None:
    assert digests(parts) == [int.from_bytes(blake2b(part).digest()[:8], "little") for part in parts]


def test_blocks_that_are_just_full_are_last_ones() -> None:
    sizes = [0, 1, 127, 128, 129, 255, 256, 257, 384]
    test_parts = [(bytes(range(256)) * 2)[:size] for size in sizes]
    assert digests(test_parts) == [int.from_bytes(blake2b(part).digest()[:8], "little") for part in test_parts]
