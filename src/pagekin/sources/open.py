"""Which source is what: each path a user names becomes a source that can be walked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from pagekin.errors import MisuseError
from pagekin.model.capture import Origin, SourceItem
from pagekin.model.settings import ReadingSettings
from pagekin.sources.archives import ArchiveSource, read_revisits
from pagekin.sources.folders import FolderSource, PageFile
from pagekin.sources.jsonl import JsonlSource
from pagekin.urls import canonical_url

HTML_SUFFIXES = (".html", ".htm", ".xhtml")
WARC_SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".wacz")
JSONL_SUFFIXES = (".jsonl", ".jsonl.gz", ".ndjson")
_NOT_IN_HOST = re.compile(r"[^a-z0-9-]+")


class Source(Protocol):
    """Something that gives captures. `size` is what its progress is measured against."""

    name: str
    size: int

    def facts(self) -> Iterator[tuple[str, int, int]]:
        """What tells this source from a changed one: name, size and time of each of its files."""
        ...

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        """Every capture, redirect and skip; an archive for which `is_unchanged` holds is not opened."""
        ...


@dataclass(frozen=True)
class SourceSet:
    """All sources of one build, in the order of their names."""

    sources: tuple[Source, ...]
    settings: ReadingSettings

    @property
    def size(self) -> int:
        """Bytes in all sources."""
        return sum(source.size for source in self.sources)

    def fingerprint(self) -> str:
        """A hash that changes when any source does."""
        digest = sha256()
        for source in self.sources:
            for fact in source.facts():
                digest.update(repr(fact).encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        """The items of every source, then the revisits of all archives, whose bodies may lie in any of them."""
        for source in self.sources:
            yield from source.items(is_unchanged)
        archives = [source for source in self.sources if isinstance(source, ArchiveSource)]
        yield from read_revisits(archives)


def open_sources(paths: Sequence[Path], base_urls: Sequence[str], settings: ReadingSettings) -> SourceSet:
    """Recognise each path. Folders and single pages take their base URLs from `base_urls`: one for all, or one each."""
    if not paths:
        raise MisuseError("no source given; name a folder, an .html, .warc, .warc.gz, .wacz or .jsonl file")
    for path in paths:
        if not path.exists():
            raise MisuseError(f"{path} does not exist")
        if not path.is_dir() and not path.is_file():
            raise MisuseError(f"{path} is neither a file nor a folder")
    based = [path for path in paths if _takes_base(path)]
    bases = dict(zip(based, _bases(based, base_urls), strict=True))
    sources = [_open(path, bases.get(path), settings) for path in paths]
    seen: dict[str, Path] = {}
    for path, source in zip(paths, sources, strict=True):
        if source.name in seen:
            raise MisuseError(f"{seen[source.name]} and {path} have the same name; build from a folder that holds both")
        seen[source.name] = path
    return SourceSet(tuple(sorted(sources, key=lambda source: source.name)), settings)


def _takes_base(path: Path) -> bool:
    return path.is_dir() or path.name.lower().endswith(HTML_SUFFIXES)


def _bases(paths: list[Path], given: Sequence[str]) -> list[str]:
    if not given:
        return [default_base(path) for path in paths]
    if not paths:
        raise MisuseError("--base-url is for folders and single pages; archives know the URLs of their pages")
    if len(given) not in (1, len(paths)):
        raise MisuseError(
            f"{len(given)} base URLs for {len(paths)} folders; give one for all, or one for each in order"
        )
    bases = [_checked_base(url) for url in given]
    return bases if len(bases) == len(paths) else bases * len(paths)


def default_base(path: Path) -> str:
    """A base for those who name none: a host that no real page can have.

    >>> default_base(Path("My Site"))
    'http://my-site.localhost/'
    """
    name = path.resolve().name if path.is_dir() or not path.suffix else path.resolve().parent.name
    return f"http://{_NOT_IN_HOST.sub('-', name.lower()).strip('-') or 'pages'}.localhost/"


def _checked_base(url: str) -> str:
    if url in ("http://", "https://"):  # one folder a host, as wget lays them out
        return url
    canonical = canonical_url(url)
    if canonical is None:
        raise MisuseError(f"--base-url {url!r} is no http or https URL")
    canonical = canonical.partition("?")[0]
    return canonical if canonical.endswith("/") else canonical + "/"


def _open(path: Path, base: str | None, settings: ReadingSettings) -> Source:
    name = path.name.lower()
    if path.is_dir():
        assert base is not None
        return FolderSource(path, base, HTML_SUFFIXES)
    if base is not None:
        return PageFile(path, base)
    if name.endswith(WARC_SUFFIXES):
        return ArchiveSource(path, settings)
    if name.endswith(JSONL_SUFFIXES):
        return JsonlSource(path, settings)
    raise MisuseError(
        f"{path}: no source of a kind that pagekin reads; it reads folders and "
        + ", ".join((*HTML_SUFFIXES, *WARC_SUFFIXES, *JSONL_SUFFIXES))
    )
