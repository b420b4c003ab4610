"""The node of each target is found by the executors of Spark.

Pages, aliases and targets travel to the part of their URLs, where each target finds its page; the pages found travel
back to the ranges of targets. Other targets become nodes in their order. If hosts are chopped, the driver numbers them.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.model.arrays import Array, Int64s, Strings, UInt32s, distinct, offsets_of
from pagekin.store.choose import ChosenPages, part_of
from pagekin.store.columns import column_writer, flat_columns, open_array
from pagekin.store.merge import objects_of, pick
from pagekin.store.select import ReadPages, SelectedPages, captures_of
from pagekin.store.stage_files import StageFile, finished_or, read_stage, run_stage, shapes_of, strings_in, write_stage
from pagekin.store.string_ranges import StringRanges
from pagekin.store.write import of_pages
from pagekin.urls import host_of

_BLOCK = 1 << 20  # numbers that are written at a time

_Alias = tuple[str, int, str]  # URL, page, kind
_Urls = tuple[str, list[str], list[int]]  # what they are; each with the number of its page, or of its target


class FoundNodes(NamedTuple):
    """The nodes of the link graph, as `Nodes` has them, in files."""

    of_target: list[StageFile]  # `node`, by range of targets
    offsets: Int64s  # memory-mapped, if pages are the nodes
    total: int
    outside: list[StageFile]  # `outside`: the targets without a page, by range
    hosts: Sequence[str] = ()  # if they are the nodes
    of_page: StageFile | None = None  # `node`, if hosts are the nodes

    def urls(self, pages: Strings) -> Iterator[str]:
        """The URL of each node, given those of the pages."""
        if self.hosts:
            return (f"http://{host}/" for host in self.hosts)
        others = (objects_of(strings_in(read_stage(file), "outside")) for file in self.outside)
        return chain(objects_of(pages), chain.from_iterable(others))

    def files_of_pages(self) -> list[StageFile]:
        return [self.of_page] if self.of_page else []


def find_nodes(
    pool: SparkPool,
    spool: Path,
    chosen: ChosenPages,
    aliases: Sequence[_Alias],
    targets: StringRanges,
    chop_host: bool,
) -> FoundNodes:
    """The nodes of a store; `spool` is for files that are removed later."""
    outside = _pages_of_targets(pool, spool, chosen, aliases, targets)
    if chop_host:
        return _host_nodes(pool, spool, chosen, outside)
    counts = [shapes_of(file)["outside.offsets"][1][0] - 1 for file in outside]
    starts = (len(chosen) + offsets_of(np.array(counts, np.int64))).tolist()
    depends_on = [file.digest for file in outside], starts
    files = run_stage(pool, spool, "nodes", partial(_number_pages, outside, starts), range(len(outside)), depends_on)
    return FoundNodes(files, _numbers(spool, len(chosen) + 1), starts[-1], outside)


def _numbers(spool: Path, count: int) -> Int64s:
    """The numbers from 0 on, in a file."""
    with column_writer(spool, {"numbers": (np.int64, (count,))}) as append:
        for begin in range(0, count, _BLOCK):
            append(np.arange(begin, min(count, begin + _BLOCK)))
    return open_array(spool, "numbers", np.int64, below=None)


def _host_nodes(pool: SparkPool, spool: Path, chosen: ChosenPages, outside: list[StageFile]) -> FoundNodes:
    lengths: dict[str, int] = {}
    for host, length in chain.from_iterable(pool.run(_hosts_of_pages, chosen.files)):
        lengths[host] = lengths.get(host, 0) + length
    offsets = offsets_of(np.array(list(lengths.values()), np.int64))
    numbers = {host: k for k, host in enumerate(lengths)}
    tables = []
    for hosts in pool.run(_hosts_of_targets, outside):
        table = np.array([numbers.setdefault(host, len(numbers)) for host in hosts], np.uint32)
        tables.append(write_stage(spool, "hosts", {"node": table}))
    pages = write_stage(spool, "hosts", {"node": of_pages(offsets)})
    depends_on = [file.digest for file in (*outside, pages, *tables)]
    number = partial(_number_hosts, outside, tables, pages)
    files = run_stage(pool, spool, "nodes", number, range(len(outside)), depends_on)
    return FoundNodes(files, offsets, len(numbers), outside, list(numbers), pages)


def _pages_of_targets(
    pool: SparkPool, spool: Path, chosen: ChosenPages, aliases: Sequence[_Alias], targets: StringRanges
) -> list[StageFile]:
    """For each range of targets: the `row` of the page that each target reaches, or -1; and the `outside` ones."""
    files, starts = targets.files["targets"], targets.starts["targets"]
    if not files:
        return []
    parts = len(chosen.groups)
    columns: dict[str, Array] = dict(flat_columns("url", Strings.of(url for url, *_ in aliases)))
    known = write_stage(spool, "aliases", columns | {"row": np.array([row for _, row, _ in aliases], np.int64)})
    jobs = [("alias", known, 0)]
    jobs += [("page", file, first) for file, first in zip(chosen.files, chosen.first.tolist(), strict=False)]
    jobs += [("target", file, first) for file, first in zip(files, starts, strict=True)]
    depends_on = [(kind, file.digest, first) for kind, file, first in jobs], parts
    find = partial(pool.shuffle, partial(_cut_urls, parts), jobs, partial(_join_urls, spool.absolute()))
    found = finished_or(spool, "found", depends_on, lambda: dict(find()))
    reached = [found[key] for key in sorted(found)]
    cut, join = partial(_cut_found, starts), partial(_join_found, spool.absolute(), files, starts)
    back = partial(pool.shuffle, cut, reached, join)
    rows = finished_or(spool, "reached", [file.digest for file in (*reached, *files)], lambda: dict(back()))
    return [rows.get(k) or _join_found(spool, files, starts, k, ())[1] for k in range(len(files))]


def _cut_urls(parts: int, job: tuple[str, StageFile, int]) -> Iterator[tuple[int, _Urls]]:
    """The URLs of pages, aliases or targets, by part."""
    kind, file, first = job
    columns = read_stage(file)
    urls = list(strings_in(columns, "strings" if kind == "target" else "url"))
    numbers = columns["row"] if kind == "alias" else first + np.arange(len(urls))
    part = np.array([part_of(url, parts) for url in urls], np.int64)
    for each in distinct(part).tolist():
        which = np.flatnonzero(part == each).tolist()
        yield each, (kind, [urls[k] for k in which], numbers[which].tolist())


def _join_urls(spool: Path, part: int, values: Iterable[_Urls]) -> tuple[int, StageFile]:
    """The targets of a part that reach a page, and its row."""
    known: dict[str, dict[str, int]] = {"page": {}, "alias": {}, "target": {}}
    for kind, urls, numbers in values:
        known[kind] |= zip(urls, numbers, strict=True)
    # An alias stands for its page, which may be in another part.
    aliases = {url: (url, "") for url in known["alias"]}
    selected = SelectedPages(known["page"], captures_of(ReadPages())[0], aliases)
    rows = known["alias"] | known["page"]
    found = [(number, rows[url]) for target, number in known["target"].items() if (url := selected.reached(target))]
    pairs = np.array(sorted(found), np.int64).reshape(-1, 2)
    return part, write_stage(spool, f"found-{part}", {"target": pairs[:, 0].copy(), "row": pairs[:, 1].copy()})


def _cut_found(starts: Sequence[int], file: StageFile) -> Iterator[tuple[int, tuple[Int64s, Int64s]]]:
    columns = read_stage(file)
    number = np.searchsorted(starts, columns["target"], side="right") - 1
    for each in distinct(number).tolist():
        which = number == each
        yield each, (columns["target"][which], columns["row"][which])


def _join_found(
    spool: Path, files: Sequence[StageFile], starts: Sequence[int], number: int, parts: Iterable[tuple[Int64s, Int64s]]
) -> tuple[int, StageFile]:
    targets = strings_in(read_stage(files[number]), "strings")
    row = np.full(len(targets), -1)
    for target, page in parts:
        row[target - starts[number]] = page
    outside = pick(targets, np.flatnonzero(row < 0))
    return number, write_stage(spool, f"reached-{number}", {"row": row, **dict(flat_columns("outside", outside))})


def _number_pages(files: Sequence[StageFile], starts: Sequence[int], k: int) -> dict[str, Array]:
    """The nodes of a range of targets: rows of pages, or the next numbers."""
    row = read_stage(files[k])["row"]
    others = starts[k] + np.cumsum(row < 0) - 1
    return {"node": np.where(row < 0, others, row).astype(np.uint32)}


def _hosts_of_pages(file: StageFile) -> list[tuple[str, int]]:
    """The hosts of a range of pages, and the number of pages of each."""
    urls = map(host_of, objects_of(strings_in(read_stage(file), "url")))
    return [(host, sum(1 for _ in pages)) for host, pages in groupby(urls)]


def _hosts_of_targets(file: StageFile) -> list[str]:
    """The hosts of the targets of a range that have no page, in the order in which they occur."""
    return list(dict.fromkeys(map(host_of, objects_of(strings_in(read_stage(file), "outside")))))


def _number_hosts(
    files: Sequence[StageFile], tables: Sequence[StageFile], pages: StageFile, k: int
) -> dict[str, Array]:
    row, of_page = read_stage(files[k])["row"], read_stage(pages)["node"]
    numbers = dict(zip(_hosts_of_targets(files[k]), read_stage(tables[k])["node"].tolist(), strict=True))
    others = [numbers[host_of(url)] for url in strings_in(read_stage(files[k]), "outside")]
    node: UInt32s = of_page[np.maximum(row, 0)]
    node[row < 0] = others
    return {"node": node}
