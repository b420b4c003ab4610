"""A page's text, blocks, links and facts, read in two steps: the page as tokens, then what each token does.

The tokens are those of the HTML standard's tokenizer, as patterns. There is no tree: a token acts on what is
written so far. What a tag does is said by the table of `pagekin.reading.markup`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pagekin.kernels import html as k
from pagekin.kernels import page_output as po
from pagekin.reading.markup import NAVIGATION, TAGS
from reference.entities import decode

# --- a page as tokens ----------------------------------------------------------------------------


def _pattern(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode(), re.DOTALL)


_SPACE = r"[ \t\n\r\f]"
_ATTRIBUTE_NAME = r"[^ \t\n\r\f/>][^ \t\n\r\f/>=]*+"  # may begin with `=`
# A quote that never closes runs to the end of the page, and then its tag has no end.
_ATTRIBUTE_VALUE = r"""(?>"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^ \t\n\r\f>]*+)"""
_ATTRIBUTE = rf"(?P<key>{_ATTRIBUTE_NAME})(?:{_SPACE}*+={_SPACE}*+(?P<value>{_ATTRIBUTE_VALUE}))?+"

COMMENT = _pattern(r"<!--(?:-?>|.*?(?:--!?>|\Z))|<(?:[!?]|/(?=[^A-Za-z]))[^>]*+(?:>|\Z)")
SECTION = _pattern(r"<!\[CDATA\[(?P<text>.*?)(?:\]\]>|\Z)")
TAG = _pattern(
    rf"<(?P<slash>/?)(?P<name>[A-Za-z][^ \t\n\r\f/>]*+)(?P<attributes>(?:{_SPACE}|(?P<whole>/(?=>))|/|{_ATTRIBUTE})*+)>"
)
UNFINISHED_TAG = _pattern(r"</?[A-Za-z]")
TEXT = _pattern(r"[^<]+|<")
ATTRIBUTE = _pattern(_ATTRIBUTE)
IN_SCRIPT = _pattern(r"(?i)(?P<escape><!(?=--))|(?P<unescape>-->)|<(?P<slash>/?)script(?=[ \t\n\r\f/>])")

NO_MARKUP_INSIDE = (k.SCRIPT, k.HIDDEN_TEXT, k.PLAIN_TEXT, k.REST_IS_TEXT, k.DECODED_TEXT, k.TITLE, k.INLINE_FRAME)


@dataclass(frozen=True)
class Tag:
    """A tag; of an element that holds no markup, such as script, the start tag has the contents, too."""

    name: str
    closing: bool
    attributes: dict[str, bytes]
    foreign: bool = False  # it stands in a picture or a formula
    contents: bytes | None = None

    @property
    def action(self) -> int:
        return TAGS.get(self.name, (k.NOTHING, 0, 0))[0]

    @property
    def boundaries(self) -> int:
        return TAGS.get(self.name, (k.NOTHING, 0, 0))[2 if self.closing else 1]

    @property
    def parts_paragraphs(self) -> bool:
        action, opens, _ = TAGS.get(self.name, (k.NOTHING, 0, 0))
        structural = (k.NOTHING, k.SECTION, k.MAIN, k.HEADLINE, k.CONTAINER, k.MARGIN, k.NAVIGATION_TAG)
        return action in structural and bool(opens & po.PARAGRAPH)

    @property
    def names(self) -> set[str]:
        """Its roles, classes and ids."""
        values = b" ".join(self.attributes.get(name, b"") for name in ("role", "class", "id"))
        return {_name(each) for each in re.split(rb"[ \t\n\r\f]", values)}


def tokens(page: bytes) -> Iterator[str | Tag]:
    """Text and tags of `page`, in order; comments and what is like them left out.

    >>> list(tokens(b"&lt;<!-- b --><P ID=c>"))
    ['<', Tag(name='p', closing=False, attributes={'id': b'c'}, foreign=False, contents=None)]
    """
    place = 0
    foreign = 0  # how many pictures and formulas we stand in
    while place < len(page):
        if foreign and (found := SECTION.match(page, place)):
            yield found["text"].decode()
        elif found := COMMENT.match(page, place):
            pass
        elif found := TAG.match(page, place):
            tag = Tag(_name(found["name"]), bool(found["slash"]), _attributes(found["attributes"]), bool(foreign))
            whole = bool(found["whole"])
            if tag.action == k.FOREIGN_TAG:
                foreign = max(0, foreign - 1) if tag.closing else foreign + (not whole)
            elif tag.parts_paragraphs:
                foreign = 0
            if tag.action in NO_MARKUP_INSIDE and not tag.closing and not (foreign and whole):
                end = _end_of_contents(page, found.end(), tag)
                yield replace(tag, contents=page[found.end() : end])
                place = end
                continue
            yield tag
        elif UNFINISHED_TAG.match(page, place):
            return
        else:
            found = TEXT.match(page, place)
            assert found is not None
            yield decode(found[0].decode(), in_attribute=False)
        place = found.end()


def _name(name: bytes) -> str:
    return name.lower().decode()  # bytes have no letters but those of ASCII, nor do names in HTML


def _attributes(source: bytes) -> dict[str, bytes]:
    """Of two attributes of one name the first counts; an attribute without a value has the empty one."""
    found: dict[str, bytes] = {}
    for match in ATTRIBUTE.finditer(source):
        value = match["value"] or b""
        found.setdefault(_name(match["key"]), value[1:-1] if value[:1] in (b'"', b"'") else value)
    return found


def _end_of_contents(page: bytes, place: int, tag: Tag) -> int:
    if tag.action == k.SCRIPT:
        return _end_of_script(page, place)
    if tag.action == k.REST_IS_TEXT:
        return len(page)
    found = _pattern(rf"(?i)</{tag.name}[ \t\n\r\f/>]").search(page, place)
    return found.start() if found else len(page)


def _end_of_script(page: bytes, place: int) -> int:
    """A script ends at its end tag, but for one that is quoted: `<!-- <script> </script> -->`."""
    escaped = quoted = False
    for found in IN_SCRIPT.finditer(page, place):
        if found["escape"]:
            escaped = True
        elif found["unescape"]:
            escaped = quoted = False
        elif not found["slash"]:
            quoted |= escaped
        elif not quoted:
            return found.start()
        else:
            quoted = False
    return len(page)


# --- what a token does ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Link:
    """A link: the span of the text that it covers, in bytes, and where it leads."""

    start: int
    end: int
    href: bytes
    flags: int = 0


@dataclass(frozen=True)
class Page:
    """All that a scan tells of a page; a fact that the page does not give is empty."""

    text: str
    blocks: list[tuple[int, int]]
    links: list[Link]
    base: bytes = b""
    canonical: bytes = b""
    language: bytes = b""
    refresh: bytes = b""
    title: bytes = b""
    flags: int = 0
    dropped: int = 0


def scan(page: bytes, max_links: int, max_url: int) -> Page:
    """Read one page, which is UTF-8.

    >>> scan(b"<title>T</title>See <a href='?a&amp;b'>here</a>.", max_links=9, max_url=99).links
    [Link(start=3, end=8, href=b'?a&b', flags=32)]
    """
    reader = _Reader(max_links, max_url)
    for token in tokens(page):
        if isinstance(token, Tag):
            reader.read_tag(token)
        elif not reader.templates:
            reader.write(token)
    reader.close_link()
    reader.forget_open_region()
    return Page(
        text=reader.text,
        blocks=reader.blocks,
        links=reader.links,
        base=reader.facts.get(po.BASE_URL, b""),
        canonical=reader.facts.get(po.CANONICAL, b""),
        language=reader.facts.get(po.LANGUAGE, b""),
        refresh=reader.facts.get(po.REFRESH, b""),
        title=reader.facts.get(po.TITLE_TEXT, b""),
        flags=reader.flags,
        dropped=reader.dropped,
    )


_VANISHING = re.compile("[\0\xad]")
_WHITE = "\x01-\x20\x7f\xa0\u2028\u2029"  # controls part words, too
_SPACES_AND_WORDS = re.compile(f"(?P<space>[{_WHITE}]+)|(?P<word>[^{_WHITE}]+)")


class _Reader:
    def __init__(self, max_links: int, max_url: int) -> None:
        self.max_links, self.max_url = max_links, max_url
        self.text = ""
        self.blocks: list[tuple[int, int]] = []
        self.links: list[Link] = []
        self.facts: dict[int, bytes] = {}
        self.flags = self.dropped = 0
        self.pending_kinds, self.pending_space = 0, False
        self.tables = self.templates = 0  # how many we stand in
        self.open_link: tuple[int, int] | None = None  # its number, and how many tables it stands in
        self.sections = 0  # how many we stand in
        self.region: list[str] = []  # the tag that opened navigation, once for each of its name that is open
        self.region_block = 0  # the first block in it

    @property
    def place(self) -> int:
        return len(self.text.encode())

    def write(self, text: str) -> None:
        """Write visible text; boundaries and white space wait until something visible follows."""
        for piece in _SPACES_AND_WORDS.finditer(_VANISHING.sub("", text)):
            if piece["space"]:
                self.pending_space = True
                continue
            if self.pending_kinds or not self.text:
                self.text += "\n" if self.text else ""
                self.blocks.append((self.place, self.pending_kinds | (po.NAVIGATION if self.region else 0)))
            elif self.pending_space:
                self.text += " "
            self.pending_kinds, self.pending_space = 0, False
            self.text += piece["word"]

    def read_tag(self, tag: Tag) -> None:
        if tag.action == k.TEMPLATE:
            self.templates = max(0, self.templates + (-1 if tag.closing else 1))
        if self.templates:
            return
        self.pending_kinds |= tag.boundaries & ~po.SPACE
        self.pending_space |= bool(tag.boundaries & po.SPACE)
        self.follow_navigation(tag)
        if tag.action in (k.TABLE, k.CELL_TAG):
            self.read_table_tag(tag)
        elif tag.closing:
            if tag.action == k.ANCHOR:
                self.close_link()
        else:
            self.read_start_tag(tag)

    def follow_navigation(self, tag: Tag) -> None:
        """Enter and leave navigation; `main` and `h1` are never inside of it."""
        if tag.name in ("article", "main", "section"):
            self.sections = max(0, self.sections - 1) if tag.closing else self.sections + 1
        if tag.name in ("main", "h1") and not tag.closing:
            self.region = []
        elif self.region and tag.name == self.region[0]:
            self.region = self.region[1:] if tag.closing else [*self.region, tag.name]
        elif not self.region and not tag.closing:
            margin = tag.name in ("aside", "footer", "header") and not self.sections
            container = tag.name in ("aside", "div", "footer", "header", "ol", "table", "ul")
            if tag.name == "nav" or margin or (container and tag.names & set(NAVIGATION.split())):
                self.region, self.region_block = [tag.name], len(self.blocks)

    def forget_open_region(self) -> None:
        """Navigation that is never closed is none."""
        if self.region:
            kept = [(place, kinds & ~po.NAVIGATION) for place, kinds in self.blocks[self.region_block :]]
            self.blocks[self.region_block :] = kept

    def read_table_tag(self, tag: Tag) -> None:
        """The bounds of a cell end a link that was opened in a cell of the same table and never closed."""
        starts_table = tag.action == k.TABLE and not tag.closing
        if not starts_table and self.open_link and self.open_link[1] == self.tables:
            self.close_link()
        if tag.action == k.TABLE:
            self.tables = max(0, self.tables + (-1 if tag.closing else 1))

    def read_start_tag(self, tag: Tag) -> None:
        given = tag.attributes
        in_head = not self.text
        match tag.action:
            case k.ANCHOR:
                self.close_link()
                if self.add_link(given.get("href"), given, 0):
                    self.open_link = len(self.links) - 1, self.tables
            case k.AREA:
                added = self.add_link(given.get("href"), given, po.FROM_AREA)
                self.write_aside(given.get("alt"))
                if added:
                    self.links[-1] = replace(self.links[-1], end=self.place)
            case k.IMAGE:
                self.write_aside(given.get("alt"))
            case k.FRAME | k.INLINE_FRAME:
                self.add_link(given.get("src"), given, po.FROM_FRAME)
            case k.BASE:
                self.add_fact(po.BASE_URL, given.get("href"))
            case k.LINK:
                if in_head and b"canonical" in _list(given.get("rel")):
                    self.add_fact(po.CANONICAL, given.get("href"))
            case k.HTML:
                self.add_fact(po.LANGUAGE, given.get("lang"))
            case k.META:
                self.read_meta(given, in_head)
            case k.TITLE:
                if tag.contents and not tag.foreign:
                    self.add_fact(po.TITLE_TEXT, tag.contents, in_attribute=False)
            case k.PLAIN_TEXT | k.REST_IS_TEXT | k.DECODED_TEXT if tag.contents is not None:
                contents = tag.contents.decode()
                self.pending_kinds |= po.PARAGRAPH
                self.write(decode(contents, in_attribute=False) if tag.action == k.DECODED_TEXT else contents)
                self.pending_kinds |= po.PARAGRAPH

    def read_meta(self, given: dict[str, bytes], in_head: bool) -> None:
        content = given.get("content")
        pragma = _list(given.get("http-equiv"))
        if in_head and b"robots" in _list(given.get("name")):
            options = _list(content)
            if options & {b"none", b"noindex"}:
                self.flags |= po.NOINDEX
            if options & {b"none", b"nofollow"}:
                self.flags |= po.NOFOLLOW
        elif b"refresh" in pragma:
            self.add_fact(po.REFRESH, content)
        elif b"content-language" in pragma:
            self.add_fact(po.LANGUAGE, content)

    def write_aside(self, text: bytes | None) -> None:
        """Write the text that stands for an image, apart from what is around it."""
        self.pending_space = True
        self.write(decode((text or b"").decode(), in_attribute=True))
        self.pending_space = True

    def add_fact(self, fact: int, value: bytes | None, in_attribute: bool = True) -> None:
        """Keep the first value, even if it is empty."""
        if value is not None:
            self.facts.setdefault(fact, decode(value.decode(), in_attribute).encode())

    def add_link(self, href: bytes | None, given: dict[str, bytes], flags: int) -> bool:
        """Add a link that covers nothing yet; False if there is no href or the page has had its links."""
        if href is None:
            return False
        if len(self.links) >= self.max_links:
            self.dropped += 1
            return False
        if b"nofollow" in _list(given.get("rel")):
            flags |= po.NOFOLLOW
        if _list(given.get("rel")) & {b"prev", b"previous", b"next", b"up"}:
            flags |= po.SEQUENTIAL
        if self.text and not self.pending_kinds:
            flags |= po.TRAILING
        if len(href) > self.max_url:
            href, flags = b"", flags | po.TOO_LONG
        self.links.append(Link(self.place, self.place, decode(href.decode(), in_attribute=True).encode(), flags))
        return True

    def close_link(self) -> None:
        if self.open_link:
            number, _ = self.open_link
            link = self.links[number] = replace(self.links[number], end=self.place)
            if link.flags & po.SEQUENTIAL and link.end > link.start:
                place, kinds = self.blocks[-1]
                self.blocks[-1] = place, kinds | po.NAVIGATION
            self.open_link = None


def _list(value: bytes | None) -> set[bytes]:
    """The items of an attribute that is a list, such as rel="nofollow noopener" or content="noindex, follow"."""
    return set(re.split(rb"[ \t\n\r\f,]", (value or b"").lower()))
