"""Select the captures that become pages, and the other URLs (aliases) that lead to them.

The newest capture of a URL wins, or that which `--capture` asks for. Redirects, pages that only forward their visitors,
and canonical links become aliases; an alias always leads to a page of the store.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np

from pagekin.errors import SourceError
from pagekin.model.arrays import Array, Bytes, Int64s, Strings
from pagekin.model.capture import NOT_HTML, Origin, PageFlags, Rank, ReadingSettings, Redirect, Skip, preference
from pagekin.model.reading import CheckedReading
from pagekin.store.store import Store
from pagekin.urls import host_of, variant_key, variants

_MAX_HOPS = 20
_STUB_TOKENS = 50  # a page with a refresh and fewer tokens than this is a redirect
_MIN_SHARED = 0.5  # share of a page's words that its canonical page must contain
_MIN_KEPT = 0.5  # share of the pages of the old store that a build must keep, unless it may shrink
_SHOWN_SKIPS = 3


@dataclass
class ReadPages:
    """Everything a build has read: rows of old and new readings, and what else the sources hold."""

    readings: Sequence[CheckedReading] = ()
    rows: list[Int64s] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    sources: set[Origin] = field(default_factory=set)  # every file
    older: list[tuple[str, Rank]] = field(default_factory=list)  # not read, since a newer capture won before
    dependent: set[str] = field(default_factory=set)  # names of sources whose pages depend on other files
    earlier: Store | None = None  # that of the first reading


@dataclass
class CaptureTable:
    """The properties that decide between captures, as columns over the rows of all readings."""

    reading: Int64s
    row: Int64s
    captured: Int64s
    source: Int64s  # a number in `sources`
    offset: Int64s
    flags: Bytes
    sources: list[str]
    refresh: dict[int, str]  # the URL that a short page forwards to
    canonical: dict[int, str]  # the canonical URL that a page names

    def rank(self, capture: int) -> Rank:
        source = self.sources[int(self.source[capture])]
        return Rank(int(self.captured[capture]), source, int(self.offset[capture]))


@dataclass
class SelectedPages:
    """The pages of the store by URL, their aliases, and what was dropped."""

    pages: dict[str, int]  # url -> capture
    captures: CaptureTable
    aliases: dict[str, tuple[str, str]] = field(default_factory=dict)  # url -> (url of a page, kind of alias)
    skips: list[Skip] = field(default_factory=list)
    older: list[tuple[str, Rank]] = field(default_factory=list)  # captures dropped for a newer one

    def __len__(self) -> int:
        return len(self.pages)

    def places(self) -> tuple[Int64s, Int64s]:
        """(reading, row in it) of every page."""
        captures = np.fromiter(self.pages.values(), np.int64, len(self.pages))
        return self.captures.reading[captures], self.captures.row[captures]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each page in the store, once the selection is complete."""
        return {url: row for row, url in enumerate(self.pages)}

    def find(self, url: str) -> str | None:
        """The page that a link to `url` reaches, directly, by an alias, or by a common variant of the URL."""
        if url in self.pages:  # most do
            return url
        for each in (url, *variants(url)):
            if each in self.pages:
                return each
            if each in self.aliases:
                return self.aliases[each][0]
        return None

    @cached_property
    def _variant_keys(self) -> set[str]:
        return {variant_key(url) for url in chain(self.pages, self.aliases)}

    def reached(self, url: str) -> str | None:
        """The same, once the selection is complete. It is faster for the many URLs outside of the collection."""
        return self.find(url) if variant_key(url) in self._variant_keys else None

    def skip(self, url: str, capture: int, reason: str) -> None:
        self.skips.append(Skip(self.captures.rank(capture).source, reason, url))


def select_pages(read_pages: ReadPages, settings: ReadingSettings) -> SelectedPages:
    """Select the newest capture of each URL, then apply redirects and canonical links."""
    selected = newest(*captures_of(read_pages), read_pages.older, settings)
    follow(selected, read_pages, settings)
    selected.pages = dict(sorted(selected.pages.items(), key=lambda page: (host_of(page[0]), page[0])))
    selected.aliases = dict(sorted(selected.aliases.items()))
    return selected


