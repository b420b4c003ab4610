"""`catalog.sqlite`: pages by URL, by alias, by source file, and by words of the title."""

import re
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote
from weakref import finalize

from pagekin.errors import StoreError
from pagekin.model.capture import Origin, Rank, Redirect, Skip
from pagekin.store.checks import check
from pagekin.urls import canonical_url, variants

Find = Callable[[str], int | None]  # the node that a name means

NAME = "catalog.sqlite"
ESCAPE = r"ESCAPE '\'"
_MAX_NODES = 200  # looked up by one query
_MAX_VALUES = 900  # of one statement; SQLite before 3.32 takes 999
_FIRST_DATE, _LAST_DATE = -62_135_596_800, 253_402_300_799  # of Python, in seconds
_TABLES = "SELECT type, name, sql FROM sqlite_master"
_SCHEMA = """
CREATE TABLE nodes (
  node INTEGER PRIMARY KEY, id TEXT NOT NULL, url TEXT NOT NULL, host TEXT NOT NULL, title TEXT NOT NULL,
  first_row INTEGER, rows INTEGER NOT NULL, in_degree INTEGER NOT NULL, out_degree INTEGER NOT NULL);
CREATE TABLE pages (
  row INTEGER PRIMARY KEY, node INTEGER NOT NULL, url TEXT NOT NULL, title TEXT NOT NULL, host TEXT NOT NULL,
  language TEXT NOT NULL, charset TEXT NOT NULL, captured INTEGER NOT NULL, source TEXT NOT NULL,
  offset INTEGER NOT NULL, flags INTEGER NOT NULL, html_bytes INTEGER NOT NULL, text_bytes INTEGER NOT NULL,
  tokens INTEGER NOT NULL, anchors INTEGER NOT NULL, digest TEXT NOT NULL, full_title TEXT NOT NULL);
CREATE TABLE aliases (url TEXT PRIMARY KEY, node INTEGER NOT NULL, kind TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE redirects (
  url TEXT, target TEXT, captured INTEGER, source TEXT, offset INTEGER, size INTEGER, modified INTEGER);
CREATE TABLE skips (source TEXT, reason TEXT, example TEXT, count INTEGER, decided INTEGER);
CREATE TABLE older (url TEXT, captured INTEGER, source TEXT, offset INTEGER);
CREATE VIRTUAL TABLE titles USING fts5(full_title, content='pages', content_rowid='row', prefix='2 3');
"""
_INDEXES = """
CREATE INDEX nodes_url ON nodes (url);
CREATE INDEX nodes_id ON nodes (id);
CREATE INDEX pages_url ON pages (url);
CREATE INDEX pages_node ON pages (node);
CREATE INDEX pages_source ON pages (source);
CREATE INDEX aliases_node ON aliases (node);
INSERT INTO titles (titles) VALUES ('rebuild');
"""


# Rows of an earlier catalogue, whose numbers become larger by ?1: those from ?2 to before ?3.
_COPY = {
    "nodes": """INSERT INTO nodes SELECT node + ?1, id, url, host, title, first_row + ?1, rows, in_degree, out_degree
      FROM earlier.nodes WHERE node >= ?2 AND node < ?3 ORDER BY node""",
    "pages": """INSERT INTO pages SELECT row + ?1, node + ?1, url, title, host, language, charset, captured, source,
      offset, flags, html_bytes, text_bytes, tokens, anchors, digest, full_title
      FROM earlier.pages WHERE row >= ?2 AND row < ?3 ORDER BY row""",
}


@dataclass(frozen=True)
class CopiedRows:
    """Consecutive rows of a table that an earlier catalogue has as well, but for the numbers of pages and nodes."""

    first: int
    earlier: range  # the numbers of the rows there


Rows = Iterable[Sequence[Any]]


