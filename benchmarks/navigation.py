"""Navigation: how many of the best answers are only the previous or the next page of a manual, and what it helps.

`python -m benchmarks.navigation` prints the figures and writes `results/navigation.json`. The neighbours of a page are
those that its head names (`<link rel="prev">` and `<link rel="next">`). Some of them are related; as a control, the
same places are counted in a copy of the manual whose pages have only their main text, cut out by the generator's own
markup. Two kinds of labels: the folders of URLs, which the navigation of a manual names; and the links of the authors'
"See also" boxes, which are taken out of another copy. PAGEKIN_BENCH_KEEP may name a folder in which stores stay for
the next time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urljoin

import numpy as np
from selectolax.lexbor import LexborHTMLParser, LexborNode

import pagekin
from benchmarks.agreement import SMALLEST, collections
from benchmarks.labelled import MORE
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.bags.source import BagSource, sequential_links
from pagekin.evaluation.labelled import BY_PATH
from pagekin.model.strategy import Strategy
from pagekin.search.options import RelatedOptions
from reading.lexbor import pages_under

MANUALS = {
    SMALLEST: collections()[SMALLEST],
    "postgresql-doc-15": Path("/usr/share/doc/postgresql-doc-15/html"),
    "linux-doc-6.1": MORE["linux-doc-6.1"],
}
STRATEGIES = {
    "all navigation counts": Strategy(),
    "without sequences": Strategy(sequences=False),
    "without navigation": Strategy(navigation=False),
}
BARS = {SMALLEST: 400}
PLACES = 5
MIN_PAIRS = 1 if QUICK else 100  # fewer say nothing
BASE = "http://manual.localhost/"
MOST_PAGES = 50 if QUICK else 100_000
_HEAD_LINK = re.compile(r"<link\b[^>]*\brel=[\"'](?:prev|next)[\"'][^>]*>", re.I)
_HREF = re.compile(r"\bhref=[\"']([^\"']*)[\"']")
_MAIN_TEXT = "div.body[role=main], div[itemprop=articleBody]"  # of Sphinx, and of its theme of Read the Docs
_NAVIGATION = "div.navheader, div.navfooter"  # of DocBook


def main() -> None:
    """Measure every manual at hand."""
    figures: list[Figure] = []
    with TemporaryDirectory() as place:
        folder = Path(os.environ.get("PAGEKIN_BENCH_KEEP") or place)
        for name, source in MANUALS.items():
            if source.is_dir():
                print(name)
                measured = list(measure(name, source, folder / name))
                show(measured)
                figures += measured
    keep("navigation", {"machine": facts(), "figures": kept(figures)})


def measure(name: str, source: Path, folder: Path) -> Iterator[Figure]:
    """The places of neighbours among the first five, and the quality by labels, with and without navigation.

    The bar was set for the ranking by text alone, which was the default then: 574 places, 390 for the main text alone.
    """
    pairs = write_copies(source, folder)
    near = neighbours(source)
    yield Figure(f"{name}: places", PLACES * len(near))
    with _built(source, folder, "without sequences") as collection:
        found, declared = _sequences(collection), {(url, other) for url in near for other in near[url]}
        yield Figure(f"{name}: declared links to neighbours", len(declared))
        yield Figure(f"{name}: of them found as sequences", len(found & declared))
        yield Figure(f"{name}: other links found as sequences", len(found - declared))
    for strategy in STRATEGIES:
        with _built(source, folder, strategy) as collection:
            bar = BARS.get(name) if strategy != "all navigation counts" else None
            yield Figure(f"{name}: of neighbours, {strategy}", count_places(collection, near), at_most=bar)
            by_text = count_places(collection, near, {"text": 1.0})
            yield Figure(f"{name}: of neighbours by text alone, {strategy}", by_text, at_most=bar)
            if len({url.rpartition("/")[0] for url in near}) > 1:
                precision = collection.evaluate(BY_PATH).systems[0].precision.value
                yield Figure(f"{name}: P@10 by folders, {strategy}", round(precision, 4))
                of_text = collection.evaluate(BY_PATH, blend={"text": 1.0}).systems[0].precision.value
                yield Figure(f"{name}: P@10 by folders and text alone, {strategy}", round(of_text, 4))
    with _built(folder / "main text", folder, "without sequences") as collection:
        yield Figure(f"{name}: of neighbours, main text alone", count_places(collection, near))
    count = sum(1 for _ in pairs.open())
    yield Figure(f'{name}: "See also" pairs', count)
    if count < MIN_PAIRS:
        return
    for strategy in STRATEGIES:
        with _built(folder / "no see also", folder, strategy) as collection:
            recall = collection.evaluate_related(pairs).systems[0].recall.value
            yield Figure(f'{name}: R@10 by "See also", {strategy}', round(recall, 4))


def _built(source: Path, folder: Path, strategy: str) -> pagekin.Collection:
    store = folder / f"{source.name}, {strategy}.kin"
    return pagekin.build([source], store, base_urls=[BASE], strategy=STRATEGIES[strategy])


def _sequences(collection: pagekin.Collection) -> set[tuple[str, str]]:
    """The URLs of pages and of the previous or next pages that were recognised."""
    source, urls = BagSource.of(collection.indexed), collection.indexed.reading.pages.url
    links, rows = source.links, source.nodes
    place = np.flatnonzero(sequential_links(source)[0])
    cited = rows[np.searchsorted(links.offsets, place, side="right") - 1]
    return {(urls[one], urls[other]) for one, other in zip(links.page[place].tolist(), cited.tolist(), strict=True)}


def _pages(source: Path) -> dict[str, Path]:
    """The file of every page by its URL."""
    return {BASE + file.relative_to(source).as_posix(): file for file in pages_under(source)[:MOST_PAGES]}


def neighbours(source: Path) -> dict[str, set[str]]:
    """The URLs of the previous and the next page of each page that has one."""
    pages, near = _pages(source), {}
    for url, file in pages.items():
        hrefs = (_HREF.search(tag) for tag in _HEAD_LINK.findall(file.read_text("utf-8", "replace")))
        found = {urljoin(url, href[1]) for href in hrefs if href is not None} & pages.keys() - {url}
        if found:
            near[url] = found
    return near


def count_places(
    collection: pagekin.Collection, near: dict[str, set[str]], blend: dict[str, float] | None = None
) -> int:
    """How many of the first places of all pages are taken by their neighbours."""
    options = RelatedOptions(limit=PLACES, min_similarity=0.0, explain=False, group_duplicates=False, blend=blend)
    found = ((url, each.url) for url in near for each in collection.indexed.related(url, options))
    return sum(other in near[url] for url, other in found)


def write_copies(source: Path, folder: Path) -> Path:
    """Copy a manual without what is around the main text, and without "See also"; the file with the pairs of these."""
    pages, pairs = _pages(source), set()
    for url, file in pages.items():
        tree = LexborHTMLParser(file.read_bytes())
        for box in _see_also(tree):
            hrefs = (urljoin(url, link.attributes["href"] or "").partition("#")[0] for link in box.css("a[href]"))
            pairs |= {(url, target) for target in hrefs if target in pages and target != url}
            box.decompose()
        _write(folder / "no see also" / file.relative_to(source), tree.html or "")
        _write(folder / "main text" / file.relative_to(source), _main_text(LexborHTMLParser(file.read_bytes())))
    path = folder / "related.tsv"
    path.write_text("".join(f"{one}\t{other}\n" for one, other in sorted(pairs)), "utf-8")
    return path


def _see_also(tree: LexborHTMLParser) -> list[LexborNode]:
    """The boxes of Sphinx, and the sections of DocBook with such a heading."""
    headings = ((section, section.css_first("h2")) for section in tree.css("div.refsect1"))
    sections = [section for section, heading in headings if heading is not None and heading.text() == "See Also"]
    return tree.css("div.seealso") + sections


def _main_text(tree: LexborHTMLParser) -> str:
    main = tree.css_first(_MAIN_TEXT)
    if main is None:
        for each in tree.css(_NAVIGATION):
            each.decompose()
        return tree.html or ""
    return f"{tree.head.html if tree.head else ''}{main.html}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
