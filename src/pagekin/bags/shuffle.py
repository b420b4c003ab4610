"""Bags are folded by the executors of Spark: fragments travel to the range of their nodes, and are added there.

Links are in the order of the nodes that they reach. Before, they travel to the batches of the pages that they are on.

The driver writes what the fold needs besides the store into a folder that all executors see. Each range of bags becomes
a file in that folder. The driver does not read these files: their checksums come back, and are verified by the jobs
that read the bags. The frequencies of terms travel to ranges of terms.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pagekin.bags.build import Folding
from pagekin.bags.fragments import Fragments, OwnLinks, add_fragments, cut_fragments, cut_links, join_links
from pagekin.bags.weigh import SpilledPiece
from pagekin.engines.spark import SparkPool
from pagekin.kernels.fold_bags import Citations, FoldPlan
from pagekin.kernels.windows import Texts
from pagekin.model.arrays import Array, Int64s
from pagekin.store.stage_columns import Sums, gathered, ranges_of
from pagekin.store.stage_files import StageFile, Stages, finished_or, read_stage, share, shared_value, write_stage
from pagekin.store.store import Store

_MOST_NODES = 20_000  # of a batch, and of a range of bags
_FEWEST_JOBS = 8
_LINKS = 1 << 22  # of a job that sends them to the batches of their pages
_OWN_TEXTS = ("terms", "language", "block_excluded")  # not in the store
_OWN_CITATIONS = ("link_counts", "node_of_page")


class StoredFolding(NamedTuple):
    """A `Folding` without the columns that executors find in the store, whose manifest is not written yet."""

    store: Store
    plan: FoldPlan
    words: int
    nodes: int
    texts: dict[str, Any]
    citations: dict[str, Any]


class StoredPiece(NamedTuple):
    """The bags of a range of nodes in a file; None if they are empty."""

    nodes: range
    file: StageFile | None

    def load(self) -> SpilledPiece:
        if self.file is not None:
            return SpilledPiece(**read_stage(self.file))
        none, sums = np.empty(0, np.uint32), np.empty(0, np.float32)
        return SpilledPiece(np.zeros(len(self.nodes), np.int64), none, none, sums, sums)


class StoredPieces:
    """The bags of all nodes, which stay in the files that executors have written."""

    def __init__(self, stages: Stages, pieces: Sequence[StoredPiece]) -> None:
        self._stages, self._pieces = stages, pieces

    def pieces(self) -> Iterator[tuple[slice, StoredPiece]]:
        for piece in self._pieces:
            yield slice(piece.nodes.start, piece.nodes.stop), piece

    def frequencies(self, words: int, terms: int) -> tuple[Int64s, Int64s]:
        sums = {"pages": Sums(words, "word", np.int64), "bags": Sums(terms, "term", np.int64)}
        counts = gathered(self._stages, "frequencies", _frequencies, None, self._pieces, sums)
        return counts["pages"], counts["bags"]


def _frequencies(_: None, stored: StoredPiece) -> dict[str, Array]:
    """The distinct terms of a piece with the number of bags with each; the same of its words, and of pages."""
    piece = stored.load()
    term, bags = np.unique(piece.term, return_counts=True)
    word, pages = np.unique(piece.term[piece.count > 0], return_counts=True)
    return {"term": term.astype(np.int64), "bags": bags, "word": word.astype(np.int64), "pages": pages}


def folded_on_executors(stages: Stages, store: Store, folding: Folding) -> StoredPieces:
    """The bags of all nodes, range by range."""
    pool, folder = stages.pool, stages.folder
    assert isinstance(pool, SparkPool)
    texts = {name: getattr(folding.texts, name) for name in _OWN_TEXTS}
    citations = {name: getattr(folding.citations, name) for name in _OWN_CITATIONS}
    shared = share(
        folder, "folding", StoredFolding(store, folding.plan, folding.words, folding.nodes, texts, citations)
    )
    batches, ranges = _ranges(len(folding.citations.node_pages) - 1), _ranges(folding.nodes)
    step = len(ranges[0]) if ranges else 1
    some = ranges_of(len(folding.citations.link_page), _LINKS)
    group = partial(pool.shuffle, partial(_cut_links, shared, batches), some, partial(_join_links, folder.absolute()))

    def fold() -> dict[int, StageFile]:
        links = finished_or(folder, "citations", shared.digest, lambda: dict(group()))
        jobs = [(batch, links.get(number)) for number, batch in enumerate(batches)]
        return dict(pool.shuffle(partial(_cut, shared, step), jobs, partial(_add, shared, ranges)))

    found = finished_or(folder, "bags", shared.digest, fold)
    return StoredPieces(stages, [StoredPiece(nodes, found.get(number)) for number, nodes in enumerate(ranges)])


def _ranges(count: int) -> list[range]:
    step = max(1, min(_MOST_NODES, -(-count // _FEWEST_JOBS)))
    return [range(first, min(first + step, count)) for first in range(0, count, step)]


def _cut_links(shared: StageFile, batches: list[range], some: range) -> list[tuple[int, OwnLinks]]:
    return list(cut_links(_folding(shared_value(shared)), batches, some))


def _join_links(folder: Path, number: int, parts: Iterable[OwnLinks]) -> tuple[int, StageFile]:
    """Write the links from the pages of a batch."""
    return number, write_stage(folder, f"citations-{number}", join_links(list(parts))._asdict())


def _cut(shared: StageFile, step: int, job: tuple[range, StageFile | None]) -> list[tuple[int, Fragments]]:
    batch, file = job
    none = np.empty(0, np.uint32)
    links = OwnLinks(none, none, none) if file is None else OwnLinks(**read_stage(file))
    return list(cut_fragments(_folding(shared_value(shared)), batch, links).by_range(step))


def _add(shared: StageFile, ranges: list[range], number: int, fragments: Iterable[Fragments]) -> tuple[int, StageFile]:
    """Add the fragments of a range of nodes, and write their bags."""
    bags = add_fragments(list(fragments), shared_value(shared).words).bags(ranges[number]).spilled()
    return number, write_stage(shared.path.parent, f"bags-{number}", vars(bags))


def _folding(stored: StoredFolding) -> Folding:
    """The folding with the columns of the store, which the driver has checked."""
    reading, links = stored.store.reading, stored.store.links
    tokens, blocks, sentences, titles = reading.tokens, reading.blocks, reading.sentences, reading.titles
    texts = Texts(
        token_offsets=tokens.offsets,
        form=tokens.form,
        block_offsets=blocks.offsets,
        block_token=blocks.token,
        block_kinds=blocks.kinds,
        sentence_offsets=sentences.offsets,
        sentence=sentences.token,
        title_offsets=titles.offsets,
        title_form=titles.form,
        **stored.texts,
    )
    citations = Citations(
        node_pages=stored.store.nodes,
        link_offsets=links.offsets,
        link_page=links.page,
        link_anchor=links.anchor,
        anchor_offsets=reading.anchors.offsets,
        anchor_start=reading.anchors.start,
        anchor_end=reading.anchors.end,
        anchor_flags=reading.anchors.flags,
        **stored.citations,
    )
    return Folding(stored.plan, texts, citations, stored.words, stored.nodes)
