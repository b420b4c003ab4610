"""Which captures become pages, and under which other URLs they can be reached.

The newest capture of a URL wins. Redirects, pages that only send their visitors on, and canonical links make
aliases; an alias always leads to a page that carries text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pagekin.model.arrays import Bytes, Int64s
from pagekin.model.capture import Origin, PageFlags, Rank, Redirect, Skip
from pagekin.model.reading import Reading
from pagekin.model.settings import ReadingSettings
from pagekin.model.strings import Strings
from pagekin.urls import host_of, variants

Array = NDArray[Any]
_MAX_HOPS = 20
_STUB_TOKENS = 50  # a page that sends its visitors on and says no more than this is a redirect
_SHARED_ENOUGH = 0.5  # share of a page's words that must stand on the page it calls canonical


@dataclass
class ReadPages:
    """All that a build brought in: rows of readings, old and new, and the notes of the sources."""

    readings: Sequence[Reading] = ()
    rows: list[Int64s] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    sources: set[Origin] = field(default_factory=set)  # every file
    older: list[tuple[str, Rank]] = field(default_factory=list)  # captures that were not read: they lost before
    dependent: set[str] = field(default_factory=set)  # names of those whose pages hang on other files


@dataclass
class CaptureTable:
    """What decides between captures, in columns: the rows of all readings, one after the other."""

    reading: Int64s
    row: Int64s
    captured: Int64s
    source: Int64s  # a number in `sources`
    offset: Int64s
    flags: Bytes
    sources: list[str]
    refresh: dict[int, str]  # where a capture that says little sends its visitors, if it does
    canonical: dict[int, str]  # the URL that a capture calls its own, if it names one

    def rank(self, capture: int) -> Rank:
        """What decides about one capture."""
        source = self.sources[int(self.source[capture])]
        return Rank(int(self.captured[capture]), source, int(self.offset[capture]))


@dataclass
class SelectedPages:
    """The pages of the store by URL, the aliases that lead to them, and what was passed over."""

    pages: dict[str, int]  # url -> number of a capture
    captures: CaptureTable
    aliases: dict[str, tuple[str, str]] = field(default_factory=dict)  # url -> (url of a page, kind of alias)
    skips: list[Skip] = field(default_factory=list)
    older: list[tuple[str, Rank]] = field(default_factory=list)  # captures that lost to a newer one

    def places(self) -> tuple[Int64s, Int64s]:
        """(reading, row in it) of every page."""
        captures = np.fromiter(self.pages.values(), np.int64, len(self.pages))
        return self.captures.reading[captures], self.captures.row[captures]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each page in the store, once all are chosen."""
        return {url: row for row, url in enumerate(self.pages)}

    def find(self, url: str) -> str | None:
        """The page that a link to `url` reaches, be it by an alias or by a habit of servers."""
        if url in self.pages:
            return url
        if url in self.aliases:
            return self.aliases[url][0]
        for variant in variants(url):
            if variant in self.pages:
                return variant
            if variant in self.aliases:
                return self.aliases[variant][0]
        return None


def choose_pages(read_pages: ReadPages, settings: ReadingSettings) -> SelectedPages:
    """Choose one capture per URL, then let redirects and canonical links have their say."""
    choice = _newest(read_pages, settings)
    _follow_redirects(choice, _redirects(read_pages, choice))
    _follow_canonicals(choice, read_pages.readings)
    choice.pages = dict(sorted(choice.pages.items(), key=lambda page: (host_of(page[0]), page[0])))
    choice.aliases = dict(sorted(choice.aliases.items()))
    return choice


def _newest(read_pages: ReadPages, settings: ReadingSettings) -> SelectedPages:
    captures, urls = _captures(read_pages)
    best: dict[str, int] = {}
    older = list(read_pages.older)
    for capture, url in enumerate(urls):
        other = best.setdefault(url, capture)
        if other != capture:
            loser, best[url] = sorted((other, capture), key=captures.rank)
            older.append((url, captures.rank(loser)))
    skips = [Skip(rank.source, "older capture", url) for url, rank in older]
    choice = SelectedPages(best, captures, skips=skips, older=sorted(older))
    if settings.obey_noindex:
        # Only now: an older capture must not take the place of one that may not be indexed.
        for url in [url for url, capture in best.items() if captures.flags[capture] & PageFlags.NOINDEX]:
            skips.append(_skip(choice, best.pop(url), "noindex", url))
    return choice


