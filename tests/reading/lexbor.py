"""A second opinion on a page: what lexbor's DOM, a browser's way of reading, says that stands on it.

Three parts: `read` walks the DOM and shares no line with the scanner; `scan` gives the scanner's answer in
the same shape; `compare` counts where the two part ways. The tests and `benchmarks/agreement.py` use them.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from pagekin.kernels import html as k
from pagekin.kernels import page_output as po
from pagekin.kernels.words import Words, split_words
from pagekin.reading.markup import classes, markup

LONGEST = 128  # bytes of a word; a longer run of letters is data, not language
UNLIMITED = 1 << 40

# Real pages, by the Debian package that brings them.
COLLECTIONS = {
    "cppreference-doc-en-html": Path("/usr/share/cppreference/doc/html"),
    "python3.11-doc": Path("/usr/share/doc/python3.11-doc/html"),
}

Item = TypeVar("Item", bound=Hashable)


class Anchor(NamedTuple):
    """A link: its target as written, and the words that its text touches."""

    href: str
    words: tuple[str, ...]


class Reading(NamedTuple):
    """What stands on a page. A fact that a page does not give, or gives as nothing, is the empty string."""

    words: list[str]
    anchors: list[Anchor]
    title: str
    base: str
    canonical: str
    lang: str


def fold(text: str) -> str:
    """`text` without white space around it, and with one space for any inside."""
    return " ".join(text.split())


def touched(starts: Sequence[int], ends: Sequence[int], start: int, end: int) -> slice:
    """Which of the words, given their positions, have a character in start:end.

    >>> touched([0, 4, 8], [3, 7, 11], 5, 9)
    slice(1, 3, None)
    """
    return slice(bisect_right(ends, start), bisect_left(starts, end)) if start < end else slice(0)


# --- words, found with Python's own Unicode tables -----------------------------------------------

# Blocks of the scripts that are written without spaces: Thai, Lao, Burmese, Khmer, kana, Han, Yi, Tangut, Nushu.
_SPACELESS = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3031, 0x3035), (0x3041, 0x312F),
    (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0xA48F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x16FE0, 0x16FE1), (0x17000, 0x18AFF), (0x18D00, 0x18D8F), (0x1AFF0, 0x1B2FF),
    (0x20000, 0x3FFFF),
)  # fmt: skip


def kind(character: str) -> str:
    """What a character is to a word: a letter L, a mark M, a letter of a script without spaces S, or nothing.

    >>> [kind(character) for character in "é7木"]
    ['L', '', 'S']
    """
    if character in "\u200c\u200d" or unicodedata.category(character) in ("Mn", "Mc", "Me"):
        return "M"
    if not character.isalpha() and character != "〇":
        return ""
    return "S" if any(first <= ord(character) <= last for first, last in _SPACELESS) else "L"


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A run of either sort; and one character of a run without spaces, with its marks."""
    ranges = dict.fromkeys(["L", "M", "S", ""], "")
    for which, run in groupby(range(sys.maxunicode + 1), lambda point: kind(chr(point))):
        points = list(run)
        ranges[which] += f"\\U{points[0]:08x}-\\U{points[-1]:08x}"
    letter, mark, spaceless = ranges["L"], ranges["M"], ranges["S"]
    single = f"[{spaceless}][{mark}]*"
    return re.compile(f"[{letter}][{letter}{mark}]*|(?:{single})+"), re.compile(single)


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the words of `text` stand: runs of letters, and every two neighbours where no spaces are written.

    >>> text = "Tolkien's 木村の"
    >>> [text[start:end] for start, end in word_spans(text)]
    ['Tolkien', 's', '木村', '村の']
    """
    run, single = _patterns()
    for found in run.finditer(text):
        spans = [found.span()]
        if kind(found[0][0]) == "S":
            singles = [one.span() for one in single.finditer(text, *found.span())]
            spans = [(one[0], two[1]) for one, two in pairwise(singles)] or singles
        for start, end in spans:
            if len(text[start:end].encode()) <= LONGEST:
                yield start, end


# --- the page, as lexbor reads it ----------------------------------------------------------------

# What a browser does not show, or shows as something other than text.
_HIDDEN = frozenset("head script style template title iframe noembed noframes".split())

# What stands apart from the text around it (HTML standard, 15.3 to 15.5): boxes of their own, not parts of a line.
_APART = frozenset(
    "html body address blockquote center dialog div figure figcaption footer form header hr legend listing main p "
    "plaintext pre search xmp article aside h1 h2 h3 h4 h5 h6 hgroup nav section dir dd dl dt menu ol ul li table "
    "caption colgroup col thead tbody tfoot tr td th fieldset details summary datalist optgroup option br noscript "
    "img area input select textarea iframe frameset frame button rt rp text".split()
)
_TARGETS = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_WITH_ALT = frozenset("img area input".split())


class _Page:
    """The text of a page as it grows, and the stretches of it that are anchors."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.size = 0
        self.anchors: list[tuple[str, int, int]] = []

    def add(self, text: str) -> None:
        text = text.replace("\xad", "")
        self.pieces.append(text)
        self.size += len(text)

    def enter(self, node: Any) -> Callable[[], None]:
        """Begin an element; what is to be done where it ends."""
        tag: str = node.tag
        attributes: dict[str, str | None] = node.attributes if tag in _TARGETS or tag in _WITH_ALT else {}
        if tag in _APART:
            self.add("\n")
        place = -1
        if _TARGETS.get(tag, "") in attributes:
            place = len(self.anchors)
            self.anchors.append(((attributes[_TARGETS[tag]] or "").strip(), self.size, self.size))
        if tag in _WITH_ALT:
            self.add(attributes.get("alt") or "")

        def leave() -> None:
            if place >= 0:
                self.anchors[place] = (*self.anchors[place][:2], self.size)
            if tag in _APART:
                self.add("\n")

        return leave


