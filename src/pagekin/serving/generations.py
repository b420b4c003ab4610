"""The generation of a collection that is being served, and its replacement by a newer one."""

import hashlib
import logging
import math
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from pagekin.collection.collection import Collection
from pagekin.errors import MisuseError, PagekinError, StoreError
from pagekin.kernels import precompile
from pagekin.links.clusters import Clusters
from pagekin.links.settings import LinkOptions
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.link_analysis import LinkAnalysis, analyse_links
from pagekin.search.options import RelatedOptions
from pagekin.serving.kept import AnswerLookup
from pagekin.store.manifest import NAME, damaged_files

Result = TypeVar("Result")

_CLUSTERS = 4  # pages whose clusters are cached; each can take 60 MB
_ATTEMPTS = 5  # a store may be rebuilt while it is opened
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds until a generation that cannot be opened is tried again

log = logging.getLogger("pagekin.serving")


class Generation:
    """A generation of a collection with all its files open, and results that are computed once for it."""

    def __init__(self, indexed: IndexedStore, tag: str, files: "dict[Path, FileStamp | None]") -> None:
        self.indexed = indexed
        self._files = files
        self.collection = Collection(indexed)
        self.lookup = AnswerLookup(indexed)
        self.tag = tag  # different for every generation
        self._results: dict[object, object] = {}
        self._locks: dict[object, threading.Lock] = {}
        # Not a bound method: a cycle would keep a replaced generation, with its clusters, until the collector runs.
        unowned = weakref.proxy(self)
        self._clusters = lru_cache(_CLUSTERS)(lambda measure, node: _compute_clusters(unowned, measure, node))

    @property
    def number(self) -> int:
        return self.indexed.manifest.generation

    def changed_file(self) -> Path | None:
        """Return a file whose content was changed or truncated since it was opened, if any.

        A file that was deleted or replaced stays as it was for those who have it open.
        """
        for path, opened in self._files.items():
            now = _stamp(path)
            if opened is not None and now is not None and now != opened and now.inode == opened.inode:
                return path
        return None

    def compute_once(self, key: object, compute: Callable[[], Result]) -> Result:
        """Return the result of the first `compute()` for this key. Other threads block until it is there."""
        with self._locks.setdefault(key, threading.Lock()):
            if key not in self._results:
                self._results[key] = compute()
        return self._results[key]  # type: ignore[return-value]

    def analyse_links(self, measure: str = "amsler") -> LinkAnalysis:
        return self.compute_once(("links", measure), lambda: analyse_links(self.indexed, LinkOptions(measure=measure)))

    @contextmanager
    def clusters(self, name: str, measure: str = "amsler") -> Iterator[tuple[LinkAnalysis, Clusters]]:
        """Give exclusive access to the clusters around a page.

        Those of the last few pages are cached, so that a slider responds quickly. `Clusters` has one work buffer, so
        only one thread can use it at a time.
        """
        analysis = self.analyse_links(measure)
        clusters, lock = self._clusters(measure, analysis.node(name))
        with lock:
            yield analysis, clusters


def _compute_clusters(generation: Generation, measure: str, node: int) -> tuple[Clusters, threading.Lock]:
    return generation.analyse_links(measure).clusters(node), threading.Lock()


