"""Write a new generation of the store from the pages that were read."""

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from itertools import chain, count, groupby, repeat, tee
from operator import add, attrgetter, itemgetter
from pathlib import Path
from typing import Any, Self

import numpy as np

from pagekin.kernels.graph import degrees, in_links
from pagekin.kernels.vocabulary import NO_STRING
from pagekin.model.arrays import Array, Bools, Bytes, Int64s, Strings, UInt32s, distinct, word_of
from pagekin.model.capture import PageFlags, Rank, ReadingSettings, Skip
from pagekin.model.reading import RAGGED_PARTS, AnchorFlag, Anchors, CheckedReading, Links, Pages, Sources
from pagekin.store import merge
from pagekin.store.catalog import CopiedRows, Rows, write_catalog
from pagekin.store.checks import column_types
from pagekin.store.columns import Mapper, column_writer, flat_columns, open_array, open_part, write_columns
from pagekin.store.merge import (
    FormTable,
    Selection,
    join,
    lengths_in,
    merge_part,
    merge_ranked,
    merge_strings,
    objects_of,
    pick,
    unite_ranked,
)
from pagekin.store.select import ReadPages, SelectedPages
from pagekin.store.store import Store
from pagekin.store.titles import short_titles
from pagekin.urls import host_of, page_id

SourceKey = tuple[str, int, int]  # name, size and time of a file
_LOWER = np.arange(256, dtype=np.uint8)
_LOWER[ord("A") : ord("Z") + 1] += ord("a") - ord("A")
_LAST_ASCII, _LINE = 127, ord("\n")
_BLOCK = 1 << 20  # numbers
_FEWEST_ROWS = 16  # of a catalogue that are copied together
_UNKNOWN = np.iinfo(np.int64).max
STRING_USES = {"forms": {"tokens": "form", "titles": "form"}, "targets": {"anchors": "target"}}  # by part and column
COUNTED = ("tokens", "anchors")
_DROPPED = {
    "links_dropped": "link beyond the limit of a page",
    "urls_dropped": "URL too long",
    "words_dropped": "word too long",
}


@dataclass(frozen=True)
class Nodes:
    """The nodes of the link graph: pages (or hosts, if hosts are chopped), then URLs known only from links."""

    urls: Strings
    offsets: Int64s  # the pages of node k are rows offsets[k] to offsets[k+1]; later nodes have none
    of_target: UInt32s


