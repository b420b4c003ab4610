"""Sources are read, pages are chosen, and a store is written: by this machine or by the executors of Spark."""

from collections import deque
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from pagekin.engines.local import WorkerPool, run
from pagekin.engines.spark import SparkPool
from pagekin.model.arrays import Int64s
from pagekin.model.capture import MiB, ReadingSettings
from pagekin.model.progress import Progress
from pagekin.model.reading import CheckedReading
from pagekin.pipeline.context import BuildContext
from pagekin.sources.open import SourceSet
from pagekin.store.choose import ChosenPages, choose_pages
from pagekin.store.collect import PageCollector, Spool
from pagekin.store.executors import write_store_on_executors
from pagekin.store.select import ReadPages, SelectedPages, select_pages
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
from pagekin.store.write import write_store

_JOB_BYTES = 16 * MiB
_SMALL_JOB_BYTES = 4 * MiB  # its arrays are short: malloc reuses freed memory instead of mapping new pages
_JOB_PAGES = 8000  # reached only by small pages
_READ_AGAIN = 192 * MiB  # of captures that are kept in memory: reading them again takes about two seconds


def read_sources(
    collection: SourceSet, collector: PageCollector, spool: Spool, fingerprint: dict[str, Any], context: BuildContext
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
    collection: SourceSet, collector: PageCollector, spool: Spool, fingerprint: dict[str, Any], context: BuildContext
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


def choose(
    read_pages: ReadPages, read: int, settings: ReadingSettings, spool: Spool, context: BuildContext
) -> tuple[SelectedPages | ChosenPages, int]:
    """The pages of the store, and the number of pages that were read."""
    if isinstance(context.pool, SparkPool):
        chosen = choose_pages(context.pool, spool.folder, read_pages, settings)
        return chosen, chosen.read.total()
    return select_pages(read_pages, settings), read


def write_chosen(
    folder: Path,
    read_pages: ReadPages,
    chosen: SelectedPages | ChosenPages,
    settings: ReadingSettings,
    first: Int64s,
    spool: Spool,
    context: BuildContext,
) -> tuple[dict[str, int], dict[str, int]]:
    """Write the files of a store by the engine; return the counts and the skips by reason."""
    if isinstance(chosen, SelectedPages):
        return write_store(folder, read_pages, chosen, settings, context.enter, context.pool.map)
    assert isinstance(context.pool, SparkPool)
    every = (folder, read_pages, chosen, settings, first, context.enter)
    return write_store_on_executors(context.pool, spool.folder, *every)
