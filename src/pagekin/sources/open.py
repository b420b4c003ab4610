"""Open sources: each path that the user names becomes a source, by its kind."""

import glob
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from pagekin.errors import MisuseError
from pagekin.model.capture import Capture, Origin, ReadingSettings, Skip, SourceItem
from pagekin.model.files import HTML_SUFFIXES, MARKDOWN_SUFFIXES, open_unpacked
from pagekin.sources.advice import advice_on_address, advice_on_file, advice_on_folder
from pagekin.sources.arc import ARC_SUFFIXES
from pagekin.sources.archives import ArchiveSource, resolve_revisits
from pagekin.sources.cdxj import CDXJ_SUFFIXES, CdxjSource
from pagekin.sources.folders import FolderSource, PageFile
from pagekin.sources.jsonl import JsonlSource
from pagekin.sources.parquet import ParquetSource
from pagekin.sources.wiki_dump import DUMP_NAME, WikiDump
from pagekin.sources.zim import ZIM_NAME, ZimSource
from pagekin.urls import canonical_url

WARC_SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".wacz", *ARC_SUFFIXES)
JSONL_SUFFIXES = (".jsonl", ".jsonl.gz", ".ndjson", ".jl")
_LONGEST_LIST = 64 << 20  # bytes of a file that lists sources
_NOT_IN_HOST = re.compile(r"[^a-z0-9-]+")


# `size` is for progress; `facts` differ if the source has changed; `items` does not open an archive that has not.
Source: TypeAlias = (
    FolderSource | PageFile | ArchiveSource | CdxjSource | JsonlSource | ParquetSource | WikiDump | ZimSource
)


