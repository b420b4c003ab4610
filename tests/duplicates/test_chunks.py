"""Content-defined chunks."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.duplicates import chunks
from pagekin.duplicates.chunks import chunks_of, chunks_of_stream
from pagekin.duplicates.filters import Chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import MisuseError
from reference import chunks as reference

SMALL = GroupSettings(chunk_bytes=16, max_chunk_bytes=40)


def digest(chunk: bytes) -> int:
    return int.from_bytes(blake2b(chunk).digest()[:8], "little")


def same(a: Chunks | None, b: Chunks | None) -> bool:
    assert a is not None and b is not None
    return all(
        x.tolist() == y.tolist() for x, y in ((a.offsets, b.offsets), (a.elements, b.elements), (a.ends, b.ends))
    )


def elements(text: bytes, wanted: GroupSettings) -> set[int]:
    return set(chunks_of([text], wanted).elements.tolist())


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=300), st.integers(0, 12))
def test_elements_are_the_digests_of_the_reference_chunks(text: bytes, minimum: int) -> None:
    found = chunks_of([text], GroupSettings(chunk_bytes=16, max_chunk_bytes=40, min_chunk_bytes=minimum))
    digests = [digest(chunk) for chunk in reference.chunks(text, 16, minimum, 40)]
    assert set(found.elements.tolist()) >= set(digests)
    assert found.lengths().tolist() == [sum(reference.times_counted(digests).values())]
    assert found.ends.tolist() == [[digests[0], digests[-1]] if digests else [0, 0]]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=200), max_size=6), st.integers(1, 300))
def test_chunks_do_not_depend_on_the_other_texts_of_a_batch(texts: list[bytes], together: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "BATCH_BYTES", together)
        assert same(chunks_of(texts, SMALL), Chunks.concatenate([chunks_of([text], SMALL) for text in texts]))


def test_rows_select_pages() -> None:
    texts = [b"a" * 30, b"", b"wren" * 30, b"x"]
    wanted = np.array([2, 1, 0])
    assert same(chunks_of(texts, SMALL).rows(wanted), chunks_of([texts[k] for k in wanted], SMALL))


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=500), st.lists(st.integers(0, 500), max_size=5))
def test_chunks_do_not_depend_on_the_pieces_of_a_stream(text: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cuts), 500]
    pieces = [text[a:b] for a, b in pairwise(places)]
    assert same(chunks_of_stream(pieces, SMALL), chunks_of([text], SMALL))


def test_a_change_affects_only_the_chunks_around_it() -> None:
    text = Random(5).randbytes(100_000)
    changed = text[:50_000] + b"!" + text[50_000:]
    before, after = (elements(each, GroupSettings()) for each in (text, changed))
    assert len(before - after) <= 2 and len(after - before) <= 2


def test_a_text_without_marks_is_cut_at_the_maximum_size() -> None:
    found = chunks_of([bytes(3 * 65_536 + 1)], GroupSettings())
    assert found.lengths().tolist() == [2 + 1]  # 64 KiB of zeros, three times: 1 + ln 3; and a zero
    assert found.ends.tolist() == [[digest(bytes(65_536)), digest(b"\0")]]


def test_no_text_has_no_chunks() -> None:
    assert chunks_of([b"", b"x"], GroupSettings()).lengths().tolist() == [0, 1]
    assert len(chunks_of([], GroupSettings())) == 0


def test_an_endless_stream_is_given_up_after_too_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless() -> Iterator[bytes]:
        random = Random(8)
        while True:
            yield random.randbytes(1000)

    monkeypatch.setattr(chunks, "MAX_CHUNKS", 500)
    assert chunks_of_stream(endless(), SMALL) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"chunk_bytes": 0},
        {"chunk_bytes": 100},
        {"chunk_bytes": 1 << 17},
        {"max_chunk_bytes": 65_537},
        {"max_chunk_bytes": 128},
        {"min_chunk_bytes": -1},
        {"filter_bits": 32},
        {"filter_bits": 2000},
        {"hashes": 0},
        {"threshold": 0.0},
        {"threshold": 1.1},
        {"threshold": float("nan")},
        {"link": "double"},
    ],
)
def test_invalid_settings_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(MisuseError, match=next(iter(wrong))):
        GroupSettings(**wrong)  # type: ignore[arg-type]
