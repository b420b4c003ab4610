"""Batches of captures are read, and whole sources in splits, each by one job on some machine.

A split is an archive, a file of JSON lines, a byte range of one that is large, or some pages of a folder. Its job
writes batches into a folder that all machines share, then a file of facts: the other items of the source, and the
checksum of each batch. A split with facts is finished: neither another attempt nor the next build reads it again,
unless one of its batches is damaged.
"""

import json
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import Any, cast

from pagekin.errors import SourceError, StoreError
from pagekin.model.capture import Capture, MiB, Origin, ReadingSettings, Redirect, Skip, SkipKind, SourceItem
from pagekin.model.reading import CheckedReading
from pagekin.sources.archives import ArchiveSource
from pagekin.sources.folders import FolderSource, PageFile
from pagekin.sources.open import Source, SourceSet
from pagekin.sources.ranges import DivisibleFile, are_adjacent
from pagekin.store.collect import PageCollector, write_batch
from pagekin.store.columns import checksum
from pagekin.urls import host_of

RANGE_BYTES = 64 * MiB  # of a large file
_BYTES, _PAGES = 16 * MiB, 8000  # of a batch; the latter is reached only by small pages

Job = tuple[Path | None, list[Capture]]


def in_batches(captures: Iterable[Capture], size: int = _BYTES, pages: int = _PAGES) -> Iterator[list[Capture]]:
    """Captures in lists of about `size` bytes, and at most `pages` of them."""
    batch: list[Capture] = []
    weight = 0
    for capture in captures:
        batch.append(capture)
        weight += capture.weight
        if weight >= size or len(batch) >= pages:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def read_job(settings: ReadingSettings, fingerprint: dict[str, Any], job: Job) -> tuple[Path | CheckedReading, int]:
    """Read a batch of captures into its place in the spool, or into memory: (place or reading, bytes of captures)."""
    from pagekin.reading.batch import read_captures

    place, captures = job
    # In the order of the store: what is adjacent there is then adjacent in the batch.
    captures = sorted(captures, key=lambda capture: (host_of(capture.url), capture.url))
    reading, size = read_captures(captures, settings), sum(capture.weight for capture in captures)
    if place is None:
        return reading, size
    write_batch(place, reading, fingerprint)
    return place, size


@dataclass(frozen=True)
class Split:
    """A source, or some captures of a folder, for one job; `key` differs if they or the settings have changed."""

    key: str
    source: Source | None = None
    captures: tuple[Capture, ...] = ()

    def items(self, settings: ReadingSettings) -> Iterable[SourceItem]:
        return SourceSet((self.source,), settings).items_of(self.source) if self.source else self.captures


def splits_of(
    collection: SourceSet, fingerprint: dict[str, Any], record: Callable[[SourceItem], Any]
) -> Iterator[Split]:
    """The splits of all sources. Folders are listed now; what they hold besides pages is given to `record`."""
    for source in collection.sources:
        if isinstance(source, DivisibleFile):
            yield from (_split(part, fingerprint) for part in source.in_parts(RANGE_BYTES))
            continue
        if not isinstance(source, FolderSource | PageFile):
            yield _split(source, fingerprint)
            continue
        facts = [fingerprint, source.name, str(source.path)]
        items = list(collection.items_of(source))
        for item in items:
            if not isinstance(item, Capture):
                record(item)
        for captures in in_batches(item for item in items if isinstance(item, Capture)):
            listed = [[each.url, *asdict(each.origin).values()] for each in captures]
            yield Split(_key(facts, listed), captures=tuple(captures))


def _split(source: Source, fingerprint: dict[str, Any]) -> Split:
    part = asdict(source.part) if isinstance(source, DivisibleFile) and source.part else None
    facts = [fingerprint, source.name, str(source.path), part]
    return Split(_key(facts, [list(fact) for fact in source.facts()]), source)


