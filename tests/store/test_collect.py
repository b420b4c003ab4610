"""Batches that a killed build leaves: used if they are whole and were read in the same way, else removed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from pagekin.errors import StoreError
from pagekin.model.capture import Capture, Origin, ReadingSettings, Skip, SkipKind
from pagekin.model.progress import Progress
from pagekin.pipeline import build
from pagekin.reading.batch import read_captures
from pagekin.store.collect import Readings, Spool, load_batch, write_batch
from store.builders import Row, assert_same_store, assert_sound, generated, letters, page, write_jsonl

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
    (again,) = Readings(Spool(spool.folder, WAY).open())
    assert list(again.forms) == list(reading.forms)
    assert again.skips == reading.skips


@pytest.mark.parametrize("kind", SkipKind)
def test_a_skip_keeps_its_kind(spool: Spool, kind: SkipKind) -> None:
    spool.open()
    place, skips = next(spool.places()), [Skip("a.jsonl", "empty page", "line 1", 2, kind)]
    write_batch(place, replace(read_captures([], ReadingSettings()), skips=skips), WAY)
    assert load_batch(place).skips == skips
    assert load_batch(place).skips[0].kind is kind


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


HARMS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut in its header": lambda data: data[:100],
    "cut in a column": lambda data: data[: len(data) // 2],
    "cut by a byte": lambda data: data[:-1],
    "longer by a byte": lambda data: data + b"\0",
    "flipped in its header": lambda data: flipped(data, 20),
    "flipped in a column": lambda data: flipped(data, len(data) - 200),
    "flipped in its checksum": lambda data: flipped(data, len(data) - 1),
    "all zero": lambda data: bytes(len(data)),
    "of another program": lambda data: b"\x7fELF" + bytes(1000),
    "of another program, with a checksum": lambda data: checked(b"GIF89a" + bytes(1000)),
    "without columns": lambda data: checked(headed({"fingerprint": WAY, "skips": [], "columns": {}})),
    "without fingerprint and skips": lambda data: checked(headed({"columns": {}})),
    "of columns that lie outside": lambda data: checked(
        headed({"fingerprint": WAY, "skips": [], "columns": {"forms.data": ["|u1", [9999]]}})
    ),
}


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def checked(data: bytes) -> bytes:
    return data + sha256(data).digest()


def headed(header: object) -> bytes:
    return json.dumps(header).encode() + b"\n"


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_batch_that_is_not_whole_is_removed(spool: Spool, harm: Callable[[bytes], bytes]) -> None:
    spool.open()
    place = next(spool.places())
    write(place, "<p>one two three")
    assert Spool(spool.folder, WAY).open() == [place]
    place.write_bytes(harm(place.read_bytes()))
    assert Spool(spool.folder, WAY).open() == []
    assert list(spool.folder.iterdir()) == []


def test_a_batch_that_is_half_written_is_removed(spool: Spool) -> None:
    spool.open()
    place = next(spool.places())
    write(place, "<p>one two three")
    place.rename(place.with_name(place.name + ".new"))
    assert Spool(spool.folder, WAY).open() == []
    assert list(spool.folder.iterdir()) == []


def test_strangers_in_the_spool_do_no_harm(spool: Spool) -> None:
    spool.open()
    (spool.folder / "a file").write_text("x")
    (spool.folder / "batch-of-biscuits").mkdir()
    (spool.folder / "batch-000007").mkdir()  # as older versions wrote them
    (spool.folder / "batch-000007" / "notes.json").write_text("{}")
    place = next(spool.places())
    write(place, "<p>one")
    assert Spool(spool.folder, WAY).open() == [place]
    assert list(spool.folder.iterdir()) == [place]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc")
def test_few_batches_are_open_at_a_time_however_many_there_are(spool: Spool) -> None:
    spool.open()
    for k, place in zip(range(60), spool.places(), strict=False):
        write(place, f"<p>word{letters(k)}")
    readings = Readings(spool.open())
    before = len(list(Path("/proc/self/fd").iterdir()))
    seen = [list(reading.forms) for reading in readings]
    assert seen == [[f"word{letters(k)}"] for k in range(60)]
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 20


def test_a_batch_that_is_let_go_of_can_still_be_looked_at(spool: Spool) -> None:
    spool.open()
    for k, place in zip(range(60), spool.places(), strict=False):
        write(place, f"<p>word{letters(k)}")
    readings = Readings(spool.open())
    first = readings[0]
    for reading in readings:
        assert len(reading) == 1
    assert list(first.forms) == list(readings[0].forms) == ["wordqa"]


def test_a_batch_that_cannot_be_opened_is_told_by_its_name(spool: Spool) -> None:
    spool.open()
    place = next(spool.places())
    with pytest.raises(StoreError, match=r"batch-000000 cannot be read: No such file"):
        load_batch(place)


def test_no_error_in_a_batch_ends_the_list_of_batches(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> None:
        raise IndexError("of a column, not of the list")

    monkeypatch.setattr("pagekin.store.collect.load_batch", fail)
    with pytest.raises(IndexError, match="of a column"):
        list(Readings([spool.folder / "batch-000000"]))


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
    return len(list((tmp_path / "test.kin" / "unfinished").glob("batch-" + "[0-9]" * 6)))


@pytest.mark.parametrize(("stage", "batches"), [("reading", 1), ("sorting links", 3), ("checksums", 3)])
def test_a_build_that_broke_off_is_taken_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, batches: int
) -> None:
    monkeypatch.setattr("pagekin.pipeline._JOB_PAGES", 20)
    monkeypatch.setattr("pagekin.pipeline._READ_AGAIN", 0)
    assert interrupt(tmp_path, stage) == batches
    assert not (tmp_path / "test.kin" / "manifest.json").exists()
    resumed = build([tmp_path / "pages.jsonl"], tmp_path / "test.kin", processes=1)
    assert (resumed.read, resumed.reused) == (60 - 20 * batches, 20 * batches)
    assert not (tmp_path / "test.kin" / "unfinished").exists()
    assert_same_store(resumed.store, build([tmp_path / "pages.jsonl"], tmp_path / "fresh.kin", processes=1).store)


@pytest.mark.parametrize("in_memory", [1, 10_000_000])
def test_the_first_batches_of_a_build_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: int
) -> None:
    monkeypatch.setattr("pagekin.pipeline._JOB_PAGES", 20)
    monkeypatch.setattr("pagekin.pipeline._READ_AGAIN", in_memory)
    written = interrupt(tmp_path, "checksums")
    assert written == (2 if in_memory == 1 else 0)
    resumed = build([tmp_path / "pages.jsonl"], tmp_path / "test.kin", processes=1)
    assert (resumed.read, resumed.reused) == (60 - 20 * written, 20 * written)
    assert_same_store(resumed.store, build([tmp_path / "pages.jsonl"], tmp_path / "fresh.kin", processes=1).store)


def test_what_changed_since_a_build_broke_off_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekin.pipeline._JOB_PAGES", 20)
    monkeypatch.setattr("pagekin.pipeline._READ_AGAIN", 0)
    interrupt(tmp_path, "checksums")
    source = write_jsonl(tmp_path / "pages.jsonl", [page("http://a.example/", "<p>all is new"), *generated(10)])
    resumed = build([source], tmp_path / "test.kin", processes=1)
    assert (resumed.read, resumed.reused) == (11, 0)
    assert_same_store(assert_sound(tmp_path / "test.kin"), build([source], tmp_path / "fresh.kin", processes=1).store)


def test_skips_of_a_build_that_broke_off_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekin.pipeline._JOB_PAGES", 20)
    monkeypatch.setattr("pagekin.pipeline._READ_AGAIN", 0)
    interrupt(tmp_path, "checksums", [*generated(30), page("http://a.example/", " "), *generated(30, start=30)])
    resumed = build([tmp_path / "pages.jsonl"], tmp_path / "test.kin", processes=1)
    assert resumed.store.manifest.skipped == {"empty page": 1}
    assert_same_store(resumed.store, build([tmp_path / "pages.jsonl"], tmp_path / "fresh.kin", processes=1).store)
