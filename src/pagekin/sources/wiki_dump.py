"""MediaWiki dumps: the pages of an XML export, plain or compressed by bzip2, gzip or xz.

The XML is machine-made: text is escaped, so `<page>` is always a tag. Pages are cut out by their tags, which is faster
than a parser, continues after a damaged place, and knows no entities that could expand.
"""

import gzip
import html
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pagekin.errors import SourceError
from pagekin.model.capture import (
    Capture,
    Origin,
    PageFormat,
    ReadingSettings,
    Redirect,
    Skip,
    SourceItem,
)
from pagekin.model.wiki import WikiSite
from pagekin.sources.bzip2 import Lost, decompressed
from pagekin.sources.jsonl import captured_time
from pagekin.sources.single_file import FileSource, with_counted_skips
from pagekin.urls import canonical_url

DUMP_NAME = re.compile(r"\.xml(?:-p\d+p\d+)?(?:\.(?:bz2|gz|xz))?\Z", re.I)
_READ = 1 << 20
_HEAD = 1 << 18  # bytes in which the head of a dump must end
_ESCAPED = 2  # XML may write a byte as six, but text has few such bytes
_WIKITEXT = ("", "wikitext")
_DISAMBIGUATION = re.compile(
    rb"__DISAMBIG__|\{\{\s*(?:disambig\w*|disam|dab|hndis|geodis|numberdis|begriffskl\xc3\xa4rung|homonymie"
    rb"|desambiguaci\xc3\xb3n|disambigua|desambigua\xc3\xa7\xc3\xa3o|doorverwijspagina)\s*[|}]",
    re.I,
)
_DECOMPRESSION_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)


@dataclass(frozen=True)
class WikiPage:
    """A page of a dump: its newest revision."""

    title: str
    namespace: int
    number: int
    redirect: str
    time: str
    model: str
    text: bytes  # escaped

    @classmethod
    def of(cls, page: bytes, ordinal: int) -> "WikiPage":
        head, _, revisions = page.partition(b"<revision>")
        last = revisions.rpartition(b"<revision>")[2]
        redirect = re.search(rb'<redirect title="([^"]*)"', head)
        text = re.search(rb"<text\b[^>]*+>", last)
        end = last.rfind(b"</text>")
        number, namespace = _field(head, b"id"), _field(head, b"ns")
        return cls(
            _field(head, b"title"),
            int(namespace) if re.fullmatch(r"-?\d{1,6}", namespace) else 0,
            int(number) if re.fullmatch(r"\d{1,15}", number) else ordinal,
            html.unescape(redirect[1].decode("utf-8", "replace")) if redirect else "",
            _field(last, b"timestamp"),
            _field(last, b"model"),
            last[text.end() : end] if text and end >= text.end() else b"",
        )

    @property
    def wikitext(self) -> str:
        return html.unescape(self.text.decode("utf-8", "replace"))


def _field(data: bytes, name: bytes) -> str:
    """The text of an element that has no others in it."""
    begin = data.find(b"<" + name + b">")
    end = data.find(b"</" + name + b">", begin)
    return html.unescape(data[begin + len(name) + 2 : end].decode("utf-8", "replace")) if 0 <= begin < end else ""