def _walk(node: Any) -> _Page:
    """The elements and texts under `node`, in the order of the document; without recursion, pages nest deep."""
    page = _Page()
    leaving: list[Callable[[], None]] = []
    while True:
        if node.is_text_node:
            page.add(node.text_content or "")
        leaving.append(page.enter(node) if node.is_element_node else lambda: None)
        child = None if node.tag in _HIDDEN else node.first_child
        if child is not None:
            node = child
            continue
        leaving.pop()()
        while leaving and node.next is None:
            node = node.parent
            leaving.pop()()
        if not leaving:
            return page
        node = node.next


def _attribute(tree: Any, selector: str, attribute: str) -> str:
    node = tree.css_first(f"{selector}[{attribute}]")
    return "" if node is None else (node.attributes[attribute] or "").strip()


def _title(tree: Any) -> str:
    """The text of the first title that is not a drawing's."""
    for node in tree.css("title"):
        parent = node.parent
        while parent is not None and parent.tag != "svg":
            parent = parent.parent
        if parent is None:
            return fold(node.text())
    return ""


def read(html: bytes) -> Reading:
    """What lexbor says stands on the page `html`, which is UTF-8.

    >>> page = read(b"<title>T</title><p>un<i>real</i> <a href=' x '>city</a><br>of")
    >>> page.words, page.anchors, page.title
    (['unreal', 'city', 'of'], [Anchor(href='x', words=('city',))], 'T')
    """
    tree: Any = LexborHTMLParser(html)
    page = _walk(tree.root)
    text = "".join(page.pieces)
    spans = list(word_spans(text))
    starts = [start for start, _ in spans]
    ends = [end for _, end in spans]
    words = [text[start:end] for start, end in spans]
    return Reading(
        words=words,
        anchors=[Anchor(href, tuple(words[touched(starts, ends, *span)])) for href, *span in page.anchors],
        title=_title(tree),
        base=_attribute(tree, "base", "href"),
        canonical=_attribute(tree, "head link[rel~=canonical i]", "href"),
        lang=_attribute(tree, "html", "lang") or _attribute(tree, "meta[http-equiv=content-language i]", "content"),
    )


# --- the page, as the scanner reads it -----------------------------------------------------------


def scan(pages: Sequence[bytes]) -> list[Reading]:
    """What the scanner and the splitter say stands on each of `pages`.

    >>> scan([b"<p>un<i>real</i> <a href=' x '>city</a><br>of"])[0].words
    ['unreal', 'city', 'of']
    """
    html = np.frombuffer(b"".join(pages), np.uint8)
    bounds = np.array([0, *map(len, pages)], np.int64).cumsum()
    out = po.allocate_output(len(html), len(pages))
    written = k.scan_pages(html, bounds, markup(), UNLIMITED, UNLIMITED, out, np.zeros(po.STATE_SIZE, np.int64))
    ends = np.concatenate([[0], out.pages[:, po.TEXT_END]])
    text = out.text[: ends[-1]]
    words = split_words(text, ends, classes(), LONGEST)
    values = out.values[:written].tobytes()
    return [_scanned(out, page, text.tobytes(), values, words) for page in range(len(pages))]