@dataclass(frozen=True)
class SourceSet:
    """All sources of a build, ordered by name."""

    sources: tuple[Source, ...]
    settings: ReadingSettings

    @property
    def size(self) -> int:
        return sum(source.size for source in self.sources)

    def fingerprint(self) -> str:
        digest = sha256()
        for source in self.sources:
            for fact in source.facts():
                digest.update(repr(fact).encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def without_pages(self) -> str:
        """A sentence for the case that no source has a page: what folders have instead."""
        folders = [source for source in self.sources if isinstance(source, FolderSource)]
        found = [f"{each.path}: {advice_on_folder(each.suffixes())}" for each in folders if not each.has_pages]
        return "no page was found" + "".join(f"; in {each}" for each in found)

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        """The items of every source, then the revisits of all archives, whose bodies may be in any archive."""
        for source in self.sources:
            yield from self.items_of(source, is_unchanged)
        yield from self.revisits()

    def items_of(
        self, source: Source, is_unchanged: Callable[[Origin], bool] = lambda _: False
    ) -> Iterator[SourceItem]:
        """The items of one source, without revisits."""
        return self._included(source.items(is_unchanged), source.name)

    def revisits(self) -> Iterator[SourceItem]:
        """The items of the revisits that the archives met when their items were read."""
        archives = [source for source in self.sources if isinstance(source, ArchiveSource)]
        return self._included(resolve_revisits(archives))

    def is_included(self, capture: Capture) -> bool:
        return not any(pattern.search(capture.url) for pattern in self._excluding)

    @cached_property
    def _excluding(self) -> list[re.Pattern[str]]:
        return [re.compile(each) for each in self.settings.exclude]

    def _included(self, items: Iterable[SourceItem], source: str = "") -> Iterator[SourceItem]:
        """The items without excluded captures, which are counted for the source, or each for its own."""
        excluded: dict[str, list[str]] = {}
        for item in items:
            if isinstance(item, Capture) and not self.is_included(item):
                excluded.setdefault(source or item.origin.source, []).append(item.url)
            else:
                yield item
        for name, urls in excluded.items():
            yield Skip(name, "excluded by a pattern", min(urls), len(urls))


def open_sources(paths: Sequence[Path], base_urls: Sequence[str], settings: ReadingSettings) -> SourceSet:
    """Open each path. Folders and single pages take their base URLs from `base_urls`: one for all, or one each.

    A path with `*`, `?` or `[` that does not exist is a pattern. `@FILE` means the paths that a file lists.
    """
    paths = [found for path in paths for found in _expanded(path)]
    if not paths:
        raise MisuseError("no source given; name a folder, an .html, .md, .warc, .warc.gz, .wacz or .jsonl file")
    for path in paths:
        if not path.exists():
            raise MisuseError(advice_on_address(path) or f"{path} does not exist; check the path of the source")
        if not path.is_dir() and not path.is_file():
            raise MisuseError(f"{path} is neither a file nor a folder")
    based = [
        path for path in paths if path.is_dir() or path.name.lower().endswith((*HTML_SUFFIXES, *MARKDOWN_SUFFIXES))
    ]
    bases = dict(zip(based, _bases(based, base_urls), strict=True))
    sources: dict[str, tuple[Path, Source]] = {}
    for path in paths:
        for source in _open(path, bases.get(path, ""), settings):
            other, _ = sources.setdefault(source.name, (path, source))
            if sources[source.name][1] is not source:
                raise MisuseError(f"{other} and {path} have the same name; rename one, or name a folder that has both")
    return SourceSet(tuple(sources[name][1] for name in sorted(sources)), settings)


def _expanded(path: Path, listed: bool = False) -> Iterator[Path]:
    """The paths that a path means: those that match a pattern, those of a list, or itself."""
    if str(path).startswith("@") and not listed and not path.exists():
        yield from _listed(Path(str(path)[1:]))
    elif glob.has_magic(str(path)) and not path.exists():
        found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207, a Path has no absolute patterns
        if not found:
            raise MisuseError(advice_on_address(path) or f"no file matches {path}")
        yield from map(Path, found)
    else:
        yield path


def _listed(file: Path) -> Iterator[Path]:
    """The paths in the lines of a file, relative to its folder."""
    with open_unpacked(file) as stream:
        for line in stream.read(_LONGEST_LIST).decode("utf-8", "surrogateescape").splitlines():
            if line.strip() and not line.startswith("#"):
                yield from _expanded(file.parent / line.strip(), listed=True)


def _bases(paths: list[Path], given: Sequence[str]) -> list[str]:
    if not given:
        return [default_base(path) for path in paths]
    if not paths:
        raise MisuseError("--base-url is for folders and single pages; archives know the URLs of their pages")
    if len(given) not in (1, len(paths)):
        raise MisuseError(f"{len(given)} base URLs for {len(paths)} folders; give one for all, or one each in order")
    bases = [_checked_base(url) for url in given]
    return bases if len(bases) == len(paths) else bases * len(paths)


def default_base(path: Path) -> str:
    """The base URL if none is given, with a host that no real page can have.

    >>> default_base(Path("My Site"))
    'http://my-site.localhost/'
    """
    name = path.resolve().name if path.is_dir() or not path.suffix else path.resolve().parent.name
    return f"http://{_NOT_IN_HOST.sub('-', name.lower()).strip('-') or 'pages'}.localhost/"


def _checked_base(url: str) -> str:
    if url in ("http://", "https://"):  # one folder per host, as wget writes them
        return url
    canonical = canonical_url(url)
    if canonical is None:
        raise MisuseError(f"--base-url {url!r} is no http or https URL; write it like https://example.org/docs/")
    return canonical.partition("?")[0].removesuffix("/") + "/"


def _open(path: Path, base: str, settings: ReadingSettings) -> Iterator[Source]:
    """The source of a path; of a folder as Spark writes it, each Parquet file, and the folder if it has other files."""
    if not path.is_dir():
        yield _open_file(path, base, settings)
        return
    folder = FolderSource(path, base, settings.follow_links)
    tables = folder.take_parquet()
    for file, name in tables:
        yield ParquetSource(file, settings, name)
    if not tables or not folder.is_empty:
        yield folder


def _open_file(path: Path, base: str, settings: ReadingSettings) -> Source:
    if base:
        return PageFile(path, base)
    if path.name.lower().endswith(WARC_SUFFIXES):
        return ArchiveSource(path, settings)
    if path.name.lower().endswith(JSONL_SUFFIXES):
        return JsonlSource(path, settings)
    if path.name.lower().endswith(CDXJ_SUFFIXES):
        return CdxjSource(path, settings)
    if path.name.lower().endswith(".parquet"):
        return ParquetSource(path, settings)
    if DUMP_NAME.search(path.name):
        return WikiDump(path, settings)
    if ZIM_NAME.search(path.name):
        return ZimSource(path, settings)
    suffixes = ", ".join(
        (*HTML_SUFFIXES, *MARKDOWN_SUFFIXES, *WARC_SUFFIXES, *JSONL_SUFFIXES, ".cdxj", ".parquet", ".xml", ".zim")
    )
    advice = advice_on_file(path) or f"it reads folders and {suffixes}"
    raise MisuseError(f"{path} is no source that pagekin can read; {advice}")
