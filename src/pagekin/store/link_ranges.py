"""Links are sorted by the executors of Spark: those of a range of pages travel to the ranges of their nodes."""

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.kernels.graph import in_links
from pagekin.kernels.spans import copy_spans
from pagekin.model.arrays import Array, Int64s, UInt32s, distinct, offsets_of
from pagekin.model.capture import ReadingSettings
from pagekin.model.reading import Links
from pagekin.store.pieces import cut_at, place_pieces
from pagekin.store.stage_files import StageFile, finished_or, read_stage, write_stage
from pagekin.store.write import Nodes, refused_links

_MOST_NODES = 200_000  # of a range

_Links = tuple[int, Array, Links]  # the first page of a range, nodes, and the links to each of them


class PageRanges(NamedTuple):
    """The columns of ranges of pages, the first page of each, and the number of pages."""

    files: list[StageFile]
    firsts: Int64s


def write_links(
    pool: SparkPool,
    spool: Path,
    folder: Path,
    pages: PageRanges,
    nodes: Nodes,
    first: Int64s,
    settings: ReadingSettings,
) -> None:
    """Write the columns `links`, in shards with these first pages."""
    starts = np.searchsorted(nodes.offsets[:-1], first[:-1])
    starts, count = np.append(starts, len(nodes.urls)), len(nodes.urls)
    firsts = cut_at(starts, _MOST_NODES)
    tables = write_stage(spool, "nodes", {"of_page": nodes.of_pages(), "of_target": nodes.of_target})
    cut = partial(_cut, pages, tables, settings, firsts)
    jobs, join = range(len(pages.files)), partial(_join, spool.absolute(), firsts)
    depends_on = [file.digest for file in (tables, *pages.files)], firsts.tolist(), settings
    found = finished_or(spool, "links", depends_on, lambda: dict(pool.shuffle(cut, jobs, join)))
    files = [found.get(number) or _join(spool, firsts, number, ())[1] for number in range(len(firsts) - 1)]
    place_pieces(pool.run, folder, files, np.searchsorted(firsts, starts[:-1]).tolist())


def _cut(
    pages: PageRanges, tables: StageFile, settings: ReadingSettings, firsts: Int64s, number: int
) -> Iterator[tuple[int, _Links]]:
    """The links of a range of pages, by the range of nodes that they reach.

    The nodes that the range has to do with are numbered anew, so that the work does not grow with the number of nodes.
    """
    columns, first = read_stage(pages.files[number]), int(pages.firsts[number])
    offsets, target, flags = (columns[f"anchors.{name}"] for name in ("offsets", "target", "flags"))
    of_page, of_target = _nodes(tables)
    targets = distinct(target[target < len(of_target)])  # the others are no pages
    own = of_page[first : int(pages.firsts[number + 1])]
    nodes = distinct(np.concatenate([of_target[targets], own]))
    of_targets, of_pages = (np.searchsorted(nodes, each).astype(np.uint32) for each in (of_target[targets], own))
    renumbered = np.searchsorted(targets, target).astype(np.uint32)
    refused, refusing = refused_links(settings, columns["pages.flags"])
    links = Links(*in_links(offsets, renumbered, flags, of_targets, of_pages, len(nodes), refused, refusing))
    bounds = np.searchsorted(nodes, firsts)
    for k in distinct(np.searchsorted(bounds, np.flatnonzero(links.lengths()), side="right") - 1).tolist():
        begin, end = bounds[k], bounds[k + 1]
        some = slice(links.offsets[begin], links.offsets[end])
        own_offsets = links.offsets[begin : end + 1] - links.offsets[begin]
        yield k, (first, nodes[begin:end], Links(own_offsets, links.page[some] + np.uint32(first), links.anchor[some]))


@lru_cache(1)  # one for all jobs of a process
def _nodes(tables: StageFile) -> tuple[UInt32s, UInt32s]:
    """The node of each page, and of each target."""
    arrays = read_stage(tables)
    return arrays["of_page"], arrays["of_target"]


def _join(spool: Path, firsts: Int64s, number: int, parts: Iterable[_Links]) -> tuple[int, StageFile]:
    """The links to a range of nodes, by page."""
    begin, end = firsts[number : number + 2].tolist()
    ordered = sorted(parts, key=itemgetter(0))
    lengths = np.zeros(end - begin, np.int64)
    for _, nodes, links in ordered:
        lengths[nodes - begin] += links.lengths()
    offsets = offsets_of(lengths)
    page, anchor = np.empty(offsets[-1], np.uint32), np.empty(offsets[-1], np.uint32)
    places = offsets[:-1].copy()
    for _, nodes, links in ordered:
        here = places[nodes - begin]
        copy_spans(links.page, links.offsets[:-1], links.lengths(), page, here)
        copy_spans(links.anchor, links.offsets[:-1], links.lengths(), anchor, here)
        places[nodes - begin] += links.lengths()
    columns = {"links.offsets": offsets, "links.page": page, "links.anchor": anchor}
    return number, write_stage(spool, f"links-{number}", columns)
