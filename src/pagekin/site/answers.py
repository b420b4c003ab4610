"""The related pages of all pages of a site."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from pagekin.engines.local import cpu_count, run, worker_pool
from pagekin.errors import MisuseError
from pagekin.model.capture import ReadingSettings
from pagekin.model.progress import Progress
from pagekin.model.strategy import PRESETS
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import MOST_ANSWERS, RelatedOptions
from pagekin.search.results import RelatedPage
from pagekin.site.options import SiteOptions
from pagekin.site.pages import SiteFolder
from pagekin.sources.open import SourceSet

_PAGE_URLS = "SELECT url, title FROM pages"
_MORE = 4  # times as many pages are looked at, if too few of them are shown
_JOB = 250  # pages
_PAGES_FOR_PROCESSES = 2000  # with fewer, processes take longer to start than they save
Report = Callable[[Progress], None]
Request = tuple[str, RelatedOptions]  # the URL of a page


@dataclass(frozen=True)
class Listed:
    """A page in the list of another: its path in the folder of the site."""

    path: str
    title: str
    similarity: float
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class SiteAnswers:
    """The titles of all pages that are in the index, and the list of each page that gets one."""

    titles: dict[str, str]
    lists: dict[str, list[Listed]]
    skipped: dict[str, int]  # by reason

    def is_of(self, paths: Set[str]) -> bool:
        """Whether all pages in the lists are among these, and have titles."""
        listed = {each.path for pages in self.lists.values() for each in pages}
        return listed <= paths and self.lists.keys() <= self.titles.keys() <= paths


def answer_site(
    site: SiteFolder, index: Path, options: SiteOptions, processes: int | None, progress: Report
) -> SiteAnswers:
    """Bring the index up to date, and find the related pages of all pages that get lists."""
    preset = PRESETS["default"]
    built = build(
        SourceSet((site,), ReadingSettings(obey_noindex=True)),
        index,
        strategy=replace(preset, language=options.language) if options.language else preset,
        processes=processes,
        allow_shrink=options.allow_shrink,
        answers=_kept(options),
        progress=progress,
    )
    skipped = dict(built.store.manifest.skipped)
    built.store.close()
    indexed = IndexedStore(built.store.root, built.store.manifest)
    try:
        rows = indexed.catalog.rows(_PAGE_URLS)
        titles = {path: title for url, title in rows if (path := site.urls.get(url)) is not None}
        return SiteAnswers(titles, _lists(indexed, site, titles, options, processes, progress), skipped)
    finally:
        indexed.close()


def _kept(options: SiteOptions) -> int:
    """How many pages near to each page are found in advance, which is faster: none if most requests have filters."""
    everywhere = any(not page for field in ("pin", "never") for page, _ in options.pairs(field))
    return 0 if options.exclude_linked or everywhere else min(_MORE * (options.limit + 1), MOST_ANSWERS)


def _lists(
    indexed: IndexedStore,
    site: SiteFolder,
    titles: Mapping[str, str],
    options: SiteOptions,
    processes: int | None,
    progress: Report,
) -> dict[str, list[Listed]]:
    shown = [each.path for each in site.shown() if each.path in titles]
    url_of = {path: url for url, path in site.urls.items()}
    requests = [
        (url_of[path], asked) for path, asked in zip(shown, _requests(shown, titles, url_of, options), strict=True)
    ]
    answers = related_pages(indexed, requests, {url_of[path] for path in shown}, processes)
    found = {}
    for done, (path, pages) in enumerate(zip(shown, answers, strict=True)):
        progress(Progress("ranking", done, len(shown)))
        found[path] = [
            Listed(site.urls[page.url], page.title, round(page.similarity, 4), tuple(page.why.reasons))
            for page in pages
        ]
    return found


def related_pages(
    indexed: IndexedStore, requests: Sequence[Request], shown: Set[str], processes: int | None
) -> Iterator[list[RelatedPage]]:
    """The related pages of each URL with its options; only pages that are shown, and no near-duplicate of the page.

    In several processes if these are wanted and there are many pages: threads would wait for each other.
    """
    pool = worker_pool(processes or 1, cpu_count(), len(requests), _PAGES_FOR_PROCESSES)
    if not pool.processes:
        yield from (_answer(indexed, request, shown) for request in requests)
        return
    jobs = [(place, requests[place : place + _JOB]) for place in range(0, len(requests), _JOB)]
    found, due = {}, 0
    for place, answers in run(partial(_answer_job, indexed.root, shown), jobs, pool):
        found[place] = answers
        while due in found:
            yield from found.pop(due)
            due += _JOB


def _answer_job(root: Path, shown: Set[str], job: tuple[int, Sequence[Request]]) -> tuple[int, list[list[RelatedPage]]]:
    """The answers to some requests, in a process of its own."""
    place, requests = job
    return place, [_answer(_opened(root), request, shown) for request in requests]


@cache
def _opened(root: Path) -> IndexedStore:
    return IndexedStore.open(root)


def _answer(indexed: IndexedStore, request: Request, shown: Set[str]) -> list[RelatedPage]:
    url, options = request
    wanted = options.limit + 1  # near-duplicates of the page are one line
    while True:
        lines = indexed.related(url, replace(options, limit=wanted))
        kept = [found for line in lines if (found := _first_shown(line, shown))]
        if len(kept) >= options.limit or len(lines) < wanted:
            return kept[: options.limit]
        wanted *= _MORE


def _first_shown(line: RelatedPage, shown: Set[str]) -> RelatedPage | None:
    """The page of a line, or its first near-duplicate that is shown."""
    if line.pinned or (line.url in shown and not line.is_duplicate):
        return line
    if line.is_duplicate:
        return None
    for each in line.duplicates:
        if each.url in shown:
            return replace(line, url=each.url, title=each.title, similarity=each.similarity)
    return None


def _requests(
    shown: Sequence[str], titles: Mapping[str, str], url_of: Mapping[str, str], options: SiteOptions
) -> Iterator[RelatedOptions]:
    """The options of the request for each page."""
    related = RelatedOptions(
        limit=options.limit,
        min_similarity=options.min_similarity,
        exclude_linked=options.exclude_linked,
        explain=options.explain,
    )
    pins, nevers = (options.pairs(field) for field in ("pin", "never"))
    for page, other in (*pins, *nevers):
        for path in (page or other, other):
            if path not in titles:
                raise MisuseError(f"{path!r} is no page of the site; pin and never name pages by their paths in it")
    for path in shown:
        pin, never = (
            tuple(url_of[other] for page, other in pairs if page in ("", path) and other != path)
            for pairs in (pins, nevers)
        )
        yield replace(related, pin=pin, never=never) if pin or never else related
