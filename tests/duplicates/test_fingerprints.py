"""Fingerprints: written by a build, from main texts, and read again."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplicates.builders import pages
from pagekin import sample_web
from pagekin.bags.source import template_blocks
from pagekin.duplicates.chunks import _ranges, canonical, chunks_of
from pagekin.duplicates.filters import BloomFilters, Chunks
from pagekin.duplicates.fingerprints import facts_of, filters_of, fingerprint_columns, open_fingerprints
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import StoreError
from pagekin.model.strategy import PRESETS
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.pieces import append_pieces

SMALL = GroupSettings(filter_bits=256)  # full with sixteen chunks


def sets_of(chunks: Chunks) -> list[set[int]]:
    return [set(chunks.elements[a:b].tolist()) for a, b in zip(chunks.offsets[:-1], chunks.offsets[1:], strict=True)]


def test_fingerprints_are_read_as_written(tmp_path: Path) -> None:
    some, others = pages([1, 2, 3], []), pages(range(40))
    append_pieces(tmp_path, [fingerprint_columns(part, SMALL) for part in (some, others)])
    found = open_fingerprints(tmp_path, 3, SMALL)
    assert sets_of(found.chunks) == sets_of(Chunks.concatenate([some, others]))
    assert found.chunks.ends.tolist() == Chunks.concatenate([some, others]).ends.tolist()
    assert found.words is not None
    assert found.words[:2].tolist() == BloomFilters.of(some, 256, 4).words.tolist()
    facts = facts_of(found.chunks.offsets, SMALL)
    assert (facts["without_text"], facts["larger_filters"], facts["too_large"]) == (1, 1, 0)


def test_a_page_with_many_chunks_has_a_saturated_filter_and_gets_a_larger_one(tmp_path: Path) -> None:
    append_pieces(tmp_path, [fingerprint_columns(pages(range(40)), SMALL)])
    found = open_fingerprints(tmp_path, 1, SMALL)
    assert found._filters(np.array([0]), 256).saturated().tolist() == [True]
    assert (
        found._filters(np.array([0]), 1024).words.tolist() == BloomFilters.of(pages(range(40)), 1024, 4).words.tolist()
    )


def test_files_of_other_pages_are_refused(tmp_path: Path) -> None:
    append_pieces(tmp_path, [fingerprint_columns(pages([1], [2]), SMALL)])
    with pytest.raises(StoreError, match=r"chunks.offsets.npy is damaged \(it holds 2 pages\)"):
        open_fingerprints(tmp_path, 3, SMALL)
    with pytest.raises(StoreError, match=r"filters.npy is damaged"):
        open_fingerprints(tmp_path, 2, GroupSettings())


def main_text(indexed: IndexedStore, row: int, silent: list[int]) -> bytes:
    """The blocks of a page that are no templates, by hand."""
    text, places = indexed.text_bytes(row), indexed.reading.blocks.place[indexed.reading.blocks.row(row)].tolist()
    blocks = [text[a:b] for a, b in zip(places, [*places[1:], len(text)], strict=False)]
    return b"".join(block for block, quiet in zip(blocks, silent, strict=True) if not quiet)


def test_a_build_keeps_the_chunks_of_main_texts(sample_index: Path) -> None:
    indexed = IndexedStore.open(sample_index)
    hosts = [url.split("/")[2] for url in indexed.reading.pages.url]
    numbers = np.array([sorted(set(hosts)).index(host) for host in hosts])
    blocks = indexed.reading.blocks
    silent = template_blocks(numbers, blocks.offsets, blocks.hash, indexed.index.strategy.template_share)
    texts = [main_text(indexed, row, silent[blocks.row(row)].tolist()) for row in range(len(indexed))]
    assert sum(map(len, texts)) < sum(len(indexed.text_bytes(row)) for row in range(len(indexed)))
    expected = [canonical(text) or canonical(indexed.text_bytes(row)) for row, text in enumerate(texts)]
    assert sets_of(indexed.fingerprints.chunks) == sets_of(chunks_of(expected, GroupSettings()))


def test_templates_are_kept_where_the_strategy_counts_them(tmp_path: Path) -> None:
    build([sample_web.copy_to(tmp_path)], tmp_path / "v.kin", strategy=PRESETS["paper"])
    indexed = IndexedStore.open(tmp_path / "v.kin")
    texts = [canonical(indexed.text_bytes(row)) for row in range(len(indexed))]
    assert sets_of(indexed.fingerprints.chunks) == sets_of(chunks_of(texts, GroupSettings()))
    assert indexed.fingerprints.words is not None
    assert indexed.fingerprints.words.tolist() == filters_of(indexed.fingerprints.chunks, GroupSettings()).tolist()


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 12))
def test_ranges_cover_all_pages(sizes: list[int], size: int) -> None:
    reading = SimpleNamespace(pages=SimpleNamespace(text_bytes=np.array(sizes, np.int64)))
    ranges = list(_ranges(reading, range(len(sizes)), size))  # type: ignore[arg-type]
    assert [row for each in ranges for row in each] == list(range(len(sizes)))
    assert all(sum(sizes[each.start : each.stop - 1]) < size + 9 for each in ranges)