def of_pages(offsets: Int64s) -> UInt32s:
    """The node of each page, by the offsets of nodes."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.uint32), np.diff(offsets))


@dataclass(frozen=True)
class WrittenColumns:
    """What the catalogue is made of, besides the selection."""

    pages: Pages
    sources: Sources
    node_urls: Iterable[str]
    node_offsets: Int64s  # the first page of each node that has pages, and the number of pages
    degrees: Iterable[tuple[int, int]]  # the in-degree and the out-degree of each node
    counted: dict[str, Int64s]  # the offsets of the tokens and of the anchors of each page


@dataclass(frozen=True)
class ChosenFacts:
    """What a selection leaves out, for the catalogue."""

    number_of_aliases: int
    aliases: Iterable[tuple[str, int, str]]  # (url, page, kind) by URL
    skips: Sequence[Skip]
    older: Iterable[tuple[str, Rank]]  # by URL and rank


def write_store(
    folder: Path,
    read_pages: ReadPages,
    selected: SelectedPages,
    settings: ReadingSettings,
    progress: Callable[[str], None],
    mapper: Mapper = map,
) -> tuple[dict[str, int], dict[str, int]]:
    """Write every file of a generation into `folder`; return the counts and the skips by reason, for the manifest.

    `mapper` is like `map`, but may write several files at a time.
    """
    selection = Selection(read_pages.readings, *selected.places())
    progress("uniting vocabularies")
    targets = merge_strings(selection, "targets", STRING_USES["targets"])
    progress("writing pages")
    read = captures_by_source(zip(read_pages.readings, read_pages.rows, strict=True))
    kept = captures_by_source((reading, rows) for reading, _, rows in selection.by_reading())
    sources = sources_of(read_pages, read, kept, Counter(rank.source for _, rank in selected.older))
    pages = _pages(selection, partial(source_numbers, sources.numbers()))
    write_columns(folder, {"pages": pages, "sources": sources, "targets": targets.strings})
    offsets = selection.offsets({name: attrgetter(name) for name in RAGGED_PARTS})
    write_part = partial(_write_part, folder, selection, offsets)
    write_part({"target": targets.tables}, "anchors")
    progress("sorting links")
    nodes = (_host_nodes if settings.chop_host else _page_nodes)(selected, pages.url, targets.strings)
    degrees = _write_links(folder, nodes, pages, settings)
    progress("writing texts and the catalogue")
    counted = {name: offsets[name] for name in COUNTED}
    aliases = ((url, selected.row_of[page], kind) for url, (page, kind) in selected.aliases.items())
    degrees_of_nodes = zip(*map(objects_of, degrees), strict=True)
    written = WrittenColumns(pages, sources, objects_of(nodes.urls), nodes.offsets, degrees_of_nodes, counted)
    known = None
    if read_pages.earlier is not None and not settings.chop_host:
        page = np.where(selection.reading == 0, selection.row, -1)
        known = KnownRows.of(read_pages.earlier, page, nodes.urls, degrees)
    chosen = ChosenFacts(len(selected.aliases), aliases, selected.skips, selected.older)
    others = [name for name in RAGGED_PARTS if name != "anchors" and name not in STRING_USES["forms"]]
    # The words take longest, and nothing else waits for them.
    write_words = partial(_write_words, folder, selection, offsets, read_pages.earlier)
    writing = [write_words, *(partial(write_part, {}, name) for name in others)]
    return finish_store(folder, read_pages, chosen, written, mapper, writing, known)


def finish_store(
    folder: Path,
    read_pages: ReadPages,
    chosen: ChosenFacts,
    written: WrittenColumns,
    mapper: Mapper,
    parts: Iterable[Callable[[], None]] = (),
    known: "KnownRows | None" = None,
) -> tuple[dict[str, int], dict[str, int]]:
    """Write the catalogue and, at the same time, the other `parts`; return the counts and the skips by reason."""
    skips = summed_skips(read_pages.skips, chosen.skips) + _dropped(written.pages, written.sources)
    redirects = sorted(read_pages.redirects, key=lambda each: (each.origin.source, each.origin.offset, each.url))
    offsets = written.node_offsets
    nodes, of_pages = _all_rows(written) if known is None else known.rows(written)
    catalog: dict[str, Iterable[Rows | CopiedRows]] = {
        "nodes": nodes,
        "pages": of_pages,
        "aliases": [((url, bisect_right(offsets, row) - 1, kind) for url, row, kind in chosen.aliases)],
        "redirects": [((each.url, each.target, each.captured, *astuple(each.origin)) for each in redirects)],
        "skips": [((skip.source, skip.reason, skip.where, skip.count, decided) for skip, decided in skips)],
        "older": [((url, *astuple(rank)) for url, rank in chosen.older)],
    }
    # The catalogue is written by Python code, the rest by kernels: several threads work on both at the same time.
    writing: list[Callable[[], None]] = [
        partial(write_catalog, folder, catalog, None if known is None else known.store.catalog),
        *parts,
    ]
    deque(mapper(lambda write: write(), writing), maxlen=0)
    skipped: Counter[str] = Counter()
    for skip, _ in skips:
        skipped[skip.reason] += skip.count
    return _counts(folder, written, chosen), dict(sorted(skipped.items()))


def sources_of(
    read_pages: ReadPages, read: Mapping[SourceKey, int], kept: Mapping[SourceKey, int], kept_older: Mapping[str, int]
) -> Sources:
    """Every file that was read; a file is whole if all of its captures are in the store or known to be older.

    Given are the numbers of captures of each file that were read, that are pages, and that are older, by name.
    """
    read_older = Counter(rank.source for _, rank in read_pages.older)
    keys = sorted({(origin.source, origin.size, origin.modified) for origin in read_pages.sources})
    whole = [
        key[0] not in read_pages.dependent
        and kept.get(key, 0) + kept_older.get(key[0], 0) == read.get(key, 0) + read_older[key[0]]
        for key in keys
    ]
    return Sources.of(keys, np.array(whole, np.uint8))


def captures_by_source(readings: Iterable[tuple[CheckedReading, Int64s]]) -> Counter[SourceKey]:
    """The number of captures of each file among some rows of readings."""
    found: Counter[SourceKey] = Counter()
    for reading, rows in readings:
        keys = reading.sources.identities()
        counts = np.bincount(reading.pages.source[rows], minlength=len(keys)).tolist()
        found.update(dict(zip(keys, counts, strict=True)))
    return found


def source_numbers(numbers: Mapping[SourceKey, int], reading: CheckedReading) -> UInt32s:
    """The source of each page of a reading."""
    # An old store knows files that are gone; none of its selected rows refers to them.
    return np.array([numbers.get(key, 0) for key in reading.sources.identities()], np.uint32)[reading.pages.source]


def _pages(selection: Selection, source: Callable[[CheckedReading], UInt32s]) -> Pages:
    columns: dict[str, Any] = {name: attrgetter(f"pages.{name}") for name in column_types(Pages)}
    strings = {name: columns.pop(name) for name, kind in column_types(Pages).items() if kind is Strings}
    values: dict[str, Any] = {**selection.values(columns | {"source": source}), **selection.strings(strings)}
    return Pages(**values)


def merged_rows(
    selection: Selection, source: Callable[[CheckedReading], UInt32s], tables: Mapping[str, Sequence[Array]]
) -> dict[str, Array]:
    """The columns of the pages of a selection, and of what they consist of; not those of vocabularies and sources."""
    merged = dict(flat_columns("pages", _pages(selection, source)))
    offsets = selection.offsets({name: attrgetter(name) for name in RAGGED_PARTS})
    for name in RAGGED_PARTS:
        kinds = _kinds(name)
        pieces = zip(*merge_part(selection, offsets[name], name, kinds, tables), strict=True)
        merged[f"{name}.offsets"] = offsets[name]
        merged |= {f"{name}.{column}": np.concatenate(each) for column, each in zip(kinds, pieces, strict=True)}
    return merged


def _write_words(folder: Path, selection: Selection, offsets: Mapping[str, Int64s], earlier: Store | None) -> None:
    """Unite the vocabularies, and write all columns of words."""
    if earlier is None:
        forms = merge_strings(selection, "forms", STRING_USES["forms"], frequent_first=True)
        write_vocabulary(folder, forms.strings, forms.counts)
    else:
        forms, origin = merge_ranked(selection, "forms", STRING_USES["forms"], earlier.ranked_forms)
        _write_changed_vocabulary(folder, forms, origin, earlier)
    for name in STRING_USES["forms"]:
        _write_part(folder, selection, offsets, {"form": forms.tables}, name)


def write_vocabulary(folder: Path, forms: Strings, counts: Int64s) -> None:
    lexicon, words = merge.Lexicon(), words_of(forms)
    numbers = lexicon.enter(words, np.arange(len(words)))
    totals = np.bincount(numbers, weights=counts, minlength=len(lexicon)).astype(np.int64)
    order = merge.order_of(lexicon.strings(), totals)
    word = merge.inverse(order)[numbers]
    _write_forms_and_words(folder, forms, counts, word, pick(lexicon.strings(), order), totals[order])


def _write_changed_vocabulary(folder: Path, forms: FormTable, origin: Int64s, earlier: Store) -> None:
    """What `write_vocabulary` writes, given the number of each form in an earlier store; new forms have larger ones."""
    is_known = origin < len(earlier.word_of_form)
    before, new = earlier.word_of_form[origin[is_known]], np.flatnonzero(~is_known)
    ranked = earlier.ranked_words
    counts = np.bincount(before, weights=forms.counts[is_known], minlength=len(ranked.strings)).astype(np.int64)
    words, _ = unite_ranked(ranked, counts, [(words_of(pick(forms.strings, new)), forms.counts[new])])
    word = np.empty(len(origin), np.uint32)
    word[is_known], word[new] = words.tables[0][before], words.tables[1]
    _write_forms_and_words(folder, forms.strings, forms.counts, word, words.strings, words.counts)


def _write_forms_and_words(
    folder: Path, forms: Strings, counts: Int64s, word: UInt32s, words: Strings, word_counts: Int64s
) -> None:
    of_forms = {"forms": forms, "forms.count": counts, "forms.word": word}
    write_columns(folder, of_forms | {"words": words, "words.count": word_counts})


def words_of(forms: Strings) -> Strings:
    """The word of each form. Forms in ASCII, the majority, are converted as bytes, the others as one text.

    >>> list(words_of(Strings.of(["Oak", "OÄK", "oak"])))
    ['oak', 'oäk', 'oak']
    """
    beyond = np.flatnonzero(forms.data > _LAST_ASCII)
    others = distinct(np.searchsorted(forms.offsets, beyond, side="right") - 1)
    which = np.arange(len(forms))
    which[others] = len(forms) + np.arange(len(others))
    lower = Strings(forms.offsets, _LOWER[forms.data])
    return pick(join(lower, _words_of_lines(pick(forms, others))), which)


def _words_of_lines(forms: Strings) -> Strings:
    """The word of each form, converted as lines of one text: no form has a line break, and none affects a letter."""
    lines = np.insert(forms.data, forms.offsets[1:], _LINE).tobytes().decode("utf-8", "replace")
    data = np.frombuffer(word_of(lines).encode("utf-8", "replace"), np.uint8)
    is_end = data == _LINE
    ends = np.flatnonzero(is_end) - np.arange(len(forms))
    return Strings(np.concatenate([np.zeros(1, np.int64), ends]), data[~is_end])


def _write_part(
    folder: Path,
    selection: Selection,
    offsets: Mapping[str, Int64s],
    tables: Mapping[str, Sequence[UInt32s]],
    name: str,
) -> None:
    write_columns(folder, {f"{name}.offsets": offsets[name]})
    kinds = _kinds(name)
    columns = {f"{name}.{column}": (kind, (int(offsets[name][-1]),)) for column, kind in kinds.items()}
    with column_writer(folder, columns) as append:
        for pieces in merge_part(selection, offsets[name], name, kinds, tables):
            append(*pieces)


def _kinds(name: str) -> dict[str, Any]:
    """The types of the columns of a ragged part."""
    return {column: kind for column, kind in column_types(RAGGED_PARTS[name]).items() if column != "offsets"}


def _page_nodes(selected: SelectedPages, urls: Strings, targets: Strings) -> Nodes:
    of_target: list[int] = []
    outside: list[int] = []
    for k, target in enumerate(objects_of(targets)):
        page = selected.reached(target)
        of_target.append(len(urls) + len(outside) if page is None else selected.row_of[page])
        if page is None:
            outside.append(k)
    every = join(urls, pick(targets, np.array(outside, np.int64)))
    return Nodes(every, np.arange(len(urls) + 1, dtype=np.int64), np.array(of_target, np.uint32))


def _host_nodes(selected: SelectedPages, urls: Strings, targets: Strings) -> Nodes:
    """One node for each host; its pages are consecutive, since pages are ordered by host first."""
    numbers: dict[str, int] = {}
    of_page = np.empty(len(urls), np.int64)
    for row, url in enumerate(selected.pages):
        of_page[row] = numbers.setdefault(host_of(url), len(numbers))
    offsets = np.searchsorted(of_page, np.arange(len(numbers) + 1))
    of_target = np.empty(len(targets), np.uint32)
    for k, target in enumerate(objects_of(targets)):
        of_target[k] = numbers.setdefault(host_of(selected.reached(target) or target), len(numbers))
    return Nodes(Strings.of(f"http://{host}/" for host in numbers), offsets, of_target)


def _write_links(folder: Path, nodes: Nodes, pages: Pages, settings: ReadingSettings) -> tuple[Int64s, Int64s]:
    """Write the links sorted by target; return (in-degree, out-degree) of every node."""
    anchors = open_part(folder, "anchors", Anchors)
    node_of_page = of_pages(nodes.offsets)
    every = (anchors.offsets, anchors.target, anchors.flags)
    refused = refused_links(settings, pages.flags)
    links = Links(*in_links(*every, nodes.of_target, node_of_page, len(nodes.urls), *refused))
    write_columns(folder, {"nodes.offsets": nodes.offsets, "targets.node": nodes.of_target, "links": links})
    return degrees(links.offsets, links.page, node_of_page)


def refused_links(settings: ReadingSettings, flags: Bytes) -> tuple[int, Bools]:
    """The flags of links that are left out, and the pages with such flags whose links are."""
    if settings.obey_nofollow:
        return AnchorFlag.NOFOLLOW, flags & PageFlags.NOFOLLOW != 0
    return 0, np.zeros(len(flags), bool)


def summed_skips(read: Sequence[Skip], chosen: Sequence[Skip]) -> list[tuple[Skip, bool]]:
    """(skip, whether the store decided it), with those of one source and reason added up."""
    summed: dict[tuple[str, str, bool], tuple[int, str]] = {}
    for skips, decided in ((read, False), (chosen, True)):
        for skip in skips:
            key = (skip.source, skip.reason, decided)
            count, example = summed.get(key, (0, skip.where))
            summed[key] = (count + skip.count, min(example, skip.where))
    return [(Skip(s, r, example, n), decided) for (s, r, decided), (n, example) in sorted(summed.items())]


def _dropped(pages: Pages, sources: Sources) -> list[tuple[Skip, bool]]:
    skips = []
    for column, reason in _DROPPED.items():
        totals, first = Counter[int](), dict[int, int]()  # by source
        for row in _places_of_nonzero(getattr(pages, column)):
            source = int(pages.source[row])
            totals[source] += int(getattr(pages, column)[row])
            first.setdefault(source, row)
        for source, row in sorted(first.items()):
            skips.append((Skip(sources.name[source], reason, pages.url[row], totals[source]), True))
    return skips


def _places_of_nonzero(counts: Array) -> Iterator[int]:
    """The places of the numbers that are not 0."""
    for begin in range(0, len(counts), _BLOCK):
        yield from (begin + np.flatnonzero(counts[begin : begin + _BLOCK])).tolist()


def _node_rows(written: WrittenColumns, titles: Iterable[str], first: int = 0) -> Iterator[tuple[Any, ...]]:
    """The rows of nodes from `first` on, given the short titles of their pages."""
    offsets = written.node_offsets
    of_nodes = groupby(zip(_nodes_of_pages(offsets), titles, strict=True), key=itemgetter(0))
    named = chain((next(titles)[1] for _, titles in of_nodes), repeat(""))
    rows, counts = chain(objects_of(offsets[:-1]), repeat(None)), chain(lengths_in(offsets), repeat(0))
    urls, ids, hosts = tee(written.node_urls, 3)
    columns = zip(count(first), map(page_id, ids), urls, map(host_of, hosts), named, rows, counts, strict=False)
    return map(add, columns, written.degrees)  # count() and repeat() have no end


def _page_rows(written: WrittenColumns, titles: Iterable[str], first: int = 0) -> Iterator[tuple[Any, ...]]:
    """The rows of pages from `first` on, which are those of the nodes from `first` on."""
    pages, names = written.pages, list(written.sources.name)
    strings = (pages.url, pages.language, pages.charset)
    numbers = (pages.captured, pages.source, pages.offset, pages.flags, pages.html_bytes, pages.text_bytes)
    columns: list[Any] = [_nodes_of_pages(written.node_offsets, first), titles]
    columns += [objects_of(column) for column in (*strings, *numbers)]
    columns += [lengths_in(written.counted[part]) for part in COUNTED]
    for k, (node, title, url, language, charset, captured, source, *facts) in enumerate(zip(*columns, strict=True)):
        known = (first + k, node, url, title, host_of(url), language, charset, captured, names[source])
        yield *known, *facts, pages.digest[k].tobytes().hex(), pages.title[k]


@dataclass(frozen=True)
class KnownRows:
    """Which rows of a new catalogue an earlier one may have as well. In both, every page is a node."""

    store: Store
    page: Int64s  # the row of each page there, or -1
    node: Int64s  # the number there of each node with the same URL and degrees, or -1
    urls: Strings  # of the nodes
    degrees: Sequence[Int64s]

    @classmethod
    def of(cls, store: Store, page: Int64s, urls: Strings, degrees_now: tuple[Int64s, Int64s]) -> Self:
        lexicon, pages, before = merge.Lexicon(), len(store), store.node_urls()
        lexicon.enter(urls, np.arange(len(urls)))
        found = lexicon.find(before)
        there = np.flatnonzero(found != NO_STRING)
        is_page = np.arange(len(before)) < pages
        for now, then in zip(degrees_now, store.degrees(), strict=True):
            there = there[now[found[there]] == then[there]]
        node = np.full(len(urls), -1)
        node[found[there]] = there
        node[len(page) :][is_page[node[len(page) :]]] = -1
        node[: len(page)][page < 0] = -1
        return cls(store, page, node, urls, degrees_now)

    def rows(self, written: WrittenColumns) -> tuple[list[Rows | CopiedRows], list[Rows | CopiedRows]]:
        """The rows of nodes and of pages: those that are as they were, and all others."""
        titles, before, pages = list(_titles(written.pages)), self.store.catalog.short_titles(), len(self.page)
        pairs = zip(self.page.tolist(), titles, strict=True)
        same = np.array([row >= 0 and title == before[row] for row, title in pairs], bool)
        page, node = np.where(same, self.page, -1), self.node.copy()
        node[:pages][~same] = -1

        def some(table: Callable[..., Rows], rows: range) -> Rows:
            few = slice(rows.start, min(rows.stop, pages))
            offsets = slice(few.start, few.stop + 1)
            part = WrittenColumns(
                Pages(**{name: _some(column, few) for name, column in vars(written.pages).items()}),
                written.sources,
                _some(self.urls, slice(rows.start, rows.stop)),
                written.node_offsets[offsets],
                zip(*(column[rows.start : rows.stop].tolist() for column in self.degrees), strict=True),
                {name: column[offsets] for name, column in written.counted.items()},
            )
            return table(part, titles[few], rows.start)

        return (
            [known or some(_node_rows, rows) for rows, known in _ranges_of_known(node)],
            [known or some(_page_rows, rows) for rows, known in _ranges_of_known(page)],
        )


def _ranges_of_known(known: Int64s) -> Iterator[tuple[range, CopiedRows | None]]:
    """Ranges of consecutive rows, and the same in an earlier catalogue, if they are consecutive there and not few.

    >>> [(len(rows), copied) for rows, copied in _ranges_of_known(np.array([-1, 3, *range(5, 40)]))]
    [(2, None), (35, CopiedRows(first=2, earlier=range(5, 40)))]
    """
    distance = np.where(known >= 0, known - np.arange(len(known)), _UNKNOWN)
    for least in (_FEWEST_ROWS, 1):  # after the first round, all rows of few are unknown
        begins = np.flatnonzero(np.diff(distance, prepend=_UNKNOWN - 1))
        lengths = np.diff(np.append(begins, len(known)))
        distance[np.repeat(lengths < least, lengths)] = _UNKNOWN
    for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True):
        there, rows = int(known[begin]), range(begin, begin + length)
        copied = None if distance[begin] == _UNKNOWN else CopiedRows(begin, range(there, there + length))
        yield rows, copied


def _some(column: Strings | Array, rows: slice) -> Any:
    return pick(column, np.arange(rows.start, rows.stop)) if isinstance(column, Strings) else column[rows]


def _nodes_of_pages(offsets: Int64s, first: int = 0) -> Iterator[int]:
    return chain.from_iterable(map(repeat, count(first), lengths_in(offsets)))


def _all_rows(written: WrittenColumns) -> tuple[list[Rows | CopiedRows], list[Rows | CopiedRows]]:
    """The rows of nodes and of pages."""
    return [_node_rows(written, _titles(written.pages))], [_page_rows(written, _titles(written.pages))]


def _titles(pages: Pages) -> Iterator[str]:
    return short_titles(map(host_of, objects_of(pages.url)), pages.title)


def _counts(folder: Path, written: WrittenColumns, chosen: ChosenFacts) -> dict[str, int]:
    def rows(name: str) -> int:
        return int(open_array(folder, f"{name}.offsets", np.int64, below=None)[-1])

    pages, nodes = written.pages, len(open_array(folder, "links.offsets", np.int64, below=None)) - 1
    return {
        "pages": len(pages),
        "hosts": sum(1 for _ in groupby(map(host_of, objects_of(pages.url)))),  # pages are ordered by host first
        "nodes": nodes,
        "outside": nodes - (len(written.node_offsets) - 1),
        "aliases": chosen.number_of_aliases,
        "tokens": rows("tokens"),
        "forms": len(open_array(folder, "forms.count", np.int64, below=None)),
        "words": len(open_array(folder, "words.count", np.int64, below=None)),
        "anchors": rows("anchors"),
        "links": rows("links"),
        "blocks": rows("blocks"),
        "html_bytes": int(pages.html_bytes.sum()),
        "text_bytes": int(pages.text_bytes.sum()),
    }
