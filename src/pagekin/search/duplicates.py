"""A collection opened for its near-duplicates: `pagekin.find_duplicates("my.kin")`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pagekin.bags.templates import template_blocks
from pagekin.duplicates.collection import PageSets, find_pairs, groups_of
from pagekin.duplicates.filters import Overlap
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.duplicates.links import link_sets, linked_nodes
from pagekin.duplicates.pages import chunks_of_pages
from pagekin.duplicates.report import THRESHOLDS, DuplicateReport, growth, most_similar, profile_of
from pagekin.duplicates.sets import MOST_CHUNKS, Chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.model.arrays import Bytes, Int64s
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.store import report_damage
from pagekin.urls import host_of

_HOW = ("chunk_bytes", "max_chunk_bytes", "min_chunk_bytes", "filter_bits", "hashes")  # what is decided in the build
_ORDER = "pages, the most linked first"


@dataclass(frozen=True)
class StoredPage:
    """A page of a collection."""

    row: int
    url: str
    title: str


@dataclass(frozen=True)
class DuplicatePage:
    """A page that says the same as the anchor of its group; A is the page, B the anchor."""

    page: StoredPage
    similarity: float  # what decides: of texts and, if they have a weight, of links
    overlap: Overlap  # of texts


@dataclass(frozen=True)
class DuplicateGroup:
    """A page, the one that most pages link to, and its near-duplicates."""

    anchor: StoredPage
    members: list[DuplicatePage]


@dataclass(frozen=True)
class DuplicateGroups:
    """The near-duplicates of a collection, and what it took to find them."""

    settings: GroupSettings
    pages: int
    groups: list[DuplicateGroup]  # of two pages or more
    uncompared: dict[str, int]  # reasons
    compared: int  # pairs of pages
    cut: int  # pages that share a rare chunk with more others than were looked at


def find_duplicates(
    collection: str | Path | IndexedStore, settings: GroupSettings | None = None, *, whole_text: bool = False
) -> DuplicateGroups:
    """The groups of near-duplicates of a whole collection.

    Pages are compared by their main text, or if `whole_text`, with the blocks that recur on their host. If texts are to
    be cut otherwise than in the build, or templates to be counted otherwise, all are cut again.
    """
    indexed = collection if isinstance(collection, IndexedStore) else IndexedStore.open(collection)
    return _found(indexed, settings or indexed.fingerprints.settings, whole_text)


@report_damage
def report_of(
    indexed: IndexedStore, settings: GroupSettings, page: str | None = None, *, whole_text: bool = False
) -> DuplicateReport:
    """How many near-duplicates a collection has among its most linked pages, and a page against all others.

    Without a name it is the page that has most near-duplicates.
    """
    least = replace(settings, threshold=THRESHOLDS[0], link="complete")
    evidence, order = evidence_of(indexed, least, whole_text), best_first(indexed)
    pairs = find_pairs(evidence, least, every=True).pairs
    similarity = evidence.similarities(pairs)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    curves = growth(len(indexed), place[pairs], similarity)
    if not len(indexed):
        return DuplicateReport(0, _ORDER, curves, None)
    row = most_similar(len(indexed), pairs, similarity, settings.threshold) if page is None else indexed.find(page)
    return DuplicateReport(
        len(indexed), _ORDER, curves, profile_of(evidence.texts, indexed.reading.pages.url[row], row, order)
    )


@report_damage
def _found(indexed: IndexedStore, settings: GroupSettings, whole_text: bool) -> DuplicateGroups:
    evidence = evidence_of(indexed, settings, whole_text)
    found = find_pairs(evidence, settings, every=settings.link == "complete")
    groups = groups_of(evidence, found, best_first(indexed), settings)
    pairs = np.array([(m.page, each.anchor) for each in groups for m in each.members], np.int64).reshape(-1, 2)
    scores = iter(evidence.similarities(pairs).tolist())
    named = []
    for each in groups:
        members = [DuplicatePage(page_of(indexed, m.page), next(scores), m.overlap) for m in each.members]
        named.append(DuplicateGroup(page_of(indexed, each.anchor), members))
    return DuplicateGroups(settings, len(indexed), named, _uncompared(evidence.texts.chunks), found.compared, found.cut)


def page_of(indexed: IndexedStore, row: int) -> StoredPage:
    """A page by its row."""
    return StoredPage(row, indexed.reading.pages.url[row], indexed.reading.pages.title[row])


def evidence_of(indexed: IndexedStore, settings: GroupSettings, whole_text: bool = False) -> PageSets:
    """What the pages of a collection are compared by."""
    links = links_of(indexed, settings) if settings.link_weight else None
    return PageSets(texts_of(indexed, settings, whole_text), links, settings.link_weight)


def texts_of(indexed: IndexedStore, settings: GroupSettings, whole_text: bool) -> Fingerprints:
    """What was kept of texts in the build, or made anew."""
    kept = indexed.fingerprints
    whole_text = whole_text or indexed.index.strategy.templates
    same_way = all(getattr(settings, name) == getattr(kept.settings, name) for name in _HOW)
    if same_way and whole_text == indexed.index.strategy.templates:
        return replace(kept, settings=settings)
    blocks = indexed.reading.blocks
    silent = np.zeros(len(blocks.hash), np.uint8) if whole_text else _recurring(indexed, blocks.offsets, blocks.hash)
    return Fingerprints(settings, Chunks.joined(list(chunks_of_pages(indexed.reading, silent, settings))))


def links_of(indexed: IndexedStore, settings: GroupSettings) -> Fingerprints:
    """The sets of links, without those that recur on a host."""
    node_of_page = np.repeat(np.arange(len(indexed.nodes) - 1, dtype=np.uint32), np.diff(indexed.nodes))
    offsets, nodes = linked_nodes(indexed.reading.anchors, indexed.node_of_target, node_of_page)
    return Fingerprints(settings, link_sets(offsets, nodes, _recurring(indexed, offsets, nodes)))


def _recurring(indexed: IndexedStore, offsets: Int64s, hashes: np.typing.NDArray[np.uint64]) -> Bytes:
    numbers: dict[str, int] = {}
    hosts = np.array([numbers.setdefault(host_of(url), len(numbers)) for url in indexed.reading.pages.url], np.int64)
    return template_blocks(hosts, offsets, np.asarray(hashes), indexed.index.strategy.template_share)


def best_first(indexed: IndexedStore) -> Int64s:
    """The order of pages in which the first of a group becomes its anchor: by in-links, then by URL."""
    degrees = np.repeat(indexed.in_degrees()[: len(indexed.nodes) - 1], np.diff(indexed.nodes))
    return np.argsort(-degrees, kind="stable")


def _uncompared(chunks: Chunks) -> dict[str, int]:
    counts = chunks.counts()
    reasons = {
        "empty text": int(np.count_nonzero(counts == 0)),
        f"more than {MOST_CHUNKS:,} chunks": int(np.count_nonzero(counts > MOST_CHUNKS)),
    }
    return {reason: count for reason, count in reasons.items() if count}
