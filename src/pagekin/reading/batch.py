"""A batch of captures -> a Reading: scan, split into words, number the forms, resolve the links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import zstandard
from numpy.typing import NDArray

from pagekin.arrays import Int64s, UInt32s
from pagekin.kernels import html as scan
from pagekin.kernels import sheet as sheets
from pagekin.kernels.hashing import hash_spans
from pagekin.kernels.hrefs import list_hrefs
from pagekin.kernels.intern import intern
from pagekin.kernels.words import Words, split_words
from pagekin.model.capture import Capture, PageFlags, Skip
from pagekin.model.reading import (
    NO_TARGET,
    Anchors,
    Blobs,
    Blocks,
    Pages,
    Reading,
    Sentences,
    Sources,
    TitleTokens,
    Tokens,
)
from pagekin.model.settings import ReadingSettings
from pagekin.model.strings import Strings
from pagekin.reading.bodies import DIGEST_BYTES, Body, load_body
from pagekin.reading.letters import classes
from pagekin.reading.markup import markup
from pagekin.urls import resolve_url

LONGEST_WORD = 128  # bytes; a longer run of letters is no word
_LONGEST_TITLE = 1000  # characters
_COMPRESSION = 1
_REFRESH = re.compile(r"\s*([0-9.]*)\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.I)
_LONGEST_REFRESH_DELAY = 5.0  # seconds; a page that sends its visitors on later means to be read
_NO_PATH = re.compile(r"(?:https?:)?(?:[?#]|\Z)", re.I)  # an href that is about the page itself
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*")


def read_captures(captures: Sequence[Capture], settings: ReadingSettings) -> Reading:
    """Read every capture; what cannot be read is in the reading's skips."""
    loaded = [load_body(capture, settings) for capture in captures]
    bodies = [body for body in loaded if isinstance(body, Body)]
    skips = [skip for skip in loaded if isinstance(skip, Skip)]
    sheet, bounds = _scan(bodies, settings)
    facts = [_Facts(body, row, sheet, settings) for body, row in zip(bodies, sheet.pages, strict=True)]
    text = sheet.text[: bounds[-1]]
    words = split_words(text, bounds, classes(), LONGEST_WORD)
    titles = Strings.of(fact.title for fact in facts)
    title_words = split_words(titles.data, titles.offsets, classes(), LONGEST_WORD)
    forms, form_of_word, form_of_title_word = _vocabulary(text, words, titles, title_words)
    anchors, targets, hrefs = _anchors(sheet, words, facts)
    sources, source_of = _sources(bodies)
    return Reading(
        pages=_pages(bodies, facts, titles, bounds, source_of, sheet, words),
        text=_compressed(_slices(text, bounds)),
        hrefs=_compressed(hrefs),
        tokens=Tokens(words.first, form_of_word, _within(words.starts, words.first, bounds[:-1])),
        titles=TitleTokens(title_words.first, form_of_title_word),
        sentences=Sentences(words.first_sentence, _within(words.sentences, words.first_sentence, words.first[:-1])),
        blocks=_blocks(sheet, text, words, bounds),
        anchors=anchors,
        forms=forms,
        targets=targets,
        sources=sources,
        skips=skips,
    )


def _scan(bodies: list[Body], settings: ReadingSettings) -> tuple[sheets.Sheet, Int64s]:
    """Scan all bodies; the sheet, and where each page's text ends in it (from 0)."""
    html = np.frombuffer(b"".join(body.html for body in bodies), np.uint8)
    starts = np.zeros(len(bodies) + 1, np.int64)
    np.cumsum([len(body.html) for body in bodies], out=starts[1:])
    sheet = sheets.sheet_for(len(html), len(bodies))
    scan.scan_pages(html, starts, markup(), settings.max_links, settings.max_url_bytes, sheet)
    return sheet, _bounds(sheet.pages[:, sheets.TEXT_END])


def _bounds(ends: Int64s) -> Int64s:
    return np.concatenate([np.zeros(1, np.int64), ends])


def _within(places: Int64s, bounds: Int64s, begins: Int64s) -> UInt32s:
    """Places in the whole batch -> places within their own page."""
    return (places - np.repeat(begins, np.diff(bounds))).astype(np.uint32)


def _slices(data: NDArray[np.uint8], bounds: Int64s) -> list[bytes]:
    whole = data.tobytes()
    ends = bounds.tolist()
    return [whole[a:b] for a, b in pairwise(ends)]


