"""The five ways in which the hosts of the village write HTML: a template each, and habits of spelling."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from html.entities import codepoint2name
from importlib.resources import files
from string import Template
from typing import Literal

from pagekin.village.text import StyleName


@dataclass(frozen=True)
class Style:
    """The habits of one author of HTML.

    `omitted` are the end tags left out where the standard lets one; `void` ends a tag that has no content; `letters`
    says how letters beyond ASCII are written; `links` how a link to a page of the same host is; `item` is one entry
    of the navigation bar, with `$link` for the link, and `between` parts two of them.
    """

    name: StyleName
    item: str
    between: str = "\n"
    upper: bool = False
    quoted: bool = True
    void: str = ">"
    omitted: frozenset[str] = frozenset()
    emphasis: str = "em"
    letters: Literal["plain", "named", "numbered"] = "plain"
    apostrophe: str = "'"
    links: Literal["root", "relative", "absolute"] = "root"
    meta: str = '<meta http-equiv="Content-Type" content="text/html; charset=$charset">\n'
    media_type: str = "text/html"

    def template(self) -> Template:
        """The frame of every page."""
        return _template(self.name)

    def text(self, text: str) -> str:
        """Text with everything escaped that this author escapes.

        >>> STYLES["old"].text("Café & bar")
        'Caf&eacute; &amp; bar'
        """
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return "".join(map(self._letter, text.replace("'", self.apostrophe)))

    def _letter(self, letter: str) -> str:
        if letter.isascii() or self.letters == "plain":
            return letter
        name = codepoint2name.get(ord(letter)) if self.letters == "named" else None
        return f"&{name};" if name else f"&#{ord(letter)};"


@cache
def _template(name: StyleName) -> Template:
    return Template((files(__package__) / "templates" / f"{name}.html").read_text("utf-8"))


STYLES: dict[StyleName, Style] = {
    style.name: style
    for style in (
        Style("list", item="<li>$link</li>", links="relative"),
        Style(
            "table",
            item='<td bgcolor="#ddddcc">$link',
            omitted=frozenset({"p", "li", "td", "th", "tr"}),
            letters="numbered",
        ),
        Style(
            "old",
            item="$link",
            between=" |\n",
            upper=True,
            quoted=False,
            omitted=frozenset({"p", "li", "td", "th", "tr"}),
            emphasis="i",
            letters="named",
            links="absolute",
            meta="",
        ),
        Style(
            "xhtml",
            item="<li>$link</li>",
            void=" />",
            apostrophe="&#8217;",
            meta='<meta http-equiv="Content-Type" content="text/html; charset=$charset" />\n',
            media_type="application/xhtml+xml",
        ),
        Style("html5", item="$link", apostrophe="’", links="relative", meta='<meta charset="$charset">\n'),
    )
}
