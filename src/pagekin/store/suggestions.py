"""Pages whose names are only like a given name: by parts of CamelCase names, and by misspelt words."""

import re
from difflib import get_close_matches
from functools import partial

from pagekin.store.catalog import ESCAPE, Catalog, literal, terms_of

_ALIKE = 0.75  # the similarity of two words, by difflib, from which one may be a misspelling of the other
_MOST_PARTS, _MOST_LETTERS = 32, 1000  # of a name; SQLite refuses a pattern of more than 50,000 bytes
_PART = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|\d+")  # of a name such as ConcurrentHashMap


def with_parts(catalog: Catalog, words: str, limit: int) -> list[int]:
    """The rows of pages whose titles have a name like ConcurrentHashMap with these words as consecutive parts.

    The last word may be a prefix of a part. Names with fewer parts come first, then shorter titles.
    """
    wanted = [word.casefold() for word in terms_of(words)]
    if not 0 < len(wanted) <= _MOST_PARTS:
        return []
    rows = catalog.rows(
        f"SELECT row, title FROM pages WHERE title LIKE ? {ESCAPE}", f"%{literal(''.join(wanted)[:_MOST_LETTERS])}%"
    )
    sizes = ((_size_of_name(row["title"], wanted), len(row["title"]), int(row["row"])) for row in rows)
    return [row for *_, row in sorted(each for each in sizes if each[0])[:limit]]


def _size_of_name(title: str, words: list[str]) -> int:
    """The number of parts of the shortest name in a title that has the words as parts; 0 if there is none.

    >>> _size_of_name("Class ConcurrentHashMap", ["hash", "ma"]), _size_of_name("HTTPServer", ["http", "server"])
    (3, 2)
    >>> _size_of_name("Concurrent use of a hash map", ["concurrent", "hash"])
    0
    """
    sizes = []
    for name in terms_of(title):
        parts = [part.casefold() for part in _PART.findall(name)]
        for k in range(len(parts) - len(words) + 1):
            *whole, last = parts[k : k + len(words)]
            if whole == words[:-1] and last.startswith(words[-1]):
                sizes.append(len(parts))
    return min(sizes, default=0)


def corrected(catalog: Catalog, words: str) -> str:
    """The words, with each one that no title has replaced by the most similar word of a title."""
    catalog.rows("CREATE VIRTUAL TABLE IF NOT EXISTS temp.title_words USING fts5vocab(main, titles, row)")
    near = "SELECT term FROM temp.title_words WHERE length(term) BETWEEN ? AND ? ORDER BY term"
    chosen: list[str] = []
    for word in map(str.casefold, terms_of(words)):
        known = [row[0] for row in catalog.each(near, len(word) - 2, len(word) + 2)]
        chosen += [word] if word in known else get_close_matches(word, known, 1, _ALIKE) or [word]
    return " ".join(chosen)


def similar_pages(catalog: Catalog, name: str, limit: int) -> list[int]:
    """The rows of pages that a wrong name may mean: by words of titles, then by misspelt words, then by URL."""
    words = name.rstrip("/").rpartition("/")[2].rpartition(".")[0] or name
    for text in (words, corrected(catalog, words)):
        for look_up in (catalog.titled, partial(with_parts, catalog)):
            if found := look_up(text, limit):
                return found
    return catalog.similar_urls(name, limit)
