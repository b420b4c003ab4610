"""A harvest -> a new generation of the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.arrays import Int64s, UInt32s
from pagekin.disk import open_array, write_array, write_chunks, write_strings
from pagekin.kernels.intern import intern
from pagekin.model.capture import PageFlags, Skip
from pagekin.model.reading import NO_TARGET, RAGGED_PARTS, AnchorFlag, Links, Pages, Ragged, Reading, Sources
from pagekin.model.settings import ReadingSettings
from pagekin.model.strings import Strings, word_of
from pagekin.store.catalog import Tables, write_catalog
from pagekin.store.choosing import Choice, Harvest, choose_pages
from pagekin.store.files import open_ragged, write_table
from pagekin.store.gathering import Selection, Vocabulary, gather, unite
from pagekin.urls import host_of, page_id

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Nodes:
    """What links lead to: pages (or, with chopped hosts, hosts), then URLs known only from links."""

    urls: list[str]
    offsets: Int64s  # the pages of node k are rows offsets[k] to offsets[k+1]; none beyond the last
    of_target: UInt32s

    def of_pages(self) -> UInt32s:
        """The node of every page."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.uint32), np.diff(self.offsets))


@dataclass(frozen=True)
class Written:
    """What a writer reports for the manifest."""

    counts: dict[str, int]
    skipped: dict[str, int]


def write_store(folder: Path, harvest: Harvest, settings: ReadingSettings, progress: Progress) -> Written:
    """Write every file of a generation into `folder`."""
    progress("choosing pages")
    choice = choose_pages(harvest, settings)
    places = list(choice.pages.values())
    selection = Selection(
        harvest.readings,
        np.array([place.reading for place in places], np.int64),
        np.array([place.row for place in places], np.int64),
    )
    progress("uniting vocabularies")
    forms = unite(
        selection, lambda r: r.forms, [(_part("tokens"), "form"), (_part("titles"), "form")], _commonest_first
    )
    targets = unite(selection, lambda r: r.targets, [(_part("anchors"), "target")], _alphabetical)
    progress("writing pages")
    sources, source_of = _sources(harvest, selection, choice)
    pages = _pages(selection, list(choice.pages), source_of)
    write_table(folder, "pages", pages)
    write_table(folder, "sources", sources)
    _write_vocabulary(folder, forms)
    write_strings(folder, "targets", targets.strings)
    for name in RAGGED_PARTS:
        _write_part(folder, name, selection, {"form": forms.tables, "target": targets.tables})
    progress("sorting links")
    nodes = _nodes(choice, targets.strings, settings)
    degrees = _write_links(folder, nodes, pages, settings)
    progress("writing the catalogue")
    skips = _skips(harvest, choice) + _dropped(pages, sources)
    write_catalog(folder, _tables(folder, harvest, choice, nodes, pages, sources, degrees, skips))
    return _report(folder, nodes, pages, forms, choice, skips)


def _part(name: str) -> Callable[[Reading], Ragged]:
    return lambda reading: getattr(reading, name)


def _commonest_first(words: list[bytes], counts: Int64s) -> list[int]:
    negative = (-counts).tolist()
    return sorted(range(len(words)), key=lambda k: (negative[k], words[k]))


def _alphabetical(words: list[bytes], counts: Int64s) -> list[int]:
    return sorted(range(len(words)), key=words.__getitem__)