def follow(selected: SelectedPages, read_pages: ReadPages, settings: ReadingSettings) -> None:
    """Apply redirects and canonical links."""
    _follow_redirects(selected, _redirects(read_pages, selected, settings), settings)
    _follow_canonicals(selected, read_pages.readings)


def check_number_of_pages(
    pages: int,
    skips: Sequence[Skip],
    root: Path,
    before: int,
    allow_shrink: bool,
    without_pages: Callable[[], str],
) -> None:
    """Raise SourceError if there is no page, or fewer than half of the number `before` and the store may not shrink.

    The old store then stays as it is: a site generator that fails halfway must not empty the index of its site. The
    sentence `without_pages` begins the message if there is no page.
    """
    unchanged = f"; {root} is unchanged" if before else ""
    if not pages:
        raise SourceError(f"{without_pages()}{_reasons(skips)}{unchanged}")
    if pages < _MIN_KEPT * before and not allow_shrink:
        raise SourceError(
            f"{root} has {before:,} pages, the sources have only {pages:,}{unchanged}. If the sources are complete,"
            " add --allow-shrink (in Python: allow_shrink=True)"
        )


def _reasons(skips: Sequence[Skip]) -> str:
    """The most frequent reasons of skips, with an example each."""
    counts: Counter[str] = Counter()
    for skip in skips:
        counts[skip.reason] += skip.count
    del counts[NOT_HTML]  # the sentence before tells of these files
    examples = {skip.reason: skip.where for skip in reversed(skips)}
    found = [f"{n:,} {reason} (such as {examples[reason]})" for reason, n in counts.most_common(_SHOWN_SKIPS)]
    return "; skipped: " + ", ".join(found) if found else ""


def newest(
    captures: CaptureTable, urls: Sequence[str], older: Iterable[tuple[str, Rank]], settings: ReadingSettings
) -> SelectedPages:
    """The capture of each URL that is preferred; `older` are captures that were not read."""
    best: dict[str, int] = {}
    older = list(older)
    for capture, url in enumerate(urls):
        other = best.setdefault(url, capture)
        if other != capture:
            loser, best[url] = sorted((other, capture), key=lambda each: preference(settings, captures.rank(each)))
            older.append((url, captures.rank(loser)))
    reason = "older capture" if settings.capture == "latest" else "other capture"
    skips = [Skip(rank.source, reason, url) for url, rank in older]
    selected = SelectedPages(best, captures, skips=skips, older=sorted(older))
    if settings.obey_noindex:
        # Only now: an older capture must not replace one that may not be indexed.
        for url in [url for url, capture in best.items() if captures.flags[capture] & PageFlags.NOINDEX]:
            selected.skip(url, best.pop(url), "noindex")
    return selected


def captures_of(read_pages: ReadPages) -> tuple[CaptureTable, list[str]]:
    """What decides between the captures that were read, and their URLs."""
    urls: list[str] = []
    sources: dict[str, int] = {}
    refresh: dict[int, str] = {}
    canonical: dict[int, str] = {}
    columns: list[tuple[Array, ...]] = [(np.empty(0, np.int64),) * 5 + (np.empty(0, np.uint8),)]
    for number, (reading, rows) in enumerate(zip(read_pages.readings, read_pages.rows, strict=True)):
        pages = reading.pages
        source = np.array([sources.setdefault(name, len(sources)) for name in reading.sources.name], np.int64)
        facts = (pages.captured[rows], source[pages.source[rows]], pages.offset[rows], pages.flags[rows])
        columns.append((np.full(len(rows), number), rows, *facts))
        canonical |= _given(pages.canonical, rows, len(urls))
        is_stub = reading.tokens.lengths()[rows] < _STUB_TOKENS
        refresh |= {k: target for k, target in _given(pages.refresh, rows, len(urls)).items() if is_stub[k - len(urls)]}
        raw = pages.url.all_raw()
        urls += [raw[row].decode("utf-8") for row in rows.tolist()]
    where, row, captured, source, offset, flags = map(np.concatenate, zip(*columns, strict=True))
    return CaptureTable(where, row, captured, source, offset, flags, list(sources), refresh, canonical), urls


