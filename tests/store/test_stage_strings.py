"""Every engine unites the same strings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engines.serial_pool import SerialPool
from pagekin.engines.local import WorkerPool
from pagekin.model.arrays import Array, Strings
from pagekin.store.columns import flat_columns
from pagekin.store.stage_files import Stages
from pagekin.store.stage_strings import STRINGS, united


def _distinct(_: None, job: Sequence[str]) -> dict[str, Array]:
    strings = sorted(set(job), key=str.encode)
    numbers = np.array([strings.index(each) for each in job], np.int64)
    counts = np.bincount(numbers, minlength=len(strings))
    return {**dict(flat_columns(STRINGS, Strings.of(strings))), f"{STRINGS}.count": counts, "number": numbers}


@given(st.lists(st.lists(st.sampled_from(["oak", "elm", "ä", "ash tree"]), max_size=4), min_size=1, max_size=4))
def test_strings_of_all_jobs_are_united_and_numbered_in_order(jobs: list[list[str]]) -> None:
    every = [each for job in jobs for each in job]
    for pool in (WorkerPool(2), SerialPool(1)):
        with TemporaryDirectory() as folder, patch("pagekin.store.string_ranges._RANGE_BYTES", 2000):
            strings, counts, parts = united(Stages(pool, Path(folder) / "spool"), "words", _distinct, None, jobs)
            known = list(strings)
            assert known == sorted(set(every), key=str.encode)
            assert counts.tolist() == [every.count(each) for each in known]
            for job, part in zip(jobs, parts, strict=True):
                columns, numbers = part.load()
                assert [known[number] for number in numbers[columns["number"]]] == job
