"""Near-duplicates of a stored collection: `find_duplicates(IndexedStore.open("my.kin"))`."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pagekin.bags.source import BagSource, host_numbers, ignored_parts, template_blocks
from pagekin.duplicates.chunks import chunks_of_pages
from pagekin.duplicates.collection import PageSets, find_pairs, groups_of
from pagekin.duplicates.filters import MAX_CHUNKS, Chunks
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.duplicates.groups import DuplicateGroup
from pagekin.duplicates.report import THRESHOLDS, DuplicateReport, build_report
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.minhash import GOLDEN, mix_all
from pagekin.model.arrays import Bytes, Int64s, UInt32s, UInt64s, offsets_of
from pagekin.model.jsons import json_field
from pagekin.model.reading import Anchors
from pagekin.model.tables import scalars
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.results import PageLink, ResultSequence
from pagekin.store.store import report_damage
from pagekin.urls import host_of

_BUILD_SETTINGS = ("chunk_bytes", "max_chunk_bytes", "min_chunk_bytes", "filter_bits", "hashes")


@dataclass(frozen=True, repr=False)
class DuplicateGroups(ResultSequence[DuplicateGroup[PageLink]]):
    """The near-duplicates of a collection: a sequence of groups, and what the search for them took."""

    settings: GroupSettings
    pages: int
    groups: list[DuplicateGroup[PageLink]]  # of two pages or more
    uncompared: dict[str, int]  # reason -> number of pages
    compared: int = json_field(key="compared_pairs")
    cut: int = json_field(key="cut_pages")  # pages that share a rare chunk with more others than were compared

    @property
    def items(self) -> list[DuplicateGroup[PageLink]]:
        return self.groups

    def table(self) -> list[dict[str, Any]]:
        """The pages of all groups as rows; the first of a group is its anchor, which has similarity 1."""
        rows = []
        for number, group in enumerate(self.groups, 1):
            pages = [(group.anchor, 1.0), *((each.page, each.similarity) for each in group.members)]
            rows += [{"group": number, **scalars(page), "similarity": similar} for page, similar in pages]
        return rows


@report_damage
def find_duplicates(
    indexed: IndexedStore, settings: GroupSettings | None = None, *, whole_text: bool = False
) -> DuplicateGroups:
    """Find the groups of near-duplicates of a whole collection.

    Pages are compared by their main texts or, if `whole_text`, including the blocks that recur on their hosts. Texts
    are cut into chunks again if this or the settings differ from the build.
    """
    settings = settings or indexed.fingerprints.settings
    named = indexed.catalog.named_pages
    sets = page_sets(indexed, settings, whole_text)
    found = find_pairs(sets, settings, every=settings.link == "complete")
    groups = groups_of(sets, found, best_first(indexed), settings)
    linked = [each.map(lambda row: PageLink(**named([row])[0])) for each in groups]
    counts = sets.texts.chunks.lengths()
    reasons = {"empty text": counts == 0, f"more than {MAX_CHUNKS:,} chunks": counts > MAX_CHUNKS}
    uncompared = {reason: int(pages.sum()) for reason, pages in reasons.items() if pages.any()}
    return DuplicateGroups(settings, len(indexed), linked, uncompared, found.compared, found.cut)


@report_damage
def duplicate_report(
    indexed: IndexedStore, settings: GroupSettings, page: str | None = None, *, whole_text: bool = False
) -> DuplicateReport:
    """The share of near-duplicates among the most linked pages of a collection, and one page compared with all.

    Without a name it is the page with most near-duplicates.
    """
    sets = page_sets(indexed, settings, whole_text)
    pairs = find_pairs(sets, replace(settings, threshold=THRESHOLDS[0], link="complete"), every=True).pairs
    order = "pages, most linked first", best_first(indexed)
    row = None if page is None else indexed.find(page)
    return build_report(sets.texts, pairs, sets.similarities(pairs), order, indexed.reading.pages.url.__getitem__, row)


def page_sets(indexed: IndexedStore, settings: GroupSettings, whole_text: bool = False) -> PageSets:
    links = link_fingerprints(indexed, settings) if settings.link_weight else None
    return PageSets(_text_fingerprints(indexed, settings, whole_text), links, settings.link_weight)


def _text_fingerprints(indexed: IndexedStore, settings: GroupSettings, whole_text: bool) -> Fingerprints:
    """The fingerprints of the build, or new ones if they differ."""
    stored, strategy = indexed.fingerprints, indexed.index.strategy
    same_settings = all(getattr(settings, name) == getattr(stored.settings, name) for name in _BUILD_SETTINGS)
    if same_settings and (not whole_text or (strategy.templates and strategy.navigation and strategy.sequences)):
        return replace(stored, settings=settings)
    reading = indexed.checked_reading
    none = np.zeros(len(reading.blocks.hash), np.uint8)
    ignored = none if whole_text else ignored_parts(BagSource.of(indexed), strategy).words
    return Fingerprints(settings, Chunks.concatenate(list(chunks_of_pages(reading, ignored, settings))))


def link_fingerprints(indexed: IndexedStore, settings: GroupSettings) -> Fingerprints:
    """The fingerprints of the links of pages, without links that recur on a host."""
    node_of_page = np.repeat(np.arange(len(indexed.nodes) - 1, dtype=np.uint32), np.diff(indexed.nodes))
    offsets, nodes = linked_nodes(indexed.reading.anchors, indexed.node_of_target, node_of_page)
    return Fingerprints(settings, link_sets(offsets, nodes, _recurring(indexed, offsets, nodes)))


def _recurring(indexed: IndexedStore, offsets: Int64s, hashes: UInt64s) -> Bytes:
    """1 for every hash that recurs on many pages of its host."""
    (hosts,) = host_numbers(map(host_of, indexed.reading.pages.url))
    return template_blocks(hosts, offsets, np.asarray(hashes), indexed.index.strategy.template_share)


def best_first(indexed: IndexedStore) -> Int64s:
    """The order of pages in which the first of a group is its anchor: by in-links, then by URL."""
    degrees = np.repeat(indexed.in_degrees()[: len(indexed.nodes) - 1], np.diff(indexed.nodes))
    return np.argsort(-degrees, kind="stable")


def linked_nodes(anchors: Anchors, node_of_target: UInt32s, node_of_page: UInt32s) -> tuple[Int64s, UInt64s]:
    """The distinct other nodes that each page links to: (offsets, nodes)."""
    page = np.repeat(np.arange(len(node_of_page), dtype=np.uint64), anchors.lengths())
    known = anchors.target < len(node_of_target)
    page, node = page[known], node_of_target[anchors.target[known]]
    others = node != node_of_page[page]
    pairs = np.unique(page[others] << np.uint64(32) | node[others])
    counts = np.bincount((pairs >> np.uint64(32)).astype(np.int64), minlength=len(node_of_page))
    return offsets_of(counts), pairs & np.uint64(0xFFFFFFFF)


def link_sets(offsets: Int64s, nodes: UInt64s, ignored: Bytes) -> Chunks:
    """The links of each page as a set of hashes; `ignored` is 1 for every link to leave out."""
    page = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[ignored == 0]
    counts = np.bincount(page, minlength=len(offsets) - 1)
    hashes = mix_all((nodes[ignored == 0] + np.uint64(1)) * GOLDEN)  # spreads the node numbers over 64 bits
    return Chunks(offsets_of(counts), hashes, np.zeros((len(counts), 2), np.uint64))