def _compressed(pieces: list[bytes]) -> Blobs:
    """Each piece on its own, so that one page can be looked at without its neighbours."""
    compressor = zstandard.ZstdCompressor(level=_COMPRESSION)
    packed = Strings.of(compressor.compress(piece) for piece in pieces)
    return Blobs(packed.offsets, packed.data)


class _Facts:
    """What a page says of itself."""

    def __init__(self, body: Body, row: Int64s, sheet: sheets.Sheet, settings: ReadingSettings) -> None:
        url = body.capture.url
        self._longest = settings.max_url_bytes
        self.urls_dropped = 0
        self.base = url
        self.base = self._link(_value(sheet, row, sheets.BASE_URL)) or url
        self.canonical = self._link(_value(sheet, row, sheets.CANONICAL))
        self.refresh = self._refresh(_value(sheet, row, sheets.REFRESH))
        self.title = (" ".join(_value(sheet, row, sheets.TITLE_TEXT).split()) or body.capture.title)[:_LONGEST_TITLE]
        self.language = _language(_value(sheet, row, sheets.LANGUAGE)) or _language(body.capture.language)
        self.flags = PageFlags(int(row[sheets.FLAGS])) | body.capture.flags

    def _link(self, href: str) -> str:
        """The URL that an href means, or "" for none, and for one that is too long."""
        if len(href) > self._longest:
            self.urls_dropped += 1
            return ""
        return (resolve_url(self.base, href) or "") if href else ""

    def _refresh(self, content: str) -> str:
        match = _REFRESH.match(content[:4096])
        if match is None or len(match[1]) > 4:
            return ""
        try:
            late = float(match[1] or 0) > _LONGEST_REFRESH_DELAY
        except ValueError:
            return ""
        return "" if late else self._link(match[2].strip())


def _value(sheet: sheets.Sheet, row: Int64s, fact: int) -> str:
    return sheet.values[row[fact] : row[fact + 1]].tobytes().decode("utf-8", "replace")


def _language(tag: str) -> str:
    """The first of a list of language tags in lower case, or "" for what is none."""
    tag = tag.partition(",")[0].strip().lower().replace("_", "-")
    return tag if _LANGUAGE.fullmatch(tag) else ""


def _vocabulary(
    text: NDArray[np.uint8], words: Words, titles: Strings, title_words: Words
) -> tuple[Strings, UInt32s, UInt32s]:
    """Number the forms of texts and titles together."""
    data = np.concatenate([text, titles.data])
    starts = np.concatenate([words.starts, title_words.starts + len(text)])
    ends = np.concatenate([words.ends, title_words.ends + len(text)])
    numbers, first = intern(data, starts, ends)
    whole = data.tobytes()
    forms = Strings.of(whole[a:b] for a, b in zip(starts[first].tolist(), ends[first].tolist(), strict=True))
    form = numbers.astype(np.uint32)
    return forms, form[: len(words.starts)], form[len(words.starts) :]


def _anchors(sheet: sheets.Sheet, words: Words, facts: list[_Facts]) -> tuple[Anchors, Strings, list[bytes]]:
    """The anchors of all pages, the URLs that they lead to, and each page's hrefs, one a line."""
    bounds = _bounds(sheet.pages[:, sheets.LINKS_END])
    links = sheet.links[: bounds[-1]]
    # An anchor holds the words that overlap its text, so that un<a>believ</a>able is one anchor of one word.
    start = np.searchsorted(words.ends, links[:, sheets.LINK_START], side="right")
    end = np.searchsorted(words.starts, links[:, sheets.LINK_END], side="left")
    end = np.where(links[:, sheets.LINK_START] == links[:, sheets.LINK_END], start, np.maximum(start, end))
    lines, begins = list_hrefs(sheet.values, links[:, sheets.LINK_HREF], links[:, sheets.LINK_HREF_END])
    page = np.repeat(np.arange(len(facts)), np.diff(bounds))
    urls, target = _resolve(lines, begins, page, [fact.base for fact in facts])
    flags = links[:, sheets.LINK_FLAGS].astype(np.uint8)
    target[(flags & sheets.TOO_LONG) != 0] = NO_TARGET
    anchors = Anchors(
        offsets=bounds,
        start=_within(start, bounds, words.first[:-1]),
        end=_within(end, bounds, words.first[:-1]),
        target=target,
        flags=flags,
    )
    return anchors, urls, _slices(lines, begins[bounds])


