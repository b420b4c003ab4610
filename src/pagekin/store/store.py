"""A store opened for reading: memory-mapped, from any disk, also a read-only one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
import zstandard

from pagekin.errors import MisuseError, NoPageError, PagekinError, StoreError
from pagekin.model.arrays import Int64s, UInt32s
from pagekin.model.reading import NO_TARGET, Blobs, Links, Reading
from pagekin.model.settings import ReadingSettings
from pagekin.model.strings import Strings
from pagekin.store.catalog import Catalog
from pagekin.store.columns import open_array, open_strings
from pagekin.store.files import open_ragged, open_reading
from pagekin.store.manifest import Manifest, damaged_files, read_manifest
from pagekin.urls import canonical_url, variants

Given = ParamSpec("Given")
Result = TypeVar("Result")


def telling_damage(method: Callable[Concatenate[Any, Given], Result]) -> Callable[Concatenate[Any, Given], Result]:
    """An error in a store that is no longer what it was when it was opened says so."""

    @wraps(method)
    def told(self: Any, /, *given: Given.args, **named: Given.kwargs) -> Result:
        try:
            return method(self, *given, **named)
        except MisuseError:
            raise
        except Exception as error:
            if read_manifest(self.root) != self.manifest:
                raise StoreError(f"{self.root} was built again meanwhile; open it again") from error
            if not isinstance(error, PagekinError):
                for file, problem in damaged_files(self.root, self.manifest)[:1]:
                    raise StoreError(f"{self.root / file} {problem}; build the store again") from error
            raise

    return told


@dataclass(frozen=True)
class Store:
    """A collection as it was read. Columns are opened when first looked at."""

    root: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open the store at `path`."""
        return cls(Path(path), read_manifest(Path(path)))

    def close(self) -> None:
        """Let go of the catalogue, if it was opened. Columns are let go of with the last who looks at them."""
        if "catalog" in vars(self):
            self.catalog.close()

    def __len__(self) -> int:
        return self.manifest.counts["pages"]

    @property
    def folder(self) -> Path:
        """Where the files of this generation lie."""
        return self.root / self.manifest.folder

    @property
    def settings(self) -> ReadingSettings:
        """How it was read."""
        return ReadingSettings(**self.manifest.settings)

    @cached_property
    def reading(self) -> Reading:
        """What the pages say."""
        return open_reading(self.folder)

    @cached_property
    def catalog(self) -> Catalog:
        """What can be looked up."""
        return Catalog(self.folder)

    @cached_property
    def links(self) -> Links:
        """The in-links of every node."""
        return open_ragged(self.folder, "links", Links)

    @cached_property
    def nodes(self) -> Int64s:
        """The pages of node k are rows nodes[k] to nodes[k+1]."""
        return open_array(self.folder, "nodes.offsets")

    @cached_property
    def node_of_target(self) -> UInt32s:
        """The node that each target of an anchor leads to, through all aliases."""
        return open_array(self.folder, "targets.node")

    @cached_property
    def form_counts(self) -> Int64s:
        """How often each form occurs."""
        return open_array(self.folder, "forms.count")

    @cached_property
    def word_of_form(self) -> UInt32s:
        """The word that each form is a spelling of."""
        return open_array(self.folder, "forms.word")

    @cached_property
    def words(self) -> Strings:
        """Every word, the commonest first."""
        return open_strings(self.folder, "words")

    def node_hosts(self) -> list[str]:
        """The host of every node."""
        return [row[0] for row in self.catalog.each("SELECT host FROM nodes ORDER BY node")]

    def in_degrees(self) -> Int64s:
        """How many pages link to each node."""
        return np.fromiter((row[0] for row in self.catalog.each("SELECT in_degree FROM nodes ORDER BY node")), np.int64)

    @telling_damage
    def text(self, row: int) -> str:
        """The visible text of a page."""
        return self._unpacked(self.reading.text, row).decode("utf-8", "replace")

    @telling_damage
    def text_bytes(self, row: int) -> bytes:
        """The same in UTF-8, in which the places of tokens and blocks are counted."""
        return self._unpacked(self.reading.text, row)

    @telling_damage
    def hrefs(self, row: int) -> list[str]:
        """The href of each anchor of a page, as the page has it."""
        if self.reading.anchors.offsets[row] == self.reading.anchors.offsets[row + 1]:
            return []
        return self._unpacked(self.reading.hrefs, row).decode("utf-8", "replace").split("\n")[:-1]

    def _unpacked(self, blobs: Blobs, row: int) -> bytes:
        packed = blobs.data[blobs.row(row)].tobytes()
        try:
            return zstandard.ZstdDecompressor().decompress(packed)
        except zstandard.ZstdError as error:
            raise StoreError(f"the text of page {row} in {self.folder} is damaged; build the store again") from error

    @telling_damage
    def find(self, name: str) -> int:
        """The row of the page that `name` means: a URL, a file, a title, or words of one if only one page has them."""
        name = name.encode("utf-8", "replace").decode("utf-8")
        row = self._find_url(name)
        if row is not None:
            return row
        for found in (self.catalog.pages_from(name), self.catalog.meant_by_title(name, 6)):
            if len(found) == 1:
                return found[0]
            if found:
                raise NoPageError(f"{name!r} could be several pages; name one by its URL:\n" + self._listed(found))
        raise NoPageError(f"no page {name!r} in {self.root}" + self._nearest(name))

    def _find_url(self, name: str) -> int | None:
        for url in self.urls_meant(name):
            row = self.catalog.page_at(url)
            if row is not None:
                return row
        return None

    def urls_meant(self, name: str) -> Iterator[str]:
        """The URLs that `name` can mean, the likeliest first; none if it does not look like a URL."""
        url = canonical_url(name)
        if url is None and "." in name.partition("/")[0] and " " not in name:
            url = canonical_url("http://" + name)
        if url is not None:
            yield url
            yield from variants(url)

    def _nearest(self, name: str) -> str:
        """A few pages that somebody who typed `name` may have meant."""
        words = name.rstrip("/").rpartition("/")[2].rpartition(".")[0] or name
        found = self.catalog.titled(words, 5) or self.catalog.similar_urls(name, 5)
        return "; the nearest are:\n" + self._listed(found) if found else ""

    def _listed(self, rows: list[int]) -> str:
        pages = [self.catalog.page(row) for row in rows]
        return "\n".join(f"  {page['url']}  {page['title']}" for page in pages)

    @telling_damage
    def page(self, row: int) -> dict[str, Any]:
        """What is known of a page."""
        return self.catalog.page(row)

    @telling_damage
    def anchor_texts(self, node: int, limit: int = 50) -> list[tuple[str, int]]:
        """What anchors that lead to a node say, the commonest first."""
        said: dict[bytes, list[tuple[int, int]]] = {}
        links = self.links.row(node)
        for page, anchor in zip(self.links.page[links].tolist(), self.links.anchor[links].tolist(), strict=True):
            said.setdefault(self.reading.tokens.form[self._anchor_tokens(page, anchor)].tobytes(), []).append(
                (page, anchor)
            )
        commonest = sorted(said.values(), key=lambda places: (-len(places), places))[:limit]
        return [(self.anchor_text(*places[0]), len(places)) for places in commonest]

    @telling_damage
    def anchor_text(self, row: int, anchor: int) -> str:
        """The words of one anchor of a page, as the page shows them."""
        tokens = self._anchor_tokens(row, anchor)
        if tokens.start == tokens.stop:
            return ""
        start = int(self.reading.tokens.place[tokens.start])
        last = int(self.reading.tokens.form[tokens.stop - 1])
        end = int(self.reading.tokens.place[tokens.stop - 1]) + len(self.reading.forms.raw(last))
        return self.text_bytes(row)[start:end].decode("utf-8", "replace").replace("\n", " ")

    def _anchor_tokens(self, row: int, anchor: int) -> slice:
        anchors = self.reading.anchors
        k = int(anchors.offsets[row]) + anchor
        begin = int(self.reading.tokens.offsets[row])
        return slice(begin + int(anchors.start[k]), begin + int(anchors.end[k]))

    @telling_damage
    def linked_from(self, node: int, limit: int) -> list[dict[str, str]]:
        """The pages that link to a node, by URL."""
        rows = np.unique(self.links.page[self.links.row(node)])[:limit].tolist()
        return [{"url": self.reading.pages.url[row], "title": self.reading.pages.title[row]} for row in rows]

    @telling_damage
    def links_to(self, row: int, limit: int) -> list[dict[str, str]]:
        """Where the links of a page lead, in the order of the page; not to itself."""
        targets = self.reading.anchors.target[self.reading.anchors.row(row)]
        own = int(np.searchsorted(self.nodes, row, side="right")) - 1
        nodes = dict.fromkeys(self.node_of_target[targets[targets != NO_TARGET]].tolist())
        nodes.pop(own, None)
        return self.catalog.named_nodes(list(nodes)[:limit])
