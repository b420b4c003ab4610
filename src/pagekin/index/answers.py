"""Answers in advance: the nearest pages of every page, kept in the index.

They are those of a request with the default ranking and without filters. Such a request then reads them instead of
searching, if it wants as many pages as are kept, or fewer. With the names of pages, which are kept as JSON, it can be
answered without a thread.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.index.index import value_type
from pagekin.kernels.page_rows import ScoredRows
from pagekin.model.arrays import Array, Bools, Bytes, Floats, Int64s, Strings, UInt32s, Unsigned, offsets_of
from pagekin.store.checks import check
from pagekin.store.columns import flat_columns, open_array, open_part
from pagekin.store.pieces import ColumnFiles, append_pieces

ANSWERS = "answers-"  # the names of all files begin with this
_NAMES = 1 << 14  # of pages that are written at a time
_PLACES = 1_000_000_000  # similarities have nine places


@dataclass(frozen=True)
class KeptAnswers:
    """A row for each page: its nearest pages, the nearest first, filled up with the page itself."""

    node: Unsigned
    similarity: UInt32s  # in units of 10 ** -9
    separate: Bytes  # per page: 1 if no two pages of its row, nor one of them and the page, are near-duplicates
    names: Strings  # URL and title of each page, as two lines of JSON

    @property
    def limit(self) -> int:
        """The number of pages in a row."""
        return int(self.node.shape[1])

    def has(self, node: int, limit: int) -> bool:
        """Whether this number of nearest pages of a node is kept."""
        return limit <= self.limit and node < len(self.node)

    def nearest(self, node: int, limit: int, min_similarity: float) -> list[tuple[float, int]]:
        """The similarities and the nearest pages of a page.

        >>> near, similarity = np.array([[1, 0], [0, 1]], np.uint16), np.array([[500_000_000, 0]] * 2, np.uint32)
        >>> KeptAnswers(near, similarity, np.ones(2, np.uint8), Strings.of([])).nearest(1, 2, 0.05)
        [(0.5, 0)]
        """
        near = self.node[node, :limit].tolist()
        similar = (self.similarity[node, :limit] / _PLACES).tolist()
        both = zip(similar, near, strict=True)
        return [(each, other) for each, other in both if other != node and each >= min_similarity]

    def nearest_of_pages(self, nodes: Int64s, limit: int) -> ScoredRows:
        """The nearest pages of some pages, as rows."""
        near = self.node[nodes, :limit].astype(np.int64)
        others = near != nodes[:, np.newaxis]
        similarity = self.similarity[nodes, :limit][others] / _PLACES
        return ScoredRows(offsets_of(others.sum(axis=1)), near[others], similarity)

    def names_of(self, nodes: Sequence[int]) -> list[str]:
        """The names of pages."""
        return self.names.take(nodes)


def answer_columns(pages: int, limit: int) -> list[ColumnFiles]:
    """The columns of a row for every page."""
    kinds: dict[str, tuple[Any, tuple[int, ...]]] = {
        "node": (value_type(pages), (limit,)),
        "similarity": (np.uint32, (limit,)),
        "separate": (np.uint8, ()),
    }
    name = answers_name(limit)
    return [ColumnFiles(f"{name}.{part}", np.dtype(kind).str, row, (0, pages)) for part, (kind, row) in kinds.items()]


def answer_rows(pages: int, near: Int64s, similarity: Floats, separate: Bools) -> dict[str, Array]:
    """The rows of some of all `pages`: their nearest pages, the similarities, and whether they are separate."""
    rows: tuple[Array, ...] = (
        near.astype(value_type(pages)),
        np.rint(similarity * _PLACES).astype(np.uint32),
        separate.astype(np.uint8),
    )
    return {column.name: each for column, each in zip(answer_columns(pages, near.shape[1]), rows, strict=True)}


def write_names(folder: Path, limit: int, names: Iterable[tuple[str, str]]) -> None:
    """Write the URL and the title of every page."""
    lines = (f"{json.dumps(url)}\n{json.dumps(title)}" for url, title in names)
    parts = map(Strings.of, iter(lambda: list(islice(lines, _NAMES)), []))
    append_pieces(folder, (dict(flat_columns(f"{answers_name(limit)}.names", part)) for part in parts))


def answers_name(limit: int) -> str:
    """What the names of the files begin with. Answers of another number of pages are in other files."""
    return f"{ANSWERS}{limit}"


def is_answers(file: str) -> bool:
    """Whether a file of an index, or of a shard of it, holds answers.

    >>> is_answers("answers-10.node.npy"), is_answers("shard-0003/answers-10.node.npy"), is_answers("bags.term.npy")
    (True, True, False)
    """
    return file.rpartition("/")[2].startswith(ANSWERS)


def open_answers(folder: Path, pages: int, limit: int) -> KeptAnswers:
    """Open answers, memory-mapped."""
    name = answers_name(limit)
    node = open_array(folder, f"{name}.node", (np.uint16, np.uint32), 2, below=pages)
    similarity = open_array(folder, f"{name}.similarity", np.uint32, 2, below=_PLACES + 1)
    for array, part in ((node, "node"), (similarity, "similarity")):
        check(array.shape == (pages, limit), folder / f"{name}.{part}.npy", f"it has the shape {array.shape}")
    separate = open_array(folder, f"{name}.separate", np.uint8, below=2)
    check(len(separate) == pages, folder / f"{name}.separate.npy", f"it has {len(separate):,} pages")
    names = open_part(folder, f"{name}.names", Strings)
    check(len(names) == pages, folder / f"{name}.names.offsets.npy", f"it has {len(names):,} pages")
    return KeptAnswers(node, similarity, separate, names)
