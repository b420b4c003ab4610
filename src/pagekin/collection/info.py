"""What a store holds, whether its files are intact, and what a build did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pagekin.model.jsons import json_field
from pagekin.store.store import Store

if TYPE_CHECKING:
    from pagekin.pipeline import Built  # loads compiled code

_HOSTS = "SELECT host, count(*) FROM pages GROUP BY host ORDER BY count(*) DESC, host LIMIT 10"
_LANGUAGES = "SELECT language, count(*) FROM pages GROUP BY language ORDER BY count(*) DESC, language"
_SKIPS = (
    "SELECT reason, sum(count) AS count, min(example), min(source) FROM skips"
    " GROUP BY reason ORDER BY count DESC, reason"
)


@dataclass(frozen=True)
class CollectionInfo:
    """What a collection holds, how it was read, and what was skipped and why."""

    store: str
    format: int
    generation: int
    settings: dict[str, Any]
    strategy: dict[str, Any] | None
    duplicates: dict[str, Any] | None  # settings and counts of the fingerprints
    counts: dict[str, int]
    bytes: int  # of all files
    hosts: list[tuple[str, int]] = json_field(columns=("host", "pages"))  # the ten largest
    languages: dict[str, int] = json_field()
    skipped: list[tuple[str, int, str, str]] = json_field(columns=("reason", "count", "example", "source"))


@dataclass(frozen=True)
class CheckReport:
    """The number of files of a store, and those that differ from what was written."""

    files: int
    damaged: list[tuple[str, str]] = json_field(columns=("file", "problem"))


@dataclass(frozen=True)
class BuildReport:
    """What a build did."""

    store: str
    generation: int
    changed: bool
    read: int  # pages read in this build
    reused: int  # pages taken from the previous generation
    counts: dict[str, int]
    skipped: dict[str, int]
    inner_links: int = json_field(expand={})  # links between pages of the collection; not in JSON


def describe_store(store: Store) -> CollectionInfo:
    """What a store holds."""
    manifest, rows = store.manifest, store.catalog.rows
    index = manifest.index or {}
    return CollectionInfo(
        store=str(store.root),
        format=manifest.version,
        generation=manifest.generation,
        settings=manifest.settings,
        strategy=index.get("strategy"),
        duplicates=index.get("duplicates"),
        counts=manifest.counts,
        bytes=sum(file["bytes"] for file in manifest.all_files().values()),
        hosts=[(host, pages) for host, pages in rows(_HOSTS)],
        languages={language or "unknown": pages for language, pages in rows(_LANGUAGES)},
        skipped=[(reason, count, example, source) for reason, count, example, source in rows(_SKIPS)],
    )


def describe_build(built: Built) -> BuildReport:
    """What a build did."""
    store, manifest = built.store, built.store.manifest
    return BuildReport(
        store=str(store.root),
        generation=manifest.generation,
        changed=built.changed,
        read=built.read,
        reused=built.reused,
        counts=manifest.counts,
        skipped=manifest.skipped,
        inner_links=int(store.links.offsets[len(store.nodes) - 1]),
    )