class WikiDump(FileSource):
    """A MediaWiki dump."""

    def __init__(self, path: Path, settings: ReadingSettings) -> None:
        super().__init__(path, settings)
        self.site = WikiSite("http://wiki.localhost/wiki/")

    def read(self) -> Iterator[SourceItem]:
        pages = (page if isinstance(page, Skip) else self._item(page) for page in self.pages())
        return with_counted_skips(pages)

    def pages(self) -> Iterator[WikiPage | Skip]:
        """Every page, and a skip for each damaged place."""
        found = 0
        for page in self._elements():
            if isinstance(page, Skip):
                yield page
            else:
                found += 1
                yield WikiPage.of(page, found)

    def _elements(self) -> Iterator[bytes | Skip]:
        """The contents of every <page>. The head of the dump, which comes first, sets `site`."""
        most = _ESCAPED * self.settings.max_page_bytes + _HEAD
        data, begin, has_head, is_long = b"", 0, False, False
        for piece in self._pieces():
            if isinstance(piece, Lost):
                yield Skip(self.name, piece.reason, f"after {_last_title(data)}")
                data, begin, is_long, has_head = b"", 0, False, True
                continue
            data, begin = data[begin:] + piece, 0
            if not has_head:
                if b"<page>" not in data and b"</siteinfo>" not in data and len(data) < _HEAD:
                    continue
                self.site = self._site(data[:_HEAD])
                has_head = True
            while True:
                start = 0 if is_long else data.find(b"<page>", begin)
                end = data.find(b"</page>", max(start, begin))
                if start < 0:
                    begin = max(begin, len(data) - len("<page>"))
                    break
                if end < 0:
                    begin = max(begin, len(data) - len("</page>")) if is_long else start
                    if not is_long and len(data) - start > most:
                        is_long, begin = True, len(data) - len("</page>")
                        yield Skip(self.name, "page too large", _field(data[start : start + _HEAD], b"title"))
                    break
                if not is_long:
                    yield data[start:end]
                is_long, begin = False, end + len("</page>")
        if is_long or data.find(b"<page>", begin) >= 0:
            yield Skip(self.name, "dump ends within a page", _field(data[begin:], b"title") or self.name)
        if not has_head:
            self._site(data)

    def _pieces(self) -> Iterator[bytes | Lost]:
        """The XML in pieces."""
        suffix = self.path.suffix.lower()
        try:
            if suffix == ".bz2":
                with self.path.open("rb") as file:
                    yield from decompressed(file)
                return
            openers: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
            opener = openers.get(suffix, open)
            with cast(io.BufferedIOBase, opener(self.path, "rb")) as file:
                while piece := file.read1(_READ):  # unlike read, it gives what there is before the damage
                    yield piece
        except _DECOMPRESSION_ERRORS:
            yield Lost("compressed data damaged, the rest is lost")
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror or error}") from error

    def _site(self, head: bytes) -> WikiSite:
        """What the head of a dump says about the wiki; raise SourceError if it is that of another XML file."""
        if b"<mediawiki" not in head:
            raise SourceError(
                f"{self.path} is no MediaWiki dump: there is no <mediawiki> in it; pagekin reads the XML that"
                " Special:Export and dumpBackup.php write"
            )
        base = canonical_url(_field(head, b"base")) or "http://wiki.localhost/wiki/Main_Page"
        end = max(base.rfind("/"), base.rfind("=")) + 1
        names = re.findall(rb'<namespace key="(-?\d{1,6})"[^>]*+>([^<]{1,100})</namespace>', head)
        namespaces = {html.unescape(name.decode("utf-8", "replace")).lower(): int(key) for key, name in names[:1000]}
        known = WikiSite("").namespaces | namespaces
        return WikiSite(base[:end], known, first_letter=b"<case>case-sensitive</case>" not in head)

    def _item(self, page: WikiPage) -> SourceItem:
        """The capture or redirect of a page, or the reason why there is none."""
        if not page.title:
            return Skip(self.name, "page without a title", f"page {page.number}")
        if page.namespace not in self.settings.namespaces:
            return Skip(self.name, "page of another namespace", page.title)
        url = canonical_url(self.site.href(page.title))
        if url is None or len(url) > self.settings.max_url_bytes:
            return Skip(self.name, "URL too long", page.title[:200])
        origin = Origin(self.name, page.number, self.size, self.whole.modified)
        captured = captured_time(page.time)
        if page.redirect:
            target = canonical_url(self.site.href(page.redirect))
            return (
                Redirect(url, target, origin, captured)
                if target
                else Skip(self.name, "redirect to nothing", page.title)
            )
        if page.model not in _WIKITEXT:
            return Skip(self.name, "not wikitext", page.title)
        if page.title.endswith(" (disambiguation)") or _DISAMBIGUATION.search(page.text):
            return Skip(self.name, "disambiguation page", page.title)
        body = page.wikitext.encode("utf-8", "replace")
        facts = (url, origin, captured, body)
        return Capture(*facts, charset="utf-8", title=page.title, format=PageFormat.WIKITEXT, wiki=self.site)


def _last_title(data: bytes) -> str:
    """The title of the last page in a piece of a dump."""
    begin = data.rfind(b"<title>")
    return _field(data[begin:], b"title") if begin >= 0 else "the beginning"
