"""Many strings are compressed and decompressed by one call, or by a call for each."""

from __future__ import annotations

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from pagekin.model import zstd
from pagekin.model.arrays import Strings
from pagekin.model.zstd import compress_all, decompress_all

TEXTS = st.lists(st.binary(max_size=300) | st.sampled_from([b"", b"a" * 5000, b"kin " * 999]), max_size=12)


def sizes_of(texts: list[bytes]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([len(text) for text in texts], np.int64)


@given(TEXTS, st.booleans(), st.booleans())
def test_what_was_compressed_in_either_way_is_decompressed_in_either_way(
    texts: list[bytes], packs_many: bool, unpacks_many: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zstd, "_HAS_CALLS_FOR_MANY", packs_many)
        packed = compress_all(Strings.of(texts), 1)
        patch.setattr(zstd, "_HAS_CALLS_FOR_MANY", unpacks_many)
        assert decompress_all(packed, sizes_of(texts)) == b"".join(texts)


@given(TEXTS)
def test_both_ways_give_the_same_bytes_and_each_is_a_frame_of_its_own(texts: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zstd, "_HAS_CALLS_FOR_MANY", True)
        many = compress_all(Strings.of(texts), 1)
        patch.setattr(zstd, "_HAS_CALLS_FOR_MANY", False)
        single = compress_all(Strings.of(texts), 1)
    assert [many.raw(k) for k in range(len(many))] == [single.raw(k) for k in range(len(single))]
    assert [zstandard.ZstdDecompressor().decompress(many.raw(k)) for k in range(len(many))] == texts


@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize("size", [2999, 3001, 1 << 40])
def test_a_frame_of_another_size_is_refused(many: bool, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zstd, "_HAS_CALLS_FOR_MANY", many)
    packed = compress_all(Strings.of([b"kin" * 1000, b"page"]), 1)
    with pytest.raises((zstandard.ZstdError, MemoryError)):
        decompress_all(packed, np.array([size, 4]))


@pytest.mark.parametrize("many", [True, False])
def test_a_damaged_frame_is_refused(many: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zstd, "_HAS_CALLS_FOR_MANY", many)
    packed = compress_all(Strings.of([b"kin" * 1000, b"page"]), 1)
    data = packed.data.copy()
    data[0] ^= 1  # of the magic number
    with pytest.raises(zstandard.ZstdError):
        decompress_all(Strings(packed.offsets, data), np.array([3000, 4]))