def _sources(harvest: Harvest, selection: Selection, choice: Choice) -> tuple[Sources, dict[tuple[str, int, int], int]]:
    """Every file of the harvest, and its number by name, size and time."""
    kept: dict[tuple[str, int, int], int] = {}
    read: dict[tuple[str, int, int], int] = {}
    for reading, rows in zip(harvest.readings, harvest.rows, strict=True):
        _count_sources(reading, rows, read)
    for reading, _, rows in selection.by_reading():
        _count_sources(reading, rows, kept)
    older = Counter(rank.source for _, rank in choice.older)
    known = Counter(rank.source for _, rank in harvest.older)
    keys = sorted({(origin.source, origin.size, origin.modified) for origin in harvest.sources})
    whole = [
        key[0] not in harvest.dependent and kept.get(key, 0) + older[key[0]] == read.get(key, 0) + known[key[0]]
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


def _pages(selection: Selection, urls: list[str], source_of: dict[tuple[str, int, int], int]) -> Pages:
    def column(name: str) -> Any:
        def of(reading: Reading) -> Any:
            return getattr(reading.pages, name)

        return selection.strings(of) if _is_strings(name) else selection.values(of)

    numbers = np.empty(len(selection), np.uint32)
    for reading, places, rows in selection.by_reading():
        # An old store knows files that are gone; none of its selected rows is theirs.
        table = np.array([source_of.get(key, 0) for key in _keys(reading)], np.uint32)
        numbers[places] = table[reading.pages.source[rows]]
    columns = {each.name: column(each.name) for each in fields(Pages) if each.name not in ("url", "source")}
    return Pages(url=Strings.of(urls), source=numbers, **columns)


def _is_strings(name: str) -> bool:
    return any(each.name == name and each.type == "Strings" for each in fields(Pages))


def _write_part(folder: Path, name: str, selection: Selection, tables: dict[str, list[UInt32s]]) -> None:
    part = _part(name)
    offsets = selection.offsets(part)
    write_array(folder, f"{name}.offsets", offsets)
    dtypes = _dtypes(RAGGED_PARTS[name])
    for column, dtype in dtypes.items():
        pieces = gather(selection, offsets, part, column, tables.get(column))
        write_chunks(folder, f"{name}.{column}", dtype, (int(offsets[-1]),), pieces)


def _dtypes(kind: type[Ragged]) -> dict[str, type[np.generic]]:
    names: dict[str, type[np.generic]] = {"Bytes": np.uint8, "UInt32s": np.uint32, "UInt64s": np.uint64}
    return {each.name: names[str(each.type)] for each in fields(kind) if each.name != "offsets"}


def _write_vocabulary(folder: Path, forms: Vocabulary) -> None:
    """The forms with their counts, and the words that they are forms of."""
    write_strings(folder, "forms", forms.strings)
    write_array(folder, "forms.count", forms.counts)
    folded = Strings.of(word_of(form) for form in forms.strings)
    numbers, first = intern(folded.data, folded.offsets[:-1], folded.offsets[1:])
    distinct = [folded.raw(k) for k in first.tolist()]
    counts = np.bincount(numbers, weights=forms.counts, minlength=len(distinct)).astype(np.int64)
    order = np.array(_commonest_first(distinct, counts), np.int64)
    place = np.empty(len(distinct), np.uint32)
    place[order] = np.arange(len(distinct), dtype=np.uint32)
    write_array(folder, "forms.word", place[numbers])
    write_strings(folder, "words", Strings.of(distinct[k] for k in order.tolist()))
    write_array(folder, "words.count", counts[order])


def _nodes(choice: Choice, targets: Strings, settings: ReadingSettings) -> Nodes:
    urls = list(choice.pages)
    if settings.chop_host:
        return _host_nodes(choice, targets)
    row_of = {url: row for row, url in enumerate(urls)}
    outside: dict[str, int] = {}
    of_target = np.empty(len(targets), np.uint32)
    for k, target in enumerate(targets):
        page = choice.find(target)
        of_target[k] = row_of[page] if page is not None else len(urls) + outside.setdefault(target, len(outside))
    return Nodes(urls + list(outside), np.arange(len(urls) + 1, dtype=np.int64), of_target)


def _host_nodes(choice: Choice, targets: Strings) -> Nodes:
    """One node a host: the pages of a host lie side by side, since pages are ordered by host first."""
    hosts = [host_of(url) for url in choice.pages]
    starts = [row for row, host in enumerate(hosts) if row == 0 or hosts[row - 1] != host]
    numbers = {hosts[row]: number for number, row in enumerate(starts)}
    of_target = np.empty(len(targets), np.uint32)
    for k, target in enumerate(targets):
        of_target[k] = numbers.setdefault(host_of(choice.find(target) or target), len(numbers))
    return Nodes([f"http://{host}/" for host in numbers], np.array([*starts, len(hosts)], np.int64), of_target)


def _write_links(folder: Path, nodes: Nodes, pages: Pages, settings: ReadingSettings) -> tuple[Int64s, Int64s]:
    """Write the links sorted by where they lead; (in-degree, out-degree) of every node."""
    write_array(folder, "nodes.offsets", nodes.offsets)
    write_array(folder, "targets.node", nodes.of_target)
    anchors = open_ragged(folder, "anchors", RAGGED_PARTS["anchors"])
    target = open_array(folder, "anchors.target")
    flags = open_array(folder, "anchors.flags")
    lengths = anchors.lengths()
    page = np.repeat(np.arange(len(lengths), dtype=np.uint32), lengths)
    node_of_page = nodes.of_pages()
    counted = np.flatnonzero(target != NO_TARGET)
    node = nodes.of_target[target[counted]]
    follow = node != node_of_page[page[counted]]
    if settings.obey_nofollow:
        follow &= (flags[counted] & AnchorFlag.NOFOLLOW) == 0
        follow &= (pages.flags[page[counted]] & PageFlags.NOFOLLOW) == 0
    counted, node = counted[follow], node[follow]
    order = np.argsort(node, kind="stable")
    counted, node = counted[order], node[order]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(node, minlength=len(nodes.urls)))])
    links = Links(offsets, page[counted], (counted - anchors.offsets[page[counted]]).astype(np.uint32))
    for each in fields(links):
        write_array(folder, f"links.{each.name}", getattr(links, each.name))
    return _degrees(node_of_page[links.page], node, len(nodes.urls))


