"""Related pages in the format of MediaWiki's `generator=search&gsrsearch=morelike:TITLE`.

A wiki can then use this server without changes. Titles are taken from URLs of the form /wiki/A_title or ?title=A_title;
pages with other URLs have the titles of the collection.
"""

import re
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.types import ASGIApp

from pagekin.errors import NoPageError
from pagekin.search.options import RelatedOptions
from pagekin.serving.api.handlers import Values, answer_get
from pagekin.serving.api.params import param, split_query
from pagekin.serving.generations import Generation

_PREFIX = "morelike:"
_MAX_PAGES = 50  # as in MediaWiki
_TITLE_IN_URL = re.compile(r"(?:/wiki/|[?&]title=)([^?&#]+)")
_MAX_LENGTH = 8000


async def answer_mediawiki(request: Request) -> ASGIApp:
    """Find related pages, in the format of MediaWiki's `api.php`; unknown parameters are ignored."""
    names = {name for name, _ in split_query(request.scope["query_string"])}
    return await answer_get(request, [param(name, "", _MAX_LENGTH, min_length=0) for name in sorted(names)], _answer)


def _answer(generation: Generation, values: Values) -> dict[str, Any]:
    for name, value in {"action": "query", "generator": "search", "format": "json"}.items():
        if values.get(name, value) != value:
            return _error(f"unknown_{name}", f"{name} can only be {value} here.")
    search = values.get("gsrsearch", "")
    if not search.startswith(_PREFIX):
        return _error("missingparam", f"gsrsearch must be {_PREFIX} and a title.")
    try:
        limit = _MAX_PAGES if values.get("gsrlimit") == "max" else int(values.get("gsrlimit", "10"))
    except ValueError:
        return _error("badinteger", "gsrlimit must be a number, or max.")
    titles = [title for title in search.removeprefix(_PREFIX).split("|") if title.strip()]
    if len(titles) > _MAX_PAGES:
        return _error("toomanyvalues", f"At most {_MAX_PAGES} titles are allowed.")
    indexed, new_format = generation.indexed, values.get("formatversion", "1") in ("2", "latest")
    urls = [url for title in titles for url in _urls(generation, title)]
    options = RelatedOptions(limit=max(1, min(limit, _MAX_PAGES)), explain=False)
    found = indexed.related(urls, options) if urls else []
    rows: list[dict[str, Any]] = []
    for index, each in enumerate(found, 1):
        title, url = title_in(each.url) or each.title or each.url, each.url
        rows.append({"pageid": indexed.find_node(url) + 1, "ns": 0, "title": title, "index": index})
        if "url" in values.get("inprop", "").split("|"):
            rows[-1] |= {"fullurl": url, "canonicalurl": url}
    pages: Any = rows if new_format else {str(page["pageid"]): page for page in rows}
    answer: dict[str, Any] = {"batchcomplete": True if new_format else ""}
    return {**answer, "query": {"pages": pages}} if rows else answer


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "info": message}}


def _urls(generation: Generation, title: str) -> list[str]:
    """Return the URL of the page with a title. A missing page is not an error in MediaWiki."""
    indexed = generation.indexed
    urls = indexed.reading.pages.url
    by_title = generation.compute_once("titles", lambda: {found: url for url in urls if (found := title_in(url))})
    url = by_title.get(_normalise(title))
    if url is not None:
        return [url]
    try:
        return [str(indexed.page(indexed.find(title))["url"])]
    except NoPageError:
        return []


def _normalise(title: str) -> str:
    """Normalise a title as MediaWiki does: spaces for underscores, first letter in upper case."""
    flat = title.replace("_", " ").strip()
    return flat[:1].upper() + flat[1:]


def title_in(url: str) -> str:
    """Return the title in the URL of a wiki page, or an empty string.

    >>> title_in("https://wiki.example/wiki/Silver_birch"), title_in("https://wiki.example/about")
    ('Silver birch', '')
    """
    found = _TITLE_IN_URL.search(url)
    return _normalise(unquote(found[1])) if found else ""
