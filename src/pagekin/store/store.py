"""A store opened for reading, memory-mapped; the disk may be read-only."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import pairwise
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, overload

import numpy as np

from pagekin.errors import MisuseError, NoPageError, PagekinError, StoreError
from pagekin.kernels.graph import degrees
from pagekin.model.arrays import Int64s, Strings, UInt32s
from pagekin.model.capture import ReadingSettings
from pagekin.model.reading import NO_TARGET, Blobs, CheckedLinks, CheckedReading, Links, Reading
from pagekin.store.catalog import Catalog
from pagekin.store.checks import check, check_links, check_offsets, check_reading, check_urls, unpack
from pagekin.store.columns import open_array, open_part, open_reading
from pagekin.store.manifest import Manifest, damaged_files, read_manifest
from pagekin.store.merge import RankedStrings, join, pick
from pagekin.store.opened import opened_once
from pagekin.store.shards import open_shards
from pagekin.store.suggestions import similar_pages, with_parts
from pagekin.urls import canonical_url, host_of, variants

_NEARBY, _RECURRING = 20, 3  # rows to either side of a page; of them, pages with a block that recurs
Given = ParamSpec("Given")
LONGEST_NAME = 5000  # characters that are looked up in titles and files; SQLite refuses patterns of over 50,000
Result = TypeVar("Result")
_EXPANSION = 4  # at most, of the bytes of a page: a character of one byte may take three in UTF-8


@contextmanager
def reporting_damage(store: "Store | None") -> Iterator[None]:
    """Raise StoreError for any error that the files of a store are to blame for.

    They may have changed after opening, or may be wrong from the beginning: a query checks only what it opens.
    """
    try:
        yield
    except MisuseError:
        raise
    except Exception as error:
        if store is None:
            raise
        if read_manifest(store.root) != store.manifest:
            raise StoreError(f"{store.root} has been built again; open it again") from error
        if not isinstance(error, PagekinError):
            for file, problem in damaged_files(store.root, store.manifest)[:1]:
                raise StoreError(f"{store.root / file} {problem}; build the store again") from error
            store.verify()
        raise


def report_damage(method: Callable[Concatenate[Any, Given], Result]) -> Callable[Concatenate[Any, Given], Result]:
    """Decorate a function of a store, which is its first argument, with `reporting_damage`."""

    @wraps(method)
    def checked(self: Any, /, *given: Given.args, **named: Given.kwargs) -> Result:
        with reporting_damage(self):
            return method(self, *given, **named)

    return checked


def _opened(kind: "type[Store]", root: Path, manifest: Manifest) -> "Store":
    return opened_once((kind, root, repr(manifest)), lambda: kind(root, manifest))


@dataclass(frozen=True)
class NodeTitles(Sequence[str]):
    """The title of every node that has pages."""

    store: "Store"

    def __len__(self) -> int:
        return len(self.store.nodes) - 1

    @overload
    def __getitem__(self, which: int) -> str: ...
    @overload
    def __getitem__(self, which: slice) -> list[str]: ...
    def __getitem__(self, which: int | slice) -> str | list[str]:
        title, nodes = self.store.reading.pages.title, self.store.nodes[:-1]
        return title.take(nodes[which].tolist()) if isinstance(which, slice) else title[int(nodes[which])]


@dataclass(frozen=True)
class Store:
    """A collection as it was read. Columns are opened on first use."""

    root: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: str | Path) -> Self:
        return cls(Path(path), read_manifest(Path(path)))

    def __reduce__(self) -> tuple[Any, ...]:
        """A store is pickled as its place, and opened once in a process."""
        return _opened, (type(self), self.root.absolute(), self.manifest)

    def close(self) -> None:
        """Close the catalogue. Columns are closed when the last reference to them goes."""
        if "catalog" in vars(self):
            self.catalog.close()

    def __len__(self) -> int:
        return self.manifest.counts["pages"]

    @property
    def folder(self) -> Path:
        return self.root / self.manifest.folder

    @property
    def settings(self) -> ReadingSettings:
        return ReadingSettings(**self.manifest.settings)

    catalog = cached_property[Catalog](lambda self: Catalog(self.folder))
    words = cached_property[Strings](lambda self: open_part(self.folder, "words", Strings))  # most frequent first

    @cached_property
    def reading(self) -> Reading:
        reading = open_reading(self.folder)
        check(len(reading) == len(self), self.folder / "pages.url.offsets.npy", f"it holds {len(reading):,} pages")
        return reading

    @cached_property
    def checked_reading(self) -> CheckedReading:
        return check_reading(self.reading, f"{self.folder}: ")

    @cached_property
    def checked_links(self) -> CheckedLinks:
        return check_links(self.links, self.reading, f"{self.folder}: ")

    @cached_property
    def nodes(self) -> Int64s:
        """The pages of node k are rows nodes[k] to nodes[k + 1]; later nodes have none."""
        nodes = open_array(self.folder, "nodes.offsets", np.int64, below=None)
        check_offsets(nodes, len(self), self.folder / "nodes.offsets.npy")
        return nodes

    @cached_property
    def links(self) -> Links:
        """The in-links of every node."""
        links = open_part(self.folder, "links", Links)
        check(len(links) >= len(self.nodes) - 1, self.folder / "links.offsets.npy", f"it holds {len(links):,} nodes")
        return links

    @cached_property
    def node_of_target(self) -> UInt32s:
        """The node of every link target, with aliases resolved."""
        nodes = open_array(self.folder, "targets.node", np.uint32, below=len(self.links))
        check(len(nodes) == len(self.reading.targets), self.folder / "targets.node.npy", "it belongs to other targets")
        return nodes

    def node_urls(self) -> Strings:
        """The URL of every node, if every page is a node."""
        outside = np.flatnonzero(self.node_of_target >= len(self))
        check(
            len(self) + len(outside) == len(self.links), self.folder / "targets.node.npy", "it belongs to other nodes"
        )
        return join(self.reading.pages.url, pick(self.reading.targets, outside))

    @cached_property
    def form_counts(self) -> Int64s:
        return open_array(self.folder, "forms.count", np.int64, below=None)

    @cached_property
    def ranked_forms(self) -> RankedStrings:
        """All forms with their counts; they are verified, since later builds compute with them."""
        return _ranked(self.reading.forms, self.form_counts, self.folder / "forms.count.npy")

    @cached_property
    def ranked_words(self) -> RankedStrings:
        counts = open_array(self.folder, "words.count", np.int64, below=None)
        return _ranked(self.words, counts, self.folder / "words.count.npy")

    @cached_property
    def word_of_form(self) -> UInt32s:
        words = open_array(self.folder, "forms.word", np.uint32, below=len(self.words))
        check(len(words) == len(self.reading.forms), self.folder / "forms.word.npy", "it belongs to other forms")
        return words

    def verify(self) -> None:
        """Raise StoreError if a number in any file leads nowhere. Opening a store looks at its short files only."""
        self.verify_reading()
        open_shards(self.folder, len(self))
        self.catalog.verify(len(self), len(self.nodes) - 1, len(self.links))

    def verify_reading(self) -> None:
        """The same for what was read, which is all that a build of other pages reuses."""
        _ = self.checked_reading, self.ranked_forms, self.ranked_words, self.word_of_form
        _ = self.checked_links, self.nodes, self.node_of_target
        check_urls(self.reading.pages.url, self.folder / "pages.url.data.npy")
        check_urls(self.reading.targets, self.folder / "targets.data.npy")
        if not self.settings.chop_host:
            self.node_urls()
        self.catalog.verify_numbers(len(self), len(self.links))
        self.catalog.verify_dropped()

    def node_hosts(self) -> list[str]:
        return [row[0] for row in self.catalog.each("SELECT host FROM nodes ORDER BY node")]

    def node_titles(self) -> "NodeTitles":
        return NodeTitles(self)

    def in_degrees(self, nodes: range | None = None) -> Int64s:
        """The number of pages that link to each node, or to each of some nodes."""
        nodes = range(len(self.links)) if nodes is None else nodes
        query = "SELECT in_degree FROM nodes WHERE node BETWEEN ? AND ? ORDER BY node"
        return np.fromiter((row[0] for row in self.catalog.each(query, nodes.start, nodes.stop - 1)), np.int64)

    def degrees(self) -> tuple[Int64s, Int64s]:
        """The in-degree and the out-degree of every node, counted in its links."""
        node_of_page = np.repeat(np.arange(len(self.nodes) - 1, dtype=np.uint32), np.diff(self.nodes))
        return degrees(self.checked_links.offsets, self.checked_links.page, node_of_page)

    @report_damage
    def text(self, row: int) -> str:
        return self.text_bytes(row).decode("utf-8", "replace")

    @report_damage
    def text_bytes(self, row: int) -> bytes:
        """The visible text in UTF-8; tokens and blocks refer to its byte positions."""
        most = min(int(self.reading.pages.text_bytes[row]), _EXPANSION * self.settings.max_page_bytes)
        return self._unpacked(self.reading.text, row, most)

    @report_damage
    def token_places(self, row: int, begin: int, end: int) -> Int64s:
        """The byte positions in the text of tokens `begin` to `end` of a page: their blocks are split again."""
        from pagekin.reading.batch import word_places

        if begin == end:
            return np.empty(0, np.int64)
        blocks, text = self.reading.blocks, self.text_bytes(row)
        token, place = (column[blocks.row(row)] for column in (blocks.token, blocks.place))
        first = int(np.searchsorted(token, begin, side="right")) - 1
        after = int(np.searchsorted(token, end - 1, side="right"))
        start = int(place[first])
        words = word_places(text[start : int(place[after]) if after < len(place) else len(text)])
        places = start + words[begin - int(token[first]) :][: end - begin]
        check(len(places) == end - begin, f"the text of page {row}", "it has fewer words than the page has tokens")
        return np.asarray(places)

    @report_damage
    def main_text(self, row: int) -> str:
        """The visible text without navigation and without blocks that most pages nearby have, such as a skip link.

        Nearby are up to 40 rows, which are ordered by URL, of the same host. A page with nothing else has all its text.
        """
        from pagekin.kernels.page_output import NAVIGATION

        blocks, text = self.reading.blocks, self.text_bytes(row)
        host = host_of(self.reading.pages.url[row])
        rows = range(max(0, row - _NEARBY), min(len(self), row + _NEARBY + 1))
        near = [each for each in rows if each != row and host_of(self.reading.pages.url[each]) == host]
        hashes = [np.unique(blocks.hash[blocks.row(each)]) for each in near]
        known, pages = np.unique(np.concatenate([np.empty(0, np.uint64), *hashes]), return_counts=True)
        own = blocks.row(row)
        recurring = np.isin(blocks.hash[own], known[(pages >= _RECURRING) & (2 * pages > len(near))])
        kept = ~recurring & (blocks.kinds[own] & NAVIGATION == 0)
        ends = pairwise([*blocks.place[own].tolist(), len(text)])
        parts = [text[begin:end] for (begin, end), keep in zip(ends, kept.tolist(), strict=True) if keep]
        return (b"".join(parts).strip() or text).decode("utf-8", "replace")

    @report_damage
    def hrefs(self, row: int) -> list[str]:
        """The href of each anchor of a page, as written in the page."""
        if self.reading.anchors.offsets[row] == self.reading.anchors.offsets[row + 1]:
            return []
        most = _EXPANSION * self.settings.max_page_bytes
        return self._unpacked(self.reading.hrefs, row, most).decode("utf-8", "replace").split("\n")[:-1]

    def _unpacked(self, blobs: Blobs, row: int, most: int) -> bytes:
        return unpack(blobs.data[blobs.row(row)].data, most, f"the text of page {row} in {self.folder}")

    @report_damage
    def find(self, name: str) -> int:
        """The row of a page, given its URL or file (also one that redirects to it), its title, or words of the title.

        The words may be parts of a name in it: "hash map" means the page ConcurrentHashMap, if no other has them.
        """
        name = name.encode("utf-8", "replace").decode("utf-8")
        for url in self.urls_meant(name):
            row = self.catalog.page_at(url)
            if row is not None:
                return row
        if len(name) > LONGEST_NAME:
            raise NoPageError(f"no page {name[:60]!r}… in {self.root}: the name has {len(name):,} characters")
        catalog = self.catalog
        ways: tuple[Callable[[], list[int]], ...] = (
            lambda: catalog.pages_from(name),
            lambda: catalog.redirected(name),
            lambda: catalog.matching_title(name, 6),
            lambda: with_parts(catalog, name, 6),
        )
        for look_up in ways:
            found = look_up()
            if len(found) == 1:
                return found[0]
            if found:
                raise NoPageError(f"{name!r} could be several pages; name one by its URL:\n" + self._listed(found))
        similar = self.suggested(name, 5)
        hint = "; did you mean:\n" + self._listed(similar) if similar else ""
        raise NoPageError(f"no page {name!r} in {self.root}{hint}")

    def suggested(self, name: str, limit: int) -> list[int]:
        """The rows of pages that a wrong name may mean."""
        return similar_pages(self.catalog, name, limit)

    def urls_meant(self, name: str) -> Iterator[str]:
        """The URLs that `name` can mean, likeliest first; none if it does not look like a URL."""
        url = canonical_url(name)
        if url is None and "." in name.partition("/")[0] and " " not in name:
            url = canonical_url("http://" + name)
        if url is not None:
            yield url
            yield from variants(url)

    def _listed(self, rows: list[int]) -> str:
        pages = [self.catalog.page(row) for row in rows]
        return "\n".join(f"  {page['url']}  {page['title']}" for page in pages)

    @report_damage
    def page(self, row: int) -> dict[str, Any]:
        return self.catalog.page(row)

    @report_damage
    def anchor_texts(self, node: int, limit: int = 50) -> list[tuple[str, int]]:
        """(text, count) of the anchors that lead to a node, most frequent first."""
        by_forms: dict[bytes, list[tuple[int, int]]] = {}
        links = self.links.row(node)
        for place in zip(self.links.page[links].tolist(), self.links.anchor[links].tolist(), strict=True):
            by_forms.setdefault(self.reading.tokens.form[self._anchor_tokens(*place)].tobytes(), []).append(place)
        most_frequent = sorted(by_forms.values(), key=lambda places: (-len(places), places))[:limit]
        return [(self.anchor_text(*places[0]), len(places)) for places in most_frequent]

    @report_damage
    def anchor_text(self, row: int, anchor: int) -> str:
        tokens = self._anchor_tokens(row, anchor)
        if tokens.start == tokens.stop:
            return ""
        first, last = int(self.reading.tokens.offsets[row]), int(self.reading.tokens.form[tokens.stop - 1])
        place = self.token_places(row, tokens.start - first, tokens.stop - first)
        start, end = int(place[0]), int(place[-1]) + len(self.reading.forms.raw(last))
        return self.text_bytes(row)[start:end].decode("utf-8", "replace").replace("\n", " ")

    def _anchor_tokens(self, row: int, anchor: int) -> slice:
        anchors = self.reading.anchors
        k = int(anchors.offsets[row]) + anchor
        begin = int(self.reading.tokens.offsets[row])
        return slice(begin + int(anchors.start[k]), begin + int(anchors.end[k]))

    @report_damage
    def linked_from(self, node: int, limit: int) -> list[dict[str, str]]:
        """URL and title of the pages that link to a node, ordered by URL."""
        rows = np.unique(self.links.page[self.links.row(node)])[:limit].tolist()
        return self.catalog.named_pages(rows)

    @report_damage
    def links_to(self, row: int, limit: int) -> list[dict[str, str]]:
        """URL and title of the nodes that a page links to, except its own, in the order of the page."""
        targets = self.reading.anchors.target[self.reading.anchors.row(row)]
        own = int(np.searchsorted(self.nodes, row, side="right")) - 1
        nodes = dict.fromkeys(self.node_of_target[targets[targets != NO_TARGET]].tolist())
        nodes.pop(own, None)
        return self.catalog.named_nodes(list(nodes)[:limit])


def _ranked(strings: Strings, counts: Int64s, file: Path) -> RankedStrings:
    """Strings by descending count; raise StoreError if they are not."""
    sound = len(counts) == len(strings) and bool((counts > 0).all()) and bool((counts[1:] <= counts[:-1]).all())
    check(sound, file, "it belongs to other strings")
    return RankedStrings(strings, counts)
