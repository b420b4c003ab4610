"""The pages of a site: found in its folder, known by the digests of their texts, read into an index."""

import fnmatch
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from pagekin.errors import SourceError
from pagekin.model.capture import Capture, Origin, Skip, SourceItem, Unchanged
from pagekin.site.markup import PageText, is_redirect, page_text, place_of_list, text_to_read, without_list
from pagekin.site.options import SiteOptions
from pagekin.sources.advice import advice_on_folder
from pagekin.sources.folders import FolderSource
from pagekin.urls import file_url

BASE = "http://site.localhost/"
UNKNOWN = "unknown"
CHANGED = "has changed during the run"
_SOURCE = "site"
_DIGEST_BITS = 62  # of what stands in place of the time of a file, which is signed
# Pages that only lead to others: names that generators of sites and manuals use.
LISTINGS = (
    "index.html index.htm 404.html 404/* 403.html 500.html search.html search/* sitemap.html sitemap/* "
    "genindex*.html genindex/* *modindex.html *modindex/* _modules/* _static/* _sources/* "
    "concept-index.html function-index.html variable-index.html command-index.html keyword-index.html "  # Texinfo
    "allclasses*.html allpackages-index.html index-all.html index-files/* overview-tree.html *package-tree.html "
    "deprecated-list.html constant-values.html serialized-form.html help-doc.html *class-use/* *package-use.html "
    "tags.html tags/* */tags/* tag/* */tag/* category/* */category/* categories/* */categories/* categories.html "
    "author/* authors/* archive.html archive/* archives/* page/[0-9]* */page/[0-9]*"
).split()

Places = dict[str, int | str]  # places of lists, or why there is none, by the digest of a page


@dataclass(frozen=True)
class SitePage:
    """A page of a site: its path in the folder, and the state of its file."""

    path: str
    size: int
    modified: int
    digest: str  # of its bytes without the inserted list
    block: str  # the digest of the inserted list, "" if there is none, UNKNOWN if it was not inserted by the last run
    redirect: bool


def digest_of(data: bytes) -> str:
    return sha256(data).hexdigest()[:32]


class SiteFolder(FolderSource):
    """The folder of a site, as a source of a build in which inserted lists are not seen."""

    def __init__(
        self, folder: Path, options: SiteOptions, known: Iterable[SitePage] = (), places: Places | None = None
    ) -> None:
        """The folder; `known` are its pages as the last run has left them, and `places` those of their lists."""
        base = options.base_url or BASE
        super().__init__(folder, base if base.endswith("/") else base + "/")
        self.name = _SOURCE
        self._options = options
        self.places = places or {}
        self.left_out: list[tuple[str, str]] = [(self._relative(path), reason) for path, reason in self._unread]
        if not any(file.is_html for file in self._files):
            raise SourceError(f"{folder} has no HTML page: {advice_on_folder(self.suffixes())}")
        before = {each.path: each for each in known}
        self.pages = sorted(self._scan(before), key=lambda page: page.path)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.path).replace(os.sep, "/")

    def _scan(self, before: dict[str, SitePage]) -> Iterator[SitePage]:
        root = str(self.path)
        begin = len(root) + (not root.endswith(os.sep))
        for file in self._files:
            if not file.is_html:
                continue
            path = file.path[begin:].replace(os.sep, "/")
            known = before.get(path)
            if known is not None and (known.size, known.modified) == (file.size, file.modified):
                yield known
                continue
            reason = _problem(file.path, path, file.regular)
            if not reason:
                try:
                    with open(file.path, "rb") as opened:  # noqa: PTH123, creating a Path takes longer
                        data = opened.read()
                except OSError as error:
                    reason = f"cannot be read ({error.strerror})"
            if reason:
                self.left_out.append((path.encode("utf-8", "backslashreplace").decode(), reason))
            else:
                yield self._page(path, file.size, file.modified, data)

    def _page(self, path: str, size: int, modified: int, data: bytes) -> SitePage:
        page = page_text(data)
        original = without_list(page)
        block = "" if original is page else UNKNOWN
        return SitePage(path, size, modified, digest_of(original.data), block, is_redirect(original))

    @cached_property
    def urls(self) -> dict[str, str]:
        """The path of each URL."""
        found = {file_url(self.base, os.fsencode(each.path)): each.path for each in self.pages}
        return {url: path for url, path in found.items() if url is not None}

    def facts(self) -> Iterator[tuple[str, int, int]]:
        yield self.base, int(self._options.main_text), 0
        for page in self.pages:
            yield f"{page.path} {page.digest}", 0, 0

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        """A capture for every page; the digest stands in place of the time, since generators write all files anew."""
        path_of = {path: url for url, path in self.urls.items()}
        for page in self.pages:
            if (url := path_of.get(page.path)) is None:
                continue
            time = int(page.digest, 16) >> (128 - _DIGEST_BITS)
            origin = Origin(f"{_SOURCE}/{page.path}", 0, int(self._options.main_text), time)
            if is_unchanged(origin):
                yield Unchanged(origin)
            elif (original := self.original(page)) is None:
                yield Skip(_SOURCE, CHANGED, page.path)
            else:
                self.place(page, original)
                yield Capture(url, origin, body=text_to_read(original, main_text=self._options.main_text))

    def place(self, page: SitePage, original: PageText) -> int | str:
        """Where the list goes in a page, or the reason why there is no place."""
        if page.digest not in self.places:
            self.places[page.digest] = place_of_list(original, self._options.at)
        return self.places[page.digest]

    def original(self, page: SitePage) -> PageText | None:
        """A page without its list, or None if its file has changed since it was found."""
        try:
            original = without_list(page_text(self.path.joinpath(page.path).read_bytes()))
        except OSError:
            return None
        return original if digest_of(original.data) == page.digest else None

    def shown(self) -> list[SitePage]:
        """The pages that get lists and are listed."""
        chosen, left_out, listings = map(_matcher, (self._options.include, self._options.exclude, LISTINGS))
        if self._options.include:
            return [each for each in self.pages if chosen(each.path) and not left_out(each.path)]
        return [
            each for each in self.pages if not (each.redirect or left_out(each.path) or listings(each.path.lower()))
        ]


def _problem(file: str, path: str, regular: bool) -> str:
    """Why a file is left alone, or ""."""
    if os.path.islink(file):  # noqa: PTH114, as above
        return "is a link to another file of the site"
    if not regular:
        return "is not a regular file"
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "has a name that is not UTF-8"
    return ""


def _matcher(patterns: Iterable[str]) -> Callable[[str], object]:
    return re.compile("|".join(map(fnmatch.translate, patterns)) or r"(?!)").match
