"""Shards: contiguous ranges of pages, whose columns lie in folders of their own.

A build writes whole columns; on Spark, it writes most of those of a store in shards (`pieces`). At the end it divides
the columns that grow with the number of pages: a column with a row for each page at the first pages of the shards, one
with a row for each node at the nodes of these pages, and a column of ragged rows where the rows of these pages begin.
The nodes without pages belong to the last shard. Columns in another order are divided into equal parts.
`columns.open_array` opens the pieces as one array; nothing else depends on shards.
Threads or executors copy the pieces, each to its place, so that a repeated attempt writes the same bytes again.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.errors import MisuseError
from pagekin.model.arrays import Array, Int64s, Strings
from pagekin.model.reading import RAGGED_PARTS, Links, Pages
from pagekin.store.array_files import map_array
from pagekin.store.checks import check_offsets, column_types
from pagekin.store.columns import MOST_SHARDS, SHARDS, Mapper, open_array, shard_name, write_columns
from pagekin.store.pieces import ColumnFiles


class Cut(NamedTuple):
    """Where a column is cut: at its rows of pages or nodes, at offsets that have such rows, or into equal parts."""

    order: str = ""  # "page" or "node"
    offsets: str = ""


BY_PAGE, BY_NODE, EQUALLY = Cut("page"), Cut("node"), Cut()


def ragged(part: str, columns: Iterable[str], order: str) -> dict[str, Cut]:
    """The cuts of a part with ragged rows."""
    offsets = f"{part}.offsets"
    return {offsets: Cut(order)} | {f"{part}.{name}": Cut(order, offsets) for name in columns if name != "offsets"}


def _store_cuts() -> dict[str, Cut]:
    cuts = {"nodes.offsets": BY_NODE, **ragged("links", column_types(Links), "node")}
    for name, kind in column_types(Pages).items():
        cuts |= ragged(f"pages.{name}", ["data"], "page") if kind is Strings else {f"pages.{name}": BY_PAGE}
    for name, part in RAGGED_PARTS.items():
        cuts |= ragged(name, column_types(part), "page")
    return cuts


STORE_CUTS = _store_cuts()


def check_shards(shards: int) -> int:
    """Raise MisuseError unless a store can have so many shards."""
    if not 1 <= shards <= MOST_SHARDS:
        raise MisuseError(f"{shards:,} shards; a store has from 1 to {MOST_SHARDS}")
    return shards


def first_pages(shards: int, pages: int) -> Int64s:
    """The first page of each shard, and the number of pages; raise MisuseError if there are more shards than pages.

    >>> first_pages(3, 10).tolist()
    [0, 3, 6, 10]
    """
    if shards > max(1, pages):
        raise MisuseError(f"{shards:,} shards of {pages:,} pages; ask for at most {max(1, pages):,} with --shards")
    return np.arange(shards + 1, dtype=np.int64) * pages // shards


def open_shards(folder: Path, pages: int) -> Int64s:
    """The first page of each shard of a store or index, and the number of pages."""
    if not (folder / f"{SHARDS}.npy").exists():
        return first_pages(1, pages)
    first = open_array(folder, SHARDS, np.int64, below=None)
    check_offsets(first, pages, folder / f"{SHARDS}.npy")
    return first


def divide(folder: Path, first: Int64s, nodes: Int64s, cuts: Mapping[str, Cut], mapper: Mapper = map) -> None:
    """Replace the columns of a folder that have cuts by pieces in the folders of shards.

    `first` are the first pages of the shards, `nodes` the first page of each node. A single shard stays as it is.
    """
    if len(first) <= 2:
        return
    for number in range(len(first) - 1):
        (folder / shard_name(number)).mkdir(exist_ok=True)
    if not (folder / f"{SHARDS}.npy").exists():
        write_columns(folder, {SHARDS: first})
    starts = {"page": first, "node": np.searchsorted(nodes[:-1], first)}
    names = [name for name in cuts if (folder / f"{name}.npy").exists()]
    columns = [_divided(folder, name, cuts[name], starts, len(first) - 1) for name in names]
    for column in columns:
        column.create(folder)
    pieces = [(column, number) for column in columns for number in range(len(first) - 1)]
    deque(mapper(partial(_copy_piece, folder.absolute()), pieces), maxlen=0)
    for name in names:
        (folder / f"{name}.npy").unlink()


def _divided(folder: Path, name: str, cut: Cut, starts: Mapping[str, Int64s], shards: int) -> ColumnFiles:
    """The files of a column in the shards."""
    whole = _whole(folder, name)
    rows = len(whole)
    if cut.order:
        start = starts[cut.order][:-1]
        if cut.offsets:
            start = _whole(folder, cut.offsets)[start]
        bounds = [*np.minimum(start, rows).tolist(), rows]
    else:
        bounds = [shard * rows // shards for shard in range(shards + 1)]
    return ColumnFiles(name, whole.dtype.str, whole.shape[1:], tuple(bounds))


def _whole(folder: Path, name: str) -> Array:
    path = folder / f"{name}.npy"
    with path.open("rb") as file:
        return map_array(file, path)


def _copy_piece(folder: Path, piece: tuple[ColumnFiles, int]) -> None:
    column, number = piece
    begin, end = column.bounds[number : number + 2]
    column.write(folder, begin, _whole(folder, column.name)[begin:end])
