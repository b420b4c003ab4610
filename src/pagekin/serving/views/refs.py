"""Pages as the page names them, and how they are found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pagekin.errors import MisuseError
from pagekin.kin import Kin
from pagekin.serving.views.words import last_part, shown, site_end
from pagekin.store.catalog import Catalog

_TITLES, _FEWEST = 60, 4  # of a host, that are looked at; that must end alike
_SCANNED = 200_000  # pages whose URLs are all looked at for a part of one


@dataclass(frozen=True)
class Ref:
    """A page that can be gone to."""

    node: int
    id: str
    url: str
    title: str  # as it is shown: never empty, cut, without control characters and the name of the site
    host: str


def refs(kin: Kin, nodes: Iterable[int]) -> list[Ref]:
    """The pages of some nodes."""
    return [_ref(kin, row) for node in nodes for row in kin.catalog.rows(_SELECT + "WHERE node = ?", int(node))]


def ref(kin: Kin, node: int) -> Ref:
    """The page of a node."""
    return refs(kin, [node])[0]


def refs_by_url(kin: Kin, urls: Iterable[str]) -> list[Ref]:
    """The pages at some URLs, which the collection has."""
    return [_ref(kin, row) for url in urls for row in kin.catalog.rows(_SELECT + "WHERE url = ? LIMIT 1", url)]


def refs_by_row(kin: Kin, rows: Sequence[int]) -> list[Ref]:
    """The pages of some rows, each once."""
    query = "SELECT node FROM pages WHERE row = ?"
    return refs(kin, dict.fromkeys(found["node"] for row in rows for found in kin.catalog.rows(query, row)))


def ref_by_id(kin: Kin, id: str) -> Ref:
    """The page of an id."""
    for row in kin.catalog.rows(_SELECT + "WHERE id = ? LIMIT 1", id):
        return _ref(kin, row)
    raise MisuseError(f"no page has the id {shown(id, 40)!r}; it may have left the collection, so search for it")


def meant(kin: Kin, name: str) -> Ref:
    """The page that somebody means: an id, a URL, a title."""
    if re.fullmatch("[0-9a-f]{16}", name):
        return ref_by_id(kin, name)
    return ref(kin, kin.find_node(name))


def search(kin: Kin, query: str, limit: int) -> list[Ref]:
    """Pages that somebody who has typed so much may mean: by URL, by words of the title, by a part of the URL."""
    query = query.strip()[:500].encode("utf-8", "replace").decode("utf-8")
    if not query:
        return []
    catalog = kin.catalog
    exact = [row for url in kin.urls_meant(query) if (row := catalog.page_at(url)) is not None]
    rows = list(dict.fromkeys([*exact[:1], *_beginning(kin, query, limit), *catalog.titled(query, limit)]))
    if len(rows) < limit and len(kin) <= _SCANNED:
        part = "%" + re.sub(r"([%_\\])", r"\\\1", query) + "%"
        found = catalog.rows(r"SELECT row FROM pages WHERE url LIKE ? ESCAPE '\' ORDER BY row LIMIT ?", part, limit)
        rows = list(dict.fromkeys([*rows, *(int(row["row"]) for row in found)]))
    return refs_by_row(kin, rows[: 2 * limit])[:limit]


def _beginning(kin: Kin, query: str, limit: int) -> list[int]:
    """Pages whose URLs begin so, if it looks like a URL at all."""
    if not re.match(r"https?://|[\w-]+\.[\w.-]", query):
        return []
    starts = [query] if "://" in query else [f"{scheme}://{www}{query}" for scheme in ("http", "https") for www in _WWW]
    found = [
        kin.catalog.rows(
            "SELECT row FROM pages WHERE url >= ? AND url < ? ORDER BY url LIMIT ?", start, start + "\uffff", limit
        )
        for start in starts
    ]
    return [int(row["row"]) for rows in found for row in rows][:limit]


_WWW = ("", "www.")
_SELECT = "SELECT node, id, url, title, host FROM nodes "


def _ref(kin: Kin, row: Sequence[Any]) -> Ref:
    node, id, url, title, host = row
    site = _site_name(kin.catalog, host) if title else ""
    title = shown(title.removesuffix(site)) if title != site else shown(title)
    return Ref(node, id, url, title or shown(last_part(url)), shown(host, 80))


@lru_cache(4096)
def _site_name(catalog: Catalog, host: str) -> str:
    """The end that titles of a host have in common, where sites put their name; a list can do without it."""
    found = catalog.rows("SELECT title FROM nodes WHERE host = ? AND title != '' LIMIT ?", host, _TITLES)
    ends = Counter(site_end(row["title"]) for row in found)
    end, count = ends.most_common(1)[0] if ends else ("", 0)
    return end if count >= _FEWEST and count >= 0.8 * len(found) else ""
