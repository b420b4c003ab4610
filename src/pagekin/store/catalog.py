"""`catalog.sqlite`: what people look up. Pages by URL, by alias, by file, by words of the title."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagekin.errors import StoreError
from pagekin.model.capture import Origin, Rank, Redirect, Skip

NAME = "catalog.sqlite"
_TOGETHER = 200  # nodes that are looked up at a time
_SCHEMA = """
CREATE TABLE nodes (
  node INTEGER PRIMARY KEY, id TEXT NOT NULL, url TEXT NOT NULL, host TEXT NOT NULL, title TEXT NOT NULL,
  first_row INTEGER, rows INTEGER NOT NULL, in_degree INTEGER NOT NULL, out_degree INTEGER NOT NULL);
CREATE TABLE pages (
  row INTEGER PRIMARY KEY, node INTEGER NOT NULL, url TEXT NOT NULL, title TEXT NOT NULL, host TEXT NOT NULL,
  language TEXT NOT NULL, charset TEXT NOT NULL, captured INTEGER NOT NULL, source TEXT NOT NULL,
  offset INTEGER NOT NULL, flags INTEGER NOT NULL, html_bytes INTEGER NOT NULL, text_bytes INTEGER NOT NULL,
  tokens INTEGER NOT NULL, anchors INTEGER NOT NULL, digest TEXT NOT NULL);
CREATE TABLE aliases (url TEXT PRIMARY KEY, node INTEGER NOT NULL, kind TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE redirects (
  url TEXT, target TEXT, captured INTEGER, source TEXT, offset INTEGER, size INTEGER, modified INTEGER);
CREATE TABLE skips (source TEXT, reason TEXT, example TEXT, count INTEGER, decided INTEGER);
CREATE TABLE older (url TEXT, captured INTEGER, source TEXT, offset INTEGER);
CREATE VIRTUAL TABLE titles USING fts5(title, content='pages', content_rowid='row', prefix='2 3');
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


@dataclass(frozen=True)
class CatalogTables:
    """All rows of a catalogue, in the order of the columns of the schema."""

    nodes: Iterable[Sequence[Any]]
    pages: Iterable[Sequence[Any]]
    aliases: Iterable[Sequence[Any]]
    redirects: Iterable[Redirect]
    skips: Iterable[tuple[Skip, bool]]
    older: Iterable[tuple[str, Rank]]


def write_catalog(folder: Path, tables: CatalogTables) -> None:
    """Write the catalogue anew; the same rows give the same bytes."""
    connection = sqlite3.connect(folder / NAME, isolation_level=None)
    try:
        connection.execute("PRAGMA page_size = 8192")
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(_SCHEMA)
        connection.execute("BEGIN")
        _insert(connection, "nodes", tables.nodes)
        _insert(connection, "pages", tables.pages)
        _insert(connection, "aliases", tables.aliases)
        _insert(connection, "redirects", (_redirect_row(redirect) for redirect in tables.redirects))
        _insert(connection, "skips", ((s.source, s.reason, s.where, s.count, decided) for s, decided in tables.skips))
        _insert(connection, "older", ((url, rank.captured, rank.source, rank.offset) for url, rank in tables.older))
        connection.execute("COMMIT")
        connection.executescript(_INDEXES)
    except sqlite3.Error as error:
        raise StoreError(f"{folder / NAME} cannot be written: {error}") from error
    finally:
        connection.close()


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[Sequence[Any]]) -> None:
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        return
    statement = f"INSERT INTO {table} VALUES ({', '.join('?' * len(first))})"
    connection.execute(statement, first)
    connection.executemany(statement, iterator)


def _redirect_row(redirect: Redirect) -> tuple[Any, ...]:
    origin = redirect.origin
    return (
        redirect.url,
        redirect.target,
        redirect.captured,
        origin.source,
        origin.offset,
        origin.size,
        origin.modified,
    )


