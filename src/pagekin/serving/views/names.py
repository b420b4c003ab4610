"""How templates name and link pages, how pages are found, and how crawled text is prepared for display: shortened and
without invisible characters. Templates escape it.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from pagekin.collection.info import search_pages
from pagekin.errors import NoPageError
from pagekin.search.indexed_store import IndexedStore
from pagekin.urls import canonical_url

_TITLE_LENGTH = 140
_QUERY_LENGTH = 500
_INVISIBLE = {"Cc", "Cs", "Co", "Cn"}
# Characters that change the direction of the text after them, also outside the element that contains them.
_DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class PageRef(NamedTuple):
    """A page that a template can link to."""

    node: int
    id: str
    url: str
    title: str  # for display: never empty, shortened, without control characters


def refs(indexed: IndexedStore, values: Iterable[int | str], column: str = "node") -> list[PageRef]:
    """Return the pages with these nodes, or with these URLs or ids if the column says so."""
    query = f"SELECT node, id, url, title FROM nodes WHERE {column} = ? LIMIT 1"
    pages = []
    for node, id, url, title in (row for value in values for row in indexed.catalog.rows(query, value)):
        pages.append(PageRef(node, id, url, clean_line(title) or clean_line(name_from_url(url))))
    return pages


def refs_by_row(indexed: IndexedStore, rows: Iterable[int]) -> list[PageRef]:
    query = "SELECT node FROM pages WHERE row = ?"
    return refs(indexed, dict.fromkeys(found["node"] for row in rows for found in indexed.catalog.rows(query, row)))


def ref_by_id(indexed: IndexedStore, id: str) -> PageRef:
    for page in refs(indexed, [id], "id"):
        return page
    raise NoPageError(f"no page has the id {clean_line(id, 40)!r}; it may have left the collection, so search for it")


def find_page(indexed: IndexedStore, name: str) -> PageRef:
    if re.fullmatch("[0-9a-f]{16}", name):
        return ref_by_id(indexed, name)
    return refs(indexed, [indexed.find_node(name)])[0]


def search_refs(indexed: IndexedStore, query: str, limit: int) -> list[PageRef]:
    return refs(indexed, (page.url for page in search_pages(indexed, query[:_QUERY_LENGTH], limit)), "url")


def clean_line(text: str, length: int = _TITLE_LENGTH) -> str:
    r"""Return a text as one line, without control and direction characters, shortened to a length.

    >>> clean_line("a\x00b\u202ec\n d"), clean_line("oak and ash", 7)
    ('a b c d', 'oak an…')
    """
    text = text[: 8 * length]  # a title can have megabytes
    if not text.isprintable():
        text = "".join(" " if c in _DIRECTION or unicodedata.category(c) in _INVISIBLE else c for c in text)
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def shorten_middle(text: str, length: int) -> str:
    """Shorten a text in the middle.

    >>> shorten_middle("std::vector::push_back", 15)
    'std::v…ush_back'
    """
    head = (length - 1) * 3 // 7
    return text if len(text) <= length else text[:head] + "…" + text[len(text) - (length - 1 - head) :]


def shorten_to_width(text: str, width: float) -> str:
    """Shorten a text in the middle so that no usual font makes it wider than `width` times its size.

    >>> shorten_to_width("illicit millilitre", 10), shorten_to_width("WWW WWW WWW WWW", 10)
    ('illicit millilitre', 'WWW …WW WWW')
    """
    length = len(text)
    while length > 1 and sum(map(_width, shorten_middle(text, length))) > width:
        length -= 1
    return shorten_middle(text, length)


def _width(letter: str) -> float:
    """Return the width of a letter over the size of the font: that of a wide font such as DejaVu Sans."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in "il.,:;|!'()[]jftr ":
        return 0.42
    return 1.0 if letter in "mwMW@%…—" or ord(letter) > 0x2FF else 0.8 if letter.isupper() else 0.64


def original_href(url: str, replay: str | None) -> str | None:
    """Return a link to the original page, on the web or on a replay server; None if it is not http or https.

    >>> original_href("http://a.example/b", "https://replay.example/2007/")
    'https://replay.example/2007/http://a.example/b'
    >>> original_href("javascript:alert(1)", None)
    """
    href = canonical_url(url)
    return href if href is None or not replay else replay.rstrip("/") + "/" + href


def short_url(url: str, length: int = 64) -> str:
    """Return a URL without its scheme; the middle of a long path is left out.

    >>> short_url("http://a.example/b"), short_url("http://a.example/doc/html/en/cpp/container/vector/at.html", 40)
    ('a.example/b', 'a.example/…/cpp/container/vector/at.html')
    """
    text = url.partition("://")[2] or url
    host, _, path = text.partition("/")
    parts = path.split("/")
    while len(text) > length and len(parts) > 1:
        parts = parts[1:]
        text = "/".join([host, "…", *parts])
    return clean_line(text, length)


def name_from_url(url: str) -> str:
    """Return a name for a page without a title: the end of its URL.

    >>> name_from_url("http://a.example/b/c.html?d"), name_from_url("http://a.example/")
    ('c.html?d', 'a.example')
    """
    parts = urlsplit(url)
    end = parts.path.rstrip("/").rpartition("/")[2]
    return (end + ("?" + parts.query if parts.query else "")) if end else parts.netloc or url
