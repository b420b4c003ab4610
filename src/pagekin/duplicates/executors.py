"""The fingerprints of pages are made by the executors of Spark, range by range."""

from collections.abc import Iterator
from typing import NamedTuple

from pagekin.duplicates.chunks import chunk_ranges, chunks_of_range
from pagekin.duplicates.filters import Chunks
from pagekin.duplicates.fingerprints import Fingerprints, filters_of
from pagekin.duplicates.settings import GroupSettings
from pagekin.model.arrays import Array, Bytes
from pagekin.model.reading import CheckedReading
from pagekin.store.stage_files import Stages
from pagekin.store.store import Store


class _Source(NamedTuple):
    store: Store
    ignored: Bytes
    settings: GroupSettings


def fingerprints_on_executors(
    stages: Stages, store: Store, ignored: Bytes, settings: GroupSettings
) -> Iterator[Fingerprints]:
    """The chunks and filters of all pages, in parts."""
    source, ranges = _Source(store, ignored, settings), list(chunk_ranges(store.reading))
    for columns in stages.map("chunks", _chunks, source, ranges):
        found = dict(columns)
        words = found.pop("filters")
        yield Fingerprints(settings, Chunks(**found), words)


def _chunks(source: _Source, rows: range) -> dict[str, Array]:
    reading = CheckedReading(source.store.reading)  # the driver has checked it
    chunks = chunks_of_range(reading, source.ignored, source.settings, rows)
    return {**vars(chunks), "filters": filters_of(chunks, source.settings)}