def _scanned(out: po.PageOutput, page: int, text: bytes, values: bytes, words: Words) -> Reading:
    row = out.pages[page].tolist()
    here = slice(words.first[page], words.first[page + 1])
    starts, ends = words.starts[here].tolist(), words.ends[here].tolist()
    found = [text[start:end].decode() for start, end in zip(starts, ends, strict=True)]
    links = out.links[out.pages[page - 1, po.LINKS_END] if page else 0 : row[po.LINKS_END]].tolist()

    def value(start: int, end: int) -> str:
        return values[start:end].decode().strip()

    return Reading(
        words=found,
        anchors=[
            Anchor(value(href, href_end), tuple(found[touched(starts, ends, start, end)]))
            for start, end, href, href_end, _ in links
        ],
        title=fold(value(*row[po.TITLE_TEXT :][:2])),
        base=value(*row[po.BASE_URL :][:2]),
        canonical=value(*row[po.CANONICAL :][:2]),
        lang=value(*row[po.LANGUAGE :][:2]),
    )


# --- how far they agree --------------------------------------------------------------------------


class Tally(NamedTuple):
    """Counts over some pages. What differs either stands in one reading only, or in both but elsewhere."""

    pages: int = 0
    tokens_ours: int = 0
    tokens_theirs: int = 0
    tokens_in_one: int = 0
    tokens_elsewhere: int = 0
    anchors_ours: int = 0
    anchors_theirs: int = 0
    anchors_in_one: int = 0
    anchors_elsewhere: int = 0
    facts_that_differ: int = 0
    pages_that_differ: int = 0


def difference(ours: Sequence[Item], theirs: Sequence[Item]) -> tuple[int, int]:
    """How many items stand in one of two lists only (the larger of both sides), and how many in both but elsewhere.

    >>> difference("abcd", "abxd"), difference("abcd", "abdc")
    ((1, 0), (0, 1))
    """
    if ours == theirs:
        return 0, 0
    one, other = Counter(ours), Counter(theirs)
    in_one = max((one - other).total(), (other - one).total())
    alike = 0  # at the beginning; most pages that differ do so in one place
    while alike < min(len(ours), len(theirs)) and ours[alike] == theirs[alike]:
        alike += 1
    matcher = SequenceMatcher(None, ours[alike:], theirs[alike:], autojunk=False)
    alike += sum(block.size for block in matcher.get_matching_blocks())
    return in_one, max(len(ours), len(theirs)) - alike - in_one


def tally(ours: Reading, theirs: Reading) -> Tally:
    """What one page adds to the counts."""
    facts = zip(ours[2:], theirs[2:], strict=True)
    return Tally(
        1,
        len(ours.words),
        len(theirs.words),
        *difference(ours.words, theirs.words),
        len(ours.anchors),
        len(theirs.anchors),
        *difference(ours.anchors, theirs.anchors),
        sum(one != other for one, other in facts),
        int(ours != theirs),
    )


def pages_under(folder: Path) -> list[Path]:
    """The HTML files in a folder, by name."""
    return sorted(path for path in folder.rglob("*") if path.suffix in (".html", ".htm") and path.is_file())


def as_utf8(page: bytes) -> bytes:
    """A page in UTF-8; which charset a page is in is not the question here."""
    try:
        return page.decode("utf-8-sig").encode()
    except UnicodeDecodeError:
        return page.decode("windows-1252", "replace").encode()


def compare(paths: Sequence[Path]) -> Iterator[tuple[Path, Tally]]:
    """Both readings of the page in each file, compared."""
    for start in range(0, len(paths), 100):
        batch = paths[start : start + 100]
        pages = [as_utf8(path.read_bytes()) for path in batch]
        for path, page, ours in zip(batch, pages, scan(pages), strict=True):
            yield path, tally(ours, read(page))


def total(counts: Iterable[Tally]) -> Tally:
    """The counts of all pages together."""
    return Tally(*map(sum, zip(Tally(), *counts, strict=True)))
