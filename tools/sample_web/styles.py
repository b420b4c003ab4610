"""The five styles in which hosts write HTML: a template and rules of markup for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from html.entities import codepoint2name
from importlib.resources import files
from string import Template
from typing import Literal

from tools.sample_web.text import StyleName


@dataclass(frozen=True)
class Style:
    """One style of HTML.

    `omitted` lists the optional end tags that are left out; `void` ends a tag without content; `letters` says how
    letters beyond ASCII are written, and `links` how links within the host are; `item` is an entry of the navigation
    bar, with `$link` for the link, and `between` separates two entries.
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
        """Return the template of every page."""
        return _template(self.name)

    def text(self, text: str) -> str:
        """Escape text as the style does.

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
