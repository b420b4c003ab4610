"""Batches that a killed build leaves: used if they are whole and were read in the same way, else removed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pagekin.model.capture import Capture, Origin
from pagekin.model.settings import ReadingSettings
from pagekin.pipeline import Progress, build
from pagekin.reading.batch import read_captures
from pagekin.store.spool import Spool, load_batch, write_batch
from store.making import Row, assert_same_store, assert_sound, generated, page, write_jsonl

WAY = {"reader": 1, "settings": {"a": 1}}


def write(place: Path, *htmls: str) -> None:
    captures = [
        Capture(f"http://a.example/{k}", Origin("a.jsonl", k, 100, 1), body=html.encode())
        for k, html in enumerate(htmls)
    ]
    write_batch(place, read_captures(captures, ReadingSettings()), WAY)


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "unfinished", WAY)


def test_a_batch_comes_back_as_it_was_written(spool: Spool) -> None:
    assert spool.open() == []
    place = next(spool.places())
    write(place, "<p>one two", " ", "<p>three")
    reading = load_batch(place)
    assert list(reading.pages.url) == ["http://a.example/0", "http://a.example/2"]
    assert list(reading.forms) == ["one", "two", "three"]
    assert [(skip.reason, skip.where) for skip in reading.skips] == [("empty page", "http://a.example/1")]
    (again,) = Spool(spool.folder, WAY).open()
    assert list(again.forms) == list(reading.forms)
    assert again.skips == reading.skips


def test_places_go_on_after_the_last_batch_that_is_there(spool: Spool) -> None:
    spool.open()
    places = spool.places()
    first, second = next(places), next(places)
    write(second, "<p>two")
    assert first != second
    later = Spool(spool.folder, WAY)
    assert len(later.open()) == 1
    assert next(later.places()).name > second.name


def test_a_batch_that_was_read_in_another_way_is_removed(spool: Spool) -> None:
    spool.open()
    place = next(spool.places())
    write(place, "<p>one")
    other = Spool(spool.folder, {**WAY, "reader": 2})
    assert other.open() == []
    assert not place.exists()


@pytest.mark.parametrize(
    "harm", ["notes gone", "notes cut", "column gone", "column cut", "column flipped", "half done"]
)
def test_a_batch_that_is_not_whole_is_removed(spool: Spool, harm: str) -> None:
    spool.open()
    place = next(spool.places())
    write(place, "<p>one two three")
    notes, column = place / "notes.json", place / "tokens.place.npy"
    if harm == "notes gone":
        notes.unlink()
    elif harm == "notes cut":
        notes.write_bytes(notes.read_bytes()[:-5])
    elif harm == "column gone":
        column.unlink()
    elif harm == "column cut":
        column.write_bytes(column.read_bytes()[:-1])
    elif harm == "column flipped":
        column.write_bytes(column.read_bytes()[:-1] + b"\x07")
    else:
        place.rename(place.with_name("new-" + place.name))
    assert Spool(spool.folder, WAY).open() == []
    assert list(spool.folder.iterdir()) == []


def test_strangers_in_the_spool_do_no_harm(spool: Spool) -> None:
    spool.open()
    (spool.folder / "a file").write_text("x")
    (spool.folder / "batch-of-biscuits").mkdir()
    write(next(spool.places()), "<p>one")
    assert len(Spool(spool.folder, WAY).open()) == 1


def test_a_removed_spool_is_gone(spool: Spool) -> None:
    spool.open()
    write(next(spool.places()), "<p>one")
    spool.remove()
    assert not spool.folder.exists()


class StopError(Exception):
    """Thrown in the middle of a build."""


def interrupt(tmp_path: Path, stage: str, rows: Sequence[Row] = tuple(generated(60))) -> int:
    """Begin a build of 60 pages and break off at a stage; how many batches are left."""

    def stop(progress: Progress) -> None:
        if progress.stage == stage and (progress.done or stage != "reading"):
            raise StopError

    source = write_jsonl(tmp_path / "pages.jsonl", rows)
    with pytest.raises(StopError):
        build([source], tmp_path / "test.kin", processes=1, progress=stop)
    return len(list((tmp_path / "test.kin" / "unfinished").glob("batch-*")))


@pytest.mark.parametrize(("stage", "batches"), [("reading", 1), ("sorting links", 3), ("checksums", 3)])
def test_a_build_that_broke_off_is_taken_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, batches: int
) -> None:
    monkeypatch.setattr("pagekin.pipeline._JOB_PAGES", 20)
    assert interrupt(tmp_path, stage) == batches
    assert not (tmp_path / "test.kin" / "manifest.json").exists()
    resumed = build([tmp_path / "pages.jsonl"], tmp_path / "test.kin", processes=1)
    assert (resumed.read, resumed.reused) == (60 - 20 * batches, 20 * batches)
    assert not (tmp_path / "test.kin" / "unfinished").exists()
    assert_same_store(resumed.store, build([tmp_path / "pages.jsonl"], tmp_path / "fresh.kin", processes=1).store)


def test_what_changed_since_a_build_broke_off_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekin.pipeline._JOB_PAGES", 20)
    interrupt(tmp_path, "checksums")
    source = write_jsonl(tmp_path / "pages.jsonl", [page("http://a.example/", "<p>all is new"), *generated(10)])
    resumed = build([source], tmp_path / "test.kin", processes=1)
    assert (resumed.read, resumed.reused) == (11, 0)
    assert_same_store(assert_sound(tmp_path / "test.kin"), build([source], tmp_path / "fresh.kin", processes=1).store)


def test_skips_of_a_build_that_broke_off_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekin.pipeline._JOB_PAGES", 20)
    interrupt(tmp_path, "checksums", [*generated(30), page("http://a.example/", " "), *generated(30, start=30)])
    resumed = build([tmp_path / "pages.jsonl"], tmp_path / "test.kin", processes=1)
    assert resumed.store.manifest.skipped == {"empty page": 1}
    assert_same_store(resumed.store, build([tmp_path / "pages.jsonl"], tmp_path / "fresh.kin", processes=1).store)