def _degrees(sources: UInt32s, targets: UInt32s, count: int) -> tuple[Int64s, Int64s]:
    """How many other nodes link to each node, and how many it links to."""
    pairs = np.unique(sources.astype(np.int64) * count + targets)
    return np.bincount(pairs % count, minlength=count), np.bincount(pairs // count, minlength=count)


def _skips(harvest: Harvest, choice: Choice) -> list[tuple[Skip, bool]]:
    """Skips of one source and reason as one, those that the store decided apart."""
    summed: dict[tuple[str, str, bool], tuple[int, str]] = {}
    for skips, decided in ((harvest.skips, False), (choice.skips, True)):
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
    harvest: Harvest,
    choice: Choice,
    nodes: Nodes,
    pages: Pages,
    sources: Sources,
    degrees: tuple[Int64s, Int64s],
    skips: list[tuple[Skip, bool]],
) -> Tables:
    titles = list(pages.title)
    node_of_page = nodes.of_pages().tolist()
    row_of = {url: row for row, url in enumerate(choice.pages)}

    def node_rows() -> Iterator[tuple[Any, ...]]:
        in_degree, out_degree = degrees[0].tolist(), degrees[1].tolist()
        bounds = nodes.offsets.tolist()
        for node, url in enumerate(nodes.urls):
            known = node + 1 < len(bounds)
            first = bounds[node] if known else None
            title = titles[bounds[node]] if known else ""
            rows = bounds[node + 1] - bounds[node] if known else 0
            yield node, page_id(url), url, host_of(url), title, first, rows, in_degree[node], out_degree[node]

    def page_rows() -> Iterator[tuple[Any, ...]]:
        names = list(sources.name)
        columns = zip(
            pages.url,
            titles,
            pages.language,
            pages.charset,
            pages.captured.tolist(),
            pages.source.tolist(),
            pages.offset.tolist(),
            pages.flags.tolist(),
            pages.html_bytes.tolist(),
            pages.text_bytes.tolist(),
            np.diff(open_array(folder, "tokens.offsets")).tolist(),
            np.diff(open_array(folder, "anchors.offsets")).tolist(),
            strict=True,
        )
        for row, (url, title, language, charset, captured, source, offset, *numbers) in enumerate(columns):
            digest = pages.digest[row].tobytes().hex()
            yield (row, node_of_page[row], url, title, host_of(url), language, charset, captured, names[source], offset,
                   *numbers, digest)  # fmt: skip

    return Tables(
        nodes=node_rows(),
        pages=page_rows(),
        aliases=((url, node_of_page[row_of[page]], kind) for url, (page, kind) in choice.aliases.items()),
        redirects=sorted(harvest.redirects, key=lambda r: (r.origin.source, r.origin.offset, r.url)),
        skips=skips,
        older=choice.older,
    )


def _report(
    folder: Path, nodes: Nodes, pages: Pages, forms: Vocabulary, choice: Choice, skips: list[tuple[Skip, bool]]
) -> Written:
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
    return Written(counts, dict(sorted(skipped.items())))
