"""The whole way on one page: sources -> captures -> readings -> a store -> bags -> signatures -> an index.

open_sources    what was on the web
Memory          what of it has been read before
read_captures   bytes -> tokens, anchors, blocks (by as many workers as there are)
write_store     one store of all, under a new generation; its manifest last
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar

import numpy as np

from pagekin.bags.build import BagSource, fold_bags
from pagekin.duplicates.fingerprints import write_fingerprints
from pagekin.duplicates.page_sets import chunks_of_pages
from pagekin.duplicates.settings import GroupSettings
from pagekin.engines.local import WorkerPool, check_processes, in_order, run, worker_pool
from pagekin.errors import MisuseError, StoreError
from pagekin.index.files import VERSION as INDEX_VERSION
from pagekin.index.files import write_bags, write_lookup
from pagekin.index.invert import invert
from pagekin.index.values import kept_in, kind_for
from pagekin.model.capture import Capture, Rank, Redirect, Skip, Unchanged
from pagekin.model.settings import MiB, ReadingSettings
from pagekin.model.strategy import PRESETS, Strategy
from pagekin.signatures.sign import make_signatures, seeded, term_keys
from pagekin.sources.archives import REVISIT_WITHOUT_RECORD
from pagekin.sources.open import SourceSet, open_sources
from pagekin.store.columns import sync, writing
from pagekin.store.known import KnownPages
from pagekin.store.lock import locked
from pagekin.store.manifest import (
    NAME,
    READER,
    Manifest,
    damaged_files,
    describe_files,
    folder_of,
    next_generation,
    read_manifest,
    write_manifest,
)
from pagekin.store.select import ReadPages
from pagekin.store.spool import Readings, Spool, write_batch
from pagekin.store.store import Store
from pagekin.store.write import write_store
from pagekin.urls import host_of

_JOB_BYTES = 16 * MiB
_JOB_PAGES = 8000  # small ones; others reach the bytes first
_WORK_FOR_PROCESSES = 512 * MiB  # below this they take longer to begin than they save
_SPOOL = "unfinished"
_GROUPS = GroupSettings()  # pages of a collection can be compared, for they are all cut and kept in the same way

# What a build takes at most, as benchmarks/growth.py measures it.
_COLLECTING = 1536 * MiB  # this process, for a million pages
_READING = 384 * MiB  # a process that reads
LEAST_MEMORY = _COLLECTING + _READING
MEMORY = 4096 * MiB

Job = tuple[Path, list[Capture]]
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Progress:
    """How far a build is; `done` and `total` are bytes of the sources."""

    stage: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Built:
    """What a build did."""

    store: Store
    read: int  # pages read in this build
    reused: int  # pages taken over from earlier ones
    changed: bool  # whether there is a new generation


@dataclass(frozen=True)
class _BuildContext:
    """How a build goes about it; its result does not depend on that."""

    pool: WorkerPool
    progress: Callable[[Progress], None]

    def mapper(self, function: Callable[[T], R], jobs: Iterable[T]) -> Iterator[R]:
        """Like `map`, by as many threads as there are workers."""
        return in_order(self.pool.workers, function, jobs)


def build(
    sources: Sequence[str | Path],
    output: str | Path,
    *,
    base_urls: Sequence[str] = (),
    settings: ReadingSettings | None = None,
    strategy: Strategy | None = None,
    processes: int | None = None,
    memory: int = MEMORY,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Built:
    """Read sources into the store `output`; what was read before and has not changed is not read again.

    There are no more processes than fit into `memory` bytes.
    """
    settings = settings or ReadingSettings()
    root = Path(output)
    check_processes(processes)
    if memory < LEAST_MEMORY:
        raise MisuseError(f"memory is {memory} bytes; a build takes at least {LEAST_MEMORY // MiB} MiB")
    most_processes = (memory - _COLLECTING) // _READING
    collection = open_sources([Path(source) for source in sources], base_urls, settings)
    with writing(root):
        _claim(root)
        with locked(root):
            pool = worker_pool(processes, most_processes, collection.size, _WORK_FOR_PROCESSES)
            context = _BuildContext(pool, progress)
            return _build(collection, root, settings, strategy or PRESETS["default"], context)


def _claim(root: Path) -> None:
    """Make the folder of the store, unless there is something else in its place."""
    if root.exists() and not root.is_dir():
        raise MisuseError(f"{root} is a file; name a folder for the store, such as my.kin")
    ours = {NAME, "lock", _SPOOL, f"{NAME}.new"}
    if root.is_dir() and not (root / NAME).exists():
        found = [path.name for path in root.iterdir() if path.name not in ours]
        strangers = [name for name in found if not name.startswith(("store-", "index-"))]
        if strangers:
            raise MisuseError(f"{root} holds other things ({strangers[0]}); name a new folder for the store")
    root.mkdir(parents=True, exist_ok=True)


def _build(
    collection: SourceSet,
    root: Path,
    settings: ReadingSettings,
    strategy: Strategy,
    context: _BuildContext,
) -> Built:
    progress = context.progress
    fingerprint: dict[str, Any] = {"reader": READER, "settings": settings.as_dict()}
    inputs = collection.fingerprint()
    spool = Spool(root / _SPOOL, fingerprint)
    old = _usable(root, fingerprint)
    if old is not None and old.manifest.inputs == inputs:
        manifest, read, reused = old.manifest, 0, len(old)
        if _is_indexed(manifest, strategy):
            _remove_old(root, manifest)  # a build may have been killed before it could
            spool.remove()
            return Built(old, read, reused, changed=False)
    else:
        memory = KnownPages(old, spool.open())
        reader = _Reader(collection, memory, spool, progress)
        read_pages = reader.read_pages(partial(read_job, settings, fingerprint), context.pool)
        manifest = _write_generation(root, read_pages, inputs, settings, context)
        read, reused = reader.read, reader.reused
        memory.close()
        del old, memory, reader, read_pages  # and with them all open files
    with ThreadPoolExecutor(1) as aside:  # the store gets to the disk while the index is made
        synced = aside.submit(sync, root / manifest.folder)
        manifest = replace(manifest, index=_write_index(root, manifest, strategy, context))
        synced.result()
    write_manifest(root, manifest)
    _remove_old(root, manifest)
    spool.remove()
    return Built(Store(root, manifest), read, reused, changed=True)


def _write_generation(
    root: Path, read_pages: ReadPages, inputs: str, settings: ReadingSettings, context: _BuildContext
) -> Manifest:
    """Write the files of a new generation of the store; its manifest is still to be put in place."""
    generation = next_generation(root)
    folder = root / folder_of(generation)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    written = write_store(folder, read_pages, settings, lambda stage: context.progress(Progress(stage)), context.mapper)
    files = describe_files(folder, context.mapper)
    return Manifest(generation, inputs, settings.as_dict(), written.counts, written.skipped, files)


def bag_source(store: Store) -> BagSource:
    """What the bags of a store are made from, under any strategy."""
    return BagSource(store.reading, store.words, store.word_of_form, store.nodes, store.links, store.node_hosts)


def _is_indexed(manifest: Manifest, strategy: Strategy) -> bool:
    facts = manifest.index
    if facts is None or (facts["version"], facts["strategy"]) != (INDEX_VERSION, strategy.as_dict()):
        return False
    return bool(facts["duplicates"]["settings"] == _GROUPS.as_dict())


def _write_index(root: Path, manifest: Manifest, strategy: Strategy, context: _BuildContext) -> dict[str, Any]:
    """Make bags, signatures, index and filters of the store; what the manifest says of them."""
    store = Store(root, manifest)
    context.progress(Progress("making bags"))
    nodes = len(store.links.offsets) - 1
    generation = manifest.generation if manifest.index is None else int(manifest.index["generation"]) + 1
    folder = root / f"index-{generation}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with TemporaryFile(dir=folder) as file:
        folded = fold_bags(bag_source(store), strategy, file, context.mapper)
        context.progress(Progress("weighing and signing"))
        keys = seeded(term_keys(folded.terms.name, nodes), strategy.seed)
        signed = nodes if strategy.outside else len(store.nodes) - 1
        written = write_bags(folder, folded.offsets, signed, folded.weighed(context.mapper))
        sign = partial(make_signatures, keys=keys, length=strategy.signature_length)
        none = np.empty((0, strategy.signature_length), np.uint32)
        signatures = kept_in(kind_for(signed), np.concatenate([none, *context.mapper(sign, written)]))
    context.progress(Progress("inverting"))
    members = np.flatnonzero(store.in_degrees()[:signed] >= strategy.min_in_links)
    write_lookup(folder, folded.terms, folded.contents, signatures, invert(signatures, members))
    context.progress(Progress("near-duplicates"))
    chunks = chunks_of_pages(store.reading, folded.silent, _GROUPS, context.mapper)
    fingerprints = write_fingerprints(folder, len(store), chunks, _GROUPS)
    store.close()
    context.progress(Progress("checksums"))
    return {
        "generation": generation,
        "version": INDEX_VERSION,
        "strategy": strategy.as_dict(),
        "duplicates": fingerprints,
        "files": describe_files(folder, context.mapper),
    }


def _usable(root: Path, fingerprint: dict[str, Any]) -> Store | None:
    """The store that is there, if it was read in the same way and all of its files are as they were written."""
    if not (root / NAME).exists():
        return None
    try:
        manifest = read_manifest(root)
    except StoreError:
        return None
    same_way = {"reader": manifest.reader, "settings": manifest.settings} == fingerprint
    return Store(root, manifest) if same_way and not damaged_files(root, manifest) else None


def _remove_old(root: Path, manifest: Manifest) -> None:
    """Remove other generations. One that somebody still has open may stay; the next build tries again."""
    for folder in (*root.glob("store-*"), *root.glob("index-*")):
        if folder.name not in (manifest.folder, manifest.index_folder):
            shutil.rmtree(folder, ignore_errors=True)


def read_job(settings: ReadingSettings, fingerprint: dict[str, Any], job: Job) -> tuple[Path, int]:
    """Read a batch of captures into its place in the spool; (place, bytes of the captures)."""
    from pagekin.reading.batch import read_captures

    place, captures = job
    # In the order of the store, so that what lies side by side there is looked for side by side in the batch.
    captures = sorted(captures, key=lambda capture: (host_of(capture.url), capture.url))
    write_batch(place, read_captures(captures, settings), fingerprint)
    return place, sum(capture.weight for capture in captures)


class _Reader:
    """Walks a collection: what is known is taken over, the rest is read in batches."""

    def __init__(
        self, collection: SourceSet, memory: KnownPages, spool: Spool, progress: Callable[[Progress], None]
    ) -> None:
        self.collection = collection
        self.memory = memory
        self.spool = spool
        self.read = 0
        self.reused = 0
        self._progress = progress
        self._known: list[list[int]] = [[] for _ in memory.places]
        self._read_pages = ReadPages()
        self._source = ""
        self._ranks: list[tuple[str, Rank]] = []  # of captures that were met
        self._taken: list[int] = []  # rows of unchanged sources, taken from the old store
        self._older: list[tuple[str, Rank]] = []  # captures of those sources that lost before

    def read_pages(self, function: Callable[[Job], tuple[Path, int]], pool: WorkerPool) -> ReadPages:
        """Everything that the sources hold, read."""
        read_pages = self._read_pages
        done = 0
        self._report(0)
        fresh = []
        for place, size in run(function, self._jobs(), pool):
            done += size
            self._report(done)
            fresh.append(place)
        read_pages.readings = Readings([*self.memory.places, *sorted(fresh)])
        read_pages.rows = [np.array(rows, np.int64) for rows in self._known]
        for reading in read_pages.readings[len(self._known) :]:
            read_pages.rows.append(np.arange(len(reading)))
            read_pages.skips += reading.skips
            self.read += len(reading)
        self.reused = sum(map(len, self._known))
        return read_pages

    def _report(self, done: int) -> None:
        self._progress(Progress("reading", min(done, self.collection.size), self.collection.size))

    def _jobs(self) -> Iterator[Job]:
        """Batches of the captures that nobody has read yet; the rest of the items is noted on the way."""
        places = self.spool.places()
        batch: list[Capture] = []
        weight = 0
        for item in self.collection.items(self.memory.is_unchanged):
            capture = self._note(item)
            if capture is None:
                continue
            batch.append(capture)
            weight += capture.weight
            if weight >= _JOB_BYTES or len(batch) >= _JOB_PAGES:
                yield next(places), batch
                batch, weight = [], 0
        for capture in self._captures_that_win_again():
            batch.append(capture)  # few, and rarely any
        if batch:
            yield next(places), batch

    def _captures_that_win_again(self) -> Iterator[Capture]:
        """Captures of unchanged sources that lost to newer ones before, where the newer ones are gone."""
        best: dict[str, Rank] = {}
        for url, rank in (*self._ranks, *self.memory.ranks(np.array(self._taken, np.int64))) if self._older else ():
            best[url] = max(rank, best.get(url, rank))
        back = {rank.source for url, rank in self._older if url not in best or best[url] < rank}
        self._read_pages.older += [(url, rank) for url, rank in self._older if rank.source not in back]
        for source in self.collection.sources:
            if source.name in back:
                items = source.items(lambda _: False)
                captures = (item for item in items if isinstance(item, Capture))
                yield from (capture for capture in captures if self.memory.find(capture) is None)

    def _note(self, item: Capture | Redirect | Skip | Unchanged) -> Capture | None:
        """Take an item in; a capture that must be read comes back."""
        read_pages = self._read_pages
        if isinstance(item, Skip):
            read_pages.skips.append(item)
            if item.reason == REVISIT_WITHOUT_RECORD:
                read_pages.dependent.add(item.source)
            return None
        if item.origin.source != self._source:  # most come from the file of the one before
            self._source = item.origin.source
            read_pages.sources.add(replace(item.origin, offset=0))
        if isinstance(item, Capture) and item.borrowed:
            read_pages.dependent.add(item.origin.source)
        if isinstance(item, Redirect):
            read_pages.redirects.append(item)
        elif isinstance(item, Unchanged):
            rows = self.memory.rows_of(item.origin).tolist()
            self._known[0] += rows
            self._taken += rows
            self._older += self.memory.older_of(item.origin.source)
            read_pages.redirects += self.memory.redirects_of(item.origin.source)
            read_pages.skips += self.memory.skips_of(item.origin.source)
        else:
            if self.memory.has_older:  # else nothing can win again
                self._ranks.append((item.url, Rank(item.captured, item.origin.source, item.origin.offset)))
            known = self.memory.find(item)
            if known is None:
                return item
            self._known[known[0]].append(known[1])
        return None
