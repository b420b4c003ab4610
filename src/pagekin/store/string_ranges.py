"""Vocabularies are merged by the executors of Spark: the strings of groups of batches travel to ranges of strings.

A group of batches has a stage file with its distinct strings and their counts, sorted (`NAME.offsets`, `NAME.data`,
`NAME.count`). Each range of all strings becomes one stage file, in which the strings of each group have their numbers.
The numbers travel back to the groups.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.model.arrays import Array, Int64s, Strings, UInt32s, offsets_of
from pagekin.model.capture import MiB
from pagekin.store.merge import FormTable, unite
from pagekin.store.stage_files import StageFile, finished_or, read_stage, shapes_of, strings_in, write_stage

NAMES = ("forms", "targets")
_RANGE_BYTES = 64 * MiB  # of the strings of all groups
_SAMPLES = 8  # of each group, for each range

_Slice = tuple[int, Strings, Int64s]  # group, strings, counts


class StringRanges(NamedTuple):
    """The files of the ranges, by name and then in order, and the number of strings before each of them."""

    files: dict[str, list[StageFile]]
    starts: dict[str, list[int]]

    def digests(self) -> list[str]:
        return [file.digest for file in chain.from_iterable(self.files.values())]


def columns_of_table(table: FormTable, name: str) -> dict[str, Array]:
    """The columns of a group for its strings NAME."""
    return {f"{name}.offsets": table.strings.offsets, f"{name}.data": table.strings.data, f"{name}.count": table.counts}


def united_strings(pool: SparkPool, folder: Path, groups: Sequence[StageFile]) -> StringRanges:
    """Unite the strings of all groups; `folder` is for files that are removed later."""
    splitters = _splitters(pool, groups)
    cut = partial(_cut, groups, splitters)
    unite_all = partial(pool.shuffle, cut, range(len(groups)), partial(_join, folder.absolute()))
    found = finished_or(folder, "strings", [file.digest for file in groups], lambda: dict(unite_all()))
    files, starts, first = {}, {}, 0
    for name in NAMES:
        keys = range(first, first + len(splitters[name]) + 1)
        first = keys.stop
        files[name] = [found[key] for key in keys if key in found]
        starts[name] = [0, *accumulate(shapes_of(file)["count"][1][0] for file in files[name])][:-1]
    return StringRanges(files, starts)


def _splitters(pool: SparkPool, groups: Sequence[StageFile]) -> dict[str, list[bytes]]:
    """The first string of each range but the first, by name."""
    ranges = -(-sum(file.path.stat().st_size for file in groups) // _RANGE_BYTES)
    if ranges <= 1:
        return {name: [] for name in NAMES}
    samples = pool.run(partial(_sample, _SAMPLES * ranges), groups)
    splitters = {}
    for name in NAMES:
        found = sorted(chain.from_iterable(sample[name] for sample in samples))
        splitters[name] = sorted({found[len(found) * k // ranges] for k in range(1, ranges)}) if found else []
    return splitters


def _sample(count: int, group: StageFile) -> dict[str, list[bytes]]:
    arrays = read_stage(group)
    found = {}
    for name in NAMES:
        strings = strings_in(arrays, name)
        found[name] = [strings.raw(k) for k in range(0, len(strings), len(strings) // count + 1)]
    return found


def _cut(groups: Sequence[StageFile], splitters: Mapping[str, list[bytes]], group: int) -> Iterator[tuple[int, _Slice]]:
    """The strings of a group by the number of their range, counted over all names."""
    arrays = read_stage(groups[group])
    number = 0
    for name in NAMES:
        strings, counts = strings_in(arrays, name), arrays[f"{name}.count"]
        places = [bisect_left(range(len(strings)), each, key=strings.raw) for each in splitters[name]]
        for begin, end in pairwise([0, *places, len(strings)]):
            if begin < end:
                offsets = strings.offsets[begin : end + 1]
                some = Strings(offsets - offsets[0], strings.data[offsets[0] : offsets[-1]])
                yield number, (group, some, counts[begin:end])
            number += 1


def _join(folder: Path, number: int, slices: Iterable[_Slice]) -> tuple[int, StageFile]:
    """Unite the strings of a range: the strings, their counts, and the numbers of those of each group."""
    ordered = sorted(slices, key=itemgetter(0))
    united = unite((strings, counts) for _, strings, counts in ordered)
    columns: dict[str, Array] = {
        "strings.offsets": united.strings.offsets,
        "strings.data": united.strings.data,
        "count": united.counts,
        "group": np.array([group for group, *_ in ordered], np.int64),
        "begins": offsets_of(np.array([len(table) for table in united.tables], np.int64)),
        "number": np.concatenate(united.tables),
    }
    return number, write_stage(folder, f"strings-{number}", columns)


def ranked_forms(ranges: StringRanges) -> tuple[Strings, Int64s, UInt32s]:
    """All forms, frequent ones first, their counts, and the place of each in this order, in the order of the ranges."""
    parts = map(read_stage, ranges.files["forms"])
    united = unite(((strings_in(part, "strings"), part["count"]) for part in parts), frequent_first=True)
    return united.strings, united.counts, np.concatenate([np.empty(0, np.uint32), *united.tables])


def tables_of_groups(pool: SparkPool, folder: Path, ranges: StringRanges, ranks: UInt32s) -> dict[int, StageFile]:
    """For each group that has strings, the final numbers of its strings, by name; those of forms are their ranks."""
    ranking = write_stage(folder, "ranks", {"ranks": ranks})
    jobs = [(name, k) for name in NAMES for k in range(len(ranges.files[name]))]
    cut = partial(_cut_numbers, ranges, ranking)
    number = partial(pool.shuffle, cut, jobs, partial(_join_numbers, folder.absolute()))
    return finished_or(folder, "tables", [ranking.digest, *ranges.digests()], lambda: dict(number()))


def _cut_numbers(
    ranges: StringRanges, ranking: StageFile, job: tuple[str, int]
) -> Iterator[tuple[int, tuple[str, int, UInt32s]]]:
    """The numbers of the strings of a range, by group."""
    name, k = job
    part = read_stage(ranges.files[name][k])
    numbers = part["number"] + np.uint32(ranges.starts[name][k])
    if name == "forms":
        numbers = _ranks(ranking)[numbers]
    for group, (begin, end) in zip(part["group"].tolist(), pairwise(part["begins"].tolist()), strict=True):
        yield group, (name, k, numbers[begin:end])


@lru_cache(1)  # one for all jobs of a process
def _ranks(ranking: StageFile) -> UInt32s:
    ranks: UInt32s = read_stage(ranking)["ranks"]
    return ranks


def _join_numbers(folder: Path, group: int, parts: Iterable[tuple[str, int, UInt32s]]) -> tuple[int, StageFile]:
    ordered = sorted(parts, key=itemgetter(0, 1))
    tables = {
        name: np.concatenate([np.empty(0, np.uint32), *(part for each, _, part in ordered if each == name)])
        for name in NAMES
    }
    return group, write_stage(folder, f"tables-{group}", tables)
