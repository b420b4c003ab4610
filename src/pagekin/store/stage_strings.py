"""Strings that the jobs of a stage find are united: in memory, or by executors (`string_ranges.py`)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.model.arrays import Int64s, Strings, UInt32s
from pagekin.store.merge import unite
from pagekin.store.stage_columns import placed
from pagekin.store.stage_files import Columns, Job, StageFile, Stages, Value, read_stage, strings_in
from pagekin.store.string_ranges import tables_of_groups, united_strings

STRINGS = "strings"  # of a result: `strings.offsets` and `strings.data`, distinct and sorted, and `strings.count`


class NumberedPart(Protocol):
    """The result of a job, or where it is."""

    def load(self) -> tuple[Columns, UInt32s]:
        """Its columns, and the numbers of its strings among all."""
        ...


class LoadedPart(NamedTuple):
    """A result in memory."""

    columns: Columns
    numbers: UInt32s

    def load(self) -> tuple[Columns, UInt32s]:
        return self


class StoredPart(NamedTuple):
    """A result in a file, and the file of the numbers; None if there are no strings."""

    columns: StageFile
    numbers: StageFile | None

    def load(self) -> tuple[Columns, UInt32s]:
        numbers = np.empty(0, np.uint32) if self.numbers is None else read_stage(self.numbers)[STRINGS]
        return read_stage(self.columns), numbers


class UnitedStrings(NamedTuple):
    """The distinct strings of all results, sorted, with the sums of their counts; and the results."""

    strings: Strings
    counts: Int64s
    parts: Sequence[NumberedPart]


def united(
    stages: Stages, name: str, function: Callable[[Value, Job], Columns], value: Value, jobs: Sequence[Job]
) -> UnitedStrings:
    """Unite the strings in the results of `Stages.map`. No count is 0."""
    if not isinstance(stages.pool, SparkPool):
        found = list(stages.map(name, function, value, jobs))
        table = unite((strings_in(each, STRINGS), each[f"{STRINGS}.count"]) for each in found)
        return UnitedStrings(table.strings, table.counts, list(map(LoadedPart, found, table.tables)))
    files = stages.files(name, function, value, jobs)
    ranges = united_strings(stages.pool, stages.folder, files, [STRINGS], f"{name}-united")
    if not ranges.files[STRINGS]:
        return UnitedStrings(Strings.of(()), np.empty(0, np.int64), [StoredPart(each, None) for each in files])
    numbers = tables_of_groups(stages.pool, stages.folder, ranges, {}, f"{name}-numbers")
    names = {f"{STRINGS}.{column}": f"{STRINGS}.{column}" for column in ("offsets", "data")} | {"count": "count"}
    columns = placed(stages, name, ranges.files[STRINGS], names)
    parts = [StoredPart(each, numbers.get(k)) for k, each in enumerate(files)]
    return UnitedStrings(strings_in(columns, STRINGS), columns["count"], parts)
