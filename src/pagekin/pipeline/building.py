"""A build from sources to an index that is in place."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.engines.hadoop import fetch, needs_hadoop
from pagekin.engines.local import worker_pool
from pagekin.engines.spark import SparkPool, spark_pool
from pagekin.errors import MisuseError, StoreError
from pagekin.latent.given import VectorFile, open_vector_file
from pagekin.model.capture import MiB, ReadingSettings
from pagekin.model.progress import Progress
from pagekin.model.strategy import PRESETS, Strategy
from pagekin.pipeline.answers import answers_before, checked_answers, update_answers, with_answers
from pagekin.pipeline.context import DIVIDING, BuildContext, Built, Replaced, engine_pool
from pagekin.pipeline.indexing import is_indexed, next_index, write_index
from pagekin.pipeline.reading import choose, read_sources, write_chosen
from pagekin.search.evidence import check_names
from pagekin.sources.open import SourceSet, open_sources
from pagekin.store import manifest as manifests
from pagekin.store.collect import PageCollector, Spool
from pagekin.store.columns import MOST_SHARDS, SHARDS, open_array, reporting_errors, sync
from pagekin.store.manifest import Manifest
from pagekin.store.select import SelectedPages, check_number_of_pages
from pagekin.store.shards import STORE_CUTS, check_shards, divide, first_pages
from pagekin.store.store import Store

_WORK_FOR_PROCESSES = 512 * MiB  # with less work, processes take longer to start than they save

# The most memory that a build takes, as measured by benchmarks/growth.py.
_COLLECTING = 1536 * MiB  # this process, for a million pages
_READING = 384 * MiB  # each reading process
LEAST_MEMORY = _COLLECTING + _READING
MEMORY = 4096 * MiB


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
    with reporting_errors(root), manifests.locked_folder(root), engine_pool(engine, master, pool) as chosen:
        context = BuildContext(chosen, progress, allow_shrink)
        limit = checked_answers(answers_before(root) if answers is None else answers)
        built = _build(collection, root, strategy, given, limit, shards, context)
        kept = update_answers(root, built.store.manifest, limit, context)
        return built if kept is built.store.manifest else replace(built, store=Store(root, kept), changed=True)


def _absolute(source: str | Path) -> Path:
    """The absolute path of a source, or of an @LIST of sources: executors have other current directories."""
    is_list = str(source).startswith("@") and not Path(source).exists()
    return Path(f"@{Path(str(source)[1:]).absolute()}") if is_list else Path(source).absolute()


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
    context: BuildContext,
) -> Built:
    settings = collection.settings
    fingerprint: dict[str, Any] = {"reader": manifests.READER, "settings": settings.as_dict()}
    inputs = collection.fingerprint()
    spool = Spool(root / manifests.SPOOL, fingerprint)
    old, same = _usable(root, fingerprint, lambda before: before.inputs == inputs and shards in (None, before.shards))
    if old is not None and same:
        manifest, read, reused = old.manifest, 0, len(old)
        if is_indexed(manifest, strategy, given):
            manifests.remove_old(root, manifest)  # a killed build may have left some
            spool.remove()
            return Built(old, read, reused, changed=False)
    if strategy.uses_vectors and given is None:
        raise MisuseError(
            f"{root} was built with vectors of its pages, and its pages or settings are others now; give their vectors"
            " with --vectors FILE, or build another store to do without"
        )
    replaced = None if old is None else Replaced(old.manifest, np.arange(len(old)))
    with ExitStack() as generation:  # of folders that are removed if the build fails
        if not same:
            spooled = [] if isinstance(context.pool, SparkPool) else spool.open()
            collector = PageCollector(old, spooled, settings)
            read_pages, read = read_sources(collection, collector, spool, fingerprint, context)
            context.enter("choosing pages")
            chosen, read = choose(read_pages, read, settings, spool, context)
            reused = max(0, sum(map(len, read_pages.rows)) - read)  # Spark reuses no pages
            pages, skips = len(chosen), read_pages.skips + chosen.skips
            before, allow_shrink = manifests.pages_before(root), context.allow_shrink
            check_number_of_pages(pages, skips, root, before, allow_shrink, collection.without_pages)
            first = first_pages(min(_shards_before(root), max(1, pages)) if shards is None else shards, pages)
            number = manifests.next_generation(root)
            folder = generation.enter_context(manifests.new_generation(root / f"store-{number}"))
            counts, skipped = write_chosen(folder, read_pages, chosen, settings, first, spool, context)
            if len(first) > 2:
                context.enter(DIVIDING)
            nodes, stages = open_array(folder, "nodes.offsets", np.int64, below=None), context.stages(root)
            divide(folder, first, nodes, STORE_CUTS, stages.each)
            files = stages.checksums(folder)
            manifest = Manifest(number, inputs, settings.as_dict(), counts, skipped, files)
            if old is not None:
                assert isinstance(chosen, SelectedPages)  # Spark builds new stores
                reading, row = chosen.places()
                replaced = Replaced(old.manifest, np.where(reading == 0, row, -1))  # the first is that of the store
                old.close()
            del old, collector, read_pages, chosen  # closes their files
        generation.enter_context(manifests.new_generation(root / f"index-{next_index(root, manifest)}"))
        with ThreadPoolExecutor(1) as thread:  # flush the store to the disk while the index is built
            synced = thread.submit(sync, root / manifest.folder)
            manifest = replace(manifest, index=write_index(root, manifest, strategy, given, context, replaced))
            if answers:  # before the manifest: a build that is killed after it would leave an index without them
                manifest = with_answers(root, manifest, answers, context)
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


def _usable(root: Path, fingerprint: dict[str, Any], is_same: Callable[[Manifest], bool]) -> tuple[Store | None, bool]:
    """The present store, if it was read with the same settings, and whether it is the same as the new one will be.

    No file is damaged that the build uses, which are all files if the store stays.
    """
    if not (root / manifests.NAME).exists():
        return None, False
    try:
        manifest = manifests.read_manifest(root)
    except StoreError:
        return None, False
    same, is_read_alike = is_same(manifest), (manifest.reader, manifest.settings) == tuple(fingerprint.values())
    if not is_read_alike or manifests.damaged_files(root, manifest, lambda name: same or _is_reused(name)):
        return None, False
    store = Store(root, manifest)
    try:
        store.verify() if same else store.verify_reading()
    except StoreError:
        store.close()
        return None, False
    return store, same


def _is_reused(file: str) -> bool:
    """Whether a build of other pages reads a file of the old store: what was read before, chunks, and terms."""
    return file.startswith("store-") or Path(file).name.startswith(("chunks.", "terms.name.", f"{SHARDS}."))


def _has_vectors(root: Path) -> bool:
    """Whether the present index has vectors that were given to a build."""
    try:
        return "vectors" in (manifests.read_manifest(root).index or {})
    except (StoreError, MisuseError):
        return False
