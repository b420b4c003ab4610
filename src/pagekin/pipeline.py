"""The whole build on one page: sources -> reading -> store -> bags -> signatures -> index, near-duplicates.

sources      open_sources: the captures, redirects and skips of folders, archives and JSON lines
reading      read_captures: tokens, anchors and blocks of each page, in parallel; known pages are not read again
store        write_store: one generation of files from all readings
bags         fold_bags: the weighted terms of each node
signatures   make_signatures: the min-hashes of each bag
index        invert: the pages of each min-hash
duplicates   write_fingerprints: the chunks and Bloom filter of each page
calibration  calibrate: the scale of each evidence, and the level of chance
manifest     written last; it replaces the old generation by the new one
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeGuard

import numpy as np

from pagekin.bags.build import BagSource, fold_bags
from pagekin.duplicates.chunks import chunks_of_pages
from pagekin.duplicates.fingerprints import write_fingerprints
from pagekin.duplicates.settings import GroupSettings
from pagekin.engines.local import WorkerPool, run, worker_pool
from pagekin.errors import MisuseError, StoreError
from pagekin.index.files import INDEX_VERSION, write_bags, write_lookup
from pagekin.index.invert import invert, truncate, value_type
from pagekin.index.titles import write_titles
from pagekin.model.capture import Capture, Rank, Redirect, Skip, SkipKind, SourceItem, Unchanged
from pagekin.model.settings import MiB, ReadingSettings
from pagekin.model.strategy import PRESETS, Strategy
from pagekin.search.calibration import calibrate
from pagekin.search.evidence import check_names
from pagekin.search.indexed_store import IndexedStore
from pagekin.signatures.sign import make_signatures, seeded, term_keys
from pagekin.sources.open import SourceSet, open_sources
from pagekin.store import manifest as manifests
from pagekin.store.columns import reporting_errors, sync
from pagekin.store.known import KnownPages
from pagekin.store.lock import locked
from pagekin.store.manifest import Manifest, damaged_files, describe_files, read_manifest, write_manifest
from pagekin.store.select import ReadPages
from pagekin.store.spool import Readings, Spool, write_batch
from pagekin.store.store import Store
from pagekin.store.write import write_store
from pagekin.urls import host_of

_JOB_BYTES = 16 * MiB
_JOB_PAGES = 8000  # reached only by small pages
_WORK_FOR_PROCESSES = 512 * MiB  # with less work, processes take longer to start than they save
_SPOOL = "unfinished"
_GROUPS = GroupSettings()  # one setting for all pages of a collection, so that they can be compared

# The most memory that a build takes, as measured by benchmarks/growth.py.
_COLLECTING = 1536 * MiB  # this process, for a million pages
_READING = 384 * MiB  # each reading process
LEAST_MEMORY = _COLLECTING + _READING
MEMORY = 4096 * MiB

Job = tuple[Path, list[Capture]]


@dataclass(frozen=True)
class Progress:
    """The stage of a build; `done` and `total` are bytes of the sources."""

    stage: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Built:
    """The result of a build."""

    store: Store
    read: int  # pages read by this build
    reused: int  # pages that an earlier build read
    changed: bool  # whether there is a new generation


@dataclass(frozen=True)
class _BuildContext:
    """The workers and the progress callback of a build; its result does not depend on them."""

    pool: WorkerPool
    progress: Callable[[Progress], None]

    def enter(self, stage: str) -> None:
        self.progress(Progress(stage))


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
    """Read sources into the store `output`; what has not changed since an earlier build is not read again.

    There are at most as many processes as fit into `memory` bytes.
    """
    root, strategy = Path(output), strategy or PRESETS["default"]
    check_names(strategy.weights_of_evidences())
    if memory < LEAST_MEMORY:
        raise MisuseError(f"memory is {memory} bytes; a build takes at least {LEAST_MEMORY // MiB} MiB")
    collection = open_sources([Path(source) for source in sources], base_urls, settings or ReadingSettings())
    pool = worker_pool(processes, (memory - _COLLECTING) // _READING, collection.size, _WORK_FOR_PROCESSES)
    with reporting_errors(root):
        _claim(root)
        with locked(root):
            return _build(collection, root, strategy, _BuildContext(pool, progress))


def _claim(root: Path) -> None:
    """Create the folder of the store; raise MisuseError if it holds other files."""
    if root.exists() and not root.is_dir():
        raise MisuseError(f"{root} is a file; name a folder for the store, such as my.kin")
    ours = {manifests.NAME, f"{manifests.NAME}.new", "lock", _SPOOL}
    if root.is_dir() and not (root / manifests.NAME).exists():
        found = {path.name for path in root.iterdir() if not path.name.startswith(("store-", "index-"))}
        if others := sorted(found - ours):
            raise MisuseError(f"{root} holds other files ({others[0]}); name a new folder for the store")
    root.mkdir(parents=True, exist_ok=True)


def _build(collection: SourceSet, root: Path, strategy: Strategy, context: _BuildContext) -> Built:
    settings = collection.settings
    fingerprint: dict[str, Any] = {"reader": manifests.READER, "settings": settings.as_dict()}
    inputs = collection.fingerprint()
    spool = Spool(root / _SPOOL, fingerprint)
    old = _usable(root, fingerprint)
    if old is not None and old.manifest.inputs == inputs:
        manifest, read, reused = old.manifest, 0, len(old)
        if _is_indexed(manifest, strategy):
            _remove_old(root, manifest)  # a killed build may have left some
            spool.remove()
            return Built(old, read, reused, changed=False)
    else:
        known = KnownPages(old, spool.open())
        read_pages = _Reader(collection, known, spool, context).read_all(partial(read_job, settings, fingerprint))
        manifest = _write_generation(root, read_pages, inputs, settings, context)
        reused = sum(map(len, read_pages.rows[: len(known.places)]))
        read = sum(map(len, read_pages.rows)) - reused
        known.close()
        del old, known, read_pages  # closes their files
    with ThreadPoolExecutor(1) as thread:  # flush the store to the disk while the index is built
        synced = thread.submit(sync, root / manifest.folder)
        manifest = replace(manifest, index=_write_index(root, manifest, strategy, context))
        synced.result()
    write_manifest(root, manifest)
    _remove_old(root, manifest)
    spool.remove()
    return Built(Store(root, manifest), read, reused, changed=True)


def _usable(root: Path, fingerprint: dict[str, Any]) -> Store | None:
    """The present store, if it was read with the same settings and none of its files is damaged."""
    if not (root / manifests.NAME).exists():
        return None
    try:
        manifest = read_manifest(root)
    except StoreError:
        return None
    same = {"reader": manifest.reader, "settings": manifest.settings} == fingerprint
    return Store(root, manifest) if same and not damaged_files(root, manifest) else None


def _is_indexed(manifest: Manifest, strategy: Strategy) -> bool:
    facts, wanted = manifest.index, (INDEX_VERSION, strategy.as_dict(), _GROUPS.as_dict())
    return facts is not None and (facts["version"], facts["strategy"], facts["duplicates"]["settings"]) == wanted


def _remove_old(root: Path, manifest: Manifest) -> None:
    """Remove other generations. One that is still open elsewhere may stay; the next build tries again."""
    for folder in (*root.glob("store-*"), *root.glob("index-*")):
        if folder.name not in (manifest.folder, manifest.index_folder):
            shutil.rmtree(folder, ignore_errors=True)


def _new_folder(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _write_generation(
    root: Path, read_pages: ReadPages, inputs: str, settings: ReadingSettings, context: _BuildContext
) -> Manifest:
    """Write the files of a new generation of the store; return its manifest, which is not yet written."""
    generation = manifests.next_generation(root)
    folder = _new_folder(root / manifests.folder_of(generation))
    counts, skipped = write_store(folder, read_pages, settings, context.enter, context.pool.map)
    files = describe_files(folder, context.pool.map)
    return Manifest(generation, inputs, settings.as_dict(), counts, skipped, files)


def _write_index(root: Path, manifest: Manifest, strategy: Strategy, context: _BuildContext) -> dict[str, Any]:
    """Write bags, signatures, inverted index and fingerprints of the store; return their entry in the manifest."""
    store = Store(root, manifest)
    generation = manifest.generation if manifest.index is None else int(manifest.index["generation"]) + 1
    folder = _new_folder(root / f"index-{generation}")
    context.enter("making bags")
    with TemporaryFile(dir=folder) as file:
        folded = fold_bags(BagSource.of(store), strategy, file, context.pool.map)
        context.enter("weighing and signing")
        nodes = len(folded.offsets) - 1
        signed = nodes if strategy.outside else len(store.nodes) - 1
        bags = write_bags(folder, folded.offsets, signed, folded.weighted(context.pool.map))
        keys = seeded(term_keys(folded.terms.name, nodes), strategy.seed)
        sign = partial(make_signatures, keys=keys, length=strategy.signature_length)
        none = np.empty((0, strategy.signature_length), np.uint32)
        signatures = truncate(np.concatenate([none, *context.pool.map(sign, bags)]), value_type(signed))
    context.enter("inverting")
    members = np.flatnonzero(store.in_degrees()[:signed] >= strategy.min_in_links)
    write_lookup(folder, folded.terms, folded.contents, signatures, invert(signatures, members))
    write_titles(folder, (store.reading.pages.title[row] for row in store.nodes[:-1].tolist()))
    context.enter("near-duplicates")
    chunks = chunks_of_pages(store.reading, folded.ignored_blocks, _GROUPS, context.pool.map)
    fingerprints = write_fingerprints(folder, len(store), chunks, _GROUPS)
    store.close()
    facts = {
        "generation": generation,
        "version": INDEX_VERSION,
        "strategy": strategy.as_dict(),
        "duplicates": fingerprints,
        "blend": {"scales": {}, "chance": 0.0},
    }
    context.enter("calibrating")
    indexed = IndexedStore(root, replace(manifest, index=facts))
    facts["blend"] = calibrate(indexed)
    indexed.close()
    context.enter("checksums")
    return {**facts, "files": describe_files(folder, context.pool.map)}


def read_job(settings: ReadingSettings, fingerprint: dict[str, Any], job: Job) -> tuple[Path, int]:
    """Read a batch of captures into its place in the spool; return (place, bytes of the captures)."""
    from pagekin.reading.batch import read_captures

    place, captures = job
    # In the order of the store: what is adjacent there is then adjacent in the batch.
    captures = sorted(captures, key=lambda capture: (host_of(capture.url), capture.url))
    write_batch(place, read_captures(captures, settings), fingerprint)
    return place, sum(capture.weight for capture in captures)


class _Reader:
    """Reads a collection: known pages are reused, the others are read in batches."""

    def __init__(self, collection: SourceSet, known: KnownPages, spool: Spool, context: _BuildContext) -> None:
        self.collection = collection
        self.known = known
        self.spool = spool
        self._context = context
        self._read_pages = ReadPages()
        self._reused_rows: list[list[int]] = [[] for _ in known.places]  # of each known reading
        self._source = ""  # of the last item
        self._ranks: list[tuple[str, Rank]] = []  # of the captures in changed sources
        self._unchanged_rows: list[int] = []  # of the old store, from unchanged sources
        self._older: list[tuple[str, Rank]] = []  # captures in unchanged sources that were dropped for newer ones

    def read_all(self, function: Callable[[Job], tuple[Path, int]]) -> ReadPages:
        """Read all sources; `function` reads one batch."""
        read_pages = self._read_pages
        places = []
        done, total = 0, self.collection.size
        self._context.progress(Progress("reading", done, total))
        for place, size in run(function, self._jobs(), self._context.pool):
            done += size
            self._context.progress(Progress("reading", min(done, total), total))
            places.append(place)
        read_pages.readings = Readings([*self.known.places, *sorted(places)])
        read_pages.rows = [np.array(rows, np.int64) for rows in self._reused_rows]
        for reading in read_pages.readings[len(self._reused_rows) :]:
            read_pages.rows.append(np.arange(len(reading)))
            read_pages.skips += reading.skips
        return read_pages

    def _jobs(self) -> Iterator[Job]:
        """Batches of the captures that must be read."""
        places = self.spool.places()
        batch: list[Capture] = []
        weight = 0
        for item in self.collection.items(self.known.is_unchanged):
            if not self._must_read(item):
                continue
            batch.append(item)
            weight += item.weight
            if weight >= _JOB_BYTES or len(batch) >= _JOB_PAGES:
                yield next(places), batch
                batch, weight = [], 0
        batch += self._captures_that_win_again()  # few, and rarely any
        if batch:
            yield next(places), batch

    def _must_read(self, item: SourceItem) -> TypeGuard[Capture]:
        """Record an item; return whether it is a capture that must be read."""
        read_pages = self._read_pages
        if isinstance(item, Skip):
            read_pages.skips.append(item)
            if item.kind is SkipKind.DEPENDENT:
                read_pages.dependent.add(item.source)
            return False
        source = item.origin.source
        if source != self._source:  # most items come from the same file as the one before
            self._source = source
            read_pages.sources.add(replace(item.origin, offset=0))
        if isinstance(item, Redirect):
            read_pages.redirects.append(item)
            return False
        if isinstance(item, Unchanged):
            rows = self.known.rows_of(item.origin).tolist()
            self._reused_rows[0] += rows
            self._unchanged_rows += rows
            redirects, skips, older = self.known.notes_of(source)
            read_pages.redirects += redirects
            read_pages.skips += skips
            self._older += older
            return False
        if item.borrowed:
            read_pages.dependent.add(source)
        if self.known.has_older:  # else no older capture can win again
            self._ranks.append((item.url, Rank(item.captured, source, item.origin.offset)))
        known = self.known.find(item)
        if known is not None:
            self._reused_rows[known[0]].append(known[1])
        return known is None

    def _captures_that_win_again(self) -> Iterator[Capture]:
        """Captures in unchanged sources that were dropped for newer ones which are now gone."""
        if not self._older:
            return
        best: dict[str, Rank] = {}
        for url, rank in (*self._ranks, *self.known.ranks(np.array(self._unchanged_rows, np.int64))):
            best[url] = max(rank, best.get(url, rank))
        sources = {rank.source for url, rank in self._older if url not in best or best[url] < rank}
        self._read_pages.older += [(url, rank) for url, rank in self._older if rank.source not in sources]
        for source in self.collection.sources:
            if source.name in sources:
                captures = (item for item in source.items(lambda _: False) if isinstance(item, Capture))
                yield from (capture for capture in captures if self.known.find(capture) is None)
