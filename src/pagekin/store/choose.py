"""The pages of a store are chosen by the executors of Spark.

What decides between the captures of a URL travels to the part of its hash, where the newest is found as in
`select_pages`. Redirects and canonical links need a view of several URLs: the driver applies them to the pages with
these URLs alone. The pages that remain travel to ranges in the order of the store, and their numbers to the batches.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import merge
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.model.arrays import Array, Int64s, Strings, distinct, offsets_of
from pagekin.model.capture import MiB, Rank, ReadingSettings, Skip
from pagekin.model.reading import CheckedReading
from pagekin.store.collect import Readings, digest_of, load_batch
from pagekin.store.columns import flat_columns
from pagekin.store.select import CaptureTable, ReadPages, SelectedPages, captures_of, follow, newest
from pagekin.store.stage_files import StageFile, finished_or, map_stage, read_stage, shapes_of, strings_in, write_stage
from pagekin.store.write import SourceKey, captures_by_source, summed_skips
from pagekin.urls import host_of, variant_key, variants

_GROUP_BYTES = 64 * MiB  # of batches
_COLUMNS, _GIVEN = ("reading", "row", "captured", "source", "offset", "flags"), ("refresh", "canonical")
_SKIP = ("source", "reason", "where")
_SAMPLES = 8  # of each part, for each range

_Place = tuple[str, str]  # host and URL, which pages are ordered by


class Group(NamedTuple):
    """Consecutive batches."""

    first: int  # the number of the first
    batches: tuple[Path, ...]
    digests: tuple[str, ...]

    def readings(self) -> list[CheckedReading]:
        return [load_batch(path) for path in self.batches]


class _Captures(NamedTuple):
    """Captures on their way to the part of their URLs."""

    table: CaptureTable
    urls: list[str]


@dataclass
class ChosenPages:
    """The pages of the store, in files for ranges of pages, and what was left out.

    A file has the `url` of each page, and its place: `reading`, `row`.
    """

    groups: list[Group]
    files: list[StageFile]
    first: Int64s  # page of each range, and the number of pages
    splitters: list[_Place]  # the beginning of each range but the first
    read: Counter[SourceKey]  # captures
    skips: list[Skip]
    kept_older: Counter[str]  # captures that were dropped for other ones, by the name of the source
    older_files: list[StageFile]
    aliases: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.first[-1])

    def older(self) -> Iterator[tuple[str, Rank]]:
        """The captures that were dropped for other ones, in order; one of each file is in memory."""
        return merge(*map(_older, self.older_files))

    def rows_of(self, pool: SparkPool, urls: Iterable[str]) -> dict[str, int]:
        """The numbers of some pages, given by their URLs."""
        jobs: dict[int, list[str]] = {}
        for url in urls:
            jobs.setdefault(bisect_right(self.splitters, _place(url)), []).append(url)
        found = pool.run(_find_rows, [(self.files[k], int(self.first[k]), some) for k, some in sorted(jobs.items())])
        return dict(chain.from_iterable(found))


def choose_pages(pool: SparkPool, spool: Path, read_pages: ReadPages, settings: ReadingSettings) -> ChosenPages:
    """What `select_pages` selects; `spool` is for files that are removed later."""
    groups = _groups(read_pages.readings)
    read: Counter[SourceKey] = Counter()
    for captures, skips in pool.run(_facts, groups):
        read.update(captures)
        read_pages.skips += skips
    parts = len(groups)
    cut, join = partial(_cut_captures, groups, parts), partial(_join_captures, spool.absolute(), settings, parts)
    choose = partial(pool.shuffle, cut, range(parts), join)
    depends_on = [group.digests for group in groups], settings
    found = finished_or(spool, "captures", depends_on, lambda: dict(chain.from_iterable(choose())))
    newest_files, linking, older = ([found[k] for k in range(first, 3 * parts, 3) if k in found] for first in range(3))
    facts = [read_stage(file) for file in linking]
    chosen_skips = list(chain.from_iterable(map(_skips_in, facts)))
    linked = _linked_pages(pool, parts, {k // 3: file for k, file in found.items() if k % 3 == 0}, facts, read_pages)
    before = set(linked.pages)
    follow(linked, read_pages, settings)
    dropped = before - linked.pages.keys()
    files, first, splitters = _in_order(pool, spool, newest_files, dropped)
    reason = ("older capture", "other capture")
    kept_older: Counter[str] = Counter()
    for skip in chosen_skips:
        kept_older[skip.source] += skip.count * (skip.reason in reason)
    chosen = ChosenPages(groups, files, first, splitters, read, chosen_skips + linked.skips, kept_older, older)
    chosen.aliases = dict(sorted(linked.aliases.items()))
    return chosen


def _groups(readings: Sequence[CheckedReading]) -> list[Group]:
    assert isinstance(readings, Readings)
    paths: list[list[Path]] = []
    size = _GROUP_BYTES
    for path in readings.paths:
        if size >= _GROUP_BYTES:
            paths.append([])
            size = 0
        paths[-1].append(path.absolute())
        size += path.stat().st_size
    firsts = offsets_of(np.array(list(map(len, paths)), np.int64)).tolist()
    return [Group(first, tuple(some), tuple(map(digest_of, some))) for first, some in zip(firsts, paths, strict=False)]


def _facts(group: Group) -> tuple[Counter[SourceKey], list[Skip]]:
    """The number of captures of each source, and what reading has skipped."""
    readings = group.readings()
    counts = captures_by_source((reading, np.arange(len(reading))) for reading in readings)
    return counts, list(chain.from_iterable(reading.skips for reading in readings))


def part_of(url: str, parts: int) -> int:
    """The part of a URL, which is that of its variants."""
    return crc32(variant_key(url).encode("utf-8", "replace")) % parts


def _cut_captures(groups: Sequence[Group], parts: int, number: int) -> Iterator[tuple[int, _Captures]]:
    readings = groups[number].readings()
    rows = [np.arange(len(reading)) for reading in readings]
    table, urls = captures_of(ReadPages(readings=readings, rows=rows))
    table.reading += groups[number].first
    part = np.array([part_of(url, parts) for url in urls], np.int64)
    for each in distinct(part).tolist():
        which = np.flatnonzero(part == each)
        yield each, _Captures(_some(table, which), [urls[k] for k in which.tolist()])


def _some(table: CaptureTable, which: Int64s) -> CaptureTable:
    columns: dict[str, Any] = {name: getattr(table, name)[which] for name in _COLUMNS}
    for name in _GIVEN:
        given = getattr(table, name)
        columns[name] = {k: given[old] for k, old in enumerate(which.tolist()) if old in given}
    return CaptureTable(**columns, sources=table.sources)


def _together(parts: Iterable[_Captures]) -> _Captures:
    """All captures in the order of the batches."""
    ordered = sorted(parts, key=lambda part: int(part.table.reading[0]))
    sources: dict[str, int] = {}
    urls: list[str] = []
    given: dict[str, dict[int, str]] = {name: {} for name in _GIVEN}
    for table, some in ordered:
        table.source = np.array([sources.setdefault(name, len(sources)) for name in table.sources])[table.source]
        for name, whole in given.items():
            whole |= {len(urls) + k: url for k, url in getattr(table, name).items()}
        urls += some
    columns = {name: np.concatenate([getattr(table, name) for table, _ in ordered]) for name in _COLUMNS}
    whole_table: dict[str, Any] = {**columns, **given, "sources": list(sources)}
    return _Captures(CaptureTable(**whole_table), urls)


def _join_captures(
    spool: Path, settings: ReadingSettings, parts: int, part: int, values: Iterable[_Captures]
) -> list[tuple[int, StageFile]]:
    """The newest captures of a part; those of them that name other URLs, with all skips; and the others."""
    table, urls = _together(values)
    selected = newest(table, urls, (), settings)
    found = list(selected.pages.items())
    naming = [each for each in found if any(getattr(table, name).get(each[1], each[0]) != each[0] for name in _GIVEN)]
    skips = summed_skips((), selected.skips)
    others: dict[str, Any] = {
        **_columns_of(table, naming),
        "refresh": Strings.of(table.refresh.get(capture, "") for _, capture in naming),
        "canonical": Strings.of(table.canonical.get(capture, "") for _, capture in naming),
        **{f"skip.{name}": Strings.of(getattr(skip, name) for skip, _ in skips) for name in _SKIP},
        "skip.count": np.array([skip.count for skip, _ in skips], np.int64),
    }
    older = {
        "url": Strings.of(url for url, _ in selected.older),
        "source": Strings.of(rank.source for _, rank in selected.older),
        "captured": np.array([rank.captured for _, rank in selected.older], np.int64),
        "offset": np.array([rank.offset for _, rank in selected.older], np.int64),
    }
    columns = {"newest": _columns_of(table, found), "naming": others, "older": older}
    return [(3 * part + k, _write(spool, f"{name}-{part}", each)) for k, (name, each) in enumerate(columns.items())]


def _write(spool: Path, name: str, columns: Mapping[str, Any]) -> StageFile:
    return write_stage(spool, name, dict(chain.from_iterable(flat_columns(*each) for each in columns.items())))


def _columns_of(table: CaptureTable, pages: Sequence[tuple[str, int]]) -> dict[str, Any]:
    captures = np.array([capture for _, capture in pages], np.int64)
    return {
        "url": Strings.of(url for url, _ in pages),
        "source": Strings.of(table.sources[k] for k in table.source[captures].tolist()),
        "reading": table.reading[captures],
        "row": table.row[captures],
        "captured": table.captured[captures],
    }


def _skips_in(facts: Mapping[str, Array]) -> Iterator[Skip]:
    names = (strings_in(facts, f"skip.{name}") for name in _SKIP)
    for source, reason, where, count in zip(*names, facts["skip.count"].tolist(), strict=True):
        yield Skip(source, reason, where, count)


def _older(file: StageFile) -> Iterator[tuple[str, Rank]]:
    columns = map_stage(file)
    urls, sources = strings_in(columns, "url"), strings_in(columns, "source")
    for k in range(len(urls)):
        yield urls[k], Rank(columns["captured"].item(k), sources[k], columns["offset"].item(k))


_Found = tuple[str, int, int, int, str]  # URL, reading, row, time, source


def _linked_pages(
    pool: SparkPool,
    parts: int,
    files: Mapping[int, StageFile],
    facts: Sequence[Mapping[str, Array]],
    read_pages: ReadPages,
) -> SelectedPages:
    """The pages that redirects and canonical links lead to or come from."""
    pages: dict[str, _Found] = {}
    given: dict[str, dict[str, str]] = {name: {} for name in _GIVEN}  # page -> URL
    for columns_of_part in facts:
        naming = list(_rows_in(columns_of_part))
        pages |= {page[0]: page for page in naming}
        for name, urls_of_pages in given.items():
            named = zip(naming, strings_in(columns_of_part, name), strict=True)
            urls_of_pages |= {page[0]: url for page, url in named if url}
    redirects = chain.from_iterable((each.url, each.target) for each in read_pages.redirects)
    jobs: dict[int, list[str]] = {}
    for url in {*redirects, *chain.from_iterable(urls.values() for urls in given.values())}:
        jobs.setdefault(part_of(url, parts), []).append(url)
    for found in pool.run(_look_up, [(files[part], urls) for part, urls in sorted(jobs.items()) if part in files]):
        pages |= {page[0]: page for page in found}
    sources: dict[str, int] = {}
    number = {url: k for k, url in enumerate(pages)}
    columns: dict[str, Any] = {name: np.zeros(len(pages), np.int64) for name in _COLUMNS}  # some do not matter any more
    columns["source"] = np.array([sources.setdefault(page[4], len(sources)) for page in pages.values()], np.int64)
    for k, name in enumerate(("reading", "row", "captured"), 1):
        columns[name] = np.array([page[k] for page in pages.values()], np.int64)
    for name, urls_of_pages in given.items():
        columns[name] = {number[page]: url for page, url in urls_of_pages.items()}
    return SelectedPages(number, CaptureTable(**columns, sources=list(sources)))


def _rows_in(columns: Mapping[str, Array]) -> Iterator[_Found]:
    numbers = (columns[name].tolist() for name in ("reading", "row", "captured"))
    yield from zip(strings_in(columns, "url"), *numbers, strings_in(columns, "source"), strict=True)


def _look_up(job: tuple[StageFile, list[str]]) -> list[_Found]:
    """The pages of a part that have these URLs or variants of them."""
    file, urls = job
    wanted = {each for url in urls for each in (url, *variants(url))}
    return [page for page in _rows_in(read_stage(file)) if page[0] in wanted]


def _place(url: str) -> _Place:
    return host_of(url), url


def _in_order(
    pool: SparkPool, spool: Path, files: Sequence[StageFile], dropped: set[str]
) -> tuple[list[StageFile], Int64s, list[_Place]]:
    """Ranges of pages in the order of the store, the first page of each, and the beginning of each but the first."""
    splitters: list[_Place] = []
    if len(files) > 1:
        samples = sorted(chain.from_iterable(pool.run(partial(_sample, _SAMPLES * len(files)), files)))
        splitters = sorted({samples[len(samples) * k // len(files)] for k in range(1, len(files))}) if samples else []
    without = write_stage(spool, "dropped", dict(flat_columns("url", Strings.of(sorted(dropped)))))
    cut, join = partial(_cut_ranges, without, splitters), partial(_join_ranges, spool.absolute())
    depends_on = [file.digest for file in (*files, without)], splitters
    found = finished_or(spool, "chosen", depends_on, lambda: dict(pool.shuffle(cut, files, join)))
    ranges = [found.get(k) or _join_ranges(spool, k, ())[1] for k in range(len(splitters) + 1)]
    first = offsets_of(np.array([shapes_of(file)["row"][1][0] for file in ranges], np.int64))
    return ranges, first, splitters


def _sample(count: int, file: StageFile) -> list[_Place]:
    urls = strings_in(read_stage(file), "url")
    return [_place(urls[k]) for k in range(0, len(urls), len(urls) // count + 1)]


_Pages = tuple[list[str], Int64s, Int64s]  # URLs, readings, rows


def _cut_ranges(without: StageFile, splitters: Sequence[_Place], file: StageFile) -> Iterator[tuple[int, _Pages]]:
    columns, dropped = read_stage(file), set(strings_in(read_stage(without), "url"))
    urls = list(strings_in(columns, "url"))
    number = np.array([-1 if url in dropped else bisect_right(splitters, _place(url)) for url in urls], np.int64)
    for each in distinct(number[number >= 0]).tolist():
        which = np.flatnonzero(number == each)
        yield each, ([urls[k] for k in which.tolist()], columns["reading"][which], columns["row"][which])


def _join_ranges(spool: Path, number: int, parts: Iterable[_Pages]) -> tuple[int, StageFile]:
    """The pages of a range in the order of the store."""
    rows = chain.from_iterable(zip(urls, reading.tolist(), row.tolist(), strict=True) for urls, reading, row in parts)
    ordered = sorted(rows, key=lambda page: _place(page[0]))
    columns = {
        "url": Strings.of(url for url, *_ in ordered),
        "reading": np.array([reading for _, reading, _ in ordered], np.int64),
        "row": np.array([row for *_, row in ordered], np.int64),
    }
    return number, _write(spool, f"chosen-{number}", columns)


def _find_rows(job: tuple[StageFile, int, list[str]]) -> list[tuple[str, int]]:
    """The numbers of the pages of a range that have these URLs."""
    file, first, wanted = job
    urls, some = strings_in(read_stage(file), "url"), set(wanted)
    return [(url, first + k) for k, url in enumerate(urls) if url in some]


def places_of_groups(pool: SparkPool, spool: Path, chosen: ChosenPages) -> dict[int, StageFile]:
    """For each group with pages of the store: reading (in the group) and row of each, and its place in the store."""
    cut, join = partial(_cut_places, chosen.groups, chosen.files, chosen.first), partial(_join_places, spool.absolute())
    depends_on = [group.digests for group in chosen.groups], [file.digest for file in chosen.files]
    place = partial(pool.shuffle, cut, range(len(chosen.files)), join)
    return finished_or(spool, "places", depends_on, lambda: dict(place()))


_Rows = tuple[Int64s, Int64s, Int64s]  # readings, rows, places


def _cut_places(
    groups: Sequence[Group], files: Sequence[StageFile], first: Int64s, number: int
) -> Iterator[tuple[int, _Rows]]:
    columns = read_stage(files[number])
    reading, row = columns["reading"], columns["row"]
    firsts = np.array([group.first for group in groups], np.int64)
    group = np.searchsorted(firsts, reading, side="right") - 1
    for each in distinct(group).tolist():
        which = np.flatnonzero(group == each)
        yield each, (reading[which] - firsts[each], row[which], first[number] + which)


def _join_places(spool: Path, group: int, parts: Iterable[_Rows]) -> tuple[int, StageFile]:
    reading, row, place = map(np.concatenate, zip(*sorted(parts, key=lambda each: int(each[2][0])), strict=True))
    return group, write_stage(spool, f"places-{group}", {"reading": reading, "row": row, "place": place})
