"""Crawled text and URLs prepared for display: shortened, without invisible characters. Templates escape them."""

import re
import unicodedata
from urllib.parse import urlsplit

from pagekin.urls import canonical_url

TITLE_LENGTH = 140
_SITE_SUFFIX = re.compile(r" [-–—|·:»] [^-–—|·»]+$")
_SEARCHED_LENGTH = 1000
_INVISIBLE = {"Cc", "Cs", "Co", "Cn"}
# Characters that change the direction of the text after them, also outside the element that contains them.
_DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean_line(text: str, length: int = TITLE_LENGTH) -> str:
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


def site_suffix(title: str) -> str:
    """Return the end of a title that may be the name of its site.

    >>> site_suffix("Oak - The wood"), site_suffix("Oak")
    (' - The wood', '')
    """
    found = _SITE_SUFFIX.search(title[:_SEARCHED_LENGTH])
    return found[0] if found else ""


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
