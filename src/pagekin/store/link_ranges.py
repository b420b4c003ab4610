"""Links are sorted by the executors of Spark: those of a range of pages travel to the ranges of their nodes."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.kernels.graph import degrees, in_links
from pagekin.kernels.spans import copy_spans
from pagekin.model.arrays import Array, Int64s, distinct, offsets_of
from pagekin.model.capture import ReadingSettings
from pagekin.model.reading import Links
from pagekin.store.columns import open_array
from pagekin.store.node_ranges import FoundNodes
from pagekin.store.pieces import ColumnPieces, cut_at
from pagekin.store.stage_files import StageFile, finished_or, read_stage, shapes_of, write_stage
from pagekin.store.write import refused_links

_MOST_NODES = 200_000  # of a range

_Links = tuple[int, Array, Links]  # the first page of a range, nodes, and the links to each of them
_Degrees = tuple[str, Array, Int64s]  # whether they are in-degrees or out-degrees, nodes, and what is added to each


class PageRanges(NamedTuple):
    """The columns of ranges of pages, the first page of each, and the number of pages."""

    files: list[StageFile]
    firsts: Int64s


def sorted_links(
    pool: SparkPool,
    spool: Path,
    folder: Path,
    pages: PageRanges,
    nodes: FoundNodes,
    first: Int64s,
    settings: ReadingSettings,
) -> ColumnPieces:
    """The columns `links`, for shards with these first pages."""
    starts = np.append(np.searchsorted(nodes.offsets[:-1], first[:-1]), nodes.total)
    firsts = cut_at(starts, _MOST_NODES)
    cut = partial(_cut, pages, folder.absolute(), nodes.of_page, settings, firsts)
    jobs, join = range(len(pages.files)), partial(_join, spool.absolute(), firsts)
    digests = [file.digest for file in (*nodes.of_target, *pages.files, *nodes.files_of_pages())]
    links = partial(pool.shuffle, cut, jobs, join)
    found = finished_or(spool, "links", (digests, firsts.tolist(), settings), lambda: dict(links()))
    files = [found.get(number) or _join(spool, firsts, number, ())[1] for number in range(len(firsts) - 1)]
    return ColumnPieces(files, np.searchsorted(firsts, starts[:-1]).tolist())


def _cut(
    pages: PageRanges,
    folder: Path,
    of_page: StageFile | None,
    settings: ReadingSettings,
    firsts: Int64s,
    number: int,
) -> Iterator[tuple[int, _Links]]:
    """The links of a range of pages, by the range of nodes that they reach.

    The nodes that the range has to do with are numbered anew, so that the work does not grow with the number of nodes.
    """
    columns, first = read_stage(pages.files[number]), int(pages.firsts[number])
    offsets, target, flags = (columns[f"anchors.{name}"] for name in ("offsets", "target", "flags"))
    of_target = open_array(folder, "targets.node", np.uint32, below=None)
    targets = distinct(target[target < len(of_target)])  # the others are no pages
    own = np.arange(first, int(pages.firsts[number + 1]), dtype=np.uint32)  # each page is a node, or its host is
    own = own if of_page is None else read_stage(of_page)["node"][own]
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


def degrees_of_nodes(pool: SparkPool, spool: Path, links: Sequence[StageFile], nodes: FoundNodes) -> list[StageFile]:
    """What `degrees` gives, for each range of nodes (`in`, `out`)."""
    firsts = offsets_of(np.array([shapes_of(file)["links.offsets"][1][0] - 1 for file in links], np.int64))
    cut, join = partial(_cut_degrees, links, nodes.of_page, firsts), partial(_join_degrees, spool.absolute(), firsts)
    digests = [file.digest for file in (*links, *nodes.files_of_pages())]
    found = finished_or(spool, "degrees", digests, lambda: dict(pool.shuffle(cut, range(len(links)), join)))
    return [found[number] for number in range(len(links))]


def _cut_degrees(
    links: Sequence[StageFile], of_page: StageFile | None, firsts: Int64s, number: int
) -> Iterator[tuple[int, _Degrees]]:
    """The in-degrees of a range of nodes, and what the links to them add to out-degrees, by range."""
    columns = read_stage(links[number])
    offsets, source = columns["links.offsets"], columns["links.page"]
    source = source if of_page is None else read_stage(of_page)["node"][source]
    sources = distinct(source)
    renumbered = np.searchsorted(sources, source).astype(np.uint32)
    more = np.full(max(0, len(sources) - len(offsets) + 1), offsets[-1])  # nodes, so that all sources have numbers
    every = np.concatenate([offsets, more])
    incoming, outgoing = degrees(every, renumbered, np.arange(len(sources), dtype=np.uint32))
    yield number, ("in", np.arange(*firsts[number : number + 2]), incoming[: len(offsets) - 1])
    for k, (begin, end) in enumerate(pairwise(np.searchsorted(sources, firsts).tolist())):
        if begin < end:
            yield k, ("out", sources[begin:end], outgoing[begin:end])


def _join_degrees(spool: Path, firsts: Int64s, number: int, parts: Iterable[_Degrees]) -> tuple[int, StageFile]:
    begin, end = firsts[number : number + 2].tolist()
    totals = {name: np.zeros(end - begin, np.int64) for name in ("in", "out")}
    for name, nodes, counts in parts:
        totals[name][nodes - begin] += counts
    return number, write_stage(spool, f"degrees-{number}", totals)
