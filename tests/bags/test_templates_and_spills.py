"""Blocks of templates are those that a loop finds; counted bags are the same in memory and in a file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.bags.source import template_blocks
from pagekin.bags.weigh import Spill, SpilledPiece
from pagekin.model.arrays import offsets_of

# For each page its host and the hashes of its blocks.
PAGES = st.lists(st.tuples(st.integers(0, 2), st.lists(st.sampled_from([1, 2, 65537, 2**63]), max_size=5)), max_size=16)


@settings(deadline=None)
@given(PAGES, st.sampled_from([0.1, 0.5, 0.9]))
def test_a_template_is_on_at_least_four_pages_and_a_share_of_its_host(
    pages: list[tuple[int, list[int]]], share: float
) -> None:
    offsets = offsets_of(np.array([len(blocks) for _, blocks in pages], np.int64))
    hashes = np.array([block for _, blocks in pages for block in blocks], np.uint64)
    found = template_blocks(np.array([host for host, _ in pages], np.int64), offsets, hashes, share)
    expected = []
    for host, blocks in pages:
        others = [each for of, each in pages if of == host]
        counts = [sum(block in each for each in others) for block in blocks]
        expected += [int(count >= 4 and count > share * len(others)) for count in counts]
    assert found.tolist() == expected


@pytest.mark.parametrize("room", [0, 16 * 10, 1 << 20])  # bytes of pieces in memory: none, of the first two, of all
def test_pieces_come_back_in_order_and_may_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr("pagekin.bags.weigh._IN_MEMORY", room)
    lengths = [[3, 2], [5], [4, 4], [], [0, 1]]  # of the bags of each piece
    pieces = []
    for number, each in enumerate(lengths):
        column = 10 * number + np.arange(sum(each))
        counts, sums = column.astype(np.uint32), column.astype(np.float32)
        pieces.append(SpilledPiece(np.array(each, np.int64), counts, counts, sums, sums))
    with TemporaryFile(dir=tmp_path) as file:
        spill = Spill(file)
        for piece in pieces:
            spill.add(piece)
        for _ in range(2):
            first = 0
            for (nodes, found), piece in zip(spill.pieces(), pieces, strict=True):
                assert (nodes.start, nodes.stop) == (first, first + len(piece.lengths))
                first = nodes.stop
                for name in ("lengths", "term", "count", "content", "around"):
                    assert getattr(found, name).tolist() == getattr(piece, name).tolist()
                found.term[:] = 0