def _captures(read_pages: ReadPages) -> tuple[CaptureTable, list[str]]:
    """The captures of a harvest, and their URLs."""
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
    """The strings of these rows, counted from `first`, that are not empty."""
    places = np.flatnonzero(np.diff(strings.offsets)[rows])
    return {first + place: strings[int(rows[place])] for place in places.tolist()}


def _redirects(read_pages: ReadPages, choice: SelectedPages) -> dict[str, tuple[int, str]]:
    """(when, where to) of the newest redirect of each URL, pages that only send their visitors on among them."""
    newest: dict[str, tuple[int, str]] = {}
    for redirect in read_pages.redirects:
        _keep_newest(newest, redirect.url, (redirect.captured, redirect.target))
    refresh = choice.captures.refresh
    for url, capture in choice.pages.items():
        if capture in refresh and refresh[capture] != url:
            _keep_newest(newest, url, (int(choice.captures.captured[capture]), refresh[capture]))
    return newest


def _keep_newest(newest: dict[str, tuple[int, str]], url: str, redirect: tuple[int, str]) -> None:
    newest[url] = max(redirect, newest.get(url, redirect))


def _follow_redirects(choice: SelectedPages, redirects: dict[str, tuple[int, str]]) -> None:
    """Make aliases of redirects that lead to a page; a page that redirects by now gives way."""
    newer = {}
    for url, (captured, target) in redirects.items():
        capture = choice.pages.get(url)
        if capture is None or choice.captures.captured[capture] <= captured:
            newer[url] = target
    if not newer:
        return
    still = SelectedPages({url: capture for url, capture in choice.pages.items() if url not in newer}, choice.captures)
    for url in sorted(newer):
        end = _end(url, newer, still)
        if end is not None:
            choice.aliases[url] = (end, "redirect")
    for url in choice.aliases:
        capture = choice.pages.pop(url, None)
        if capture is not None:
            choice.skips.append(_skip(choice, capture, "redirects to another page by now", url))


def _end(url: str, newer: dict[str, str], pages: SelectedPages) -> str | None:
    """The page at the end of a chain of redirects; None if it leads out of the collection or round and round."""
    here = url
    for _ in range(_MAX_HOPS):
        here = newer[here]
        if here not in newer:
            return pages.find(here)
    return None


def _follow_canonicals(choice: SelectedPages, readings: Sequence[Reading]) -> None:
    """Believe canonical links: of a page that is here if it holds the same words, of one that is not in any case."""
    canonical = choice.captures.canonical
    claiming = sorted(url for url, capture in choice.pages.items() if canonical.get(capture, url) != url)
    claims = {url: canonical[choice.pages[url]] for url in claiming}
    for url, claim in claims.items():
        target = choice.find(claim) or claim
        capture = choice.pages[url]
        if target == url:
            continue
        if target not in choice.pages:
            choice.aliases.setdefault(target, (url, "canonical"))
        elif target in claims:
            choice.skips.append(_skip(choice, capture, "canonical link to a page that names another (kept)", url))
        elif _shared(readings, choice.captures, capture, choice.pages[target]) < _SHARED_ENOUGH:
            choice.skips.append(_skip(choice, capture, "canonical link to a page with other words (kept)", url))
        else:
            choice.aliases[url] = (target, "canonical")
    for url in claims:
        if url in choice.aliases:
            choice.skips.append(_skip(choice, choice.pages.pop(url), "copy of its canonical page", url))
    for url, (target, kind) in list(choice.aliases.items()):
        if target in choice.aliases:
            choice.aliases[url] = (choice.aliases[target][0], kind)


def _shared(readings: Sequence[Reading], captures: CaptureTable, capture: int, other: int) -> float:
    """The share of a page's words that stand on the other page as well, each as often as there."""
    words, others = (_words(readings[int(captures.reading[k])], int(captures.row[k])) for k in (capture, other))
    return (words & others).total() / words.total() if words else 1.0


def _words(reading: Reading, row: int) -> Counter[bytes]:
    forms, counts = np.unique(reading.tokens.form[reading.tokens.row(row)], return_counts=True)
    return Counter(
        {reading.forms.raw(form): count for form, count in zip(forms.tolist(), counts.tolist(), strict=True)}
    )


def _skip(choice: SelectedPages, capture: int, reason: str, url: str) -> Skip:
    return Skip(choice.captures.rank(capture).source, reason, url)