class CurrentGeneration:
    """Holds the open generation. Thread-safe: `generation` changes in one step from one complete one to another."""

    def __init__(self, root: str | Path, clock: Callable[[], float] = time.monotonic, *, trusted: bool = True) -> None:
        """Open the store. One that is not trusted may be being changed: it is served as soon as it is sound."""
        self.root = Path(root)
        self.error = ""  # why the newest generation cannot be served, if so
        self._clock = clock
        self._pause, self._retry_at = _FIRST_PAUSE, math.inf if trusted else -math.inf
        self._lock = threading.Lock()
        self._stamp = _stamp(self.root / NAME)
        self._generation: Generation | None = None
        if trusted:
            self._generation = open_generation(self.root)
        else:
            self._generation = self.open_newer()

    @property
    def is_open(self) -> bool:
        return self._generation is not None

    @property
    def generation(self) -> Generation:
        """The generation that is served. Raise StoreError if there is none."""
        if self._generation is None:
            raise StoreError(f"no generation of {self.root} can be served: {self.error}")
        return self._generation

    @generation.setter
    def generation(self, new: Generation) -> None:
        self._generation = new

    @property
    def number(self) -> int:
        return self._generation.number if self._generation is not None else 0

    @property
    def pages(self) -> int:
        return len(self._generation.indexed) if self._generation is not None else 0

    def open_newer(self) -> Generation | None:
        """Open the generation that was built since the last call, if any, or that could not be opened, after a pause.

        If files of the present one were changed in place, nothing is served until all files match their checksums.
        Blocks while the generation is opened.
        """
        with self._lock:
            changed = self._generation.changed_file() if self._generation is not None else None
            if changed is not None:
                self.report(StoreError(f"{changed} was changed in place; rename a new store to {self.root} instead"))
                self._generation = None
            stamp = _stamp(self.root / NAME)
            if changed is None and stamp == self._stamp and self._clock() < self._retry_at:
                return None
            if stamp != self._stamp:
                self._pause = _FIRST_PAUSE
            self._stamp, self._retry_at = stamp, math.inf
            try:
                new = open_generation(self.root, check=self._generation is None)
            except Exception as error:
                self.report(error)
                return None
            self.error = ""
            return None if self._generation is not None and new.tag == self._generation.tag else new

    def report(self, error: Exception) -> None:
        """Note why the newest generation cannot be served, and when to try again: after 1 second, 2, 4, up to 60."""
        self._retry_at = self._clock() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        reason = str(error) if isinstance(error, PagekinError) else f"unexpected {type(error).__name__}"
        reason = reason.replace(f"{self.root}{os.sep}", "").replace(str(self.root), "the store")
        if reason != self.error:
            trace = None if isinstance(error, PagekinError) else error
            log.warning("the newest generation of %s cannot be served: %s", self.root, reason, exc_info=trace)
        self.error = reason


class FileStamp(NamedTuple):
    """What changes when a file is replaced (inode) or written to."""

    inode: int
    modified: int
    size: int


def _stamp(path: Path) -> FileStamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return FileStamp(found.st_ino, found.st_mtime_ns, found.st_size)


def open_generation(root: Path, check: bool = False) -> Generation:
    """Open all files of a store; with `check`, only if all match their checksums."""
    for _ in range(_ATTEMPTS - 1):
        indexed = IndexedStore.open(root)
        try:
            return _open_files(indexed, check)
        except PagekinError:
            if IndexedStore.open(root).manifest == indexed.manifest:
                raise
    return _open_files(IndexedStore.open(root), check)


def _open_files(indexed: IndexedStore, check: bool) -> Generation:
    """Open all files now, including those that open on first use: a later build may delete them."""
    files = {path: _stamp(path) for path in (indexed.root / name for name in indexed.manifest.all_files())}
    for name, problem in damaged_files(indexed.root, indexed.manifest) if check else ():
        raise StoreError(f"{indexed.root / name} {problem}")
    for name in "reading links nodes node_of_target words word_of_form form_counts index fingerprints".split():
        getattr(indexed, name)
    indexed.catalog.rows("SELECT row FROM pages LIMIT 1")
    precompile.load("serve")  # so that no request compiles
    try:  # one query of each kind, so that all modules are loaded before the first request
        if len(indexed):
            indexed.related(indexed.reading.pages.url[0], RelatedOptions(limit=1))
            indexed.related_to(b"a", RelatedOptions(limit=1), plain=True)
    except MisuseError as error:
        raise StoreError(f"{indexed.root} cannot be served: {error}") from error
    tag = hashlib.sha256(repr(indexed.manifest).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Generation(indexed, tag, files)