class Catalog:
    """A catalogue opened for looking things up. It needs no right to write, not even to its folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        if not self.path.is_file():
            raise StoreError(f"{self.path} is missing; build the store again")
        self._connection = sqlite3.connect(
            f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        self._connection.row_factory = sqlite3.Row

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """The rows that a query gives."""
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path} is damaged ({error}); build the store again") from error

    def each(self, query: str) -> Iterator[sqlite3.Row]:
        """The same, one at a time: for a query with a row for every node."""
        try:
            yield from self._connection.execute(query)
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path} is damaged ({error}); build the store again") from error

    def page_at(self, url: str) -> int | None:
        """The row of the page with exactly this URL, or of the page that an alias of it leads to."""
        for query in (
            "SELECT row FROM pages WHERE url = ? LIMIT 1",
            "SELECT first_row AS row FROM nodes WHERE url = ? AND first_row IS NOT NULL LIMIT 1",
            "SELECT n.first_row AS row FROM aliases a JOIN nodes n ON n.node = a.node WHERE a.url = ? LIMIT 1",
        ):
            for row in self.rows(query, url):
                return int(row["row"])
        return None

    def pages_from(self, source: str) -> list[int]:
        """The rows of the pages that came from a file, named by its path or by the end of its name in the store."""
        parts = [part for part in source.replace("\\", "/").split("/") if part not in ("", ".")]
        found: list[sqlite3.Row] = []
        for k in range(len(parts)):
            found = found or self.rows("SELECT row FROM pages WHERE source = ? LIMIT 6", "/".join(parts[k:]))
        if not found:
            ending = "%/" + _like("/".join(parts))
            found = self.rows(r"SELECT row FROM pages WHERE source LIKE ? ESCAPE '\' LIMIT 6", ending)
        return [int(row["row"]) for row in found]

    def meant_by_title(self, name: str, limit: int) -> list[int]:
        """The rows of pages that a title, or words of one, can mean: one if it is clear which, else the best first.

        A page of this very title comes before pages whose titles hold its words, and those before pages whose titles
        hold only the beginning of the last: "Ant" means Ant, whatever there is of Ant colonies and Antarctica.
        """
        found: list[int] = []
        for rows in (self.entitled(name), self.titled(name, limit, whole=True), self.titled(name, limit)):
            if len(rows) == 1:
                return rows
            found += rows
        return list(dict.fromkeys(found))[:limit]

    def entitled(self, title: str) -> list[int]:
        """The rows of pages with this very title, in any case and with any white space."""
        terms = _terms(title)
        if not terms:
            return []
        beginning = '^"' + " ".join(terms) + '"'
        found = self.rows("SELECT rowid, title FROM titles WHERE titles MATCH ? ORDER BY rowid", beginning)
        return [int(row["rowid"]) for row in found if _plain(row["title"]) == _plain(title)]

    def titled(self, words: str, limit: int, *, whole: bool = False) -> list[int]:
        """The rows of pages whose titles hold all the words (the last may be a beginning, or not), best first."""
        terms = _terms(words)
        if not terms:
            return []
        query = " ".join(f'"{term}"' for term in terms) + ("" if whole else "*")
        found = self.rows("SELECT rowid FROM titles WHERE titles MATCH ? ORDER BY rank, rowid LIMIT ?", query, limit)
        return [int(row["rowid"]) for row in found]

    def similar_urls(self, name: str, limit: int) -> list[int]:
        """Pages whose URLs share the longest beginning with `name` that any page shares."""
        stem = name if "//" in name else f"http://{name}"
        while len(stem) > len("https://x"):
            found = self.rows(
                "SELECT row FROM pages WHERE url >= ? AND url < ? ORDER BY url LIMIT ?", stem, stem + "\uffff", limit
            )
            if found:
                return [int(row["row"]) for row in found]
            stem = stem[:-1]
        return []

    def page(self, row: int) -> dict[str, Any]:
        """All that the catalogue knows of a page and its node."""
        found = self.rows(
            "SELECT p.*, n.id, n.in_degree, n.out_degree, n.url AS node_url"
            " FROM pages p JOIN nodes n ON n.node = p.node WHERE p.row = ?",
            row,
        )
        return dict(found[0])

    def named_nodes(self, nodes: Sequence[int]) -> list[dict[str, str]]:
        """URL and title of nodes."""
        named = {}
        for begin in range(0, len(nodes), _TOGETHER):
            some = nodes[begin : begin + _TOGETHER]
            marks = ", ".join("?" * len(some))
            for row in self.rows(f"SELECT node, url, title FROM nodes WHERE node IN ({marks})", *some):
                named[row["node"]] = (row["url"], row["title"])
        return [{"url": named[node][0], "title": named[node][1]} for node in nodes if node in named]

    def aliases(self, node: int) -> list[tuple[str, str]]:
        """(URL, kind) of the aliases of a node."""
        return [
            (r["url"], r["kind"]) for r in self.rows("SELECT url, kind FROM aliases WHERE node = ? ORDER BY url", node)
        ]

    def redirects(self) -> list[Redirect]:
        """Every redirect that was read."""
        return [
            Redirect(r["url"], r["target"], Origin(r["source"], r["offset"], r["size"], r["modified"]), r["captured"])
            for r in self.rows("SELECT * FROM redirects ORDER BY rowid")
        ]

    def older(self) -> list[tuple[str, Rank]]:
        """(URL, rank) of captures that lost to a newer one."""
        rows = self.rows("SELECT * FROM older ORDER BY rowid")
        return [(r["url"], Rank(r["captured"], r["source"], r["offset"])) for r in rows]

    def skips(self, decided: bool | None = None) -> list[Skip]:
        """What was skipped; `decided` tells what the store decided apart from what reading found."""
        where = "" if decided is None else f"WHERE decided = {int(decided)}"
        rows = self.rows(f"SELECT * FROM skips {where} ORDER BY source, reason")
        return [Skip(r["source"], r["reason"], r["example"], r["count"]) for r in rows]


def _terms(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())


def _like(text: str) -> str:
    return re.sub(r"([%_\\])", r"\\\1", text)
