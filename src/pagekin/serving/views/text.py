"""Text of a crawl made fit for a page: cut, and free of what cannot be seen. Templates escape it."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

from pagekin.urls import canonical_url

LONGEST = 140  # letters of a title
LONGEST_URL = 200
_SITE = re.compile(r" [-–—|·:»] [^-–—|·»]+$")
_LONGEST_READ = 1000
_UNSEEN = {"Cc", "Cs", "Co", "Cn"}
# Characters that change the direction of what follows, which could reach beyond the element that they stand in.
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def shown(text: str, most: int = LONGEST) -> str:
    r"""A text in one line, without control and direction characters, cut if it is long.

    >>> shown("a\x00b\u202ec\n d"), shown("oak and ash", 7)
    ('a b c d', 'oak an…')
    """
    text = text[: 8 * most]  # a title can have megabytes
    if not text.isprintable():
        text = "".join(" " if c in _TURNS or unicodedata.category(c) in _UNSEEN else c for c in text)
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def middle_cut(text: str, most: int) -> str:
    """A text whose beginning and end are kept, if it is long.

    >>> middle_cut("std::vector::push_back", 15)
    'std::v…ush_back'
    """
    head = (most - 1) * 3 // 7
    return text if len(text) <= most else text[:head] + "…" + text[len(text) - (most - 1 - head) :]


def site_end(title: str) -> str:
    """The end of a title that may be the name of its site.

    >>> site_end("Oak - The wood"), site_end("Oak")
    (' - The wood', '')
    """
    found = _SITE.search(title[:_LONGEST_READ])
    return found[0] if found else ""


def safe_href(url: str) -> str | None:
    """A URL that a page may link to: http or https, in one spelling; None for any other.

    >>> safe_href("javascript:alert(1)"), safe_href("http://a.example/")
    (None, 'http://a.example/')
    """
    return canonical_url(url)


def original_href(url: str, replay: str | None) -> str | None:
    """Where the page itself can be read: on the web, or below the base of a replay server.

    >>> original_href("http://a.example/b", "https://replay.example/2007/")
    'https://replay.example/2007/http://a.example/b'
    """
    href = safe_href(url)
    return href if href is None or not replay else replay.rstrip("/") + "/" + href


def place(url: str, most: int = 64) -> str:
    """Where a page is, without what all URLs begin with; the middle of a long path is left out.

    >>> place("http://a.example/b"), place("http://a.example/doc/html/en/cpp/container/vector/at.html", 40)
    ('a.example/b', 'a.example/…/cpp/container/vector/at.html')
    """
    text = url.partition("://")[2] or url
    host, _, path = text.partition("/")
    parts = path.split("/")
    while len(text) > most and len(parts) > 1:
        parts = parts[1:]
        text = "/".join([host, "…", *parts])
    return shown(text, most)


def last_part(url: str) -> str:
    """What a page without a title is called: the end of its URL.

    >>> last_part("http://a.example/b/c.html?d"), last_part("http://a.example/")
    ('c.html?d', 'a.example')
    """
    parts = urlsplit(url)
    end = parts.path.rstrip("/").rpartition("/")[2]
    return (end + ("?" + parts.query if parts.query else "")) if end else parts.netloc or url