def _resolve(lines: NDArray[np.uint8], begins: Int64s, page: Int64s, bases: list[str]) -> tuple[Strings, UInt32s]:
    """Resolve every href against its page's base: (the distinct URLs, which of them each href means).

    An href that names a path depends on its base only up to the folder, so it is resolved once a folder.
    """
    numbers, first = intern(lines, begins[:-1], begins[1:] - 1)
    hrefs = [lines[begins[k] : begins[k + 1] - 1].tobytes().decode("utf-8", "replace") for k in first.tolist()]
    names_path = np.array([_NO_PATH.match(href) is None for href in hrefs], bool)
    folders: dict[str, int] = {}
    folder_of_page = [
        folders.setdefault(base[: base.partition("?")[0].rindex("/") + 1], len(folders)) for base in bases
    ]
    contexts = list(folders) + bases
    context = np.where(names_path[numbers], np.array(folder_of_page, np.int64)[page], len(folders) + page)
    pairs, which = np.unique(context * len(first) + numbers, return_inverse=True)
    urls: dict[str, int] = {}
    targets = np.empty(len(pairs), np.uint32)
    for k, pair in enumerate(pairs.tolist()):
        url = resolve_url(contexts[pair // len(first)], hrefs[pair % len(first)])
        targets[k] = NO_TARGET if url is None else urls.setdefault(url, len(urls))
    return Strings.of(urls), targets[which]


def _blocks(sheet: sheets.Sheet, text: NDArray[np.uint8], words: Words, bounds: Int64s) -> Blocks:
    offsets = _bounds(sheet.pages[:, sheets.BLOCKS_END])
    starts = sheet.blocks[: offsets[-1], sheets.BLOCK_START]
    # Within a page a block ends one byte, the line break, before the next begins.
    ends = np.append(starts[1:] - 1, len(text))
    last = offsets[1:][np.diff(offsets) > 0] - 1
    ends[last] = bounds[1:][np.diff(offsets) > 0]
    return Blocks(
        offsets=offsets,
        token=_within(np.searchsorted(words.starts, starts), offsets, words.first[:-1]),
        place=_within(starts, offsets, bounds[:-1]),
        kinds=sheet.blocks[: offsets[-1], sheets.BLOCK_KINDS].astype(np.uint8),
        hash=hash_spans(text, np.ascontiguousarray(starts), ends),
    )


def _pages(
    bodies: list[Body],
    facts: list[_Facts],
    titles: Strings,
    bounds: Int64s,
    source_of: list[int],
    sheet: sheets.Sheet,
    words: Words,
) -> Pages:
    captures = [body.capture for body in bodies]
    return Pages(
        url=Strings.of(capture.url for capture in captures),
        title=titles,
        language=Strings.of(fact.language for fact in facts),
        charset=Strings.of(body.charset for body in bodies),
        canonical=Strings.of(fact.canonical for fact in facts),
        refresh=Strings.of(fact.refresh for fact in facts),
        source=np.array(source_of, np.uint32),
        offset=np.array([capture.origin.offset for capture in captures], np.int64),
        captured=np.array([capture.captured for capture in captures], np.int64),
        flags=np.array([fact.flags for fact in facts], np.uint8),
        html_bytes=np.array([body.size for body in bodies], np.int64),
        text_bytes=np.diff(bounds),
        digest=np.frombuffer(b"".join(body.digest for body in bodies), np.uint8).reshape(-1, DIGEST_BYTES),
        links_dropped=sheet.pages[:, sheets.DROPPED].astype(np.uint32),
        urls_dropped=_too_long(sheet) + np.array([fact.urls_dropped for fact in facts], np.uint32),
        words_dropped=words.overlong.astype(np.uint32),
    )


def _too_long(sheet: sheets.Sheet) -> UInt32s:
    """How many URLs of each page were too long to be kept."""
    bounds = _bounds(sheet.pages[:, sheets.LINKS_END])
    flagged = np.flatnonzero(sheet.links[: bounds[-1], sheets.LINK_FLAGS] & sheets.TOO_LONG)
    pages = np.searchsorted(bounds, flagged, side="right") - 1
    return np.bincount(pages, minlength=len(bounds) - 1).astype(np.uint32)


def _sources(bodies: list[Body]) -> tuple[Sources, list[int]]:
    """The distinct files of the bodies, and which is whose."""
    numbers: dict[tuple[str, int, int], int] = {}
    source_of = []
    for body in bodies:
        origin = body.capture.origin
        key = (origin.source, origin.size, origin.modified)
        source_of.append(numbers.setdefault(key, len(numbers)))
    sources = Sources(
        name=Strings.of(name for name, _, _ in numbers),
        size=np.array([size for _, size, _ in numbers], np.int64),
        modified=np.array([modified for _, _, modified in numbers], np.int64),
        whole=np.zeros(len(numbers), np.uint8),
    )
    return sources, source_of
