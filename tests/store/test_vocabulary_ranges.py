"""Executors rank strings and write the vocabulary as the local engine does, however the strings are divided."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engines.serial_pool import SerialPool
from pagekin.model.arrays import Int64s, Strings
from pagekin.store.merge import FormTable, order_of, unite
from pagekin.store.stage_files import read_stage, write_stage
from pagekin.store.string_ranges import (
    columns_of_table,
    first_ranks,
    histogram_of,
    ranks_of,
    ranks_of_histograms,
    tables_of_groups,
    united_strings,
)
from pagekin.store.vocabulary_ranges import write_vocabulary_on_executors
from pagekin.store.write import write_vocabulary

FORM = st.text("aAbBäÄ\u0301\u212a\x00", min_size=1, max_size=4)
GROUP = st.dictionaries(FORM, st.integers(1, 3), max_size=12)


@given(st.lists(st.lists(st.integers(1, 4), max_size=8), max_size=5))
def test_ranks_by_histograms_are_those_of_all_strings_together(ranges: list[list[int]]) -> None:
    counts: list[Int64s] = [np.array(some, np.int64) for some in ranges]
    every = np.concatenate([np.empty(0, np.int64), *counts])
    strings = Strings.of(f"{k:03}" for k in range(len(every)))  # in the order of the ranges
    first = ranks_of_histograms([histogram_of(some) for some in counts])
    ranks = np.concatenate([np.empty(0, np.uint32), *map(ranks_of, counts, first)])
    assert np.argsort(ranks).tolist() == order_of(strings, every).tolist()


@given(groups=st.lists(GROUP, min_size=1, max_size=4), size=st.sampled_from((100, 2_000, 1 << 30)))
def test_executors_write_the_vocabulary_of_the_local_engine(groups: list[dict[str, int]], size: int) -> None:
    listed = [(Strings.of(group), np.array(list(group.values()), np.int64)) for group in groups]
    with TemporaryDirectory() as place, patch("pagekin.store.string_ranges._RANGE_BYTES", size):
        spool, pool = Path(place), SerialPool(1)
        folders = [spool / engine for engine in ("local", "spark")]
        for folder in folders:
            folder.mkdir()
        local = unite(listed, frequent_first=True)
        write_vocabulary(folders[0], local.strings, local.counts)
        tables = [unite([each]) for each in listed]
        files = [write_stage(spool, "uses", columns_of_table(table, "forms")) for table in tables]
        strings = united_strings(pool, spool, files, ["forms"], "strings")
        ranks = first_ranks(pool, strings.files["forms"])
        write_vocabulary_on_executors(pool, spool, folders[1], strings.files["forms"], ranks)
        found = tables_of_groups(pool, spool, strings, {"forms": ranks}, "tables")
        assert contents(folders[1]) == contents(folders[0])
        for k, table in enumerate(tables):
            expected = numbers_of(table, local)
            assert (read_stage(found[k])["forms"].tolist() if k in found else []) == expected


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def numbers_of(table: FormTable, every: FormTable) -> list[int]:
    """The numbers of strings among all of them."""
    number = {every.strings.raw(k): k for k in range(len(every.strings))}
    return [number[table.strings.raw(k)] for k in range(len(table.strings))]
