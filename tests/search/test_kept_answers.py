"""Answers in advance are those that a search finds, and are used where a search would find the same."""

from __future__ import annotations

import errno
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import pagekin
from pagekin.search.blend import Blend
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from store.builders import generated, page, write_jsonl

LIMIT = 10


@pytest.fixture(scope="module")
def kept(sample_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("kept") / "my.kin"
    shutil.copytree(sample_index, copy)
    report = pagekin.open(copy).keep_answers(LIMIT)
    assert (report.pages, report.limit) == (len(IndexedStore.open(copy).nodes) - 1, LIMIT)
    return copy


def no_search(*_: object) -> None:
    raise AssertionError("a search")


@pytest.mark.parametrize("fields", [{}, {"explain": False}, {"min_similarity": 0.4}, {"group_duplicates": False}])
def test_kept_answers_are_those_of_a_search(
    sample_index: Path, kept: Path, fields: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of near-duplicates that leave too few lines, a search finds more."""
    options = replace(RelatedOptions(limit=LIMIT), **fields)  # type: ignore[arg-type]
    searched, store = IndexedStore.open(sample_index), IndexedStore.open(kept)
    urls = [url for (url,) in searched.catalog.each("SELECT url FROM nodes WHERE first_row IS NOT NULL ORDER BY node")]
    assert [store.related(url, options) for url in urls[:60]] == [searched.related(url, options) for url in urls[:60]]
    monkeypatch.setattr(Blend, "nearest", no_search)
    assert store.related(urls[0], replace(options, group_duplicates=False))


@pytest.mark.parametrize("fields", [{}, {"limit": 3}, {"min_similarity": 0.4}])
def test_an_export_of_kept_answers_looks_them_up(
    sample_index: Path, kept: Path, fields: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = RelatedOptions(**{"limit": LIMIT, "explain": False, "group_duplicates": False, **fields})  # type: ignore[arg-type]
    searched, store = IndexedStore.open(sample_index), IndexedStore.open(kept)
    nodes = list(range(len(store.nodes) - 1))[::-1]
    expected = list(searched.related_of_pages(nodes, options))
    monkeypatch.setattr(Blend, "nearest_for", no_search)
    monkeypatch.setattr(Blend, "nearest", no_search)
    assert list(store.related_of_pages(nodes, options)) == expected


@pytest.mark.parametrize(
    "fields", [{"limit": LIMIT + 1}, {"exclude_linked": True}, {"similarity": "cosine"}, {"blend": {"title": 1.0}}]
)
def test_other_requests_are_searched_for(
    kept: Path, fields: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = IndexedStore.open(kept)
    url = store.node_url(0)
    monkeypatch.setattr(Blend, "nearest", no_search)
    with pytest.raises(AssertionError, match="a search"):
        store.related(url, RelatedOptions(**fields))  # type: ignore[arg-type]


def test_a_new_generation_keeps_as_many_answers(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "pages.jsonl", generated(12))
    pagekin.build(source, tmp_path / "my.kin", answers=3)
    write_jsonl(source, [*generated(12), page("http://host1.example/more", "<p>number qa comes back")])
    again = pagekin.build(source, tmp_path / "my.kin")
    answers = again.indexed.kept_answers
    assert answers is not None
    assert answers.node.shape == (13, 3)
    assert not again.check().damaged


def test_answers_can_be_removed_and_kept_again_in_another_number(tmp_path: Path) -> None:
    collection = pagekin.build(write_jsonl(tmp_path / "pages.jsonl", generated(9)), tmp_path / "my.kin", answers=4)
    folder = tmp_path / "my.kin" / collection.indexed.manifest.index_folder
    for limit in (2, 0, 5):
        report = collection.keep_answers(limit)
        files = sorted(path.name for path in folder.glob("answers-*"))
        parts = ("names.data", "names.offsets", "node", "separate", "similarity") if limit else ()
        assert files == [f"answers-{limit}.{part}.npy" for part in parts]
        assert (report.bytes > 0) == (limit > 0)
        assert not pagekin.open(tmp_path / "my.kin").check().damaged
    again = pagekin.build(tmp_path / "pages.jsonl", tmp_path / "my.kin")
    assert again.built is not None
    assert not again.built.changed


def test_a_build_whose_answers_cannot_be_written_leaves_the_old_index_with_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, store = write_jsonl(tmp_path / "pages.jsonl", generated(12)), tmp_path / "my.kin"
    pagekin.build(source, store, answers=3)
    before = (store / "manifest.json").read_bytes()
    write_jsonl(source, generated(15))

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(pagekin.StoreError, match="what was there before is untouched"):
        patch.setattr("pagekin.pipeline.answers.write_answers", fail)
        pagekin.build(source, store)
    assert (store / "manifest.json").read_bytes() == before
    assert not pagekin.open(store).check().damaged
    kept = pagekin.build(source, store).indexed.kept_answers
    assert kept is not None
    assert kept.node.shape == (15, 3)


def test_answers_that_cannot_be_written_leave_the_old_ones_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = pagekin.build(write_jsonl(tmp_path / "pages.jsonl", generated(9)), tmp_path / "my.kin", answers=4)
    before = {path: path.read_bytes() for path in (tmp_path / "my.kin").rglob("*") if path.is_file()}

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pagekin.store.manifest.sync", fail)  # after the new answers are written
    with pytest.raises(pagekin.StoreError, match="No space left on device; what was there before is untouched"):
        collection.keep_answers(2)
    assert {path: path.read_bytes() for path in (tmp_path / "my.kin").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("limit", [-1, 1001])
def test_a_senseless_number_is_refused(kept: Path, limit: int) -> None:
    with pytest.raises(pagekin.MisuseError, match="keep from 0 to 1,000"):
        pagekin.open(kept).keep_answers(limit)


def test_damaged_answers_are_refused_with_a_sentence(kept: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.kin"
    shutil.copytree(kept, copy)
    file = next(copy.glob("index-*/answers-10.node.npy"))
    data = bytearray(file.read_bytes())
    data[-2:] = b"\xff\xff"
    file.write_bytes(data)
    with pytest.raises(pagekin.StoreError, match="answers-10"):
        IndexedStore.open(copy).related(IndexedStore.open(copy).node_url(0))


def test_an_export_has_the_answers_of_each_page(sample_index: Path, tmp_path: Path) -> None:
    collection = pagekin.open(sample_index)
    store = collection.indexed
    report = collection.export(tmp_path / "all.tsv", limit=7)
    lines = [line.split("\t") for line in (tmp_path / "all.tsv").read_text().splitlines()]
    options = RelatedOptions(limit=7, min_similarity=0.0, explain=False, group_duplicates=False)
    expected = [
        [url, str(rank), found.url, f"{found.similarity:.6f}"]
        for (url,) in store.catalog.each("SELECT url FROM nodes WHERE first_row IS NOT NULL ORDER BY node")
        for rank, found in enumerate(store.related(url, options), 1)
    ]
    assert lines == expected
    assert report.answers == len(lines)
