"""A harvest -> a new generation of the store."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.kernels.graph import degrees, in_links
from pagekin.model.arrays import Int64s, UInt32s
from pagekin.model.capture import PageFlags, Skip
from pagekin.model.mapper import Mapper
from pagekin.model.reading import RAGGED_PARTS, AnchorFlag, Anchors, Links, Pages, Ragged, Reading, Sources
from pagekin.model.settings import ReadingSettings
from pagekin.model.strings import Strings
from pagekin.store.catalog import CatalogTables, write_catalog
from pagekin.store.columns import open_array, write_array, write_strings, writing_columns
from pagekin.store.files import open_ragged, write_table
from pagekin.store.merge import (
    FormTable,
    Selection,
    alphabetically,
    commonest_first,
    gather,
    join,
    one_by_one,
    pick,
    unite,
)
from pagekin.store.select import ReadPages, SelectedPages, choose_pages
from pagekin.store.words import write_vocabulary
from pagekin.urls import host_of, page_id

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Nodes:
    """What links lead to: pages (or, with chopped hosts, hosts), then URLs known only from links."""

    urls: Strings
    offsets: Int64s  # the pages of node k are rows offsets[k] to offsets[k+1]; none beyond the last
    of_target: UInt32s

    def of_pages(self) -> UInt32s:
        """The node of every page."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.uint32), np.diff(self.offsets))


@dataclass(frozen=True)
class WrittenStore:
    """What a writer reports for the manifest."""

    counts: dict[str, int]
    skipped: dict[str, int]


def write_store(
    folder: Path, read_pages: ReadPages, settings: ReadingSettings, progress: Progress, mapper: Mapper = map
) -> WrittenStore:
    """Write every file of a generation into `folder`; `mapper` is like `map`, but may write several at a time."""
    progress("choosing pages")
    choice = choose_pages(read_pages, settings)
    selection = Selection(read_pages.readings, *choice.places())
    progress("uniting vocabularies")
    forms = unite(selection, lambda r: r.forms, [(_part("tokens"), "form"), (_part("titles"), "form")], commonest_first)
    targets = unite(selection, lambda r: r.targets, [(_part("anchors"), "target")], alphabetically)
    progress("writing pages")
    sources, source_of = _sources(read_pages, selection, choice)
    pages = _pages(selection, source_of)
    write_table(folder, "pages", pages)
    write_table(folder, "sources", sources)
    write_vocabulary(folder, forms)
    write_strings(folder, "targets", targets.strings)
    tables = {"form": forms.tables, "target": targets.tables}
    offsets = selection.offsets({name: _part(name) for name in RAGGED_PARTS})
    deque(mapper(lambda name: _write_part(folder, name, selection, offsets[name], tables), RAGGED_PARTS), maxlen=0)
    progress("sorting links")
    nodes = (_host_nodes if settings.chop_host else _page_nodes)(choice, pages.url, targets.strings)
    in_and_out = _write_links(folder, nodes, pages, settings)
    progress("writing the catalogue")
    skips = _skips(read_pages, choice) + _dropped(pages, sources)
    write_catalog(folder, _tables(folder, read_pages, choice, nodes, pages, sources, in_and_out, skips))
    return _report(folder, nodes, pages, forms, choice, skips)


def _part(name: str) -> Callable[[Reading], Ragged]:
    return lambda reading: getattr(reading, name)


def _sources(
    read_pages: ReadPages, selection: Selection, choice: SelectedPages
) -> tuple[Sources, dict[tuple[str, int, int], int]]:
    """Every file of the harvest, and its number by name, size and time."""
    kept: dict[tuple[str, int, int], int] = {}
    read: dict[tuple[str, int, int], int] = {}
    for reading, rows in zip(read_pages.readings, read_pages.rows, strict=True):
        _count_sources(reading, rows, read)
    for reading, _, rows in selection.by_reading():
        _count_sources(reading, rows, kept)
    older = Counter(rank.source for _, rank in choice.older)
    known = Counter(rank.source for _, rank in read_pages.older)
    keys = sorted({(origin.source, origin.size, origin.modified) for origin in read_pages.sources})
    whole = [
        key[0] not in read_pages.dependent and kept.get(key, 0) + older[key[0]] == read.get(key, 0) + known[key[0]]
        for key in keys
    ]
    sources = Sources(
        name=Strings.of(name for name, _, _ in keys),
        size=np.array([size for _, size, _ in keys], np.int64),
        modified=np.array([modified for _, _, modified in keys], np.int64),
        whole=np.array(whole, np.uint8),
    )
    return sources, {key: number for number, key in enumerate(keys)}


