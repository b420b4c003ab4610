"""The pages that earlier builds have read: those of the old store, and those that a killed build left in the spool."""

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
    """Finds the earlier reading of a capture with the same file, offset, size, time and URL."""

    def __init__(self, store: Store | None, spooled: Sequence[Path]) -> None:
        self.store = store
        self.places: list[Reading | Path] = [*([store.reading] if store is not None else []), *spooled]
        self._redirects = store.catalog.redirects() if store is not None else []
        self._older = store.catalog.older() if store is not None else []
        self._skips = store.catalog.skips(decided=False) if store is not None else []
        self._complete: dict[tuple[str, int, int], int] = {}  # source -> its number in the old store
        if store is not None:
            sources = store.reading.sources
            self._complete = {key: k for k, key in enumerate(sources.identities()) if sources.whole[k]}
        self._rows: dict[bytes, int] = {}  # the number of a reading and the row in it, as one integer
        for number, reading in enumerate(Readings(self.places)):
            self._add(number, reading)

    def close(self) -> None:
        """Close the old store, so that its files can be removed."""
        if self.store is not None:
            self.store.close()

    def _add(self, number: int, reading: Reading) -> None:
        sources = reading.sources.identities()
        pages = reading.pages
        rows = zip(pages.source.tolist(), pages.offset.tolist(), pages.url, pages.captured.tolist(), strict=True)
        for row, (source, offset, url, captured) in enumerate(rows):
            name, size, modified = sources[source]
            self._rows[_digest(name, offset, size, modified, url, captured)] = number << _ROW_BITS | row

    def is_unchanged(self, origin: Origin) -> bool:
        """Whether an archive has not changed since the old store was built, and the store holds all of it."""
        return (origin.source, origin.size, origin.modified) in self._complete

    def rows_of(self, origin: Origin) -> Int64s:
        """The rows of the old store that came from an unchanged archive."""
        assert self.store is not None
        number = self._complete[(origin.source, origin.size, origin.modified)]
        return np.flatnonzero(self.store.reading.pages.source == number)

    def find(self, capture: Capture) -> tuple[int, int] | None:
        """(reading, row) of an earlier reading of this capture."""
        origin = capture.origin
        key = _digest(origin.source, origin.offset, origin.size, origin.modified, capture.url, capture.captured)
        place = self._rows.get(key)
        return None if place is None else (place >> _ROW_BITS, place & ((1 << _ROW_BITS) - 1))

    @property
    def has_older(self) -> bool:
        """Whether the old store dropped any capture in favour of a newer one."""
        return bool(self._older)

    def notes_of(self, source: str) -> tuple[list[Redirect], list[Skip], list[tuple[str, Rank]]]:
        """The redirects and skips of an unchanged archive, and its captures that were dropped for newer ones."""
        redirects = [redirect for redirect in self._redirects if redirect.origin.source == source]
        skips = [skip for skip in self._skips if skip.source == source]
        return redirects, skips, [(url, rank) for url, rank in self._older if rank.source == source]

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


def _digest(*facts: str | int) -> bytes:
    """A short key for a capture: there may be millions, with long names and URLs."""
    return blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
