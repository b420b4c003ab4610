"""Columns whose pieces are written one by one are those that are written whole, then divided into shards."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagekin.model.arrays import offsets_of
from pagekin.store.columns import write_columns
from pagekin.store.pieces import ColumnPieces, create_shards, cut_at, place_pieces
from pagekin.store.shards import BY_PAGE, divide, ragged
from pagekin.store.stage_files import write_stage

CUTS = ragged("words", ["form"], "page") | {"digest": BY_PAGE, "size": BY_PAGE}


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@given(
    lengths=st.lists(st.sampled_from([0, 0, 1, 3, 5000]), min_size=1, max_size=12),
    shards=st.integers(1, 4),
    step=st.integers(1, 5),
    attempts=st.integers(1, 2),
)
def test_pieces_in_any_order_are_the_column(lengths: list[int], shards: int, step: int, attempts: int) -> None:
    pages = len(lengths)
    offsets = offsets_of(np.array(lengths))
    columns = {
        "words.offsets": offsets,
        "words.form": np.arange(offsets[-1], dtype=np.uint32),
        "digest": np.arange(16 * pages, dtype=np.uint8).reshape(pages, 16),
        "size": np.arange(pages, dtype=np.int64),
    }
    first = np.linspace(0, pages, shards + 1).astype(np.int64)  # shards may be empty
    with TemporaryDirectory() as place:
        spool, whole, placed = (Path(place, name) for name in ("spool", "whole", "placed"))
        for folder in (spool, whole, placed):
            folder.mkdir()
        write_columns(whole, columns)
        divide(whole, first, np.arange(pages + 1), CUTS)
        firsts = cut_at(first, step)
        files = []
        for begin, end in pairwise(firsts.tolist()):
            piece = {name: columns[name][begin:end] for name in ("digest", "size")}
            piece["words.offsets"] = offsets[begin : end + 1] - offsets[begin]
            piece["words.form"] = columns["words.form"][offsets[begin] : offsets[end]]
            files.append(write_stage(spool, "piece", piece))
        create_shards(placed, first)
        run = lambda write, jobs: [write(job) for _ in range(attempts) for job in reversed(jobs)]  # noqa: E731
        place_pieces(run, placed, ColumnPieces(files, np.searchsorted(firsts, first[:-1]).tolist()))
        assert files_of(placed) == files_of(whole)