def _keys(reading: Reading) -> list[tuple[str, int, int]]:
    sources = reading.sources
    return list(zip(sources.name, sources.size.tolist(), sources.modified.tolist(), strict=True))


def _count_sources(reading: Reading, rows: Int64s, counts: dict[tuple[str, int, int], int]) -> None:
    keys = _keys(reading)
    for number, count in enumerate(np.bincount(reading.pages.source[rows], minlength=len(keys)).tolist()):
        counts[keys[number]] = counts.get(keys[number], 0) + count


def _pages(selection: Selection, source_of: dict[tuple[str, int, int], int]) -> Pages:
    def source(reading: Reading) -> UInt32s:
        # An old store knows files that are gone; none of its selected rows is theirs.
        table = np.array([source_of.get(key, 0) for key in _keys(reading)], np.uint32)
        return table[reading.pages.source]

    columns: dict[str, Any] = {each.name: partial(_column, each.name) for each in fields(Pages)}
    strings = {each.name: columns.pop(each.name) for each in fields(Pages) if each.type == "Strings"}
    gathered: dict[str, Any] = {**selection.values(columns | {"source": source}), **selection.strings(strings)}
    return Pages(**gathered)


def _column(name: str, reading: Reading) -> Any:
    return getattr(reading.pages, name)


def _write_part(
    folder: Path, name: str, selection: Selection, offsets: Int64s, tables: dict[str, list[UInt32s]]
) -> None:
    write_array(folder, f"{name}.offsets", offsets)
    kinds = _dtypes(RAGGED_PARTS[name])
    with writing_columns(
        folder, {f"{name}.{column}": (kinds[column], (int(offsets[-1]),)) for column in kinds}
    ) as append:
        for pieces in gather(selection, offsets, _part(name), kinds, tables):
            append(*pieces)


def _dtypes(kind: type[Ragged]) -> dict[str, type[np.generic]]:
    names: dict[str, type[np.generic]] = {"Bytes": np.uint8, "UInt32s": np.uint32, "UInt64s": np.uint64}
    return {each.name: names[str(each.type)] for each in fields(kind) if each.name != "offsets"}


def _page_nodes(choice: SelectedPages, urls: Strings, targets: Strings) -> Nodes:
    """One node a page, and one for every target that is none."""
    of_target: list[int] = []
    outside: list[int] = []
    for k, target in enumerate(one_by_one(targets)):
        page = choice.find(target)
        of_target.append(len(urls) + len(outside) if page is None else choice.row_of[page])
        if page is None:
            outside.append(k)
    every = join(urls, pick(targets, np.array(outside, np.int64)))
    return Nodes(every, np.arange(len(urls) + 1, dtype=np.int64), np.array(of_target, np.uint32))


def _host_nodes(choice: SelectedPages, urls: Strings, targets: Strings) -> Nodes:
    """One node a host: the pages of a host lie side by side, since pages are ordered by host first."""
    numbers: dict[str, int] = {}
    of_page = np.empty(len(urls), np.int64)
    for row, url in enumerate(choice.pages):
        of_page[row] = numbers.setdefault(host_of(url), len(numbers))
    offsets = np.searchsorted(of_page, np.arange(len(numbers) + 1))
    of_target = np.empty(len(targets), np.uint32)
    for k, target in enumerate(one_by_one(targets)):
        of_target[k] = numbers.setdefault(host_of(choice.find(target) or target), len(numbers))
    return Nodes(Strings.of(f"http://{host}/" for host in numbers), offsets, of_target)


def _write_links(folder: Path, nodes: Nodes, pages: Pages, settings: ReadingSettings) -> tuple[Int64s, Int64s]:
    """Write the links sorted by where they lead; (in-degree, out-degree) of every node."""
    write_array(folder, "nodes.offsets", nodes.offsets)
    write_array(folder, "targets.node", nodes.of_target)
    anchors = open_ragged(folder, "anchors", Anchors)
    node_of_page = nodes.of_pages()
    refused = AnchorFlag.NOFOLLOW if settings.obey_nofollow else 0
    refusing = (pages.flags & (PageFlags.NOFOLLOW if settings.obey_nofollow else 0)) != 0
    every = (anchors.offsets, anchors.target, anchors.flags)
    links = Links(*in_links(*every, nodes.of_target, node_of_page, len(nodes.urls), refused, refusing))
    for each in fields(links):
        write_array(folder, f"links.{each.name}", getattr(links, each.name))
    return degrees(links.offsets, links.page, node_of_page)


