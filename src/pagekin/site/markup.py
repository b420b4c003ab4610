"""Places in the bytes of a page, whatever its encoding: markers, elements, and the list that pagekin has inserted.

A page is never decoded and written again. Its tags are found in a projection of its bytes to ASCII, whose positions are
those of the page; so all bytes outside of an insertion stay as they are.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from pagekin.errors import MisuseError

LIST_CLASS = "pagekin-related"
BODY = "data-pagekin-body"
_BEGIN, _END, _MARKER = b"<!-- pagekin:begin -->", b"<!-- pagekin:end -->", b"pagekin"
_LIST = re.compile(
    _BEGIN + rb'(?:<link [^<>]*+>)?<nav class="' + LIST_CLASS.encode() + rb'"(?:(?!<!--).)*+' + _END, re.S
)
_RAW = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext")
_MAIN_ROLE = re.compile(rb"""role=["']?main""")
_ATTRIBUTES = rb"((?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+)(?:>|\Z)"
_TAG = rb"</?[a-z]" + _ATTRIBUTES.replace(b"((?:", b"(?:(?:")
_ATTRIBUTE = re.compile(rb"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_NAME = re.compile(rb"[a-z][a-z0-9-]*")
_JAPANESE = re.compile(rb"\x1b\$.*?(?:\x1b\(|\Z)", re.S)  # two-byte characters of ISO-2022-JP
_SELECTOR = re.compile(r"""([a-zA-Z][\w-]*)?((?:[.#][\w-]+|\[[\w-]+(?:=(?:"[^"]*"|'[^']*'|[^\]"']*))?\])*)""")
_CONDITION = re.compile(r"""([.#])([\w-]+)|\[([\w-]+)(=)?["']?([^\]"']*)["']?\]""")


class Element(NamedTuple):
    """An element: where its start tag begins, and where its end tag begins and ends."""

    name: str
    raw: bytes  # the attributes in its start tag
    begin: int
    close: int
    end: int

    @property
    def attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, *values in _ATTRIBUTE.findall(self.raw):
            value = b"".join(values).decode("utf-8", "replace")
            found.setdefault(name.lower().decode("utf-8", "replace"), value)
        return found


Condition = Callable[[Element], bool]


class Comment(NamedTuple):
    """A comment, with its text without white space around it."""

    text: bytes
    begin: int
    end: int


@dataclass(frozen=True)
class PageText:
    """The bytes of a page and their projection to ASCII: one byte for each unit of `width` bytes."""

    data: bytes
    ascii: bytes
    width: int
    codec: str

    def cut(self, *pieces: tuple[int, int]) -> bytes:
        return b"".join(self.data[self.width * begin : self.width * end] for begin, end in pieces)

    @cached_property
    def outline(self) -> tuple[list[Comment], list[Element]]:
        """Comments, and the elements that lists, texts and addresses depend on."""
        lower, comments = self.ascii.lower(), list[Comment]()
        names = [name for name in ("main", "article", "base") if b"<" + name.encode() in lower]
        names += ["nav"] if LIST_CLASS.encode() in lower else []
        names += ["div", "section"] if _MAIN_ROLE.search(lower) else []
        if not names and _MARKER not in lower:
            return [], []
        return comments, self.elements(tuple(names), comments)

    def named(self, name: str) -> list[Element]:
        return [each for each in self.outline[1] if each.name == name]

    def names_with(self, word: str) -> tuple[str, ...]:
        """The names of all elements that may have a word in their start tags."""
        lower, found = self.ascii.lower(), set[str]()
        for place in re.finditer(re.escape(word.lower().encode("utf-8", "replace")), lower):
            if name := _NAME.match(lower, lower.rfind(b"<", 0, place.start()) + 1):
                found.add(name[0].decode())
        return tuple(sorted(found))

    def elements(self, names: tuple[str, ...], comments: list[Comment] | None = None) -> list[Element]:
        """The elements with these names that have an end tag; comments are added to the list."""
        return sorted(_elements(self.ascii, names, comments), key=lambda each: each.begin)


def page_text(data: bytes) -> PageText:
    """A page, with the projection that its encoding needs.

    >>> page_text("<p>é</p>".encode("utf-16")).ascii
    b'?<p>?</p>'
    """
    for mark, codec in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            low, high = (data[0::2], data[1::2]) if codec == "utf-16-le" else (data[1::2], data[0::2])
            ascii = bytes(c if not h and c < 128 else 63 for c, h in zip(low, high, strict=False))
            return PageText(data, ascii, 2, codec)
    ascii = data
    if b"\x1b" in data:
        ascii = _JAPANESE.sub(lambda found: b"?" * len(found[0]), data)
    return PageText(data, ascii, 1, "ascii")


def without_list(page: PageText) -> PageText:
    """The page without the list that pagekin has inserted; the page itself if there is none."""
    kept, last, place = [], 0, page.ascii.find(_BEGIN)
    while place >= 0:
        if found := _LIST.match(page.ascii, place):
            kept.append((last, place))
            last = found.end()
        place = page.ascii.find(_BEGIN, found.end() if found else place + 1)
    return page_text(page.cut(*kept, (last, len(page.data)))) if kept else page


def with_list(page: PageText, place: int, html: str) -> bytes:
    """The page with a list, in ASCII, at a place."""
    block = _BEGIN + html.encode("ascii") + _END
    if page.width == 2:
        block = block.decode("ascii").encode(page.codec)
    return page.cut((0, place)) + block + page.cut((place, len(page.data)))


def place_of_list(page: PageText, at: str) -> int | str:
    """Where the list goes in a page without one, or the reason why there is no place."""
    if any(_is_list(each) for each in page.named("nav")):
        return "has a list of its own"
    if any("href" in each.attributes for each in page.named("base")):
        return "has a <base> element, which changes where links lead"
    markers = [each.end for each in page.outline[0] if each.text == _MARKER]
    if len(markers) > 1:
        return "has the marker <!-- pagekin --> more than once"
    if markers:
        return markers[0]
    if at == "marker":
        return "has no marker <!-- pagekin -->"
    if at:
        name, word, condition = parse_selector(at)
        found = [each for each in page.elements((name,) if name else page.names_with(word)) if condition(each)]
        return found[0].close if found else f"has no element {at}"
    part = _main_part(page)
    return part.close if part else "has no <main>, no <article> and no marker <!-- pagekin -->"


def _main_part(page: PageText) -> Element | None:
    """The only article, in the main part if there is one; else the main part."""
    elements, articles = page.outline[1], page.named("article")
    inside = next((each for each in elements if each.name == "main" or each.attributes.get("role") == "main"), None)
    if inside is not None:
        articles = [each for each in articles if inside.begin <= each.begin and each.end <= inside.end]
    articles = _outermost(articles)
    return articles[0] if len(articles) == 1 else inside


def _outermost(elements: list[Element]) -> list[Element]:
    found: list[Element] = []
    for each in elements:
        if not found or each.begin >= found[-1].end:
            found.append(each)
    return found


def text_to_read(page: PageText, *, main_text: bool) -> bytes:
    """What is read of a page without an inserted list.

    A list that a template has put there is left out. If parts are marked with data-pagekin-body, only these and the
    head are read; else, for the `main_text`, the main part and the head, if there is a main part.
    """
    parts: list[Element] = []
    if BODY.encode() in page.ascii:
        parts = _outermost([each for each in page.elements(page.names_with(BODY)) if BODY in each.attributes])
    if not parts and main_text and (part := _main_part(page)):
        parts = [part]
    pieces = [(0, len(page.data))]
    if parts:
        head = page.ascii[: parts[0].begin].lower().find(b"</head>")
        pieces = [(0, max(head, 0)), *((each.begin, each.end) for each in parts)]
    if LIST_CLASS.encode() in page.ascii:
        for each in _outermost([each for each in page.named("nav") if _is_list(each)]):
            pieces = [cut for piece in pieces for cut in _without(piece, each)]
    return page.cut(*pieces)


def _without(piece: tuple[int, int], element: Element) -> Iterator[tuple[int, int]]:
    begin, end = piece
    yield begin, max(begin, min(end, element.begin))
    yield min(end, max(begin, element.end)), end


def is_redirect(page: PageText) -> bool:
    """Whether a page forwards its readers to another."""
    head = page.ascii[:4096].lower()
    return b"refresh" in head and bool(re.search(rb"<meta[^>]+http-equiv\s*=\s*[\"']?refresh", head))


@cache
def parse_selector(selector: str) -> tuple[str, str, Condition]:
    """The name, a word in the start tag, either may be "", and the condition of a CSS selector for one element.

    >>> name, word, condition = parse_selector("div#content.wide")
    >>> name, word, condition(Element("div", b"id=content class='wide page'", 0, 0, 0))
    ('div', 'content', True)
    >>> parse_selector("main > p")
    Traceback (most recent call last):
    pagekin.errors.MisuseError: 'main > p' is no selector of one element; write tag, #id, .class or [attribute=value]
    """
    parts = _SELECTOR.fullmatch(selector.strip())
    if parts is None or not parts[0]:
        problem = f"{selector!r} is no selector of one element"
        raise MisuseError(f"{problem}; write tag, #id, .class or [attribute=value]")
    name, conditions = (parts[1] or "").lower(), _CONDITION.findall(parts[2])

    def fulfilled(element: Element) -> bool:
        attributes = element.attributes
        for kind, word, attribute, equal, value in conditions:
            if kind == "#" and attributes.get("id") != word:
                return False
            if kind == "." and word not in attributes.get("class", "").split():
                return False
            if attribute and (
                attribute.lower() not in attributes or (equal and attributes[attribute.lower()] != value)
            ):
                return False
        return not name or element.name == name

    word = next((word or attribute for _, word, attribute, *_ in conditions), "")
    return name, word, fulfilled


def _is_list(element: Element) -> bool:
    return LIST_CLASS in element.attributes.get("class", "").split()


class _Tag(NamedTuple):
    name: str
    closing: bool
    attributes: bytes
    begin: int
    end: int


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[bytes]:
    """Matches up to the next comment or tag of these names.

    Quantifiers are possessive, and what has no end ends with the page: the time is linear in the length of the page.
    """
    some = b"(?:" + "|".join(map(re.escape, names)).encode() + rb")(?=[\s/>]|\Z)"
    comment = rb"<!--(?:-?>|(.*?)(?:--!?>|\Z))"
    skipped = rb"(?:[^<]++|<(?!!--)(?![/]?" + some + rb")(?:" + _TAG[1:] + rb"|[!?/][^>]*+(?:>|\Z)|))*+"
    return re.compile(skipped + rb"(?:" + comment + rb"|<(/?)(" + some + rb")" + _ATTRIBUTES + rb")", re.S)


def _tokens(ascii: bytes, names: tuple[str, ...]) -> Iterator[Comment | _Tag]:
    """Comments, and tags of these names, outside of scripts and other elements without markup."""
    pattern, place = _pattern(tuple(dict.fromkeys((*names, *_RAW)))), 0
    lower = ascii.lower()  # a pattern that ignores case takes twice the time
    while found := pattern.match(lower, place):
        place = found.end()
        if found[3] is None:
            yield Comment((found[1] or b"").strip(), found.start(1) - 4 if found[1] is not None else place, place)
            continue
        name = found[3].decode("ascii", "replace")
        yield _Tag(name, bool(found[2]), ascii[slice(*found.span(4))], found.start(3) - 1 - len(found[2]), place)
        if name in _RAW and not found[2]:
            end = re.compile(rb"</" + found[3] + rb"(?=[\s/>])").search(lower, place)
            if end is None or name == "plaintext":
                return
            place = end.start()


def _elements(ascii: bytes, names: tuple[str, ...], comments: list[Comment] | None) -> Iterator[Element]:
    """Elements; an end tag closes the last open element of its name."""
    open_elements: dict[str, list[_Tag]] = {}
    for token in _tokens(ascii, names):
        if isinstance(token, Comment):
            if comments is not None:
                comments.append(token)
        elif token.name == "base":
            yield Element(token.name, token.attributes, token.begin, token.end, token.end)
        elif not token.closing:
            open_elements.setdefault(token.name, []).append(token)
        elif stack := open_elements.get(token.name):
            start = stack.pop()
            yield Element(token.name, start.attributes, start.begin, token.begin, token.end)
