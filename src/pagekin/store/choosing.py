"""Which captures become pages, and under which other URLs they can be reached.

The newest capture of a URL wins. Redirects, pages that only send their visitors on, and canonical links make
aliases; an alias always leads to a page that carries text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pagekin.arrays import Int64s
from pagekin.model.capture import Origin, PageFlags, Rank, Redirect, Skip
from pagekin.model.reading import Reading
from pagekin.model.settings import ReadingSettings
from pagekin.urls import host_of, variants

_MAX_HOPS = 20
_STUB_TOKENS = 50  # a page that sends its visitors on and says no more than this is a redirect
_SHARED_ENOUGH = 0.5  # share of a page's words that must stand on the page it calls canonical


@dataclass
class Harvest:
    """All that a build brought in: rows of readings, old and new, and the notes of the sources."""

    readings: list[Reading] = field(default_factory=list)
    rows: list[Int64s] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    sources: set[Origin] = field(default_factory=set)  # every file
    older: list[tuple[str, Rank]] = field(default_factory=list)  # captures that were not read: they lost before
    dependent: set[str] = field(default_factory=set)  # names of those whose pages hang on other files


@dataclass(frozen=True)
class Place:
    """A page in one of the readings."""

    reading: int
    row: int


@dataclass
class Choice:
    """The pages of the store by URL, the aliases that lead to them, and what was passed over."""

    pages: dict[str, Place]
    aliases: dict[str, tuple[str, str]] = field(default_factory=dict)  # url -> (url of a page, kind of alias)
    skips: list[Skip] = field(default_factory=list)
    older: list[tuple[str, Rank]] = field(default_factory=list)  # captures that lost to a newer one

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


def choose_pages(harvest: Harvest, settings: ReadingSettings) -> Choice:
    """Choose one capture per URL, then let redirects and canonical links have their say."""
    readings = harvest.readings
    choice = _newest(harvest, settings)
    redirects = _redirects(harvest, choice)
    _follow_redirects(choice, redirects, readings)
    _follow_canonicals(choice, readings)
    choice.pages = dict(sorted(choice.pages.items(), key=lambda page: (host_of(page[0]), page[0])))
    choice.aliases = dict(sorted(choice.aliases.items()))
    return choice


def _newest(harvest: Harvest, settings: ReadingSettings) -> Choice:
    best: dict[str, tuple[Rank, Place]] = {}
    older = list(harvest.older)
    unwanted: dict[str, bool] = {}
    for number, (reading, rows) in enumerate(zip(harvest.readings, harvest.rows, strict=True)):
        sources = list(reading.sources.name)
        urls = reading.pages.url.all_raw()
        keys = zip(
            rows.tolist(),
            reading.pages.captured[rows].tolist(),
            reading.pages.source[rows].tolist(),
            reading.pages.offset[rows].tolist(),
            reading.pages.flags[rows].tolist(),
            strict=True,
        )
        for row, captured, source, offset, flags in keys:
            url = urls[row].decode("utf-8")
            rank = Rank(captured, sources[source], offset)
            if url in best:
                older.append((url, min(rank, best[url][0])))
                if rank < best[url][0]:
                    continue
            best[url] = (rank, Place(number, row))
            unwanted[url] = settings.obey_noindex and bool(flags & PageFlags.NOINDEX)
    skips = [Skip(rank.source, "older capture", url) for url, rank in older]
    # Only now: an older capture must not take the place of one that may not be indexed.
    skips += [Skip(best[url][0].source, "noindex", url) for url, no in unwanted.items() if no]
    pages = {url: place for url, (_, place) in best.items() if not unwanted[url]}
    return Choice(pages, skips=skips, older=sorted(older))


def _redirects(harvest: Harvest, choice: Choice) -> dict[str, tuple[int, str]]:
    """(when, where to) of the newest redirect of each URL, pages that only send their visitors on among them."""
    newest: dict[str, tuple[int, str]] = {}
    for redirect in harvest.redirects:
        _keep_newest(newest, redirect.url, (redirect.captured, redirect.target))
    for url, place in choice.pages.items():
        reading = harvest.readings[place.reading]
        target = reading.pages.refresh[place.row]
        tokens = reading.tokens.offsets[place.row + 1] - reading.tokens.offsets[place.row]
        if target and target != url and tokens < _STUB_TOKENS:
            _keep_newest(newest, url, (int(reading.pages.captured[place.row]), target))
    return newest


def _keep_newest(newest: dict[str, tuple[int, str]], url: str, redirect: tuple[int, str]) -> None:
    newest[url] = max(redirect, newest.get(url, redirect))


def _follow_redirects(choice: Choice, redirects: dict[str, tuple[int, str]], readings: Sequence[Reading]) -> None:
    """Make aliases of redirects that lead to a page; a page that redirects by now gives way."""
    newer = {}
    for url, (captured, target) in redirects.items():
        place = choice.pages.get(url)
        if place is None or int(readings[place.reading].pages.captured[place.row]) <= captured:
            newer[url] = target
    still = Choice({url: place for url, place in choice.pages.items() if url not in newer})
    for url in sorted(newer):
        end = _end(url, newer, still)
        if end is not None:
            choice.aliases[url] = (end, "redirect")
    for url in choice.aliases:
        place = choice.pages.pop(url, None)
        if place is not None:
            choice.skips.append(_skip(readings, place, "redirects to another page by now", url))


def _end(url: str, newer: dict[str, str], pages: Choice) -> str | None:
    """The page at the end of a chain of redirects; None if it leads out of the collection or round and round."""
    here = url
    for _ in range(_MAX_HOPS):
        here = newer[here]
        if here not in newer:
            return pages.find(here)
    return None


def _follow_canonicals(choice: Choice, readings: Sequence[Reading]) -> None:
    """Believe canonical links: of a page that is here if it holds the same words, of one that is not in any case."""
    claims = {}
    for url, place in sorted(choice.pages.items()):
        claim = readings[place.reading].pages.canonical[place.row]
        if claim and claim != url:
            claims[url] = claim
    for url, claim in claims.items():
        target = choice.find(claim) or claim
        place = choice.pages[url]
        if target == url:
            continue
        if target not in choice.pages:
            choice.aliases.setdefault(target, (url, "canonical"))
        elif target in claims:
            choice.skips.append(_skip(readings, place, "canonical link to a page that names another (kept)", url))
        elif _shared(readings, place, choice.pages[target]) < _SHARED_ENOUGH:
            choice.skips.append(_skip(readings, place, "canonical link to a page with other words (kept)", url))
        else:
            choice.aliases[url] = (target, "canonical")
    for url in claims:
        if url in choice.aliases:
            choice.skips.append(_skip(readings, choice.pages.pop(url), "copy of its canonical page", url))
    for url, (target, kind) in list(choice.aliases.items()):
        if target in choice.aliases:
            choice.aliases[url] = (choice.aliases[target][0], kind)


def _shared(readings: Sequence[Reading], place: Place, other: Place) -> float:
    """The share of a page's words that stand on the other page as well, each as often as there."""
    words = _words(readings[place.reading], place.row)
    common = words & _words(readings[other.reading], other.row)
    return common.total() / words.total() if words else 1.0


def _words(reading: Reading, row: int) -> Counter[bytes]:
    forms, counts = np.unique(reading.tokens.form[reading.tokens.row(row)], return_counts=True)
    return Counter(
        {reading.forms.raw(form): count for form, count in zip(forms.tolist(), counts.tolist(), strict=True)}
    )


def _skip(readings: Sequence[Reading], place: Place, reason: str, url: str) -> Skip:
    reading = readings[place.reading]
    return Skip(reading.sources.name[int(reading.pages.source[place.row])], reason, url)
