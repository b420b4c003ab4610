"""What a search for missing links finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pagekin.model.jsons import json_field
from pagekin.model.tables import scalars
from pagekin.search.results import Explanation, PageLink, ResultSequence


@dataclass(frozen=True, repr=False)
class MissingLink:
    """A link that may be missing: from the words of a sentence of `source` to `target`."""

    source: PageLink
    target: PageLink
    similarity: float = json_field(digits=6)  # of both pages
    # The share of the pages with these words that link them to the target; 0 if they are neither title nor anchor.
    likelihood: float = json_field(digits=6)
    words: str = ""  # to link, as the sentence has them; empty if the page has no words for it
    words_from: str = ""  # title, anchor or term: where the words come from
    sentence: str = ""  # of the source in which the link fits best
    in_links: int = 0  # pages that link to the target; templates do not count
    linked_elsewhere: str | None = None  # the URL of another page that the source links with these words
    in_template: bool = False  # a menu or another template of the source links to the target
    why: Explanation = field(default_factory=Explanation)

    @property
    def html(self) -> str:
        """The link in HTML.

        >>> pages = PageLink("http://a.example/", "A"), PageLink("http://b.example/?x=1&y=2", "B")
        >>> MissingLink(*pages, 0.5, 0.5, "b < c").html
        '<a href="http://b.example/?x=1&amp;y=2">b &lt; c</a>'
        """
        from html import escape

        return f'<a href="{escape(self.target.url)}">{escape(self._text, quote=False)}</a>'

    @property
    def markdown(self) -> str:
        r"""The link in Markdown.

        >>> pages = PageLink("http://a.example/", "A"), PageLink("http://b.example/(b)", "B")
        >>> MissingLink(*pages, 0.5, 0.5, "b [c]").markdown
        '[b \\[c\\]](<http://b.example/(b)>)'
        """
        import re

        text = re.sub(r"([\\`*_\[\]<>])", r"\\\1", self._text)
        return f"[{text}](<{self.target.url.replace('<', '%3C').replace('>', '%3E')}>)"

    @property
    def _text(self) -> str:
        return self.words or self.target.title or self.target.url

    def __repr__(self) -> str:
        return f"<MissingLink {self.similarity:.3f} {self.source.url} -> {self.target.url} {self.words!r}>"


@dataclass(frozen=True)
class LinkedPage:
    """A page, and the number of pages that link to it and that it links to."""

    url: str
    title: str
    in_links: int  # templates count
    in_links_from_text: int
    out_links: int  # in its text, to pages of the collection


@dataclass(frozen=True, repr=False)
class Gaps(ResultSequence[MissingLink]):
    """Missing links, the most likely first, and poorly linked pages."""

    pages: int  # that were looked at as sources
    missing: list[MissingLink]
    orphans: list[LinkedPage]  # without in-links
    only_from_templates: list[LinkedPage]  # with in-links from menus and other templates only
    dead_ends: list[LinkedPage]  # without links in their texts
    dismissed: int  # decisions that were honoured
    done: int
    # Decided as done, but neither page links to the other in this build.
    not_done: list[tuple[str, str]] = json_field(columns=("source", "target"))

    @property
    def items(self) -> Sequence[MissingLink]:
        return self.missing

    def table(self) -> list[dict[str, Any]]:
        """The missing links as rows."""
        return [
            {
                "source_url": gap.source.url,
                "source_title": gap.source.title,
                "target_url": gap.target.url,
                "target_title": gap.target.title,
                **scalars(gap),
                "why": "; ".join(gap.why.reasons),
            }
            for gap in self.missing
        ]
