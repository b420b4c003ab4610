"""What earlier builds have read already: the old store, and what a killed build left in the spool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from pagekin.model.arrays import Int64s
from pagekin.model.capture import Capture, Origin, Rank, Redirect, Skip
from pagekin.model.reading import Reading
from pagekin.store.spool import Readings
from pagekin.store.store import Store

_ROW_BITS = 40


class KnownPages:
    """Finds the earlier reading of a capture: same file, same place in it, same size, time and URL."""

    def __init__(self, store: Store | None, spooled: Sequence[Path]) -> None:
        self.store = store
        self.places: list[Reading | Path] = [*([store.reading] if store is not None else []), *spooled]
        self._redirects = store.catalog.redirects() if store is not None else []
        self._older = store.catalog.older() if store is not None else []
        self._skips = store.catalog.skips(decided=False) if store is not None else []
        self._whole = self._whole_sources()
        self._rows: dict[bytes, int] = {}  # number of a reading and row in it, as one
        for number, reading in enumerate(Readings(self.places)):
            self._note(number, reading)

    def close(self) -> None:
        """Let go of the old store, so that its files can be removed."""
        if self.store is not None:
            self.store.close()

    def _whole_sources(self) -> dict[tuple[str, int, int], int]:
        if self.store is None:
            return {}
        sources = self.store.reading.sources
        keys = zip(sources.name, sources.size.tolist(), sources.modified.tolist(), strict=True)
        return {key: k for k, key in enumerate(keys) if sources.whole[k]}

    def _note(self, number: int, reading: Reading) -> None:
        sources = list(
            zip(reading.sources.name, reading.sources.size.tolist(), reading.sources.modified.tolist(), strict=True)
        )
        pages = reading.pages
        rows = zip(pages.source.tolist(), pages.offset.tolist(), pages.url, pages.captured.tolist(), strict=True)
        for row, (source, offset, url, captured) in enumerate(rows):
            name, size, modified = sources[source]
            self._rows[_digest(name, offset, size, modified, url, captured)] = number << _ROW_BITS | row

    def is_unchanged(self, origin: Origin) -> bool:
        """Whether a whole archive is as it was when the store was built, and all of it is in the store."""
        return (origin.source, origin.size, origin.modified) in self._whole

    def rows_of(self, origin: Origin) -> Int64s:
        """The rows of the old store that came from an unchanged archive."""
        assert self.store is not None
        number = self._whole[(origin.source, origin.size, origin.modified)]
        return np.flatnonzero(self.store.reading.pages.source == number)

    def find(self, capture: Capture) -> tuple[int, int] | None:
        """(reading, row) of an earlier reading of this capture."""
        origin = capture.origin
        key = _digest(origin.source, origin.offset, origin.size, origin.modified, capture.url, capture.captured)
        place = self._rows.get(key)
        return None if place is None else (place >> _ROW_BITS, place & ((1 << _ROW_BITS) - 1))

    @property
    def has_older(self) -> bool:
        """Whether any capture lost to a newer one in the old store."""
        return bool(self._older)

    def older_of(self, source: str) -> list[tuple[str, Rank]]:
        """The captures of an unchanged archive that lost to newer ones and are not in the store."""
        return [(url, rank) for url, rank in self._older if rank.source == source]

    def ranks(self, rows: Int64s) -> Iterator[tuple[str, Rank]]:
        """(URL, rank) of rows of the old store."""
        assert self.store is not None
        reading = self.store.reading
        names = list(reading.sources.name)
        urls = reading.pages.url.all_raw()
        for row in rows.tolist():
            source = names[int(reading.pages.source[row])]
            rank = Rank(int(reading.pages.captured[row]), source, int(reading.pages.offset[row]))
            yield urls[row].decode("utf-8"), rank

    def redirects_of(self, source: str) -> list[Redirect]:
        """The redirects that an archive held."""
        return [redirect for redirect in self._redirects if redirect.origin.source == source]

    def skips_of(self, source: str) -> list[Skip]:
        """What was skipped in an archive."""
        return [skip for skip in self._skips if skip.source == source]


def _digest(*facts: str | int) -> bytes:
    """Short for what tells captures apart: there may be millions, and their names and URLs are long."""
    return blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