def _key(*facts: Any) -> str:
    return blake2b(json.dumps(facts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def read_split(folder: Path, settings: ReadingSettings, fingerprint: dict[str, Any], split: Split) -> str:
    """Read a split into batches in `folder`, unless that is done; return the name of the file of its facts."""
    if not folder.is_dir():
        raise StoreError(
            f"{folder.parent} cannot be seen on {socket.gethostname()}, where a part of the build runs; name an output"
            " on a file system that the driver and all executors share"
        )
    finished = folder / f"{split.key}.json"  # of the attempt that ended last; any is complete
    if _is_intact(finished):
        return finished.name
    _check_visible(split)
    attempt = f"{split.key}-{token_hex(4)}"
    sources: set[Origin] = set()
    items: list[dict[str, Any]] = []

    def captures() -> Iterator[Capture]:
        for item in split.items(settings):
            if not isinstance(item, Skip):
                assert isinstance(item, Capture | Redirect)
                sources.add(replace(item.origin, offset=0))
            if isinstance(item, Capture):
                yield item
            else:
                items.append(asdict(item))

    batches = {}
    for number, batch in enumerate(in_batches(captures())):
        place = folder / f"{attempt}-{number:04}.batch"
        read_job(settings, fingerprint, (place, batch))
        batches[place.name] = checksum(place)
    revisits = len(split.source.revisits) if isinstance(split.source, ArchiveSource) else 0
    ends = split.source.ends if isinstance(split.source, DivisibleFile) else None
    facts: dict[str, Any] = {"batches": batches, "items": items, "sources": [asdict(each) for each in sources]}
    facts |= {"revisits": revisits, "ends": ends}
    written = folder / f"{attempt}.json"
    written.write_text(json.dumps(facts | {"key": _key(facts)}), "utf-8", errors="surrogatepass")
    written.replace(finished)
    return finished.name


def read_splits(
    run: Callable[[Sequence[Split]], list[str]], folder: Path, splits: Sequence[Split], fingerprint: dict[str, Any]
) -> list[tuple[Split, Path]]:
    """Read all splits by `run`; return the splits that count, with the files of their facts.

    Of a file whose parts do not have each record once, such as a damaged archive, the whole is read in their place.
    """
    read = list(zip(splits, (folder / name for name in run(splits)), strict=True))
    parts: dict[str, list[tuple[DivisibleFile, Path]]] = {}
    for split, path in read:
        if isinstance(split.source, DivisibleFile) and split.source.part is not None:
            parts.setdefault(split.source.name, []).append((split.source, path))
    again = {
        name: found[0][0].undivided()
        for name, found in parts.items()
        if not are_adjacent([_load(path)["ends"] for _, path in found], found[0][0].size)
    }
    if not again:
        return read
    kept = [(split, path) for split, path in read if split.source is None or split.source.name not in again]
    whole = [_split(cast(Source, source), fingerprint) for source in again.values()]
    return kept + list(zip(whole, (folder / name for name in run(whole)), strict=True))


def _check_visible(split: Split) -> None:
    """Raise SourceError if this machine does not see the source. Of a folder, some pages may have vanished."""
    paths = [split.source.path] if split.source else [Path(capture.path) for capture in split.captures]
    if not any(path.exists() for path in paths):
        raise SourceError(
            f"{paths[0]} cannot be seen on {socket.gethostname()}, where a part of the build runs; it was removed in"
            " the meantime, or only the driver sees it: put sources on a file system that all executors share"
        )


def _is_intact(path: Path) -> bool:
    """Whether the facts of a split, and the batches that they name, are as they were written."""
    try:
        facts = _load(path)
        return all(checksum(path.parent / name) == digest for name, digest in facts["batches"].items())
    except (OSError, StoreError):
        return False


def _load(path: Path) -> dict[str, Any]:
    """The facts of a finished split; raise StoreError if they are damaged."""
    try:
        facts: dict[str, Any] = json.loads(path.read_text("utf-8", errors="surrogatepass"))
        if facts.pop("key") == _key(facts):
            return facts
    except (ValueError, KeyError, AttributeError, TypeError):
        pass
    raise StoreError(f"{path} is damaged; run the build again, which reads that source again")


def verified_batches(path: Path) -> list[Path]:
    """The batches of a finished split; raise StoreError if one is not what its job wrote."""
    if not _is_intact(path):
        raise StoreError(f"{path} or its batches are damaged; run the build again, which reads that source again")
    return [path.parent / name for name in _load(path)["batches"]]


def record_split(collector: PageCollector, path: Path) -> bool:
    """Record what a finished split holds besides captures; return whether it has revisits."""
    facts = _load(path)
    collector.add((Origin(**each) for each in facts["sources"]), map(_item, facts["items"]))
    return bool(facts["revisits"])


def _item(fields: dict[str, Any]) -> Skip | Redirect:
    if "target" in fields:
        return Redirect(**{**fields, "origin": Origin(**fields["origin"])})
    return Skip(**{**fields, "kind": SkipKind(fields["kind"])})
