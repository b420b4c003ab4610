"""The generation of a collection that is served now, and the next one as soon as it is complete."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pagekin.errors import MisuseError, PagekinError, StoreError
from pagekin.links.clusters import Clusters
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.link_analysis import LinkAnalysis, analyse_links
from pagekin.search.options import RelatedOptions
from pagekin.store.manifest import NAME

Made = TypeVar("Made")

_NEAR = 4  # surroundings that are kept; each may have some 60 MB
_TRIES = 5  # a store may be built again while it is opened


@dataclass(frozen=True)
class _Surroundings:
    clusters: Clusters
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class Generation:
    """A generation of a collection with all its files open, and what is made of it once and kept with it."""

    indexed: IndexedStore
    tag: str  # differs from that of any other generation
    _made: dict[object, object] = field(default_factory=dict)
    _locks: dict[object, threading.Lock] = field(default_factory=dict)
    _near: dict[tuple[str, int], _Surroundings] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def number(self) -> int:
        """Of the generation; builds count them."""
        return self.indexed.manifest.generation

    def kept(self, key: object, make: Callable[[], Made]) -> Made:
        """What `make` makes, made once: for what is dear and the same for every request. It blocks."""
        with self._locks.setdefault(key, threading.Lock()):
            if key not in self._made:
                self._made[key] = make()
        return self._made[key]  # type: ignore[return-value]

    def analyse_links(self, measure: str = "amsler") -> LinkAnalysis:
        """The links of the collection, measured."""
        return self.kept(("links", measure), lambda: analyse_links(self.indexed, measure))

    @contextmanager
    def surroundings(self, name: str, measure: str = "amsler") -> Iterator[tuple[LinkAnalysis, Clusters]]:
        """The pages around a page; those of the last few pages are kept, so that a slider moves at once.

        While they are looked at nobody else looks at them: they have one desk.
        """
        measured = self.analyse_links(measure)
        around = self._around(measured, measured.node(name))
        with around.lock:
            yield measured, around.clusters

    def _around(self, measured: LinkAnalysis, node: int) -> _Surroundings:
        key = (measured.measure, node)
        with self._lock:
            found = self._near.pop(key, None)
            if found is not None:
                self._near[key] = found
                return found
        made = _Surroundings(measured.clusters_around(node))
        with self._lock:
            self._near[key] = made
            while len(self._near) > _NEAR:
                del self._near[next(iter(self._near))]
        return made


class CurrentGeneration:
    """Owns the open generation. Thread-safe: `present` changes in one step, from one complete generation to another."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self.trouble = ""  # why the newest generation cannot be served, if so
        self._looking = threading.Lock()
        self._seen = self._mark()
        self.present = opened(self.root)

    def look(self) -> bool:
        """Whether there was a new generation, which is now the present one. It blocks while that is opened."""
        new = self.newer()
        if new is not None:
            self.switch(new)
        return new is not None

    def newer(self) -> Generation | None:
        """A generation that has been built since, all of its files open. It blocks while they are opened."""
        with self._looking:
            mark = self._mark()
            if mark == self._seen:
                return None
            self._seen = mark
            try:
                new = opened(self.root)
            except PagekinError as error:
                self.trouble = str(error)
                return None
            self.trouble = ""
            return None if new.tag == self.present.tag else new

    def switch(self, new: Generation) -> None:
        """Serve another generation from now on."""
        self.present = new

    def _mark(self) -> tuple[int, int, int] | None:
        """What changes when a manifest is put in place; cheap enough to be asked for every second."""
        try:
            found = (self.root / NAME).stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


def opened(root: Path) -> Generation:
    """The generation that the manifest names, all of its files open."""
    for _ in range(_TRIES - 1):
        indexed = IndexedStore.open(root)
        try:
            return _touched(indexed)
        except PagekinError:
            if IndexedStore.open(root).manifest == indexed.manifest:
                raise
    return _touched(IndexedStore.open(root))


def _touched(indexed: IndexedStore) -> Generation:
    """Open all files, also those that are opened when first looked at: they may be gone by then."""
    _ = (
        indexed.reading,
        indexed.links,
        indexed.nodes,
        indexed.node_of_target,
        indexed.words,
        indexed.word_of_form,
        indexed.form_counts,
    )
    _ = indexed.index, indexed.fingerprints
    indexed.catalog.rows("SELECT row FROM pages LIMIT 1")
    _rehearse(indexed)
    tag = hashlib.sha256(repr(indexed.manifest).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Generation(indexed, tag)


def _rehearse(indexed: IndexedStore) -> None:
    """Ask a question of each kind, so that kernels are loaded before somebody waits for them."""
    if not len(indexed):
        return
    try:
        indexed.related(indexed.reading.pages.url[0], RelatedOptions(limit=1))
        indexed.related_to(b"a", RelatedOptions(limit=1), plain=True)
    except MisuseError as error:
        raise StoreError(f"{indexed.root} cannot be served: {error}") from error
