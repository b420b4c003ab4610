"""Statistics of links: written by the build, and checked at opening."""

from __future__ import annotations

from math import log
from pathlib import Path

import numpy as np
import pytest

from pagekin.errors import StoreError
from pagekin.links import statistics
from pagekin.links.statistics import open_link_columns
from pagekin.model.capture import ReadingSettings
from pagekin.model.link_columns import LinkColumns
from pagekin.model.strategy import Strategy
from pagekin.store.columns import write_columns
from pagekin.store.store import Store
from store.builders import page, store_of

A, B, C = (f"http://{name}.example/" for name in "abc")
PAGES = {
    A: f'<p><a href="{B}">b</a> and <a href="{B}#x">b</a>, <a href="{A}">a</a>, <a href="{C}">c</a>,'
    ' <a href="/away">x</a>',
    B: f'<p>to <a href="{C}">c</a>',
    C: "<p>no links",
}


def opened(store: Store) -> LinkColumns:
    return open_link_columns(store.root / store.manifest.index_folder, store)


def counting(links: LinkColumns) -> list[int]:
    return np.unpackbits(links.counting, count=len(links.start), bitorder="little").tolist()


def three(folder: Path, **strategy: object) -> Store:
    return store_of(folder, *(page(url, html) for url, html in PAGES.items()), strategy=Strategy(**strategy))  # type: ignore[arg-type]


def test_links_to_other_pages_of_the_collection_count(tmp_path: Path) -> None:
    links = opened(three(tmp_path))
    assert counting(links) == [1, 1, 0, 1, 0, 1]
    assert links.in_degree.tolist() == [0, 1, 2]


def test_norms_have_three_average_link_targets_more(tmp_path: Path) -> None:
    """One of three pages links to b, two link to c: their weights are ln 3 and ln 1.5."""
    b, c = log(3) ** 2, log(1.5) ** 2
    more = 3 * (b + c) / 2
    assert np.square(opened(three(tmp_path)).norm) == pytest.approx([b + c + more, c + more, more])


def test_links_that_the_strategy_ignores_do_not_count(tmp_path: Path) -> None:
    links = opened(three(tmp_path, silent=("//a",)))
    assert counting(links) == [0, 0, 0, 0, 0, 1]
    assert links.in_degree.tolist() == [0, 0, 1]


def test_hosts_that_count_as_one_page_are_cited_once_by_each_other(tmp_path: Path) -> None:
    more = page(A + "more", f'<p><a href="{B}">b</a> <a href="{A}">a</a>')
    rows = [page(url, html) for url, html in PAGES.items()]
    links = opened(store_of(tmp_path, *rows, more, settings=ReadingSettings(chop_host=True)))
    assert links.in_degree.tolist() == [0, 1, 2]
    assert links.rows.tolist() == [0, 2, 3, 4]


def test_a_collection_without_links_has_statistics(tmp_path: Path) -> None:
    links = opened(store_of(tmp_path, page(A, "<p>alone")))
    assert (links.in_degree.tolist(), counting(links)) == ([0], [])
    assert links.norm.tolist() == pytest.approx([3**0.5])


def test_statistics_do_not_depend_on_how_many_links_are_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    whole = opened(three(tmp_path / "one"))
    monkeypatch.setattr(statistics, "_PIECE", 1)
    (tmp_path / "two").mkdir()
    pieces = opened(three(tmp_path / "two"))
    for name in ("counting", "in_degree", "norm"):
        assert getattr(whole, name).tolist() == getattr(pieces, name).tolist()


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("anchors.counting", np.zeros(9, np.uint8)),
        ("nodes.in_degree", np.zeros(2, np.uint32)),
        ("nodes.in_degree", np.full(3, 4, np.uint32)),
        ("nodes.in_degree", np.zeros(3, np.int32)),
        ("nodes.coupling_norm", np.ones(4, np.float32)),
        ("nodes.coupling_norm", np.array([1.0, np.nan, 1.0], np.float32)),
        ("nodes.coupling_norm", np.array([1.0, 0.0, 1.0], np.float32)),
    ],
)
def test_files_that_do_not_fit_are_refused_by_name(
    tmp_path: Path, name: str, column: np.ndarray[tuple[int], np.dtype[np.generic]]
) -> None:
    store = three(tmp_path)
    write_columns(store.root / store.manifest.index_folder, {name: column})
    with pytest.raises(StoreError, match=name):
        opened(store)


@pytest.mark.parametrize("name", ["links.page", "links.anchor", "anchors.start", "anchors.target", "targets.node"])
def test_columns_of_another_type_are_refused_by_name(tmp_path: Path, name: str) -> None:
    store = three(tmp_path)
    column = np.load(store.folder / f"{name}.npy")
    write_columns(store.folder, {name: column.astype(np.int32)})
    with pytest.raises(StoreError, match=name):
        opened(Store.open(store.root))
