"""A store is written by the executors of Spark: pages, words and links travel from the batches to ranges of the store.

Several batches are a group. Each stage leaves its arrays in files, which the next stage reads: the strings of each
group, the ranges of all strings, the tables that renumber the strings of a group, the rows of each range of pages, and
the links of each range of nodes. The driver has the selection, the vocabulary and the catalogue.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.kernels.graph import degrees
from pagekin.model.arrays import Array, Int64s, Strings, UInt32s, distinct, offsets_of
from pagekin.model.capture import MiB, ReadingSettings
from pagekin.model.reading import CheckedReading, Links, Pages
from pagekin.store.collect import Readings, digest_of, load_batch
from pagekin.store.columns import open_array, open_part, reading_of, write_columns
from pagekin.store.link_ranges import PageRanges, write_links
from pagekin.store.merge import Selection, merge_strings
from pagekin.store.pieces import create_shards, cut_at, place_pieces
from pagekin.store.select import ReadPages, SelectedPages
from pagekin.store.stage_files import StageFile, finished_or, read_stage, run_stage, write_stage
from pagekin.store.string_ranges import columns_of_table, ranked_forms, tables_of_groups, united_strings
from pagekin.store.write import (
    COUNTED,
    STRING_USES,
    SourceKey,
    WrittenColumns,
    finish_store,
    host_nodes,
    merged_rows,
    page_nodes,
    source_numbers,
    sources_of,
    write_vocabulary,
)

_GROUP_BYTES = 64 * MiB  # of batches
_RANGE_BYTES = 32 * MiB  # of a range of pages, on average

_Rows = tuple[Int64s, dict[str, Array]]  # the places of some pages in the store, and their columns


class Group(NamedTuple):
    """Some batches, and what becomes of their pages.

    The file has `place`, the page of the store that each row of the batches becomes, or -1, and `source`, the number in
    the store of each file that the batches name.
    """

    batches: list[Path]
    digests: list[str]  # of the batches
    file: StageFile

    def open(self) -> tuple[Selection, Int64s, dict[SourceKey, int]]:
        """The selected rows, their places in the store, and the numbers of the sources."""
        facts = read_stage(self.file)
        readings = [load_batch(path) for path in self.batches]
        rows = offsets_of(np.array([len(reading) for reading in readings], np.int64))
        chosen = np.flatnonzero(facts["place"] >= 0)
        number = np.searchsorted(rows, chosen, side="right") - 1
        identities = chain.from_iterable(reading.sources.identities() for reading in readings)
        sources = dict(zip(identities, facts["source"].tolist(), strict=True))
        return Selection(readings, number, chosen - rows[number]), facts["place"][chosen], sources


def write_store_on_executors(
    pool: SparkPool,
    spool: Path,
    folder: Path,
    read_pages: ReadPages,
    selected: SelectedPages,
    settings: ReadingSettings,
    first: Int64s,
    progress: Callable[[str], None],
) -> tuple[dict[str, int], dict[str, int]]:
    """What `write_store` writes, in shards with these first pages; `spool` is for files that are removed later."""
    selection = Selection(read_pages.readings, *selected.places())
    sources = sources_of(read_pages, selection, selected)
    create_shards(folder, first)
    progress("uniting vocabularies")
    groups = _groups(spool, read_pages, selection, sources.numbers())
    depends_on = [(group.digests, group.file.digest) for group in groups]
    uses = run_stage(pool, spool, "uses", partial(_uses, groups), range(len(groups)), depends_on)
    ranges = united_strings(pool, spool, uses)
    forms, counts, ranks = ranked_forms(ranges)
    write_vocabulary(folder, forms, counts)
    tables = tables_of_groups(pool, spool, ranges, ranks)
    del forms, counts, ranks
    progress("writing pages")
    write_columns(folder, {"sources": sources})
    if ranges.files["targets"]:
        names = {name: f"targets.{name}" for name in ("offsets", "data")}
        place_pieces(pool.run, folder, ranges.files["targets"], names=names)
    else:
        write_columns(folder, {"targets": Strings.of(())})
    size = sum(path.stat().st_size for group in groups for path in group.batches)
    firsts = cut_at(first, max(1, len(selection) * _RANGE_BYTES // max(1, size)))
    rows = _pages_by_range(pool, spool, groups, uses, tables, firsts)
    place_pieces(pool.run, folder, rows, np.searchsorted(firsts, first[:-1]).tolist())
    progress("sorting links")
    pages = open_part(folder, "pages", Pages)
    nodes = (host_nodes if settings.chop_host else page_nodes)(
        selected, pages.url, open_part(folder, "targets", Strings)
    )
    write_columns(folder, {"nodes.offsets": nodes.offsets, "targets.node": nodes.of_target})
    write_links(pool, spool, folder, PageRanges(rows, firsts), nodes, first, settings)
    links = open_part(folder, "links", Links)
    of_nodes = degrees(links.offsets, links.page, nodes.of_pages())
    progress("writing texts and the catalogue")
    counted = {name: np.diff(open_array(folder, f"{name}.offsets", np.int64, below=None)) for name in COUNTED}
    return finish_store(folder, read_pages, selected, WrittenColumns(pages, sources, nodes, of_nodes, counted), map)


def _groups(spool: Path, read_pages: ReadPages, selection: Selection, sources: dict[SourceKey, int]) -> list[Group]:
    """Consecutive batches in groups of bounded size, with a file of what becomes of their pages."""
    assert isinstance(read_pages.readings, Readings)
    numbers_of_groups: list[list[int]] = []
    size = _GROUP_BYTES
    for number, path in enumerate(read_pages.readings.paths):
        if size >= _GROUP_BYTES:
            numbers_of_groups.append([])
            size = 0
        numbers_of_groups[-1].append(number)
        size += path.stat().st_size
    groups = []
    for numbers in numbers_of_groups:
        paths = [read_pages.readings.paths[number] for number in numbers]
        columns = [_fate(read_pages, selection, number, sources) for number in numbers]
        place, source = map(np.concatenate, zip(*columns, strict=True))
        file = write_stage(spool, "group", {"place": place, "source": source})
        groups.append(Group([path.absolute() for path in paths], list(map(digest_of, paths)), file))
    return groups


def _fate(
    read_pages: ReadPages, selection: Selection, number: int, sources: dict[SourceKey, int]
) -> tuple[Int64s, UInt32s]:
    """The page of the store that each row of a reading becomes, and the numbers of its sources."""
    reading = read_pages.readings[number]
    place = np.full(len(reading), -1)
    places = selection.places_of(number)
    place[selection.row[places]] = places
    # A file without a page in the store may have no number; then none is looked up.
    return place, np.array([sources.get(key, 0) for key in reading.sources.identities()], np.uint32)


def _uses(groups: Sequence[Group], number: int) -> dict[str, Array]:
    """The distinct strings of a group with their counts, and the number of each string of its readings among them."""
    selection, *_ = groups[number].open()
    columns: dict[str, Array] = {}
    for name, uses in STRING_USES.items():
        table = merge_strings(selection, name, uses)
        columns |= columns_of_table(table, name)
        columns[f"{name}.numbers"] = np.concatenate(table.tables)
        columns[f"{name}.begins"] = offsets_of(np.array(list(map(len, table.tables)), np.int64))
    return columns


def _pages_by_range(
    pool: SparkPool,
    spool: Path,
    groups: Sequence[Group],
    uses: Sequence[StageFile],
    tables: dict[int, StageFile],
    firsts: Int64s,
) -> list[StageFile]:
    """The columns of each range of pages."""
    depends_on = ([group.file.digest for group in groups], [file.digest for file in tables.values()], firsts.tolist())
    cut, join = partial(_cut_pages, groups, uses, tables, firsts), partial(_join_pages, spool.absolute())
    found = finished_or(spool, "pages", depends_on, lambda: dict(pool.shuffle(cut, range(len(groups)), join)))
    return [found[number] for number in range(len(firsts) - 1)]


def _cut_pages(
    groups: Sequence[Group], uses: Sequence[StageFile], tables: dict[int, StageFile], firsts: Int64s, group: int
) -> Iterator[tuple[int, _Rows]]:
    """The pages of a group by range, with the numbers of the store for strings and sources."""
    selection, places, sources = groups[group].open()
    own = read_stage(uses[group])
    final = read_stage(tables[group]) if group in tables else {}
    renumbered = {}
    for name, column in (("forms", "form"), ("targets", "target")):
        numbers = own[f"{name}.numbers"]
        numbers = final[name][numbers] if len(final.get(name, ())) else numbers
        renumbered[column] = np.split(numbers, own[f"{name}.begins"][1:-1])
    ranges = np.searchsorted(firsts, places, side="right") - 1
    for number in distinct(ranges).tolist():
        rows = np.flatnonzero(ranges == number)
        some = Selection(selection.readings, selection.reading[rows], selection.row[rows])
        yield number, (places[rows], merged_rows(some, partial(source_numbers, sources), renumbered))


def _join_pages(spool: Path, number: int, parts: Iterable[_Rows]) -> tuple[int, StageFile]:
    """The pages of a range in their order."""
    places, columns = zip(*parts, strict=True)
    readings = [reading_of(partial(_column, each)) for each in columns]
    reading = np.repeat(np.arange(len(readings)), list(map(len, readings)))
    row = np.concatenate([np.arange(len(each)) for each in readings])
    order = np.argsort(np.concatenate(places))
    selection = Selection([CheckedReading(each) for each in readings], reading[order], row[order])
    merged = merged_rows(selection, attrgetter("pages.source"), {})
    return number, write_stage(spool, f"pages-{number}", merged)


def _column(columns: dict[str, Array], name: str, kind: Any, dimensions: int) -> Array:
    """A column of some pages; those of vocabularies and sources are empty."""
    return columns[name] if name in columns else np.zeros(int(name.endswith(".offsets")), kind)
