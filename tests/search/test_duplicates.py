"""`Collection.duplicates`: the near-duplicates of a collection."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from duplicates.test_result_list import prose
from pagekin import GroupSettings
from pagekin.model.reading import NO_TARGET, Anchors
from pagekin.pipeline import build
from pagekin.search.duplicates import DuplicateGroups, find_duplicates, link_fingerprints, link_sets, linked_nodes
from pagekin.search.indexed_store import IndexedStore
from store.builders import page, write_jsonl

MENU = "".join(
    f"<p>Entry {k} of the menu, which stands on all pages of this host and says nothing. " for k in range(40)
)


def site(folder: Path, *pages: tuple[str, str]) -> Path:
    """A store of pages, given by URL and HTML."""
    build([write_jsonl(folder / "pages.jsonl", [page(url, html) for url, html in pages])], folder / "site.kin")
    return folder / "site.kin"


def named(found: DuplicateGroups) -> list[list[str]]:
    return [[each.anchor.url, *(member.page.url for member in each.members)] for each in found.groups]


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page and its copy on another host, to which others link; four pages under a menu that say different things."""
    folder = tmp_path_factory.mktemp("mirrored")
    return site(
        folder,
        ("http://a.example/wren", f"<title>Wren</title><p>{prose(1)}"),
        ("http://b.example/wren", f"<title>The wren</title><p>{prose(1)}<p>{prose(2, 60)}"),
        *((f"http://c.example/{k}", f"{MENU}<p>{prose(10 + k, 300)}<a href=http://b.example/wren>") for k in range(5)),
        ("http://d.example/empty", "<title>Nothing</title>"),
    )


def test_the_anchor_of_a_group_is_the_page_with_most_in_links(mirrored: Path) -> None:
    found = find_duplicates(IndexedStore.open(mirrored))
    assert named(found) == [["http://b.example/wren", "http://a.example/wren"]]
    member = found.groups[0].members[0]
    assert member.page.title == "Wren" and member.overlap.a_in_b and not member.overlap.b_in_a
    assert member.similarity == member.overlap.similarity
    assert (found.pages, found.uncompared, found.cut) == (8, {"empty text": 1}, 0)


def test_templates_make_near_duplicates_only_if_they_count(mirrored: Path) -> None:
    assert len(find_duplicates(IndexedStore.open(mirrored), GroupSettings(threshold=0.5)).groups) == 1
    found = find_duplicates(IndexedStore.open(mirrored), GroupSettings(threshold=0.5), whole_text=True)
    assert sorted(map(len, named(found))) == [2, 5]


def test_texts_are_cut_again_for_another_chunk_size(mirrored: Path) -> None:
    found = find_duplicates(IndexedStore.open(mirrored), GroupSettings(chunk_bytes=64))
    assert named(found) == [["http://b.example/wren", "http://a.example/wren"]]
    assert found.settings.chunk_bytes == 64


def test_links_can_separate_pages_with_similar_texts(tmp_path: Path) -> None:
    """Three pages of like text; two of them link to the same pages, the third to others."""
    links = ["".join(f"<a href=/{kind}{k}>" for k in range(8)) for kind in "xy"]
    other = prose(3, 250)
    store = site(
        tmp_path,
        ("http://a.example/1", f"<p>{prose(1)}<p>{links[0]}"),
        ("http://b.example/2", f"<p>{prose(1)} {other}<p>{links[0].replace('href=', 'href=http://a.example')}"),
        ("http://c.example/3", f"<p>{prose(1)} {prose(4, 250)}<p>{links[1]}"),
    )
    assert [len(group) for group in named(find_duplicates(IndexedStore.open(store)))] == [3]
    found = find_duplicates(IndexedStore.open(store), GroupSettings(threshold=0.9, link_weight=0.6))
    assert [set(group) for group in named(found)] == [{"http://a.example/1", "http://b.example/2"}]


def test_links_are_sets_of_nodes_without_the_page_itself() -> None:
    anchors = Anchors(
        np.array([0, 4, 4, 6]),
        *(np.zeros(6, np.uint32),) * 2,
        np.array([0, 1, 1, NO_TARGET, 2, 0], np.uint32),
        np.zeros(6, np.uint8),
    )
    offsets, nodes = linked_nodes(anchors, np.array([0, 7, 5], np.uint32), np.array([0, 1, 2], np.uint32))
    assert (offsets.tolist(), nodes.tolist()) == ([0, 1, 1, 3], [7, 0, 5])
    sets = link_sets(offsets, nodes, np.array([1, 0, 0], np.uint8))
    assert sets.lengths().tolist() == [0, 0, 2]


def test_links_that_recur_on_a_host_do_not_count(mirrored: Path) -> None:
    indexed = IndexedStore.open(mirrored)
    assert (
        link_fingerprints(indexed, GroupSettings()).chunks.lengths().sum() == 0
    )  # all five pages of a host link to one
