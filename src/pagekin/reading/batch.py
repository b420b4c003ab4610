"""A batch of captures -> a Reading: scan the HTML, split it into words, number the forms, resolve the links."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pagekin.kernels import html as scan
from pagekin.kernels import page_output as po
from pagekin.kernels import spans
from pagekin.kernels.hrefs import join_plain, levels_of_plain
from pagekin.kernels.vocabulary import hash_texts, intern
from pagekin.kernels.words import Words, split_words
from pagekin.model import reading as columns
from pagekin.model.arrays import Bools, Bytes, Int64s, Strings, UInt32s, together
from pagekin.model.capture import Capture, PageFlags, ReadingSettings, Skip
from pagekin.model.zstd import compress_all
from pagekin.reading.bodies import Body, load_body
from pagekin.reading.markup import classes, markup
from pagekin.urls import resolve_url

LONGEST_WORD = 128  # bytes; a longer run of letters is not a word
_LONGEST_TITLE = 1000  # characters
_COMPRESSION = 1
_GROUP_BYTES = 256 * 1024  # of pages that are joined and scanned together; they fit into a processor's cache
_REFRESH = re.compile(r"\s*([0-9.]*)\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.I)
_LONGEST_REFRESH_DELAY = 5.0  # seconds; a page with a longer delay is meant to be read
# An href that refers to the page itself, or one that means the same on every page.
_OWN_OR_WHOLE = re.compile(r"(?P<own>(?:https?:)?(?:[?#]|\Z))|https?:[/\\]{2}|(?!https?:)[a-z][a-z0-9+.-]*:", re.I)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*")


def read_captures(captures: Sequence[Capture], settings: ReadingSettings) -> columns.CheckedReading:
    """Read every capture; those that cannot be read are in the skips of the reading."""
    loaded = [load_body(capture, settings) for capture in captures]
    bodies = [body for body in loaded if isinstance(body, Body)]
    skips = [skip for skip in loaded if isinstance(skip, Skip)]
    out, bounds = _scan(bodies, settings)
    facts = [_Facts(body, row, out, settings) for body, row in zip(bodies, out.pages, strict=True)]
    text = out.text[: bounds[-1]]
    titles = Strings.of(fact.title for fact in facts)
    words, title_tokens, form, forms = _words(text, bounds, titles)
    anchors, targets, hrefs = _anchors(out, words, facts)
    sources, source_of = _sources(bodies)
    reading = columns.Reading(
        pages=_pages(bodies, facts, titles, source_of, out, words),
        text=_compressed(Strings(bounds, text)),
        hrefs=_compressed(hrefs),
        tokens=columns.Tokens(words.first, form),
        titles=title_tokens,
        sentences=columns.Sentences(
            words.first_sentence, spans.relative_positions(words.sentences, words.first_sentence, words.first[:-1])
        ),
        blocks=_blocks(out, text, words, bounds),
        anchors=anchors,
        forms=forms,
        targets=targets,
        sources=sources,
        skips=skips,
    )
    return columns.CheckedReading(reading)  # its numbers come from here


def _scan(bodies: list[Body], settings: ReadingSettings) -> tuple[po.PageOutput, Int64s]:
    """Scan all bodies: the output, and the bounds of the pages in its text."""
    out = po.allocate_output(sum(len(body.html) for body in bodies), len(bodies))
    state = np.zeros(po.STATE_SIZE, np.int64)
    for group in together((body.html for body in bodies), _GROUP_BYTES):
        html = np.frombuffer(b"".join(group), np.uint8)
        starts = np.cumsum([0, *map(len, group)])
        scan.scan_pages(html, starts, markup(), settings.max_links, settings.max_url_bytes, out, state)
    return out, np.append(0, out.pages[:, po.TEXT_END])


def _compressed(pieces: Strings) -> columns.Blobs:
    """Each piece is compressed separately, so that a single page can be read."""
    packed = compress_all(pieces, _COMPRESSION)
    return columns.Blobs(packed.offsets, packed.data)


class _Facts:
    """What a page declares about itself."""

    def __init__(self, body: Body, row: Int64s, out: po.PageOutput, settings: ReadingSettings) -> None:
        url = body.capture.url
        self._longest = settings.max_url_bytes
        self.urls_dropped = 0
        self.base = url
        self.base = self._link(_value(out, row, po.BASE_URL)) or url
        self.canonical = self._link(_value(out, row, po.CANONICAL))
        self.refresh = self._refresh(_value(out, row, po.REFRESH))
        self.title = (" ".join(_value(out, row, po.TITLE_TEXT).split()) or body.capture.title)[:_LONGEST_TITLE]
        self.language = _language(_value(out, row, po.LANGUAGE)) or _language(body.capture.language)
        self.flags = PageFlags(int(row[po.FLAGS])) | body.capture.flags

    def _link(self, href: str) -> str:
        """The URL that an href means, or "" if there is none or it is too long."""
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


def _value(out: po.PageOutput, row: Int64s, fact: int) -> str:
    return out.values[row[fact] : row[fact + 1]].tobytes().decode("utf-8", "replace")


def _language(tag: str) -> str:
    """The first of a list of language tags in lower case, or "" if it is not valid."""
    tag = tag.partition(",")[0].strip().lower().replace("_", "-")
    return tag if _LANGUAGE.fullmatch(tag) else ""


def _words(text: Bytes, bounds: Int64s, titles: Strings) -> tuple[Words, columns.TitleTokens, UInt32s, Strings]:
    """Split texts and titles: (words of the texts, words of the titles, forms of the words of the texts, all forms)."""
    data = np.concatenate([text, titles.data])
    words = split_words(data, np.append(bounds, titles.offsets[1:] + len(text)), classes(), LONGEST_WORD)
    numbers, first = intern(data, words.starts, words.ends)
    pages = len(titles)
    count, sentences = words.first[pages], words.first_sentence[pages]
    in_texts = words.starts[:count], words.ends[:count], words.first[: pages + 1]
    ends = words.sentences[:sentences], words.first_sentence[: pages + 1]
    text_words = Words(*in_texts, *ends, words.overlong[:pages])
    title_words = columns.TitleTokens(words.first[pages:] - count, numbers[count:])
    return text_words, title_words, numbers[:count], spans.strings_of(data, words.starts[first], words.ends[first])


def word_places(text: bytes) -> Int64s:
    """The first byte of every word of a text.

    >>> word_places(b"An oak, a tree").tolist()
    [0, 3, 8, 10]
    """
    data = np.frombuffer(text, np.uint8)
    return split_words(data, np.array([0, len(data)]), classes(), LONGEST_WORD).starts


def _anchors(out: po.PageOutput, words: Words, facts: list[_Facts]) -> tuple[columns.Anchors, Strings, Strings]:
    """The anchors of all pages, the URLs that they link to, and the hrefs of each page, one per line."""
    bounds = np.append(0, out.pages[:, po.LINKS_END])
    links = out.links[: bounds[-1]]
    # An anchor has the words that overlap its text, so un<a>believ</a>able is an anchor of one word.
    start, end = spans.overlapping_words(words.starts, words.ends, links[:, po.LINK_START], links[:, po.LINK_END])
    lines, begins = spans.list_hrefs(out.values, links[:, po.LINK_HREF], links[:, po.LINK_HREF_END])
    page = np.repeat(np.arange(len(facts)), np.diff(bounds))
    urls, target = _resolve(lines, begins, page, [fact.base for fact in facts])
    flags = links[:, po.LINK_FLAGS].astype(np.uint8)
    flags[~_trailing(out, links, words, start, end)] &= ~np.uint8(po.TRAILING)
    target[(flags & po.TOO_LONG) != 0] = columns.NO_TARGET
    first, last = (spans.relative_positions(token, bounds, words.first[:-1]) for token in (start, end))
    return columns.Anchors(bounds, first, last, target, flags), urls, Strings(begins[bounds], lines)


def _trailing(out: po.PageOutput, links: Int64s, words: Words, start: Int64s, end: Int64s) -> Bools:
    """Whether an anchor has no words, and the word before it is in its block."""
    trailing: Bools = (start == end) & (start > 0) & ((links[:, po.LINK_FLAGS] & po.TRAILING) != 0)
    which = np.flatnonzero(trailing)
    if len(which):
        blocks = out.blocks[: out.pages[-1, po.BLOCKS_END], po.BLOCK_START]
        block = np.searchsorted(blocks, links[which, po.LINK_START]) - 1
        trailing[which] = words.starts[start[which] - 1] >= blocks[block]
    return trailing


def _resolve(lines: Bytes, begins: Int64s, page: Int64s, bases: list[str]) -> tuple[Strings, UInt32s]:
    """Resolve every href against the base of its page: (the distinct URLs, the index of the URL of each href).

    An absolute URL is resolved once. A path depends only on the folder of the base, and is resolved once per folder;
    only an href that refers to the page itself is resolved once per page.
    """
    ends = spans.ends_without_fragments(lines, begins)
    numbers, first = intern(lines, begins[:-1], ends)
    begins, ends = begins[first], ends[first]
    levels = levels_of_plain(lines, begins, ends)
    not_plain = np.flatnonzero(levels < 0)
    hrefs = list(spans.strings_of(lines, begins[not_plain], ends[not_plain]))
    kinds = [_OWN_OR_WHOLE.match(href) for href in hrefs]
    is_own, is_whole = np.zeros(len(first), bool), np.zeros(len(first), bool)
    is_own[not_plain] = [kind is not None and kind["own"] is not None for kind in kinds]
    is_whole[not_plain] = [kind is not None and kind["own"] is None for kind in kinds]
    folders: dict[str, int] = {}
    folder = [folders.setdefault(base[: base.partition("?")[0].rindex("/") + 1], len(folders)) for base in bases]
    contexts = [*folders, *bases, ""]
    context = np.where(is_own[numbers], len(folders) + page, np.array(folder, np.int64)[page])
    context[is_whole[numbers]] = len(contexts) - 1
    pairs = context * len(first) + numbers
    bytes_of = np.arange(0, pairs.nbytes, pairs.itemsize)
    which, first_pair = intern(pairs.view(np.uint8), bytes_of, bytes_of + pairs.itemsize)
    distinct = _Hrefs(lines, begins, ends, levels, not_plain, hrefs)
    urls, targets = _urls(distinct, list(folders), contexts, context[first_pair], numbers[first_pair])
    return urls, targets[which]


class _Hrefs(NamedTuple):
    """Distinct hrefs: lines[begins[k]:ends[k]]."""

    lines: Bytes
    begins: Int64s
    ends: Int64s
    levels: Int64s  # as `levels_of_plain` has them
    not_plain: Int64s
    others: list[str]  # those that are not plain


def _urls(
    hrefs: _Hrefs, folders: list[str], contexts: list[str], context: Int64s, href: UInt32s
) -> tuple[Strings, UInt32s]:
    """Resolve pairs of a context and an href: (the distinct URLs, the index of the URL of each pair).

    The first contexts are folders, which those of plain hrefs are.
    """
    plain, others = np.flatnonzero(hrefs.levels[href] >= 0), np.flatnonzero(hrefs.levels[href] < 0)
    in_folders, which = Strings.of(folders), href[plain]
    spans_of_plain = hrefs.lines, hrefs.begins[which], hrefs.ends[which], hrefs.levels[which]
    data, offsets = join_plain(in_folders.data, in_folders.offsets, context[plain], *spans_of_plain)
    pairs = zip(context[others].tolist(), np.searchsorted(hrefs.not_plain, href[others]).tolist(), strict=True)
    found = [resolve_url(contexts[base], hrefs.others[number]) for base, number in pairs]
    rest = Strings.of(url for url in found if url is not None)
    data, offsets = np.concatenate([data, rest.data]), np.append(offsets, rest.offsets[1:] + len(data))
    numbers, first = intern(data, offsets[:-1], offsets[1:])
    targets = np.full(len(href), columns.NO_TARGET, np.uint32)
    targets[np.append(plain, others[np.array([url is not None for url in found], bool)])] = numbers
    return spans.strings_of(data, offsets[first], offsets[first + 1]), targets


def _blocks(out: po.PageOutput, text: Bytes, words: Words, bounds: Int64s) -> columns.Blocks:
    offsets = np.append(0, out.pages[:, po.BLOCKS_END])
    starts = out.blocks[: offsets[-1], po.BLOCK_START]
    # Within a page a block ends one byte, the line break, before the next one.
    ends = np.append(starts[1:] - 1, len(text))
    last = offsets[1:][np.diff(offsets) > 0] - 1
    ends[last] = bounds[1:][np.diff(offsets) > 0]
    return columns.Blocks(
        offsets=offsets,
        token=spans.relative_positions(np.searchsorted(words.starts, starts), offsets, words.first[:-1]),
        place=spans.relative_positions(starts, offsets, bounds[:-1]),
        kinds=out.blocks[: offsets[-1], po.BLOCK_KINDS].astype(np.uint8),
        hash=hash_texts(text, np.ascontiguousarray(starts), ends),
    )


def _pages(
    bodies: list[Body], facts: list[_Facts], titles: Strings, source_of: list[int], out: po.PageOutput, words: Words
) -> columns.Pages:
    captures = [body.capture for body in bodies]
    return columns.Pages(
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
        text_bytes=np.diff(out.pages[:, po.TEXT_END], prepend=0),
        digest=np.frombuffer(b"".join(body.digest for body in bodies), np.uint8).reshape(-1, columns.DIGEST_BYTES),
        links_dropped=out.pages[:, po.DROPPED].astype(np.uint32),
        urls_dropped=_too_long(out) + np.array([fact.urls_dropped for fact in facts], np.uint32),
        words_dropped=words.overlong.astype(np.uint32),
    )


def _too_long(out: po.PageOutput) -> UInt32s:
    bounds = np.append(0, out.pages[:, po.LINKS_END])
    flagged = np.flatnonzero(out.links[: bounds[-1], po.LINK_FLAGS] & po.TOO_LONG)
    pages = np.searchsorted(bounds, flagged, side="right") - 1
    return np.bincount(pages, minlength=len(bounds) - 1).astype(np.uint32)


def _sources(bodies: list[Body]) -> tuple[columns.Sources, list[int]]:
    """The distinct source files, and the index of the source of each body."""
    numbers: dict[tuple[str, int, int], int] = {}
    origins = (body.capture.origin for body in bodies)
    keys = ((origin.source, origin.size, origin.modified) for origin in origins)
    source_of = [numbers.setdefault(key, len(numbers)) for key in keys]
    return columns.Sources.of(numbers, np.zeros(len(numbers), np.uint8)), source_of
