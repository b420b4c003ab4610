"""The same in the shape of MediaWiki's `generator=search&gsrsearch=morelike:TITLE`, so that a wiki can ask unchanged.

Titles are those of the wiki, which it has in the URLs of its pages: /wiki/A_title or ?title=A_title. Elsewhere the
title of a page is meant.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.types import ASGIApp

from pagekin.errors import NoPageError
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.results import RelatedPage
from pagekin.serving.api.handlers import Given, answered
from pagekin.serving.api.params import Param, pairs
from pagekin.serving.generations import Generation

_ASKING = "morelike:"
_MOST = 50  # what MediaWiki gives at most
_IN_URL = re.compile(r"(?:/wiki/|[?&]title=)([^?&#]+)")
_IGNORED = 8000


def is_mediawiki(request: Request) -> bool:
    """Whether a request is one for a MediaWiki."""
    return b"action=" in request.scope["query_string"]


async def mediawiki(request: Request) -> ASGIApp:
    """What `api.php` would answer."""
    names = {name for name, _ in pairs(request.scope["query_string"])}
    return await answered(request, [Param(name, "string", "", "", most=_IGNORED) for name in sorted(names)], _answer)


def _answer(generation: Generation, given: Given) -> dict[str, Any]:
    wanted = {"action": "query", "generator": "search", "format": "json"}
    for name, value in wanted.items():
        if given.get(name, value) != value:
            return _error(f"unknown_{name}", f"Here {name} can only be {value}.")
    asked = given.get("gsrsearch", "")
    if not asked.startswith(_ASKING):
        return _error("missingparam", f"gsrsearch must be {_ASKING} and a title.")
    try:
        limit = _MOST if given.get("gsrlimit") == "max" else int(given.get("gsrlimit", "10"))
    except ValueError:
        return _error("badinteger", "gsrlimit must be a number, or max.")
    titles = [title for title in asked.removeprefix(_ASKING).split("|") if title.strip()]
    if len(titles) > _MOST:
        return _error("toomanyvalues", f"There may be {_MOST} titles.")
    urls = [url for title in titles for url in _urls(generation, title)]
    options = RelatedOptions(limit=max(1, min(limit, _MOST)), explain=False)
    found = generation.indexed.related(urls, options) if urls else []
    return _shaped(generation.indexed, found, given)


def _error(code: str, told: str) -> dict[str, Any]:
    return {"error": {"code": code, "info": told}}


def _urls(generation: Generation, title: str) -> list[str]:
    """The page of a title, or none: MediaWiki finds nothing then, and calls it no error."""
    indexed = generation.indexed
    named = generation.kept("titles", lambda: _titles(indexed))
    url = named.get(_plain(title))
    if url is not None:
        return [url]
    try:
        return [str(indexed.page(indexed.find(title))["url"])]
    except NoPageError:
        return []


def _titles(indexed: IndexedStore) -> dict[str, str]:
    """The URLs of pages that have their titles in them."""
    return {_plain(title): url for url in indexed.reading.pages.url if (title := title_in(url))}


def _plain(title: str) -> str:
    """A title as MediaWiki compares them: its first letter may be small."""
    flat = title.replace("_", " ").strip()
    return flat[:1].upper() + flat[1:]


def title_in(url: str) -> str:
    """The title that a wiki has put into a URL.

    >>> title_in("https://wiki.example/wiki/Silver_birch"), title_in("https://wiki.example/about")
    ('Silver birch', '')
    """
    found = _IN_URL.search(url)
    return _plain(unquote(found[1])) if found else ""


def _shaped(indexed: IndexedStore, found: list[RelatedPage], given: Given) -> dict[str, Any]:
    newer = given.get("formatversion", "1") in ("2", "latest")
    shown = [_page(indexed, place, each, given) for place, each in enumerate(found, 1)]
    pages: Any = shown if newer else {str(page["pageid"]): page for page in shown}
    answer: dict[str, Any] = {"batchcomplete": True if newer else ""}
    return {**answer, "query": {"pages": pages}} if shown else answer


def _page(indexed: IndexedStore, place: int, neighbor: RelatedPage, given: Given) -> dict[str, Any]:
    node = indexed.find_node(neighbor.url)
    title = title_in(neighbor.url) or neighbor.title or neighbor.url
    page: dict[str, Any] = {"pageid": node + 1, "ns": 0, "title": title, "index": place}
    if "url" in given.get("inprop", "").split("|"):
        page |= {"fullurl": neighbor.url, "canonicalurl": neighbor.url}
    return page
