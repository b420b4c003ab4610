"""What is stored of a collection and of each page, searching pages by URL, title or text, and what a build did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pagekin.figures import counted
from pagekin.index.answers import is_answers
from pagekin.model.jsons import json_field
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.results import PageLink, ResultSequence
from pagekin.store.catalog import terms_of
from pagekin.store.store import LONGEST_NAME, Store
from pagekin.store.suggestions import with_parts

if TYPE_CHECKING:
    from pagekin.pipeline import Built  # loads compiled code

_HOSTS = "SELECT host, count(*) FROM pages GROUP BY host ORDER BY count(*) DESC, host LIMIT 10"
_LANGUAGES = "SELECT language, count(*) FROM pages GROUP BY language ORDER BY count(*) DESC, language"
_SKIPS = "SELECT reason, sum(count), min(example), min(source) FROM skips GROUP BY reason ORDER BY 2 DESC, reason"
MOST_LINKS = 10  # in `linked_from` and `links_to`
_EXCERPT = 400
_STORED = ("id", "url", "title", "host", "language", "charset", "source", "html_bytes", "in_degree", "out_degree")
_CAPTURES = 100  # of a page that are listed
_PREFIXES = ("", "http://", "https://", "http://www.", "https://www.")
_COLUMNS = "n.id, p.url, p.title, p.host, p.language, n.in_degree FROM pages p JOIN nodes n ON n.node = p.node"


@dataclass(frozen=True, repr=False)
class CollectionInfo:
    """What a collection holds, how it was read, and what was skipped and why."""

    store: str
    format: int
    generation: int
    settings: dict[str, Any]
    strategy: dict[str, Any] | None
    duplicates: dict[str, Any] | None  # settings and counts of the fingerprints
    counts: dict[str, int]
    bytes: int  # of all files
    hosts: list[tuple[str, int]] = json_field(columns=("host", "pages"))  # the ten largest
    languages: dict[str, int] = json_field()
    skipped: list[tuple[str, int, str, str]] = json_field(columns=("reason", "count", "example", "source"))
    vectors: dict[str, Any] | None = json_field(default=None, omit=None)  # that were given to the build
    shards: int = json_field(default=1, omit=1)  # that the files are divided into

    def __repr__(self) -> str:
        return f"<CollectionInfo {self.store} of {counted(self.counts['pages'], 'page')}>"


@dataclass(frozen=True)
class CheckReport:
    """The number of files of a store, and those that differ from what was written."""

    files: int
    damaged: list[tuple[str, str]] = json_field(columns=("file", "problem"))


@dataclass(frozen=True)
class BuildReport:
    """What a build did."""

    store: str
    generation: int
    changed: bool
    read: int  # pages read in this build
    reused: int  # pages taken from the previous generation
    counts: dict[str, int]
    skipped: dict[str, int]
    inner_links: int = json_field(expand={})  # links between pages of the collection; not in JSON
    vectors: dict[str, Any] | None = json_field(default=None, omit=None)  # numbers of pages with and without vectors


@dataclass(frozen=True)
class KeptReport:
    """The answers that are kept in an index."""

    store: str
    pages: int
    limit: int
    bytes: int


def describe_answers(store: Store, limit: int) -> KeptReport:
    files = (store.manifest.index or {})["files"]
    size = sum(facts["bytes"] for name, facts in files.items() if is_answers(name))
    return KeptReport(str(store.root), len(store.nodes) - 1, limit, size)


def describe_store(store: Store) -> CollectionInfo:
    manifest, rows = store.manifest, store.catalog.rows
    index = manifest.index or {}
    return CollectionInfo(
        store=str(store.root),
        format=manifest.version,
        generation=manifest.generation,
        settings=manifest.settings,
        strategy=index.get("strategy"),
        duplicates=index.get("duplicates"),
        counts=manifest.counts,
        bytes=sum(file["bytes"] for file in manifest.all_files().values()),
        hosts=[(host, pages) for host, pages in rows(_HOSTS)],
        languages={language or "unknown": pages for language, pages in rows(_LANGUAGES)},
        skipped=[(reason, count, example, source) for reason, count, example, source in rows(_SKIPS)],
        vectors=index.get("vectors"),
        shards=manifest.shards,
    )


def describe_build(built: Built) -> BuildReport:
    store, manifest = built.store, built.store.manifest
    return BuildReport(
        store=str(store.root),
        generation=manifest.generation,
        changed=built.changed,
        read=built.read,
        reused=built.reused,
        counts=manifest.counts,
        skipped=manifest.skipped,
        inner_links=int(store.links.offsets[len(store.nodes) - 1]),
        vectors=(manifest.index or {}).get("vectors"),
    )


@dataclass(frozen=True, repr=False)
class Page:
    """A page of a collection. Methods of `Collection` that take the name of a page also take a `Page`."""

    id: str  # a digest of the URL, for addresses
    url: str
    title: str
    host: str
    language: str
    in_degree: int

    def __repr__(self) -> str:
        return f"<Page {self.title!r} {self.url}>"


@dataclass(frozen=True, repr=False)
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
    # Those that were read, but are not the page: ISO 8601 and source, newest first.
    other_captures: list[tuple[str | None, str]] = json_field(columns=("captured", "source"))
    top_terms: list[tuple[str, float]] = json_field(columns=("term", "weight"), digits=6)
    excerpt: str = json_field()
    anchor_texts: list[tuple[str, int]] = json_field(columns=("text", "count"))
    linked_from: list[PageLink] = json_field()
    links_to: list[PageLink] = json_field()
    text: str | None = json_field(default=None, omit=None)  # only where it was asked for

    def __repr__(self) -> str:
        return f"<PageDetails {self.title!r} {self.url} of {counted(self.words, 'word')}>"


@dataclass(frozen=True, repr=False)
class SearchResults(ResultSequence[Page]):
    """Pages that a user may mean: a sequence, the likeliest first."""

    query: str
    pages: list[Page]

    @property
    def items(self) -> list[Page]:
        return self.pages


def list_pages(indexed: IndexedStore) -> Iterator[Page]:
    return (Page(*row) for row in indexed.catalog.each(f"SELECT {_COLUMNS} ORDER BY p.row"))


def describe_page(indexed: IndexedStore, row: int, with_text: bool = False) -> PageDetails:
    page = indexed.page(row)
    node = page["node"]
    return PageDetails(
        **{name: page[name] for name in _STORED},
        captured=_moment(page["captured"]),
        words=page["tokens"],
        sha256=page["digest"],
        aliases=indexed.catalog.aliases(node),
        other_captures=[(_moment(at), source) for at, source in indexed.catalog.other_captures(page["url"], _CAPTURES)],
        top_terms=indexed.top_terms(node),
        excerpt=_excerpt(indexed.main_text(row)),
        anchor_texts=indexed.anchor_texts(node),
        linked_from=[PageLink(**each) for each in indexed.linked_from(node, MOST_LINKS)],
        links_to=[PageLink(**each) for each in indexed.links_to(row, MOST_LINKS)],
        text=indexed.text(row) if with_text else None,
    )


def _moment(seconds: int) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z") if seconds else None


def _excerpt(text: str) -> str:
    flat = " ".join(text[: 4 * _EXCERPT].split())
    return flat if len(flat) <= _EXCERPT else flat[:_EXCERPT].rpartition(" ")[0] + " …"


def search_pages(indexed: IndexedStore, query: str, limit: int = 10) -> SearchResults:
    """The page with this URL, then pages with these words in the title, then pages with this text in the URL.

    Then pages whose titles have a name, such as ConcurrentHashMap, with the words as parts; then pages by the words of
    their texts.
    """
    catalog, query = indexed.catalog, query.strip().encode("utf-8", "replace").decode("utf-8")
    rows = _pages_named(indexed, query, limit) if len(query) <= LONGEST_NAME else {}
    if terms_of(query) and len(rows) < limit and "://" not in query:
        rows |= dict.fromkeys(indexed.pages_with_words(query, limit))
    named = (catalog.rows(f"SELECT {_COLUMNS} WHERE p.row = ?", row)[0] for row in list(rows)[:limit])
    return SearchResults(query, [Page(*each) for each in named])


def _pages_named(indexed: IndexedStore, query: str, limit: int) -> dict[int, None]:
    """The rows of pages by their URLs and titles, the best first."""
    catalog = indexed.catalog
    found = [catalog.page_at(url) for url in (indexed.urls_meant(query) if query else ())]
    found += catalog.exactly_titled(query)[:limit] + catalog.titled(query, limit)
    rows = dict.fromkeys(row for row in found if row is not None)
    pages = "SELECT row FROM pages WHERE"
    for begin in (prefix + query for prefix in _PREFIXES if query):
        some = catalog.rows(f"{pages} url >= ? AND url < ? ORDER BY url LIMIT ?", begin, begin + "\U0010ffff", limit)
        rows |= {row: None for (row,) in some}
    if query and len(rows) < limit:
        rows |= dict.fromkeys(with_parts(catalog, query, limit))
        rows |= {row: None for (row,) in catalog.rows(f"{pages} instr(url, ?) ORDER BY row LIMIT ?", query, limit)}
    return rows