def _skips(read_pages: ReadPages, choice: SelectedPages) -> list[tuple[Skip, bool]]:
    """Skips of one source and reason as one, those that the store decided apart."""
    summed: dict[tuple[str, str, bool], tuple[int, str]] = {}
    for skips, decided in ((read_pages.skips, False), (choice.skips, True)):
        for skip in skips:
            key = (skip.source, skip.reason, decided)
            count, example = summed.get(key, (0, skip.where))
            summed[key] = (count + skip.count, min(example, skip.where))
    return [(Skip(s, r, example, n), decided) for (s, r, decided), (n, example) in sorted(summed.items())]


_DROPPED = {
    "links_dropped": "link beyond the limit of a page",
    "urls_dropped": "URL too long",
    "words_dropped": "word too long",
}


def _dropped(pages: Pages, sources: Sources) -> list[tuple[Skip, bool]]:
    """What the bounds on a page cost, per source."""
    skips = []
    for column, reason in _DROPPED.items():
        counts = getattr(pages, column)
        totals = np.bincount(pages.source, weights=counts, minlength=len(sources)).astype(np.int64)
        for source in np.flatnonzero(totals).tolist():
            row = int(np.flatnonzero((pages.source == source) & (counts > 0))[0])
            skips.append((Skip(sources.name[source], reason, pages.url[row], int(totals[source])), True))
    return skips


def _tables(
    folder: Path,
    read_pages: ReadPages,
    choice: SelectedPages,
    nodes: Nodes,
    pages: Pages,
    sources: Sources,
    in_and_out: tuple[Int64s, Int64s],
    skips: list[tuple[Skip, bool]],
) -> CatalogTables:
    node_of_page = nodes.of_pages()

    def node_rows() -> Iterator[tuple[Any, ...]]:
        first = nodes.offsets[:-1]
        titles = chain(one_by_one(pick(pages.title, first)), repeat(""))
        columns = zip(
            one_by_one(nodes.urls),
            titles,
            chain(one_by_one(first), repeat(None)),
            chain(one_by_one(np.diff(nodes.offsets)), repeat(0)),
            one_by_one(in_and_out[0]),
            one_by_one(in_and_out[1]),
            strict=False,  # what is repeated has no end
        )
        for node, (url, *facts) in enumerate(columns):
            yield node, page_id(url), url, host_of(url), *facts

    def page_rows() -> Iterator[tuple[Any, ...]]:
        names = list(sources.name)
        columns = zip(
            one_by_one(node_of_page),
            one_by_one(pages.url),
            one_by_one(pages.title),
            one_by_one(pages.language),
            one_by_one(pages.charset),
            one_by_one(pages.captured),
            one_by_one(pages.source),
            one_by_one(pages.offset),
            one_by_one(pages.flags),
            one_by_one(pages.html_bytes),
            one_by_one(pages.text_bytes),
            one_by_one(np.diff(open_array(folder, "tokens.offsets"))),
            one_by_one(np.diff(open_array(folder, "anchors.offsets"))),
            strict=True,
        )
        for row, (node, url, title, language, charset, captured, source, offset, *numbers) in enumerate(columns):
            digest = pages.digest[row].tobytes().hex()
            yield (row, node, url, title, host_of(url), language, charset, captured, names[source], offset,
                   *numbers, digest)  # fmt: skip

    return CatalogTables(
        nodes=node_rows(),
        pages=page_rows(),
        aliases=((url, int(node_of_page[choice.row_of[page]]), kind) for url, (page, kind) in choice.aliases.items()),
        redirects=sorted(read_pages.redirects, key=lambda r: (r.origin.source, r.origin.offset, r.url)),
        skips=skips,
        older=choice.older,
    )


def _report(
    folder: Path, nodes: Nodes, pages: Pages, forms: FormTable, choice: SelectedPages, skips: list[tuple[Skip, bool]]
) -> WrittenStore:
    skipped: dict[str, int] = {}
    for skip, _ in skips:
        skipped[skip.reason] = skipped.get(skip.reason, 0) + skip.count
    counts = {
        "pages": len(pages),
        "hosts": len({host_of(url) for url in choice.pages}),
        "nodes": len(nodes.urls),
        "outside": len(nodes.urls) - (len(nodes.offsets) - 1),
        "aliases": len(choice.aliases),
        "tokens": int(open_array(folder, "tokens.offsets")[-1]),
        "forms": len(forms.strings),
        "words": len(open_array(folder, "words.count")),
        "anchors": int(open_array(folder, "anchors.offsets")[-1]),
        "links": int(open_array(folder, "links.offsets")[-1]),
        "blocks": int(open_array(folder, "blocks.offsets")[-1]),
        "html_bytes": int(pages.html_bytes.sum()),
        "text_bytes": int(pages.text_bytes.sum()),
    }
    return WrittenStore(counts, dict(sorted(skipped.items())))
