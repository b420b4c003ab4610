"""What is known of one page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.views.page_names import PageRef, refs, refs_by_row
from pagekin.serving.views.text import original_href, shown

_TERMS, _TEXTS, _LINKS = 16, 12, 8
_EXCERPT = 320
_MENUS = 5000  # letters among which the title is looked for


@dataclass(frozen=True)
class Term:
    """A word that weighs in a bag, and its weight as a share of the heaviest."""

    word: str
    weight: float
    share: float


@dataclass(frozen=True)
class PageView:
    """A page: what it is about, and who links to it with which words."""

    page: PageRef
    original: str | None  # where it can be read
    known: bool  # whether the collection has it; else it is known from links alone
    language: str
    words: int
    excerpt: str
    in_degree: int
    out_degree: int
    terms: list[Term]
    anchors: list[tuple[str, int]]  # what links to it say, and how often
    linked_from: list[PageRef]
    links_to: list[PageRef]
    aliases: list[tuple[str, str]]  # other URLs of it, and why


def page_view(indexed: IndexedStore, page: PageRef, replay: str | None = None) -> PageView:
    """All that the page's own view shows of it, without its kin."""
    degrees = indexed.catalog.rows("SELECT in_degree, out_degree, first_row FROM nodes WHERE node = ?", page.node)[0]
    row = degrees["first_row"]
    facts: dict[str, Any] = indexed.page(row) if row is not None else {"language": "", "tokens": 0}
    citing = np.unique(indexed.links.page[indexed.links.row(page.node)])[:_LINKS].tolist()
    return PageView(
        page,
        original_href(page.url, replay),
        row is not None,
        shown(facts["language"], 20),
        facts["tokens"],
        _excerpt(indexed.text(row), page.title) if row is not None else "",
        degrees["in_degree"],
        degrees["out_degree"],
        terms_of(indexed, page.node, _TERMS),
        [(shown(text, 80), count) for text, count in indexed.anchor_texts(page.node, _TEXTS)],
        refs_by_row(indexed, citing),
        refs(indexed, sorted(indexed.nodes_linked_from([page.node]) - {page.node})[:_LINKS]),
        [(shown(url, 200), kind) for url, kind in indexed.catalog.aliases(page.node)[:_LINKS]],
    )


def terms_of(indexed: IndexedStore, node: int, most: int) -> list[Term]:
    """The words that weigh most in the bag of a page."""
    found = indexed.top_terms(node, most)
    heaviest = max((weight for _, weight in found), default=1.0)
    return [Term(shown(word, 40), weight, weight / heaviest) for word, weight in found]


def _excerpt(text: str, title: str) -> str:
    """The beginning of a text; if its title stands in it, which menus come before, what follows that."""
    _, found, after = text[:_MENUS].partition(title)
    line = shown(after + text[_MENUS : 2 * _MENUS] if found and after.strip() else text, 2 * _EXCERPT)
    return line if len(line) <= _EXCERPT else line[:_EXCERPT].rpartition(" ")[0] + " …"
