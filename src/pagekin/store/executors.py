"""A store is written by the executors of Spark: pages, words and links travel from the batches to ranges of the store.

Several batches are a group. Each stage leaves its arrays in files, which the next stage reads: the strings of each
group, the ranges of all strings, the tables that renumber the strings of a group, the rows of each range of pages, and
the links of each range of nodes. The driver has the aliases, and writes the catalogue.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.model.arrays import Array, Int64s, Strings, distinct, offsets_of
from pagekin.model.capture import MiB, ReadingSettings
from pagekin.model.reading import CheckedReading, Pages, Sources
from pagekin.store.choose import ChosenPages, Group, places_of_groups
from pagekin.store.columns import flat_columns, open_array, open_part, reading_of, write_columns
from pagekin.store.link_ranges import PageRanges, degrees_of_nodes, sorted_links
from pagekin.store.merge import Selection, merge_strings, objects_of
from pagekin.store.node_ranges import FoundNodes, find_nodes
from pagekin.store.pieces import ColumnPieces, create_shards, cut_at, place_pieces
from pagekin.store.select import ReadPages
from pagekin.store.stage_files import StageFile, finished_or, read_stage, run_stage, strings_in, write_stage
from pagekin.store.string_ranges import columns_of_table, first_ranks, tables_of_groups, united_strings
from pagekin.store.vocabulary_ranges import write_vocabulary_on_executors
from pagekin.store.write import (
    COUNTED,
    STRING_USES,
    ChosenFacts,
    SourceKey,
    WrittenColumns,
    captures_by_source,
    finish_store,
    merged_rows,
    source_numbers,
    sources_of,
)

_RANGE_BYTES = 32 * MiB  # of a range of pages, on average

_Rows = tuple[Int64s, dict[str, Array]]  # the places of some pages in the store, and their columns


class _Inputs(NamedTuple):
    """Batches, where their pages are in the store, and the files that were read."""

    groups: list[Group]
    places: dict[int, StageFile]  # by group
    sources: StageFile

    def open(self, number: int) -> tuple[Selection, Int64s]:
        """The rows of a group that are pages of the store, and their places."""
        group = self.groups[number]
        if number not in self.places:
            none = np.empty(0, np.int64)
            return Selection(group.readings(), none, none), none
        columns = read_stage(self.places[number])
        return Selection(group.readings(), columns["reading"], columns["row"]), columns["place"]


def write_store_on_executors(
    pool: SparkPool,
    spool: Path,
    folder: Path,
    read_pages: ReadPages,
    chosen: ChosenPages,
    settings: ReadingSettings,
    first: Int64s,
    progress: Callable[[str], None],
) -> tuple[dict[str, int], dict[str, int]]:
    """What `write_store` writes, in shards with these first pages; `spool` is for files that are removed later."""
    create_shards(folder, first)
    progress("uniting vocabularies")
    places = places_of_groups(pool, spool, chosen)
    kept = Counter[SourceKey]()
    for counts_of_group in pool.run(partial(_kept, chosen.groups), sorted(places.items())):
        kept.update(counts_of_group)
    sources = sources_of(read_pages, chosen.read, kept, chosen.kept_older)
    write_columns(folder, {"sources": sources})
    inputs = _Inputs(chosen.groups, places, _written_sources(spool, sources))
    depends_on = [group.digests for group in chosen.groups], [file.digest for file in places.values()]
    jobs = range(len(chosen.groups))
    uses = run_stage(pool, spool, "uses", partial(_uses, inputs), jobs, depends_on)
    strings = united_strings(pool, spool, uses, STRING_USES, "strings")
    ranks = first_ranks(pool, strings.files["forms"])
    write_vocabulary_on_executors(pool, spool, folder, strings.files["forms"], ranks)
    tables = tables_of_groups(pool, spool, strings, {"forms": ranks}, "tables")
    progress("writing pages")
    size = sum(path.stat().st_size for group in chosen.groups for path in group.batches)
    firsts = cut_at(first, max(1, len(chosen) * _RANGE_BYTES // max(1, size)))
    rows = _pages_by_range(pool, spool, inputs, uses, tables, firsts)
    progress("sorting links")
    row_of = chosen.rows_of(pool, {page for page, _ in chosen.aliases.values()})
    aliases = [(url, row_of[page], kind) for url, (page, kind) in chosen.aliases.items()]
    nodes = find_nodes(pool, spool, chosen, aliases, strings, settings.chop_host)
    _write_targets(pool, folder, strings.files["targets"], nodes)
    write_columns(folder, {"nodes.offsets": nodes.offsets})
    links_to_nodes = sorted_links(pool, spool, folder, PageRanges(rows, firsts), nodes, first, settings)
    place_pieces(pool.run, folder, ColumnPieces(rows, np.searchsorted(firsts, first[:-1]).tolist()), links_to_nodes)
    degrees = degrees_of_nodes(pool, spool, links_to_nodes.files, nodes)
    progress("writing texts and the catalogue")
    pages = open_part(folder, "pages", Pages)
    counted = {name: open_array(folder, f"{name}.offsets", np.int64, below=None) for name in COUNTED}
    written = WrittenColumns(pages, sources, nodes.urls(pages.url), nodes.offsets, _degrees_in(degrees), counted)
    facts = ChosenFacts(len(aliases), aliases, chosen.skips, chosen.older())
    return finish_store(folder, read_pages, facts, written, map)


def _degrees_in(files: Iterable[StageFile]) -> Iterator[tuple[int, int]]:
    """The degrees of all nodes; one file at a time is in memory."""
    for columns in map(read_stage, files):
        yield from zip(objects_of(columns["in"]), objects_of(columns["out"]), strict=True)


def _written_sources(spool: Path, sources: Sources) -> StageFile:
    """A file of the identities of sources, and their order."""
    identities = sources.identities()
    order = np.array(sorted(range(len(sources)), key=identities.__getitem__), np.int64)
    columns: dict[str, Array] = {"size": sources.size, "modified": sources.modified, "order": order}
    return write_stage(spool, "sources", columns | dict(flat_columns("name", sources.name)))


def _kept(groups: Sequence[Group], job: tuple[int, StageFile]) -> Counter[SourceKey]:
    """The number of pages of the store that a group has from each file."""
    number, file = job
    columns = read_stage(file)
    rows = (columns["row"][columns["reading"] == k] for k in range(len(groups[number].batches)))
    return captures_by_source(zip(groups[number].readings(), rows, strict=True))


def _write_targets(pool: SparkPool, folder: Path, files: Sequence[StageFile], nodes: FoundNodes) -> None:
    if not files:
        write_columns(folder, {"targets": Strings.of(()), "targets.node": np.empty(0, np.uint32)})
        return
    strings = ColumnPieces(files, names={f"strings.{name}": f"targets.{name}" for name in ("offsets", "data")})
    place_pieces(pool.run, folder, strings, ColumnPieces(nodes.of_target, names={"node": "targets.node"}))


def _uses(inputs: _Inputs, number: int) -> dict[str, Array]:
    """The distinct strings of a group with their counts, and the number of each string of its readings among them."""
    selection, _ = inputs.open(number)
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
    inputs: _Inputs,
    uses: Sequence[StageFile],
    tables: dict[int, StageFile],
    firsts: Int64s,
) -> list[StageFile]:
    """The columns of each range of pages."""
    files = (inputs.sources, *inputs.places.values(), *tables.values())
    depends_on = [file.digest for file in files], firsts.tolist()
    cut, join = partial(_cut_pages, inputs, uses, tables, firsts), partial(_join_pages, spool.absolute())
    jobs = sorted(inputs.places)
    found = finished_or(spool, "pages", depends_on, lambda: dict(pool.shuffle(cut, jobs, join)))
    return [found[number] for number in range(len(firsts) - 1)]


def _cut_pages(
    inputs: _Inputs, uses: Sequence[StageFile], tables: dict[int, StageFile], firsts: Int64s, group: int
) -> Iterator[tuple[int, _Rows]]:
    """The pages of a group by range, with the numbers of the store for strings and sources."""
    selection, places = inputs.open(group)
    sources = _numbers_of_sources(inputs.sources, selection.readings)
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


def _numbers_of_sources(file: StageFile, readings: Sequence[CheckedReading]) -> dict[SourceKey, int]:
    """The numbers of the files that some readings name, without a table of all files in memory."""
    columns = read_stage(file)
    names, order = strings_in(columns, "name"), columns["order"]

    def identity(k: int) -> SourceKey:
        return names[k], int(columns["size"][k]), int(columns["modified"][k])

    wanted = {each for reading in readings for each in reading.sources.identities()}
    return {each: int(order[bisect_right(order, each, key=identity) - 1]) for each in wanted}


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
