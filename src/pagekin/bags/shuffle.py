"""Bags are folded by the executors of Spark: fragments travel to the range of their nodes, and are added there.

The driver writes what the fold needs besides the store into a folder that all executors see. Each range of bags becomes
a file in that folder; its checksum comes back, and is verified when the driver reads the file.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.bags.build import Folding
from pagekin.bags.fragments import Fragments, add_fragments, cut_fragments
from pagekin.bags.weigh import SpilledPiece
from pagekin.engines.spark import SparkPool
from pagekin.kernels.fold_bags import Citations, FoldPlan
from pagekin.kernels.windows import Texts
from pagekin.store.manifest import Manifest
from pagekin.store.stage_files import StageFile, finished_or, read_stage, write_stage
from pagekin.store.store import Store

_MOST_NODES = 20_000  # of a batch, and of a range of bags
_FEWEST_JOBS = 8
_OWN_TEXTS = ("terms", "language", "block_excluded")  # not in the store
_OWN_CITATIONS = ("link_counts", "node_of_page")
_OPENED: "dict[Path, Folding]" = {}  # the last one, in a process of an executor


class StoredFolding(NamedTuple):
    """Where executors find a `Folding`: in a store, whose manifest is not written yet, and in a file."""

    root: Path
    manifest: Manifest
    file: StageFile
    plan: FoldPlan
    words: int
    nodes: int


def shuffled_pieces(pool: SparkPool, store: Store, folder: Path, folding: Folding) -> Iterator[SpilledPiece]:
    """The bags of all nodes, range by range; `folder` is for files that are removed later."""
    own = {name: getattr(folding.texts, name) for name in _OWN_TEXTS}
    own |= {name: getattr(folding.citations, name) for name in _OWN_CITATIONS}
    numbers = (folding.plan, folding.words, folding.nodes)
    stored = StoredFolding(store.root.absolute(), store.manifest, write_stage(folder, "folding", own), *numbers)
    batches = _ranges(len(folding.citations.node_pages) - 1)
    ranges = _ranges(folding.nodes)
    step = len(ranges[0]) if ranges else 1
    depends_on = (stored.file.digest, *stored[3:], sorted(stored.manifest.files.items()))
    shuffle = partial(pool.shuffle, partial(_cut, stored, step), batches, partial(_add, stored, ranges))
    found = finished_or(folder, "bags", depends_on, lambda: dict(shuffle()))
    for number, nodes in enumerate(ranges):
        if number in found:
            yield SpilledPiece(**read_stage(found[number]))
        else:
            none, sums = np.empty(0, np.uint32), np.empty(0, np.float32)
            yield SpilledPiece(np.zeros(len(nodes), np.int64), none, none, sums, sums)


def _ranges(count: int) -> list[range]:
    step = max(1, min(_MOST_NODES, -(-count // _FEWEST_JOBS)))
    return [range(first, min(first + step, count)) for first in range(0, count, step)]


def _cut(stored: StoredFolding, step: int, batch: range) -> list[tuple[int, Fragments]]:
    return list(cut_fragments(_open(stored), batch).by_range(step))


def _add(
    stored: StoredFolding, ranges: list[range], number: int, fragments: Iterable[Fragments]
) -> tuple[int, StageFile]:
    """Add the fragments of a range of nodes, and write their bags."""
    bags = add_fragments(list(fragments), stored.words).bags(ranges[number]).spilled()
    return number, write_stage(stored.file.path.parent, f"bags-{number}", vars(bags))


def _open(stored: StoredFolding) -> Folding:
    """The folding, kept for the next job of this process. The driver has checked the columns of the store."""
    if stored.file.path not in _OPENED:
        _OPENED.clear()
        store, own = Store(stored.root, stored.manifest), read_stage(stored.file)
        reading, links = store.reading, store.links
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
            **{name: own[name] for name in _OWN_TEXTS},
        )
        citations = Citations(
            node_pages=store.nodes,
            link_offsets=links.offsets,
            link_page=links.page,
            link_anchor=links.anchor,
            anchor_offsets=reading.anchors.offsets,
            anchor_start=reading.anchors.start,
            anchor_end=reading.anchors.end,
            anchor_flags=reading.anchors.flags,
            **{name: own[name] for name in _OWN_CITATIONS},
        )
        _OPENED[stored.file.path] = Folding(stored.plan, texts, citations, stored.words, stored.nodes)
    return _OPENED[stored.file.path]
