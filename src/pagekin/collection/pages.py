"""Pages of a collection: what is stored of one, and searching by URL or title."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from pagekin.model.jsons import json_field
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.results import PageLink, ResultSequence

MOST_LINKS = 10  # in `linked_from` and `links_to`
_EXCERPT = 400
_STORED = ("id", "url", "title", "host", "language", "charset", "source", "html_bytes", "in_degree", "out_degree")
_PREFIXES = ("", "http://", "https://", "http://www.", "https://www.")
_COLUMNS = "n.id, p.url, p.title, p.host, p.language, n.in_degree FROM pages p JOIN nodes n ON n.node = p.node"


@dataclass(frozen=True)
class Page:
    """A page of a collection. Methods of `Collection` that take the name of a page also take a `Page`."""

    id: str  # a digest of the URL, for addresses
    url: str
    title: str
    host: str
    language: str
    in_degree: int


@dataclass(frozen=True)
class PageDetails:
    """All that is stored of a page."""

    id: str
    url: str
    title: str
    host: str
    language: str
    charset: str
    captured: str | None  # ISO 8601
    source: str
    words: int
    html_bytes: int
    sha256: str  # the first 16 bytes
    in_degree: int
    out_degree: int
    aliases: list[tuple[str, str]] = json_field(columns=("url", "kind"))
    top_terms: list[tuple[str, float]] = json_field(columns=("term", "weight"), digits=6)
    excerpt: str = json_field()
    anchor_texts: list[tuple[str, int]] = json_field(columns=("text", "count"))
    linked_from: list[PageLink] = json_field()
    links_to: list[PageLink] = json_field()
    text: str | None = json_field(default=None, omit=None)  # only where it was asked for


@dataclass(frozen=True)
class SearchResults(ResultSequence[Page]):
    """Pages that a user may mean: a sequence, the likeliest first."""

    query: str
    pages: list[Page]

    @property
    def items(self) -> list[Page]:
        """The pages."""
        return self.pages


def list_pages(indexed: IndexedStore) -> Iterator[Page]:
    """All pages in the order of the store."""
    return (Page(*row) for row in indexed.catalog.each(f"SELECT {_COLUMNS} ORDER BY p.row"))


def describe_page(indexed: IndexedStore, row: int, with_text: bool = False) -> PageDetails:
    """All that is stored of the page in this row."""
    page = indexed.page(row)
    node, text = page["node"], indexed.text(row)
    return PageDetails(
        **{name: page[name] for name in _STORED},
        captured=_moment(page["captured"]),
        words=page["tokens"],
        sha256=page["digest"],
        aliases=indexed.catalog.aliases(node),
        top_terms=indexed.top_terms(node),
        excerpt=_excerpt(text),
        anchor_texts=indexed.anchor_texts(node),
        linked_from=[PageLink(**each) for each in indexed.linked_from(node, MOST_LINKS)],
        links_to=[PageLink(**each) for each in indexed.links_to(row, MOST_LINKS)],
        text=text if with_text else None,
    )


def _moment(seconds: int) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z") if seconds else None


def _excerpt(text: str) -> str:
    flat = " ".join(text[: 4 * _EXCERPT].split())
    return flat if len(flat) <= _EXCERPT else flat[:_EXCERPT].rpartition(" ")[0] + " …"


def search_pages(indexed: IndexedStore, query: str, limit: int = 10) -> SearchResults:
    """The page with this URL, then pages with these words in the title, then pages with this text in the URL."""
    catalog, query = indexed.catalog, query.strip().encode("utf-8", "replace").decode("utf-8")
    found = [catalog.page_at(url) for url in (indexed.urls_meant(query) if query else ())]
    found += catalog.exactly_titled(query)[:limit] + catalog.titled(query, limit)
    rows = dict.fromkeys(row for row in found if row is not None)
    pages = "SELECT row FROM pages WHERE"
    for begin in (prefix + query for prefix in _PREFIXES if query):
        end = begin + "\U0010ffff"
        some = catalog.rows(f"{pages} url >= ? AND url < ? ORDER BY url LIMIT ?", begin, end, limit)
        rows |= {each["row"]: None for each in some}
    if query and len(rows) < limit:
        rows |= {
            each["row"]: None for each in catalog.rows(f"{pages} instr(url, ?) ORDER BY row LIMIT ?", query, limit)
        }
    named = (catalog.rows(f"SELECT {_COLUMNS} WHERE p.row = ?", row)[0] for row in list(rows)[:limit])
    return SearchResults(query, [Page(*each) for each in named])
