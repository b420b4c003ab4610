"""What a site gets: the list in a page, JSON files, and the addresses of pages in them."""

import json
import os
import posixpath
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any
from urllib.parse import quote_from_bytes

from pagekin.site.answers import Listed
from pagekin.site.markup import LIST_CLASS
from pagekin.site.options import SiteOptions

FOLDER = "pagekin"  # in the site
FORMAT = "pagekin site"
_LONGEST_TITLE = 140
STYLE = f"""\
.{LIST_CLASS} {{ margin-block: 2rem 1rem; padding-block-start: 1rem; border-block-start: 1px solid #8888; }}
.{LIST_CLASS} h2 {{ font-size: 1.1em; margin-block: 0 0.5rem; }}
.{LIST_CLASS} ul {{ margin-block: 0; }}
.{LIST_CLASS} li {{ margin-block: 0.35rem; overflow-wrap: anywhere; }}
"""


def _is_index(path: str) -> bool:
    return path.rpartition("/")[2] == "index.html"


def uses_folders(paths: Sequence[str]) -> bool:
    """Whether most pages are called index.html, so that the site has addresses like /guide/."""
    return 2 * sum(map(_is_index, paths)) > len(paths)


def _quoted(path: str) -> str:
    return quote_from_bytes(os.fsencode(path), safe="/~!$&'()*+,;=@")


def href(path: str, page: str, folders: bool) -> str:
    """The relative address of a page in the site, as seen from another.

    >>> href("a/b/index.html", "a/c/index.html", True), href("a/b.html", "c.html", False)
    ('../b/', 'a/b.html')
    """
    folder, _, name = path.rpartition("/")
    way = _way(page.rpartition("/")[0], folder)
    return way or "./" if folders and name == "index.html" else way + _quoted(name)


@cache
def _way(start: str, folder: str) -> str:
    """The relative address of a folder, as seen from another, with a slash at its end; "" for the same."""
    return "" if start == folder else _quoted(posixpath.relpath(folder or ".", start or ".")) + "/"


@cache
def address(path: str) -> str:
    """The address of a page from the root of the site, without index.html.

    >>> address("guide/index.html"), address("a b.html")
    ('/guide/', '/a%20b.html')
    """
    return "/" + _quoted(path.removesuffix("index.html") if _is_index(path) else path)


@cache
def title_of(title: str, path: str) -> str:
    """A title in one line of a bounded length, without characters that are no text."""
    line = title if title.isprintable() else "".join(c if c.isprintable() else " " for c in title)
    line = " ".join(line.split()) or path
    return line if len(line) <= _LONGEST_TITLE else line[: _LONGEST_TITLE - 1] + "…"


def list_html(page: str, pages: Sequence[Listed], options: SiteOptions, folders: bool) -> str:
    """The list of a page, in ASCII, or "" if it is empty."""
    if not pages:
        return ""
    style = ""
    if options.style:
        style = f'<link rel="stylesheet" href="{href(f"{FOLDER}/related.css", page, folders)}" />'
    items = "".join(
        f'<li><a href="{escape(href(each.path, page, folders))}">{escape(title_of(each.title, each.path))}</a></li>'
        for each in pages
    )
    heading = escape(options.heading)
    html = f'{style}<nav class="{LIST_CLASS}" aria-label="{heading}"><h2>{heading}</h2><ul>{items}</ul></nav>'
    return html.encode("ascii", "xmlcharrefreplace").decode()


def _entries(pages: Sequence[Listed]) -> list[dict[str, Any]]:
    return [
        {"url": address(each.path), "title": title_of(each.title, each.path), "similarity": each.similarity}
        | ({"why": list(each.why)} if each.why else {})
        for each in pages
    ]


def data_file(lists: Mapping[str, Sequence[Listed]]) -> bytes:
    """The lists of all pages by their addresses, for templates of generators."""
    return _json(_by_key(lists))


def _by_key(lists: Mapping[str, Sequence[Listed]]) -> dict[str, list[dict[str, Any]]]:
    """Lists by the addresses of pages, not percent-encoded, as generators know them."""
    return {
        "/" + (path.removesuffix("index.html") if _is_index(path) else path): _entries(pages)
        for path, pages in sorted(lists.items())
    }


def site_files(
    lists: Mapping[str, Sequence[Listed]], titles: Mapping[str, str], options: SiteOptions
) -> dict[str, bytes]:
    """The files that a site gets, by their paths in it."""
    pages = {
        f"{FOLDER}/pages/{path}.json": _json(
            {"url": address(path), "title": title_of(titles[path], path), "related": _entries(found)}
        )
        for path, found in lists.items()
    }
    everything = {"format": FORMAT, "version": 1, "pages": _by_key(lists)}
    script = files("pagekin").joinpath("serving/static/embed.js").read_bytes()
    style = {f"{FOLDER}/related.css": STYLE.encode()} if options.style else {}
    return {f"{FOLDER}/related.json": _json(everything), f"{FOLDER}/embed.js": script, **style, **pages}


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8")
