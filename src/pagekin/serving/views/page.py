"""The view of one page."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.views.page_names import PageRef, refs, refs_by_row
from pagekin.serving.views.text import clean_line, original_href

_TERMS, _ANCHOR_TEXTS, _LINKS = 16, 12, 8
_EXCERPT_LENGTH = 320
_TITLE_WITHIN = 5000  # characters in which the excerpt looks for the title


@dataclass(frozen=True)
class PageView:
    """A page: its content, and the links to it and from it."""

    page: PageRef
    original: str | None  # link to the original page
    in_collection: bool  # False: known only from links
    language: str
    words: int
    excerpt: str
    in_degree: int
    out_degree: int
    terms: list[tuple[str, float, float]]  # term, weight in the bag, weight relative to the largest
    anchor_texts: list[tuple[str, int]]  # text of links to the page, and how often it occurs
    linked_from: list[PageRef]
    links_to: list[PageRef]
    aliases: list[tuple[str, str]]  # other URLs of the page, and why


def page_view(indexed: IndexedStore, page: PageRef, replay: str | None = None) -> PageView:
    """Return everything about a page except its related pages."""
    degrees = indexed.catalog.rows("SELECT in_degree, out_degree, first_row FROM nodes WHERE node = ?", page.node)[0]
    row = degrees["first_row"]
    stored: dict[str, Any] = indexed.page(row) if row is not None else {"language": "", "tokens": 0}
    citing = np.unique(indexed.links.page[indexed.links.row(page.node)])[:_LINKS].tolist()
    terms = indexed.top_terms(page.node, _TERMS)
    largest = max((weight for _, weight in terms), default=1.0)
    return PageView(
        page,
        original_href(page.url, replay),
        row is not None,
        clean_line(stored["language"], 20),
        stored["tokens"],
        _excerpt(indexed.text(row), page.title) if row is not None else "",
        degrees["in_degree"],
        degrees["out_degree"],
        [(term, weight, weight / largest) for term, weight in terms],
        indexed.anchor_texts(page.node, _ANCHOR_TEXTS),
        refs_by_row(indexed, citing),
        refs(indexed, sorted(indexed.nodes_linked_from([page.node]) - {page.node})[:_LINKS]),
        indexed.catalog.aliases(page.node)[:_LINKS],
    )


def _excerpt(text: str, title: str) -> str:
    """Return the beginning of a text; if it contains the title, often after a menu, the text after the title."""
    _, found, after = text[:_TITLE_WITHIN].partition(title)
    body = after + text[_TITLE_WITHIN : 2 * _TITLE_WITHIN] if found and after.strip() else text
    line = clean_line(body, 2 * _EXCERPT_LENGTH)
    return line if len(line) <= _EXCERPT_LENGTH else line[:_EXCERPT_LENGTH].rpartition(" ")[0] + " …"
