"""The whole build on one page: sources -> reading -> store -> bags -> signatures -> index, near-duplicates.

sources      open_sources: the captures, redirects and skips of folders, archives and JSON lines
reading      read_captures: tokens, anchors and blocks of each page, in parallel; known pages are not read again
store        write_store: one generation of files from all readings
bags         fold_bags: the weighted terms of each node
signatures   write_signed_bags: the weights of each bag and its min-hashes
latent       write_latent: the vectors of pages and words in the leading dimensions of their contents
vectors      write_given_vectors: the vectors of pages that a file has
index        write_inverted: the pages of each min-hash
duplicates   write_fingerprints: the chunks and Bloom filter of each page; known texts are not cut again
calibration  calibrate: the scale of each evidence, and the level of chance
neighbours   write_neighbours: the nearest pages of each page by other evidences
shards       divide: the columns of pages in the folders of several shards, if asked for
manifest     written last; it replaces the old generation by the new one
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np

from pagekin.bags.build import fold_bags
from pagekin.bags.shuffle import folded_on_executors
from pagekin.bags.source import BagSource, ignored_parts
from pagekin.bags.stemming import stop_words
from pagekin.duplicates.chunks import EarlierChunks
from pagekin.duplicates.fingerprints import ChunkSource, write_fingerprints
from pagekin.duplicates.settings import GroupSettings
from pagekin.engines.hadoop import fetch, needs_hadoop
from pagekin.engines.local import WorkerPool, cpu_count, run, worker_pool
from pagekin.engines.spark import SparkPool, spark_pool
from pagekin.errors import MisuseError, PagekinError, StoreError
from pagekin.index.answers import answers_name, is_answers
from pagekin.index.index import INDEX_VERSION
from pagekin.index.shards import INDEX_CUTS, answers_cuts
from pagekin.index.signing import write_inverted, write_signed_bags
from pagekin.index.titles import write_titles
from pagekin.latent.build import write_latent
from pagekin.latent.given import VectorFile, open_vector_file, write_given_vectors
from pagekin.links.statistics import write_link_statistics
from pagekin.model.arrays import Bytes, Int64s
from pagekin.model.capture import MiB, ReadingSettings
from pagekin.model.progress import Progress
from pagekin.model.reading import CheckedReading
from pagekin.model.strategy import NEIGHBOURS, PRESETS, Strategy
from pagekin.search.all_pages import write_answers
from pagekin.search.calibration import calibrate
from pagekin.search.evidence import check_names
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.neighbours import write_neighbours
from pagekin.search.options import MOST_ANSWERS, RelatedOptions
from pagekin.sources.open import SourceSet, open_sources
from pagekin.store import manifest as manifests
from pagekin.store.choose import ChosenPages, choose_pages
from pagekin.store.collect import PageCollector, Spool
from pagekin.store.columns import MOST_SHARDS, open_array, reporting_errors, sync
from pagekin.store.executors import write_store_on_executors
from pagekin.store.manifest import Manifest
from pagekin.store.select import ReadPages, SelectedPages, check_number_of_pages, select_pages
from pagekin.store.shards import STORE_CUTS, check_shards, divide, first_pages, open_shards
from pagekin.store.splits import (
    Job,
    in_batches,
    read_job,
    read_split,
    read_splits,
    record_split,
    splits_of,
    verified_batches,
)
from pagekin.store.stage_files import Stages
from pagekin.store.store import Store
from pagekin.store.write import write_store

ENGINES = ("local", "spark")
DIVIDING = "dividing into shards"
_JOB_BYTES = 16 * MiB
_SMALL_JOB_BYTES = 4 * MiB  # its arrays are short: malloc reuses freed memory instead of mapping new pages
_JOB_PAGES = 8000  # reached only by small pages
_READ_AGAIN = 192 * MiB  # of captures that are kept in memory: reading them again takes about two seconds
_WORK_FOR_PROCESSES = 512 * MiB  # with less work, processes take longer to start than they save
_GROUPS = GroupSettings()  # one setting for all pages of a collection, so that they can be compared

# The most memory that a build takes, as measured by benchmarks/growth.py.
_COLLECTING = 1536 * MiB  # this process, for a million pages
_READING = 384 * MiB  # each reading process
LEAST_MEMORY = _COLLECTING + _READING
MEMORY = 4096 * MiB


@dataclass(frozen=True)
class Built:
    """The result of a build."""

    store: Store
    read: int  # pages read by this build
    reused: int  # pages that an earlier build read
    changed: bool  # whether there is a new generation


@dataclass(frozen=True)
class _BuildContext:
    """The workers of a build, its progress callback, and whether it may shrink; the result does not depend on them."""

    pool: WorkerPool
    progress: Callable[[Progress], None]
    allow_shrink: bool = False

    def enter(self, stage: str) -> None:
        self.progress(Progress(stage))

    def stages(self, root: Path) -> Stages:
        return Stages(self.pool, root / manifests.SPOOL)


class _Replaced(NamedTuple):
    """The store that a build replaces, and for each page the row that its reading has there; -1 for none."""

    manifest: Manifest
    row: Int64s


def build(
    sources: SourceSet | Sequence[str | Path],
    output: str | Path,
    *,
    base_urls: Sequence[str] = (),
    settings: ReadingSettings | None = None,
    strategy: Strategy | None = None,
    vectors: str | Path | None = None,
    processes: int | None = None,
    memory: int = MEMORY,
    allow_shrink: bool = False,
    engine: str = "local",
    master: str | None = None,
    answers: int | None = None,
    shards: int | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Built:
    """Read sources into the store `output`; what has not changed since an earlier build is not read again.

    `vectors` is a file with vectors of pages, which become one more evidence. There are at most as many processes as
    fit into `memory` bytes. Raise SourceError, and leave the store as it is, if there is no page, or fewer than half of
    the pages of the store unless `allow_shrink`. The `engine` "spark" builds a new store only, on the Spark cluster of
    `master`; the result is the same. The nearest `answers` pages of every page are found in advance, by default as many
    as in the store before. The same holds for the number of `shards`; it changes no answer.
    """
    root, strategy = Path(output), strategy or PRESETS["default"]
    if engine == "spark":
        _check_new(root)
    if not isinstance(sources, SourceSet) and (uris := [source for source in sources if needs_hadoop(source)]):
        if engine != "spark":
            raise MisuseError(f"{uris[0]} is in a file system that only Spark opens; add --engine spark")
        with spark_pool(master, 1) as spark:
            progress(Progress("copying sources"))
            return build(
                fetch(spark, sources, root / manifests.SPOOL / "fetched"),
                output,
                base_urls=base_urls,
                settings=settings,
                strategy=strategy,
                vectors=vectors,
                processes=processes,
                memory=memory,
                allow_shrink=allow_shrink,
                engine=engine,
                master=master,
                answers=answers,
                shards=shards,
                progress=progress,
            )
    check_names(strategy.weights_of_evidences())
    if shards is not None:
        check_shards(shards)
    if memory < LEAST_MEMORY:
        raise MisuseError(f"memory is {memory} bytes; a build takes at least {LEAST_MEMORY // MiB} MiB")
    if vectors is None and strategy.uses_vectors and not _has_vectors(root):
        raise MisuseError("the blend of the strategy names vectors; give a file of them with --vectors FILE")
    if vectors is not None:
        progress(Progress("checking vectors"))
    given = None if vectors is None else open_vector_file(Path(vectors))
    strategy = strategy.with_vectors() if given or _has_vectors(root) else strategy
    if isinstance(sources, SourceSet):
        collection = sources
    else:
        paths = [_absolute(source) if engine == "spark" else Path(source) for source in sources]
        collection = open_sources(paths, base_urls, settings or ReadingSettings())
    pool = worker_pool(processes, (memory - _COLLECTING) // _READING, collection.size, _WORK_FOR_PROCESSES)
    with reporting_errors(root), manifests.locked_folder(root), _engine(engine, master, pool) as chosen:
        context = _BuildContext(chosen, progress, allow_shrink)
        limit = _checked_answers(_answers_before(root) if answers is None else answers)
        built = _build(collection, root, strategy, given, limit, shards, context)
        kept = _keep_answers(root, built.store.manifest, limit, context)
        return built if kept is built.store.manifest else replace(built, store=Store(root, kept), changed=True)


def keep_answers(
    output: str | Path,
    limit: int,
    progress: Callable[[Progress], None] = lambda _: None,
    *,
    engine: str = "local",
    master: str | None = None,
) -> Manifest:
    """Find the nearest `limit` pages of every page in advance, and keep them in the index; 0 removes them."""
    root, local = Path(output), WorkerPool(cpu_count())
    _checked_answers(limit)
    manifests.read_manifest(root)  # raises an error if there is no store
    with reporting_errors(root), manifests.locked_folder(root), _engine(engine, master, local) as pool:
        context = _BuildContext(pool, progress)
        kept = _keep_answers(root, manifests.read_manifest(root), limit, context)
        if pool is not local:
            context.stages(root).remove("answers")
        return kept


def _checked_answers(limit: int) -> int:
    if not 0 <= limit <= MOST_ANSWERS:
        raise MisuseError(f"{limit} answers of each page; keep from 0 to {MOST_ANSWERS:,}")
    return limit


def _answers_before(root: Path) -> int:
    """The number of answers of each page that the present index keeps."""
    try:
        return int((manifests.read_manifest(root).index or {}).get("answers", 0))
    except (StoreError, MisuseError):
        return 0


def _keep_answers(root: Path, manifest: Manifest, limit: int, context: _BuildContext) -> Manifest:
    """The manifest of an index that keeps this number of answers, which is written if it is another."""
    if (manifest.index or {}).get("answers", 0) == limit:
        return manifest
    try:
        manifest = _with_answers(root, manifest, limit, context)
        manifests.write_manifest(root, manifest)
    finally:
        _remove_other_answers(root)
    return manifest


def _with_answers(root: Path, manifest: Manifest, limit: int, context: _BuildContext) -> Manifest:
    """Write answers into the folder of an index; return its manifest with them, which is not written."""
    index, folder, stages = manifest.index or {}, root / manifest.index_folder, context.stages(root)
    files = {name: facts for name, facts in index["files"].items() if not is_answers(name)}
    if limit:
        context.enter("answers")
        with closing(IndexedStore(root, manifest)) as store:
            write_answers(folder, store, partial(store.blend, RelatedOptions()), limit, stages)
            divide(folder, open_shards(folder, len(store)), store.nodes, answers_cuts(limit), stages.each)
        described, name = stages.checksums(folder, files), f"{answers_name(limit)}."
        files |= {file: facts for file, facts in described.items() if Path(file).name.startswith(name)}
    return replace(manifest, index={**index, "answers": limit, "files": files})


def _remove_other_answers(root: Path) -> None:
    """Remove the answers that the manifest does not name: older ones, or those of a build that failed."""
    with suppress(PagekinError, OSError):  # they do no harm
        manifest = manifests.read_manifest(root)
        folder = root / manifest.index_folder
        for name in filter(is_answers, manifests.files_of(folder)):
            if name not in (manifest.index or {"files": ()})["files"]:
                (folder / name).unlink()


def _absolute(source: str | Path) -> Path:
    """The absolute path of a source, or of an @LIST of sources: executors have other current directories."""
    is_list = str(source).startswith("@") and not Path(source).exists()
    return Path(f"@{Path(str(source)[1:]).absolute()}") if is_list else Path(source).absolute()


def _engine(engine: str, master: str | None, pool: WorkerPool) -> AbstractContextManager[WorkerPool]:
    """The workers of an engine; raise MisuseError if there is no such engine."""
    if engine not in ENGINES:
        raise MisuseError(f"there is no engine {engine!r}; name one of {', '.join(ENGINES)}")
    if engine == "local":
        if master is not None:
            raise MisuseError("--master names a Spark cluster; add --engine spark")
        return nullcontext(pool)
    return spark_pool(master, pool.workers)


def _check_new(root: Path) -> None:
    if (root / manifests.NAME).exists():
        raise MisuseError(f"{root} exists, and --engine spark only builds new stores; name another output")


def _build(
    collection: SourceSet,
    root: Path,
    strategy: Strategy,
    given: VectorFile | None,
    answers: int,
    shards: int | None,
    context: _BuildContext,
) -> Built:
    settings = collection.settings
    fingerprint: dict[str, Any] = {"reader": manifests.READER, "settings": settings.as_dict()}
    inputs = collection.fingerprint()
    spool = Spool(root / manifests.SPOOL, fingerprint)
    old = _usable(root, fingerprint)
    same = old is not None and old.manifest.inputs == inputs and shards in (None, old.manifest.shards)
    if old is not None and same:
        manifest, read, reused = old.manifest, 0, len(old)
        if _is_indexed(manifest, strategy, given):
            manifests.remove_old(root, manifest)  # a killed build may have left some
            spool.remove()
            return Built(old, read, reused, changed=False)
    if strategy.uses_vectors and given is None:
        raise MisuseError(
            f"{root} was built with vectors of its pages, and its pages or settings are others now; give their vectors"
            " with --vectors FILE, or build another store to do without"
        )
    replaced = None if old is None else _Replaced(old.manifest, np.arange(len(old)))
    with ExitStack() as generation:  # of folders that are removed if the build fails
        if not same:
            spooled = [] if isinstance(context.pool, SparkPool) else spool.open()
            collector = PageCollector(old, spooled, settings)
            read_pages, read = _read_pages(collection, collector, spool, fingerprint, context)
            context.enter("choosing pages")
            chosen, read = _choose(read_pages, read, settings, spool, context)
            reused = max(0, sum(map(len, read_pages.rows)) - read)  # Spark reuses no pages
            pages, skips = len(chosen), read_pages.skips + chosen.skips
            before, allow_shrink = manifests.pages_before(root), context.allow_shrink
            check_number_of_pages(pages, skips, root, before, allow_shrink, collection.without_pages)
            first = first_pages(min(_shards_before(root), max(1, pages)) if shards is None else shards, pages)
            number = manifests.next_generation(root)
            folder = generation.enter_context(manifests.new_generation(root / f"store-{number}"))
            counts, skipped = _write_store(folder, read_pages, chosen, settings, first, spool, context)
            if len(first) > 2:
                context.enter(DIVIDING)
            nodes, stages = open_array(folder, "nodes.offsets", np.int64, below=None), context.stages(root)
            divide(folder, first, nodes, STORE_CUTS, stages.each)
            files = stages.checksums(folder)
            manifest = Manifest(number, inputs, settings.as_dict(), counts, skipped, files)
            if old is not None:
                assert isinstance(chosen, SelectedPages)  # Spark builds new stores
                reading, row = chosen.places()
                replaced = _Replaced(old.manifest, np.where(reading == 0, row, -1))  # the first is that of the store
                old.close()
            del old, collector, read_pages, chosen  # closes their files
        generation.enter_context(manifests.new_generation(root / f"index-{_next_index(root, manifest)}"))
        with ThreadPoolExecutor(1) as thread:  # flush the store to the disk while the index is built
            synced = thread.submit(sync, root / manifest.folder)
            manifest = replace(manifest, index=_write_index(root, manifest, strategy, given, context, replaced))
            if answers:  # before the manifest: a build that is killed after it would leave an index without them
                manifest = _with_answers(root, manifest, answers, context)
            synced.result()
        manifests.write_manifest(root, manifest)
    manifests.remove_old(root, manifest)
    spool.remove()
    return Built(Store(root, manifest), read, reused, changed=True)


def _shards_before(root: Path) -> int:
    """The number of shards of the present store."""
    try:
        return min(manifests.read_manifest(root).shards, MOST_SHARDS)
    except (StoreError, MisuseError):
        return 1


def _usable(root: Path, fingerprint: dict[str, Any]) -> Store | None:
    """The present store, if it was read with the same settings and none of its files is damaged."""
    if not (root / manifests.NAME).exists():
        return None
    try:
        manifest = manifests.read_manifest(root)
    except StoreError:
        return None
    same = {"reader": manifest.reader, "settings": manifest.settings} == fingerprint
    if not same or manifests.damaged_files(root, manifest):
        return None
    try:
        store = Store(root, manifest)
    except StoreError:
        return None
    try:
        store.verify()
    except StoreError:
        store.close()
        return None
    return store


def _has_vectors(root: Path) -> bool:
    """Whether the present index has vectors that were given to a build."""
    try:
        return "vectors" in (manifests.read_manifest(root).index or {})
    except (StoreError, MisuseError):
        return False


def _is_indexed(manifest: Manifest, strategy: Strategy, given: VectorFile | None) -> bool:
    facts, wanted = manifest.index, (INDEX_VERSION, strategy.as_dict(), _GROUPS.as_dict())
    if facts is None or (facts["version"], facts["strategy"], facts["duplicates"]["settings"]) != wanted:
        return False
    return given is None or facts["vectors"]["sha256"] == given.digest


def _read_pages(
    collection: SourceSet, collector: PageCollector, spool: Spool, fingerprint: dict[str, Any], context: _BuildContext
) -> tuple[ReadPages, int]:
    """Read all sources; return everything that was read, and how many of the pages were read now."""
    done, total = 0, collection.size
    context.progress(Progress("reading", done, total))
    batches: list[Path | CheckedReading] = []
    if isinstance(context.pool, SparkPool):
        return _read_on_spark(collection, collector, spool, fingerprint, context)
    read = partial(read_job, collection.settings, fingerprint)
    jobs = _jobs(collection, collector, spool, 0 if context.pool.processes else _READ_AGAIN)
    for batch, size in run(read, jobs, context.pool):
        done += size
        context.progress(Progress("reading", min(done, total), total))
        batches.append(batch)
    return collector.collected(batches)


def _jobs(collection: SourceSet, collector: PageCollector, spool: Spool, in_memory: int) -> Iterator[Job]:
    """Batches of the captures that must be read; the first ones, of about `in_memory` bytes, have no place."""
    items = filter(collector.must_read, collection.items(collector.is_unchanged))
    again = filter(collection.is_included, collector.captures_that_win_again(collection.sources))
    captures, places = chain(items, again), spool.places()
    while batch := next(in_batches(captures, _SMALL_JOB_BYTES if in_memory > 0 else _JOB_BYTES, _JOB_PAGES), None):
        yield None if in_memory > 0 else next(places), batch
        in_memory -= sum(capture.weight for capture in batch)


def _read_on_spark(
    collection: SourceSet, collector: PageCollector, spool: Spool, fingerprint: dict[str, Any], context: _BuildContext
) -> tuple[ReadPages, int]:
    """The same on the executors of Spark, which share the folder of the spool with the driver."""
    pool = context.pool
    assert isinstance(pool, SparkPool)
    context.enter("reading on Spark")
    spool.folder.mkdir(parents=True, exist_ok=True)
    read = partial(read_split, spool.folder.absolute(), collection.settings, fingerprint)
    splits = list(splits_of(collection, fingerprint, collector.must_read))
    finished = read_splits(partial(pool.run, read), spool.folder, splits, fingerprint)
    context.enter("collecting what was read")
    revisiting = {split.source and split.source.name for split, place in finished if record_split(collector, place)}
    verified = pool.run(verified_batches, [place.absolute() for _, place in finished])
    batches: list[Path | CheckedReading] = list(chain.from_iterable(verified))
    for source in collection.sources:  # now on the driver: an original may be in any archive
        if source.name in revisiting:
            deque(source.items(lambda _: False), maxlen=0)
    again = filter(collector.must_read, collection.revisits())
    jobs = zip(spool.places(), in_batches(again), strict=False)
    batches += [place for place, _ in run(partial(read_job, collection.settings, fingerprint), jobs, WorkerPool(1))]
    return collector.collected_items(batches), 0  # the executors count the pages


def _choose(
    read_pages: ReadPages, read: int, settings: ReadingSettings, spool: Spool, context: _BuildContext
) -> tuple[SelectedPages | ChosenPages, int]:
    """The pages of the store, and the number of pages that were read."""
    if isinstance(context.pool, SparkPool):
        chosen = choose_pages(context.pool, spool.folder, read_pages, settings)
        return chosen, chosen.read.total()
    return select_pages(read_pages, settings), read


def _write_store(
    folder: Path,
    read_pages: ReadPages,
    chosen: SelectedPages | ChosenPages,
    settings: ReadingSettings,
    first: Int64s,
    spool: Spool,
    context: _BuildContext,
) -> tuple[dict[str, int], dict[str, int]]:
    """Write the files of a store by the engine; return the counts and the skips by reason."""
    if isinstance(chosen, SelectedPages):
        return write_store(folder, read_pages, chosen, settings, context.enter, context.pool.map)
    assert isinstance(context.pool, SparkPool)
    every = (folder, read_pages, chosen, settings, first, context.enter)
    return write_store_on_executors(context.pool, spool.folder, *every)


def _next_index(root: Path, manifest: Manifest) -> int:
    """The number of the next index of a store: another than that of the present index, which answers until then."""
    try:
        present = int((manifests.read_manifest(root).index or {}).get("generation", 0))
    except (StoreError, MisuseError):  # then none of them answers
        present = 0
    return max(manifest.generation, present + 1)


def _write_index(
    root: Path,
    manifest: Manifest,
    strategy: Strategy,
    given: VectorFile | None,
    context: _BuildContext,
    replaced: _Replaced | None = None,
) -> dict[str, Any]:
    """Write bags, signatures, inverted index and fingerprints of the store; return their entry in the manifest."""
    generation, stages = _next_index(root, manifest), context.stages(root)
    folder = root / f"index-{generation}"
    with closing(Store(root, manifest)) as store:
        written = _write_bags(folder, store, strategy, given, context, replaced)
        first, nodes = open_shards(store.folder, len(store)), store.nodes
    divide_index = partial(divide, folder, first, nodes, INDEX_CUTS, stages.each)
    if manifest.shards > 1:
        context.enter(DIVIDING)
    divide_index()
    facts: dict[str, Any] = {
        "generation": generation,
        "version": INDEX_VERSION,
        "strategy": strategy.as_dict(),
        "blend": {"scales": {}, "chance": 0.0},
        **written,
        "files": stages.checksums(folder),
    }
    context.enter("calibrating")
    with closing(IndexedStore(root, replace(manifest, index=facts))) as indexed:
        (facts["blend"],) = stages.each(calibrate, [indexed])
        if NEIGHBOURS in strategy.weights_of_evidences():
            context.enter("neighbours")
            write_neighbours(folder, indexed, indexed.blend_for_neighbours, stages)
    divide_index()
    context.enter("checksums")
    facts["files"] |= stages.checksums(folder, facts["files"])
    return facts


def _write_bags(
    folder: Path,
    store: Store,
    strategy: Strategy,
    given: VectorFile | None,
    context: _BuildContext,
    replaced: _Replaced | None,
) -> dict[str, Any]:
    """Write what needs no calibration; return the entries of near-duplicates and of vectors in the manifest."""
    context.enter("making bags")
    pool, stages, source = context.pool, context.stages(store.root), BagSource.of(store)
    ignored = ignored_parts(source, strategy)
    write_chunks = partial(_write_chunks, store, folder, ignored.words, replaced, stages)
    # Kernels cut chunks while Python code works on the rest.
    beside = WorkerPool(1) if isinstance(pool, SparkPool) else pool
    with beside.beside(write_chunks) as fingerprints, TemporaryFile(dir=folder) as file:
        elsewhere = partial(folded_on_executors, stages, store) if isinstance(pool, SparkPool) else None
        folded = fold_bags(source, strategy, file, pool.map, elsewhere, ignored)
        context.enter("weighing and signing")
        signed = len(folded.evidence) if strategy.outside else len(store.nodes) - 1
        write_signed_bags(folder, folded, signed, stages)
        if "latent" in strategy.weights_of_evidences():
            context.enter("latent dimensions")
            write_latent(folder, folded, stages)
        context.enter("inverting")
        write_inverted(folder, np.flatnonzero(store.in_degrees()[:signed] >= strategy.min_in_links), stages)
        write_link_statistics(folder, store, folded.counting_links)
        stopped = stop_words(strategy.language) if strategy.stemming == "stopstem" else ()
        write_titles(folder, store.node_titles(), stopped)
        vectors = {}
        if given is not None:
            context.enter("vectors")
            find = store.catalog.page_names().find
            vectors = {"vectors": write_given_vectors(folder, given, find, len(store.nodes) - 1, stages)}
        context.enter("near-duplicates")
        return {"duplicates": fingerprints(), **vectors}


def _write_chunks(
    store: Store,
    folder: Path,
    ignored: Bytes,
    replaced: _Replaced | None,
    stages: Stages,
    wanted: Callable[[], bool],
) -> dict[str, Any]:
    """Write the fingerprints of all pages, as long as they are wanted; return their entry in the manifest."""
    earlier = replaced and _earlier_chunks(replaced, store, ignored)
    return write_fingerprints(folder, ChunkSource(store, ignored, _GROUPS, earlier), stages, wanted)


def _earlier_chunks(replaced: _Replaced, store: Store, ignored: Bytes) -> EarlierChunks | None:
    """The chunks of pages that are as they were; None if the index has none that were cut in the same way."""
    index = replaced.manifest.index
    if index is None or (index["version"], index["duplicates"]["settings"]) != (INDEX_VERSION, _GROUPS.as_dict()):
        return None
    with suppress(StoreError), closing(IndexedStore(store.root, replaced.manifest)) as old:
        ignored_before = ignored_parts(BagSource.of(old), old.index.strategy).words
        blocks = (old.reading.blocks, store.reading.blocks)
        return EarlierChunks.of(old.fingerprints.chunks, replaced.row, blocks, (ignored_before, ignored))
    return None


def index_store(
    root: Path, manifest: Manifest, strategy: Strategy, threads: int, progress: Callable[[Progress], None]
) -> Manifest:
    """Index a store without an index, and without a written manifest; its manifest with the index.

    Vectors that were given to a build are left out.
    """
    context = _BuildContext(WorkerPool(threads), progress)
    (root / f"index-{_next_index(root, manifest)}").mkdir()
    return replace(manifest, index=_write_index(root, manifest, strategy.without_vectors(), None, context))
