"""Vocabularies are merged by the executors of Spark: the strings of groups of batches travel to ranges of strings.

A group of batches has a stage file with its distinct strings and their counts, sorted (`NAME.offsets`, `NAME.data`,
`NAME.count`). Each range of all strings becomes one stage file, in which the strings of each group have their numbers.
The numbers travel back to the groups. Where frequent strings come first, each range reports the number of its strings
with each count, which is enough to rank its strings among all of them.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.model.arrays import Array, Int64s, Strings, UInt32s, distinct, offsets_of, spans
from pagekin.model.capture import MiB
from pagekin.store.merge import FormTable, unite
from pagekin.store.stage_files import StageFile, finished_or, read_stage, shapes_of, strings_in, write_stage

_RANGE_BYTES = 64 * MiB  # of the strings of all groups
_SAMPLES = 8  # of each group, for each range

_Slice = tuple[int, Strings, Int64s]  # group, strings, counts
_Histogram = tuple[Int64s, Int64s]  # distinct counts, ascending, and the number of strings with each of them


class StringRanges(NamedTuple):
    """The files of the ranges, by name and then in order, and the number of strings before each of them."""

    files: dict[str, list[StageFile]]
    starts: dict[str, list[int]]

    def digests(self) -> list[str]:
        return [file.digest for file in chain.from_iterable(self.files.values())]


def columns_of_table(table: FormTable, name: str) -> dict[str, Array]:
    """The columns of a group for its strings NAME."""
    return {f"{name}.offsets": table.strings.offsets, f"{name}.data": table.strings.data, f"{name}.count": table.counts}


def united_strings(
    pool: SparkPool, folder: Path, groups: Sequence[StageFile], names: Iterable[str], stage: str
) -> StringRanges:
    """Unite the strings of all groups; `folder` is for files that are removed later."""
    splitters = _splitters(pool, groups, tuple(names))
    cut = partial(_cut, groups, splitters)
    unite_all = partial(pool.shuffle, cut, range(len(groups)), partial(_join, folder.absolute(), stage))
    found = finished_or(folder, stage, [file.digest for file in groups], lambda: dict(unite_all()))
    files, starts, first = {}, {}, 0
    for name in splitters:
        keys = range(first, first + len(splitters[name]) + 1)
        first = keys.stop
        files[name] = [found[key] for key in keys if key in found]
        starts[name] = [0, *accumulate(shapes_of(file)["count"][1][0] for file in files[name])][:-1]
    return StringRanges(files, starts)


def _splitters(pool: SparkPool, groups: Sequence[StageFile], names: Sequence[str]) -> dict[str, list[bytes]]:
    """The first string of each range but the first, by name."""
    ranges = -(-sum(file.path.stat().st_size for file in groups) // _RANGE_BYTES)
    if ranges <= 1:
        return {name: [] for name in names}
    samples = pool.run(partial(_sample, names, _SAMPLES * ranges), groups)
    splitters = {}
    for name in names:
        found = sorted(chain.from_iterable(sample[name] for sample in samples))
        splitters[name] = sorted({found[len(found) * k // ranges] for k in range(1, ranges)}) if found else []
    return splitters


def _sample(names: Sequence[str], count: int, group: StageFile) -> dict[str, list[bytes]]:
    arrays = read_stage(group)
    found = {}
    for name in names:
        strings = strings_in(arrays, name)
        found[name] = [strings.raw(k) for k in range(0, len(strings), len(strings) // count + 1)]
    return found


def _cut(groups: Sequence[StageFile], splitters: Mapping[str, list[bytes]], group: int) -> Iterator[tuple[int, _Slice]]:
    """The strings of a group by the number of their range, counted over all names."""
    arrays = read_stage(groups[group])
    number = 0
    for name in splitters:
        strings, counts = strings_in(arrays, name), arrays[f"{name}.count"]
        places = [bisect_left(range(len(strings)), each, key=strings.raw) for each in splitters[name]]
        for begin, end in pairwise([0, *places, len(strings)]):
            if begin < end:
                offsets = strings.offsets[begin : end + 1]
                some = Strings(offsets - offsets[0], strings.data[offsets[0] : offsets[-1]])
                yield number, (group, some, counts[begin:end])
            number += 1


def _join(folder: Path, stage: str, number: int, slices: Iterable[_Slice]) -> tuple[int, StageFile]:
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
    return number, write_stage(folder, f"{stage}-{number}", columns)


def first_ranks(pool: SparkPool, files: Sequence[StageFile]) -> list[Int64s]:
    """For each range of strings, the rank of the first string with each of its counts, ascending."""
    return ranks_of_histograms(pool.run(_histogram, files))


def ranks_of_histograms(histograms: Sequence[_Histogram]) -> list[Int64s]:
    """For each range of strings, given the number of strings with each count, the rank of the first of them.

    Strings with larger counts come first, then those of earlier ranges.

    >>> ranges = [np.array([1, 1, 7]), np.array([1, 3, 3])]
    >>> [ranks.tolist() for ranks in ranks_of_histograms([histogram_of(counts) for counts in ranges])]
    [[3, 0], [5, 1]]
    """
    counts = distinct(np.concatenate([np.empty(0, np.int64), *(some for some, _ in histograms)]))
    places = [np.searchsorted(counts, some) for some, _ in histograms]
    following = np.zeros(len(counts), np.int64)
    for place, (_, numbers) in zip(places, histograms, strict=True):
        following[place] += numbers
    following = following.sum() - np.cumsum(following)  # so many strings have larger counts
    found = []
    for place, (_, numbers) in zip(places, histograms, strict=True):
        found.append(following[place])
        following[place] += numbers
    return found


def histogram_of(counts: Int64s) -> _Histogram:
    """The distinct counts, ascending, and the number of strings with each of them."""
    values, numbers = np.unique(counts, return_counts=True)
    return values, numbers


def _histogram(file: StageFile) -> _Histogram:
    return histogram_of(read_stage(file)["count"])


def ranks_of(counts: Int64s, first: Int64s) -> UInt32s:
    """The rank of each string of a range, given that of the first string with each count.

    >>> ranks_of(np.array([1, 3, 3]), np.array([5, 1])).tolist()
    [5, 1, 2]
    """
    ranks = np.empty(len(counts), np.uint32)
    ranks[np.argsort(counts, kind="stable")] = spans(first, histogram_of(counts)[1])
    return ranks


class _Numbered(NamedTuple):
    """The strings NAME of a range, and where their numbers begin: all of them, or those with each count."""

    name: str
    file: StageFile
    start: int
    ranks: Int64s | None


def tables_of_groups(
    pool: SparkPool, folder: Path, ranges: StringRanges, ranks: Mapping[str, Sequence[Int64s]], stage: str
) -> dict[int, StageFile]:
    """For each group that has strings, the final numbers of its strings, by name: ranks, or places in their order.

    `ranks` are the first ranks of each range.
    """
    jobs = [
        _Numbered(name, file, start, ranks[name][k] if name in ranks else None)
        for name, files in ranges.files.items()
        for k, (file, start) in enumerate(zip(files, ranges.starts[name], strict=True))
    ]
    join = partial(_join_numbers, folder.absolute(), stage, tuple(ranges.files))
    return finished_or(folder, stage, ranges.digests(), lambda: dict(pool.shuffle(_cut_numbers, jobs, join)))


def _cut_numbers(job: _Numbered) -> Iterator[tuple[int, tuple[str, int, UInt32s]]]:
    """The numbers of the strings of a range, by group."""
    part = read_stage(job.file)
    numbers = part["number"] + np.uint32(job.start)
    if job.ranks is not None:
        numbers = ranks_of(part["count"], job.ranks)[part["number"]]
    for group, (begin, end) in zip(part["group"].tolist(), pairwise(part["begins"].tolist()), strict=True):
        yield group, (job.name, job.start, numbers[begin:end])


def _join_numbers(
    folder: Path, stage: str, names: Sequence[str], group: int, parts: Iterable[tuple[str, int, UInt32s]]
) -> tuple[int, StageFile]:
    ordered = sorted(parts, key=itemgetter(0, 1))
    tables = {
        name: np.concatenate([np.empty(0, np.uint32), *(part for each, _, part in ordered if each == name)])
        for name in names
    }
    return group, write_stage(folder, f"{stage}-{group}", tables)
