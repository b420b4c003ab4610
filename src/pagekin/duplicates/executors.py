"""The chunks of pages are found by the executors of Spark, range by range."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pagekin.duplicates.chunks import chunk_ranges, chunks_of_range
from pagekin.duplicates.filters import Chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.engines.spark import SparkPool
from pagekin.model.arrays import Array, Bytes
from pagekin.model.reading import CheckedReading
from pagekin.store.manifest import Manifest
from pagekin.store.stage_files import StageFile, read_stage, run_stage, write_stage
from pagekin.store.store import Store


def chunks_on_executors(
    pool: SparkPool, store: Store, folder: Path, ignored: Bytes, settings: GroupSettings
) -> Iterator[Chunks]:
    """The chunks of all pages, in parts; `folder`, for files that are removed later, is seen by all executors."""
    marks = write_stage(folder, "ignored", {"ignored": ignored})
    cut = partial(_chunks, store.root.absolute(), store.manifest, marks, settings)
    depends_on = (marks.digest, settings, sorted(store.manifest.files.items()))
    for file in run_stage(pool, folder, "chunks", cut, list(chunk_ranges(store.reading)), depends_on):
        yield Chunks(**read_stage(file))


def _chunks(root: Path, manifest: Manifest, marks: StageFile, settings: GroupSettings, rows: range) -> dict[str, Array]:
    reading = CheckedReading(Store(root, manifest).reading)  # the driver has checked it
    return dict(vars(chunks_of_range(reading, read_stage(marks)["ignored"], settings, rows)))