def _given(strings: Strings, rows: Int64s, first: int) -> dict[int, str]:
    """The strings of these rows that are not empty, by their place counted from `first`."""
    places = np.flatnonzero(np.diff(strings.offsets)[rows])
    return {first + place: strings[int(rows[place])] for place in places.tolist()}


def _redirects(read_pages: ReadPages, selected: SelectedPages, settings: ReadingSettings) -> dict[str, tuple[int, str]]:
    """(time, target) of the newest redirect of each URL, including pages that only forward their visitors."""
    redirects = [(each.url, (each.captured, each.target)) for each in read_pages.redirects]
    captures = selected.captures
    for url, capture in selected.pages.items():
        if captures.refresh.get(capture, url) != url:
            redirects.append((url, (int(captures.captured[capture]), captures.refresh[capture])))
    newest: dict[str, tuple[int, str]] = {}
    for url, redirect in redirects:
        newest[url] = max(redirect, newest.get(url, redirect), key=lambda each: (settings.prefer(each[0]), each))
    return newest


def _follow_redirects(
    selected: SelectedPages, redirects: dict[str, tuple[int, str]], settings: ReadingSettings
) -> None:
    """Turn redirects that lead to a page into aliases; a page with a newer redirect is dropped."""
    captured = {url: selected.captures.captured[capture] for url, capture in selected.pages.items() if url in redirects}
    prefer = settings.prefer
    newer = {
        url: target for url, (time, target) in redirects.items() if prefer(int(captured.get(url, time))) <= prefer(time)
    }
    if not newer:
        return
    rest = {url: capture for url, capture in selected.pages.items() if url not in newer}
    remaining = SelectedPages(rest, selected.captures)
    for url in sorted(newer):
        end = _end(url, newer, remaining)
        if end is not None:
            selected.aliases[url] = (end, "redirect")
    for url in selected.aliases:
        dropped = selected.pages.pop(url, None)
        if dropped is not None:
            selected.skip(url, dropped, "redirects to another page")


def _end(url: str, redirects: dict[str, str], pages: SelectedPages) -> str | None:
    """The page at the end of a chain of redirects; None if it leaves the collection or is a loop."""
    for _ in range(_MAX_HOPS):
        url = redirects[url]
        if url not in redirects:
            return pages.find(url)
    return None


def _follow_canonicals(selected: SelectedPages, readings: Sequence[CheckedReading]) -> None:
    """Turn canonical links into aliases: always if their target is missing, else if the target has the same words."""
    canonical = selected.captures.canonical
    naming = sorted(url for url, capture in selected.pages.items() if canonical.get(capture, url) != url)
    named = {url: canonical[selected.pages[url]] for url in naming}
    for url, name in named.items():
        target = selected.find(name) or name
        capture = selected.pages[url]
        if target == url:
            continue
        if target not in selected.pages:
            selected.aliases.setdefault(target, (url, "canonical"))
        elif target in named:
            selected.skip(url, capture, "canonical link to a page that names another (kept)")
        elif _shared(readings, selected.captures, capture, selected.pages[target]) < _MIN_SHARED:
            selected.skip(url, capture, "canonical link to a page with other words (kept)")
        else:
            selected.aliases[url] = (target, "canonical")
    for url in named:
        if url in selected.aliases:
            selected.skip(url, selected.pages.pop(url), "copy of its canonical page")
    for url, (target, kind) in list(selected.aliases.items()):
        if target in selected.aliases:
            selected.aliases[url] = (selected.aliases[target][0], kind)


def _shared(readings: Sequence[CheckedReading], captures: CaptureTable, capture: int, other: int) -> float:
    """The share of a page's words, with multiplicity, that the other page contains."""
    words, others = (_words(readings[int(captures.reading[k])], int(captures.row[k])) for k in (capture, other))
    return (words & others).total() / words.total() if words else 1.0


def _words(reading: CheckedReading, row: int) -> Counter[bytes]:
    counts = Counter(reading.tokens.form[reading.tokens.row(row)].tolist())
    return Counter({reading.forms.raw(form): count for form, count in counts.items()})