def write_catalog(
    folder: Path, tables: Mapping[str, Iterable[Rows | CopiedRows]], earlier: "Catalog | None" = None
) -> None:
    """Write a new catalogue from the rows of each table; the same rows give the same bytes.

    Rows of nodes and pages may be copied from an earlier catalogue, if every page is a node.
    """
    try:
        connection = sqlite3.connect((folder / NAME).absolute().as_uri(), isolation_level=None, uri=True)
    except sqlite3.Error as error:
        raise StoreError(f"{folder / NAME} cannot be written: {error}") from error
    try:
        for setting in ("page_size = 8192", "journal_mode = OFF", "synchronous = OFF"):
            connection.execute(f"PRAGMA {setting}")
        connection.executescript(_SCHEMA)
        if earlier is not None:
            connection.execute("ATTACH ? AS earlier", [earlier.uri])
        connection.execute("BEGIN")
        for table, parts in tables.items():
            for rows in parts:
                if isinstance(rows, CopiedRows):
                    begin, end = rows.earlier.start, rows.earlier.stop
                    connection.execute(_COPY[table], [rows.first - begin, begin, end])
                else:
                    _insert(connection, table, iter(rows))
        connection.execute("COMMIT")
        connection.executescript(_INDEXES)
    except sqlite3.Error as error:
        raise StoreError(f"{folder / NAME} cannot be written: {error}") from error
    finally:
        connection.close()


def _insert(connection: sqlite3.Connection, table: str, rows: Iterator[Sequence[Any]]) -> None:
    """Insert rows by statements of many rows each, which take less time for the same bytes."""
    columns = len(connection.execute(f"PRAGMA table_info({table})").fetchall())
    row, many = f"({', '.join('?' * columns)})", _MAX_VALUES // columns
    insert = f"INSERT INTO {table} VALUES"
    while len(some := list(islice(rows, many))) == many:
        connection.execute(f"{insert} {', '.join([row] * many)}", list(chain.from_iterable(some)))
    connection.executemany(f"{insert} {row}", some)


def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(_SCHEMA + _INDEXES)
    return connection


@cache
def _expected_tables() -> set[tuple[str, str, str | None]]:
    """Type, name and definition of everything in a catalogue."""
    with closing(_in_memory()) as connection:
        return set(connection.execute(_TABLES))


@cache
def _wrong_types() -> dict[str, str]:
    """For each table, a query for the rows with a value of another type than its column."""
    found = {}
    with closing(_in_memory()) as connection:
        for table in ("nodes", "pages", "aliases", "redirects", "skips", "older"):
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            tests = (
                f"typeof({name}) NOT IN ('{kind.lower()}', '{'null' if name == 'first_row' else ''}')"
                for _, name, kind, *_ in columns
            )
            found[table] = f"SELECT 1 FROM {table} WHERE {' OR '.join(tests)}"
    return found


class PageNames:
    """The nodes of a collection by URL and by file name.

    >>> known = PageNames([("http://a.example/x.html", 7)], [("site/A%28b%29.htm", 8)])
    >>> known.find("HTTP://a.example/x.html#top"), known.find("A%28b%29.htm"), known.find("nowhere.htm")
    (7, 8, None)
    """

    def __init__(self, urls: Iterable[tuple[str, int]], files: Iterable[tuple[str, int]] = ()) -> None:
        self.urls: dict[str, int] = {}
        for url, node in urls:
            self.urls.setdefault(url, node)
        # A file is known by its path with and without the source folder; an ambiguous name means no page.
        self._files: dict[str, int | None] = {}
        for source, node in files:
            for name in {source, source.partition("/")[2] or source}:
                self._files[name] = node if self._files.get(name, node) == node else None

    def find(self, name: str) -> int | None:
        """The node of a file path, of a URL, or of a URL without its scheme."""
        name = name.removeprefix("./")
        node = self._files.get(name)
        if node is not None:
            return node
        url = canonical_url(name) or canonical_url(f"http://{name}")
        known = (self.urls.get(each) for each in ((url, *variants(url)) if url is not None else ()))
        return next((node for node in known if node is not None), None)


class NewPageNames(PageNames):
    """Names without a collection: every name that is added is a new page."""

    def __init__(self) -> None:
        super().__init__(())

    def take(self, name: str) -> int:
        """The number of a name, the next free one for a new name."""
        return self.urls.setdefault(canonical_url(name) or name, len(self.urls))

    def find(self, name: str) -> int | None:
        return self.urls.get(canonical_url(name) or name)


