"""The HTML of the sample web as lexbor, a browser's parser, reads it."""

from __future__ import annotations

import re
from urllib.parse import urldefrag, urljoin

from selectolax.lexbor import LexborHTMLParser

from tools.sample_web import Page, SampleCapture, captures, newest, pages

_LINKS = {"a": "href", "area": "href", "frame": "src"}


def tree(html: bytes, charset: str = "utf-8") -> LexborHTMLParser:
    return LexborHTMLParser(html.decode(charset))


def links(url: str, html: bytes, charset: str = "utf-8") -> list[str]:
    """The absolute http URLs to which a page links, in order, without fragments."""
    dom = tree(html, charset)
    base = dom.css_first("base[href]")
    base_url = urljoin(url, base.attributes["href"]) if base else url
    found = [node.attributes.get(_LINKS[node.tag or "a"]) for node in dom.css("a, area, frame")]
    targets = [urldefrag(urljoin(base_url, href)).url for href in found if href]
    return [target for target in targets if target.startswith("http")]


def text(html: bytes, charset: str = "utf-8") -> str:
    """The visible text of a page, with single spaces and straight apostrophes."""
    body = tree(html, charset).body
    assert body is not None
    for node in body.css("script, style"):
        node.decompose()
    return plain(body.text(separator=" "))


def plain(words: str) -> str:
    return re.sub(r"\s+", " ", words.replace("’", "'")).strip()


def bodies() -> dict[str, bytes]:
    """The newest body of every page."""
    known = {page.url for page in pages()}
    return {capture.url: capture.body for capture in newest() if capture.url in known}


def all_links() -> dict[str, list[str]]:
    """The links of every page."""
    charsets = {page.url: page.charset for page in pages()}
    return {url: links(url, body, charsets[url]) for url, body in bodies().items()}


def page_of(url: str) -> Page:
    return next(page for page in pages() if page.url == url)


def captures_of(url: str) -> list[SampleCapture]:
    return [capture for capture in captures() if capture.url == url]
