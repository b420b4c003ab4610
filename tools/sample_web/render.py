"""Renders a page as HTML, in the style of its host and the charset of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from posixpath import dirname, relpath
from string import Template

from tools.sample_web.prose import Block, Break, Cell, Emphasis, Image, Link, Piece
from tools.sample_web.styles import STYLES, Style
from tools.sample_web.text import Host, Page

_BARE = re.compile(r"[\w./:#%-]+", re.ASCII)
_BLOCK_TAGS = {"paragraph": "p", "heading": "h2", "list": "ul", "table": "table", "quote": "blockquote"}


def render(host: Host, page: Page) -> bytes:
    """Render the page as HTML."""
    if page.file:
        return (files(__package__) / "raw" / host.name / page.file).read_bytes()
    style = STYLES[host.style]
    writer = Writer(style, page)
    html = style.template().substitute(
        lang=page.lang,
        charset=page.charset,
        meta=_meta(style, page),
        title=style.text(page.title),
        site=style.text(host.title),
        about=style.text(host.about),
        nav=_nav(writer, host),
        columns=len(host.nav),
        body="".join(writer.block(block) for block in page.blocks),
    )
    return html.encode(page.charset, "xmlcharrefreplace")


def content_type(host: Host, page: Page) -> str:
    """Return the Content-Type header of the page."""
    media_type = "text/html" if page.file else STYLES[host.style].media_type
    return f"{media_type}; charset={page.charset}" if page.declared in ("both", "header") else media_type


def _meta(style: Style, page: Page) -> str:
    declared = page.declared in ("both", "meta")
    return Template(style.meta).substitute(charset=page.charset) if declared else ""


def _nav(writer: Writer, host: Host) -> str:
    item = Template(writer.style.item)
    links = (writer.link(path, writer.style.text(words)) for path, words in host.nav)
    return writer.style.between.join(item.substitute(link=link) for link in links) + "\n"


class Writer:
    """Writes the markup of a page in a style.

    >>> from tools.sample_web import hosts
    >>> page = hosts()[0].pages[0]
    >>> Writer(STYLES["old"], page).link("http://fieldclub.example/", "our field club")
    '<A HREF=http://fieldclub.example/>our field club</A>'
    """

    def __init__(self, style: Style, page: Page) -> None:
        self.style, self.page = style, page

    def block(self, block: Block) -> str:
        """Write a paragraph, heading, list, table or quotation."""
        tag = _BLOCK_TAGS[block.kind]
        if block.kind == "list":
            return self.element(tag, "\n" + "".join(self.element("li", self.cell(row[0])) for row in block.rows))
        if block.kind == "table":
            return self.element(tag, "\n" + "".join(self.rows(block)), border="1")
        return self.element(tag, self.cell(block.rows[0][0]))

    def rows(self, block: Block) -> Iterator[str]:
        """Write the rows of a table; the first one has its headings."""
        for i, row in enumerate(block.rows):
            tag = "td" if i else "th"
            yield self.element("tr", "\n" + "".join(self.element(tag, self.cell(cell)) for cell in row))

    def cell(self, cell: Cell) -> str:
        """Write running text."""
        return "".join(self.piece(piece) for piece in cell)

    def piece(self, piece: Piece) -> str:
        """Write an inline piece."""
        match piece:
            case Break():
                return self.void("br") + "\n"
            case Emphasis(text):
                return f"{self.tag(self.style.emphasis)}{self.style.text(text)}{self.tag('/' + self.style.emphasis)}"
            case Image(alt, src):
                return self.void("img", src=self.address(src), alt=alt)
            case Link(inside, href):
                return self.link(href, self.piece(inside))
        return self.style.text(piece.text)

    def link(self, href: str, html: str) -> str:
        """Write a link around HTML."""
        return f"{self.tag('a', href=self.address(href))}{html}{self.tag('/a')}"

    def address(self, target: str) -> str:
        """Write the target of a link as the style does: absolute, relative or from the root."""
        if not target.startswith("/") or self.style.links == "root":
            return target
        if self.style.links == "absolute":
            return f"http://{self.page.host}{target}"
        path = relpath(target, dirname(self.page.path))
        return f"{path}/" if target.endswith("/") else path

    def element(self, tag: str, html: str, **attributes: str) -> str:
        """Write a block element, without its end tag where the style omits it."""
        end = "" if tag in self.style.omitted else self.tag("/" + tag)
        return f"{self.tag(tag, **attributes)}{html}{end}\n"

    def void(self, tag: str, **attributes: str) -> str:
        """Write an element without content."""
        return self.tag(tag, **attributes).removesuffix(">") + self.style.void

    def tag(self, tag: str, **attributes: str) -> str:
        """Write a start tag or an end tag."""
        name = tag.upper() if self.style.upper else tag
        return f"<{name}{''.join(self._attributes(attributes.items()))}>"

    def _attributes(self, attributes: Iterable[tuple[str, str]]) -> Iterator[str]:
        for name, value in attributes:
            bare = not self.style.quoted and _BARE.fullmatch(value)
            value = value if bare else '"' + self.style.text(value).replace('"', "&quot;") + '"'
            yield f" {name.upper() if self.style.upper else name}={value}"