class Catalog:
    """A catalogue opened for reading. Neither the file nor its folder need be writable."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        if not self.path.is_file():
            raise StoreError(f"{self.path} is missing; build the store again")
        self.uri = f"{self.path.resolve().as_uri()}?mode=ro&immutable=1"
        try:
            self._connection = sqlite3.connect(self.uri, uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be opened: {error}") from error
        finalize(self, self._connection.close)  # Python 3.13 warns of those that are left to the garbage collector
        self._connection.row_factory = sqlite3.Row
        for setting in ("trusted_schema = OFF", "cell_size_check = ON"):  # SQLite's advice for files from elsewhere
            self.rows(f"PRAGMA {setting}")
        # A view in place of a table could compute for ever.
        tables = {tuple(row) for row in self.rows(_TABLES)}
        check(tables == _expected_tables(), self.path, "it has other tables")

    def close(self) -> None:
        self._connection.close()

    def verify(self, pages: int, inside: int, nodes: int) -> None:
        """Raise StoreError unless all values have their types, and rows and nodes are those of the store.

        `inside` is the number of nodes with pages.
        """
        wrong = list(_wrong_types().values())
        wrong += [f"SELECT 1 FROM pages WHERE node NOT BETWEEN 0 AND {inside - 1} OR row NOT BETWEEN 0 AND {pages - 1}"]
        wrong += [f"SELECT 1 FROM pages WHERE captured NOT BETWEEN {_FIRST_DATE} AND {_LAST_DATE}"]
        wrong += [f"SELECT 1 FROM nodes WHERE first_row NOT BETWEEN 0 AND {pages - 1} OR node < 0 OR node >= {nodes}"]
        wrong += [f"SELECT 1 FROM nodes WHERE (first_row IS NULL) = (node < {inside})"]
        wrong += [f"SELECT 1 FROM aliases WHERE node NOT BETWEEN 0 AND {inside - 1}"]
        wrong += [
            f"SELECT 1 FROM (SELECT count(*) AS n FROM {name}) WHERE n != {count}"
            for name, count in (("pages", pages), ("nodes", nodes))
        ]
        self._expect_none(wrong)

    def verify_numbers(self, pages: int, nodes: int) -> None:
        """Raise StoreError unless pages and nodes have these numbers of rows, which are numbered from 0 on."""
        for key, table, count in (("row", "pages", pages), ("node", "nodes", nodes)):
            found = tuple(
                self.rows(f"SELECT count(*), coalesce(min({key}), 0), coalesce(max({key}), -1) FROM {table}")[0]
            )
            check(found == (count, 0, count - 1), self.path, f"{table} has other rows")

    def verify_dropped(self) -> None:
        """Raise StoreError unless all values of redirects, skips and older captures have their types."""
        self._expect_none(_wrong_types()[table] for table in ("redirects", "skips", "older"))

    def _expect_none(self, wrong: Iterable[str]) -> None:
        for query in wrong:
            check(not self.rows(f"{query} LIMIT 1"), self.path, query.removeprefix("SELECT 1 FROM "))

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from error

    def each(self, query: str, *values: Any) -> Iterator[sqlite3.Row]:
        """The rows of a query one at a time, for a query with a row for every node."""
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> StoreError:
        return StoreError(f"{self.path} is damaged ({error}); build the store again")

    def _numbers(self, query: str, *values: Any) -> list[int]:
        return [int(row[0]) for row in self.each(query, *values)]

    def page_at(self, url: str) -> int | None:
        """The row of the page with this URL, or of the page that this alias leads to."""
        for query in (
            "SELECT row FROM pages WHERE url = ? LIMIT 1",
            "SELECT first_row FROM nodes WHERE url = ? AND first_row IS NOT NULL LIMIT 1",
            "SELECT n.first_row FROM aliases a JOIN nodes n ON n.node = a.node WHERE a.url = ? LIMIT 1",
        ):
            if found := self._numbers(query, url):
                return found[0]
        return None

    def pages_from(self, source: str) -> list[int]:
        """The rows of the pages from a file, which is given by its path or by the end of its name in the store."""
        parts = [part for part in source.replace("\\", "/").split("/") if part not in ("", ".")]
        for k in range(len(parts)):
            if found := self._numbers("SELECT row FROM pages WHERE source = ? LIMIT 6", "/".join(parts[k:])):
                return found
        ending = "%/" + literal("/".join(parts))
        return self._numbers(rf"SELECT row FROM pages WHERE source LIKE ? {ESCAPE} LIMIT 6", ending)

    def redirected(self, file: str) -> list[int]:
        """The rows of the pages that redirects lead to, given the end of the path of their URLs, such as a file."""
        path = "/".join(part for part in file.replace("\\", "/").split("/") if part not in ("", ".", ".."))
        if not set("./") & set(path):
            return []  # a word, not a file
        ending = "%/" + literal(quote(path, safe="/%~!$&'()*+,;=:@"))
        query = "SELECT DISTINCT n.first_row FROM aliases a JOIN nodes n USING (node) WHERE n.first_row IS NOT NULL"
        return self._numbers(f"{query} AND a.url LIKE ? {ESCAPE} ORDER BY 1 LIMIT 6", ending)

    def matching_title(self, name: str, limit: int) -> list[int]:
        """The rows of pages that match a title or words of one: one if it is unambiguous, else several, best first.

        An exact title comes before titles with all the words, and those before titles in which the last word is only a
        prefix: "Ant" finds the page Ant even if there are pages on Ant colonies and Antarctica.
        """
        found: list[int] = []
        for rows in (self.exactly_titled(name), self.titled(name, limit, whole=True), self.titled(name, limit)):
            if len(rows) == 1:
                return rows
            found += rows
        return list(dict.fromkeys(found))[:limit]

    def exactly_titled(self, title: str) -> list[int]:
        """The rows of pages with exactly this title, ignoring case and white space."""
        terms = terms_of(title)
        if not terms:
            return []
        beginning = '^"' + " ".join(terms) + '"'
        match = "SELECT rowid FROM titles WHERE titles MATCH ?"
        found = self.rows(f"SELECT row, title, full_title FROM pages WHERE row IN ({match}) ORDER BY row", beginning)
        wanted = _plain(title)
        return [int(row) for row, *titles in found if wanted in map(_plain, titles)]

    def titled(self, words: str, limit: int, *, whole: bool = False) -> list[int]:
        """The rows of pages whose titles contain all words, best first; unless `whole`, the last may be a prefix."""
        terms = terms_of(words)
        if not terms:
            return []
        query = " ".join(f'"{term}"' for term in terms) + ("" if whole else "*")
        match = "SELECT rowid FROM titles WHERE titles MATCH ? ORDER BY rank, rowid LIMIT ?"
        return self._numbers(match, query, limit)

    def similar_urls(self, name: str, limit: int) -> list[int]:
        """The rows of pages whose URLs share the longest prefix with `name`."""
        stem = name if "//" in name else f"http://{name}"
        query = "SELECT row FROM pages WHERE url >= ? AND url < ? ORDER BY url LIMIT ?"
        while len(stem) > len("https://x"):
            if found := self._numbers(query, stem, stem + "\uffff", limit):
                return found
            stem = stem[:-1]
        return []

    def page(self, row: int) -> dict[str, Any]:
        columns = "p.*, n.id, n.in_degree, n.out_degree, n.url AS node_url"
        return dict(self.rows(f"SELECT {columns} FROM pages p JOIN nodes n ON n.node = p.node WHERE p.row = ?", row)[0])

    def named_nodes(self, nodes: Sequence[int]) -> list[dict[str, str]]:
        """URL and title of nodes, without those that do not exist."""
        named = self.names_by_node(nodes)
        return [named[node] for node in nodes if node in named]

    def names_by_node(self, nodes: Sequence[int]) -> dict[int, dict[str, str]]:
        """URL and title of nodes."""
        named: dict[int, dict[str, str]] = {}
        for begin in range(0, len(nodes), _MAX_NODES):
            some = nodes[begin : begin + _MAX_NODES]
            rows = self.rows(f"SELECT node, url, title FROM nodes WHERE node IN ({', '.join('?' * len(some))})", *some)
            named |= {node: {"url": url, "title": title} for node, url, title in rows}
        return named

    def names_inside(self) -> Iterator[tuple[str, str]]:
        """URL and title of all nodes with pages."""
        rows = self.each("SELECT url, title FROM nodes WHERE first_row IS NOT NULL ORDER BY node")
        return ((url, title) for url, title in rows)

    def short_titles(self) -> list[str]:
        """The short titles of all pages."""
        return [row[0] for row in self.each("SELECT title FROM pages ORDER BY row")]

    def named_pages(self, rows: Sequence[int]) -> list[dict[str, str]]:
        """The URLs and titles of pages."""
        found = (self.rows("SELECT url, title FROM pages WHERE row = ?", row)[0] for row in rows)
        return [{"url": url, "title": title} for url, title in found]

    def page_names(self) -> PageNames:
        """The pages by their URLs, their aliases, and the files that they were read from."""
        queries = (
            "SELECT url, node FROM nodes WHERE first_row IS NOT NULL ORDER BY node",
            "SELECT url, node FROM pages ORDER BY row",
            "SELECT a.url, a.node FROM aliases a JOIN nodes n USING (node) WHERE first_row IS NOT NULL ORDER BY a.url",
        )
        urls = ((row[0], row[1]) for query in queries for row in self.each(query))
        files = ((row[0], row[1]) for row in self.each("SELECT source, node FROM pages ORDER BY row"))
        return PageNames(urls, files)

    def aliases(self, node: int) -> list[tuple[str, str]]:
        """(URL, kind) of the aliases of a node."""
        rows = self.rows("SELECT url, kind FROM aliases WHERE node = ? ORDER BY url", node)
        return [(url, kind) for url, kind in rows]

    def redirects(self) -> list[Redirect]:
        rows = self.rows("SELECT url, target, captured, source, offset, size, modified FROM redirects ORDER BY rowid")
        return [Redirect(url, target, Origin(*origin), captured) for url, target, captured, *origin in rows]

    def older(self) -> list[tuple[str, Rank]]:
        """(URL, rank) of captures that were dropped in favour of a newer one."""
        rows = self.rows("SELECT url, captured, source, offset FROM older ORDER BY rowid")
        return [(url, Rank(*rank)) for url, *rank in rows]

    def other_captures(self, url: str, limit: int) -> list[tuple[int, str]]:
        """(time, source) of the captures of a URL that are not its page, newest first.

        They are stored in the order of URLs and times; so a binary search finds them without an index.
        """
        ((last,),) = self.rows("SELECT coalesce(max(rowid), 0) FROM older")
        places = range(1, last + 1)

        def url_at(place: int) -> str:
            return str(self.rows("SELECT url FROM older WHERE rowid >= ? ORDER BY rowid LIMIT 1", place)[0][0])

        first, end = bisect_left(places, url, key=url_at), bisect_right(places, url, key=url_at)
        rows = self.rows(
            "SELECT captured, source FROM older WHERE rowid > ? AND rowid <= ? ORDER BY rowid DESC",
            max(first, end - limit),
            end,
        )
        return [(captured, source) for captured, source in rows]

    def skips(self, decided: bool | None = None) -> list[Skip]:
        """What was skipped; `decided` selects what the store dropped (True) or what reading skipped (False)."""
        where = "" if decided is None else f"WHERE decided = {int(decided)}"
        rows = self.rows(f"SELECT source, reason, example, count FROM skips {where} ORDER BY source, reason")
        return [Skip(*row) for row in rows]


def terms_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def literal(text: str) -> str:
    """A text as a pattern of LIKE that matches it alone."""
    return re.sub(r"([%_\\])", r"\\\1", text)


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())
