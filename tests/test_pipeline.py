"""The whole way: the same bytes however it is gone, and only what has changed is read."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

import pagekin
from pagekin import sample_web
from pagekin.duplicates import chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.engines.local import WorkerPool
from pagekin.errors import MisuseError, SourceError, StoreError
from pagekin.model.capture import ReadingSettings
from pagekin.model.progress import Progress
from pagekin.model.strategy import PRESETS, Strategy
from pagekin.pipeline import build
from pagekin.store.store import Store
from robustness.forking import in_a_fork
from store.builders import (
    Record,
    aliases_of,
    assert_same_store,
    assert_sound,
    built_of,
    files_of,
    generated,
    letters,
    page,
    store_of,
    urls_of,
    write_jsonl,
)
from store.builders import write_warc as write_records
from tools.sample_web import write_folder, write_wacz

# --- the same bytes ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A folder, two archives of the same pages, and JSON lines: many captures of one URL, and many at one second."""
    folder = tmp_path_factory.mktemp("sources")
    return [
        write_folder(folder / "web"),
        sample_web.copy_to(folder),
        write_wacz(folder / "sample_web.wacz"),
        write_jsonl(folder / "many.jsonl", [*generated(150), *generated(20)]),
    ]


@pytest.fixture(scope="module")
def alone(sources: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Store:
    """What one process makes of the sources, all in one batch."""
    return build(sources, tmp_path_factory.mktemp("alone") / "test.kin", base_urls=["http://"], processes=1).store


@pytest.mark.slow
@pytest.mark.parametrize("pool", [WorkerPool(1), WorkerPool(3), WorkerPool(2, processes=True)])
def test_the_bytes_do_not_depend_on_who_reads_nor_on_batches(
    sources: list[Path], alone: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: WorkerPool
) -> None:
    monkeypatch.setattr("pagekin.pipeline.reading._JOB_PAGES", 60)
    monkeypatch.setattr("pagekin.pipeline.reading._READ_AGAIN", 100_000)
    monkeypatch.setattr("pagekin.pipeline.building._WORK_FOR_PROCESSES", 0 if pool.processes else 1 << 60)
    built = build(sources, tmp_path / "test.kin", base_urls=["http://"], processes=pool.workers)
    assert_same_store(built.store, alone)
    assert (built.changed, built.reused) == (True, 0)
    assert_sound(tmp_path / "test.kin")
    there = sorted(path.name for path in (tmp_path / "test.kin").iterdir())
    assert there == ["index-1", "lock", "manifest.json", "store-1"]


def test_the_bytes_do_not_depend_on_the_order_of_sources(sources: list[Path], alone: Store, tmp_path: Path) -> None:
    for k, order in enumerate([sources[::-1], [sources[2], sources[0], sources[3], sources[1]]]):
        assert_same_store(build(order, tmp_path / f"{k}.kin", base_urls=["http://"], processes=1).store, alone)


@pytest.mark.slow
def test_the_bytes_do_not_depend_on_hash_seed_time_zone_or_working_directory(
    sources: list[Path], alone: Store, tmp_path: Path
) -> None:
    program = "import sys; from pagekin.pipeline import build; build(sys.argv[2:], sys.argv[1], base_urls=['http://'])"
    names = [source.name for source in sources]
    subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "test.kin"), *names],
        check=True,
        cwd=sources[0].parent,
        env={**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Asia/Tokyo"},
        timeout=600,
    )
    assert_same_store(tmp_path / "test.kin", alone)


# --- only what has changed -----------------------------------------------------------------------


@dataclass
class Web:
    """A folder of five pages, an archive of three and JSON lines of three, and room for changes."""

    folder: Path
    sources: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pages = self.folder / "web"
        self.pages.mkdir()
        for k in range(5):
            self.write(f"page{k}.html", f"<title>Page {k}</title><p>page {k} <a href=page{k + 1}.html>next</a>")
        self.archive = write_records(
            self.folder / "archive.warc.gz",
            [Record(f"http://arc.example/{k}", f"2020-01-0{k + 1}T00:00:00Z", f"<p>record {k}") for k in range(3)],
        )
        self.lines = write_jsonl(self.folder / "lines.jsonl", [page(f"http://l.example/{k}", "<p>x") for k in range(3)])
        self.sources = [self.pages, self.archive, self.lines]

    def write(self, name: str, html: str, modified: int = 1_500_000_000) -> Path:
        path = self.pages / name
        path.write_text(html, "utf-8")
        os.utime(path, (modified, modified))
        return path

    def build(self, name: str = "test.kin") -> pagekin.pipeline.Built:
        return build(self.sources, self.folder / name, base_urls=["http://web.example/"], processes=1)

    def assert_as_fresh(self) -> None:
        """The store equals one that was built in one go."""
        shutil.rmtree(self.folder / "fresh.kin", ignore_errors=True)
        assert_same_store(assert_sound(self.folder / "test.kin"), self.build("fresh.kin").store)


@pytest.fixture
def web(tmp_path: Path) -> Web:
    return Web(tmp_path)


def edit(web: Web) -> None:
    web.write("page2.html", "<title>Page 2</title><p>page 2, now with other words", 1_600_000_000)


def edit_without_a_change_of_size(web: Web) -> None:
    web.write("page2.html", (web.pages / "page2.html").read_text().replace("next", "text"), 1_500_000_001)


def add(web: Web) -> None:
    web.write("more/new.html", "<p>a new page")


def delete(web: Web) -> None:
    (web.pages / "page3.html").unlink()


def rename(web: Web) -> None:
    (web.pages / "page3.html").rename(web.pages / "page7.html")


def add_archive(web: Web) -> None:
    record = Record("http://arc.example/new", "2020-01-01T00:00:00Z", "<p>new <a href=0>link</a>")
    web.sources.append(write_records(web.folder / "b.warc.gz", [record]))


def remove_archive(web: Web) -> None:
    web.sources.remove(web.archive)


def remove_folder(web: Web) -> None:
    web.sources.remove(web.pages)
    web.sources.append(write_jsonl(web.folder / "m.jsonl", [page("http://web.example/m", "<p>so that bases are used")]))


def change_lines(web: Web) -> None:
    write_jsonl(web.lines, [page(f"http://l.example/{k}", "<p>other") for k in range(4)])


# what is done -> (pages read, pages taken over) in the build that follows
CHANGES: dict[Callable[[Web], None], tuple[int, int]] = {
    edit: (1, 10),
    edit_without_a_change_of_size: (1, 10),
    add: (1, 11),
    delete: (0, 10),
    rename: (1, 10),
    add_archive: (1, 11),
    remove_archive: (0, 8),
    change_lines: (4, 8),
}


@pytest.mark.parametrize(("change", "counts"), CHANGES.items(), ids=[change.__name__ for change in CHANGES])
def test_after_a_change_only_what_changed_is_read_and_the_store_is_as_if_new(
    web: Web, change: Callable[[Web], None], counts: tuple[int, int]
) -> None:
    (web.pages / "more").mkdir()
    first = web.build()
    assert (first.read, first.reused, first.changed) == (11, 0, True)
    change(web)
    second = web.build()
    assert (second.read, second.reused, second.changed) == (*counts, True)
    assert second.store.manifest.generation == 2
    web.assert_as_fresh()


def test_many_changes_one_after_the_other_leave_the_store_as_if_new(web: Web) -> None:
    (web.pages / "more").mkdir()
    web.build()
    for change in CHANGES:
        change(web) if change is not rename else None
        web.build()
        web.assert_as_fresh()


def any_page(random: Random) -> str:
    """A page that may share its words, its template, the end of its title and the targets of its links with others."""
    words = [" ".join(random.choices("oak Oak elm ELM ash Ulme fir yew".split(), k=random.randrange(6))) for _ in "123"]
    targets = [f"page{random.randrange(15)}.html", f"http://x.example/{random.randrange(6)}"]
    links = [f"<a href={random.choice(targets)}>{random.choice(words)}</a>" for _ in range(random.randrange(4))]
    template = random.choice(["<p>Trees of the world", "<p>Trees of the park", ""])
    return f"<title>{words[0]}{random.choice([' - Trees', ''])}</title>{template}<p>{words[1]}<p>{words[2]} {links}"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows", [1, 3])
def test_pages_may_come_change_and_go_in_any_way_and_the_store_is_as_if_new(
    web: Web, monkeypatch: pytest.MonkeyPatch, seed: int, rows: int
) -> None:
    """However few rows of the catalogue are copied together, and however many words have other counts."""
    monkeypatch.setattr("pagekin.store.write._FEWEST_ROWS", rows)
    monkeypatch.setattr("pagekin.store.merge._FEW", 100.0)
    random = Random(seed)
    for change in range(4):
        for k in random.sample(range(15), 5 if change else 12):
            path = web.write(f"page{k:x}.html", any_page(random), 1_600_000_000 + change)
            if random.random() < 0.3:
                path.unlink()
        web.build()
        web.assert_as_fresh()


def test_all_pages_but_a_few_may_go_if_allowed_and_are_not_read_twice(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pagekin.pipeline.reading._READ_AGAIN", 0)
    web.build()
    web.sources = [write_jsonl(web.folder / "few.jsonl", [page("http://l.example/few", "<p>few")])]
    with pytest.raises(SourceError, match="allow_shrink"):
        build(web.sources, web.folder / "test.kin", processes=1)
    shrunk = build(web.sources, web.folder / "test.kin", processes=1, allow_shrink=True)
    assert (shrunk.read, shrunk.reused, len(shrunk.store)) == (0, 1, 1)  # read by the build that was refused
    fresh = build(web.sources, web.folder / "fresh.kin", processes=1)
    assert_same_store(shrunk.store, fresh.store)


def test_without_a_change_nothing_is_touched(web: Web) -> None:
    web.build()
    before = {path: path.stat().st_mtime_ns for path in (web.folder / "test.kin").rglob("*") if path.name != "lock"}
    again = web.build()
    assert (again.read, again.reused, again.changed) == (0, 11, False)
    assert again.store.manifest.generation == 1
    after = {path: path.stat().st_mtime_ns for path in (web.folder / "test.kin").rglob("*") if path.name != "lock"}
    assert after == before


def cut_again(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows whose texts are cut into chunks from now on."""
    rows: list[int] = []
    cut = chunks._cut

    def noting(reading: Any, ignored: Any, settings: Any, some: range) -> Any:
        rows.extend(some)
        return cut(reading, ignored, settings, some)

    monkeypatch.setattr(chunks, "_cut", noting)
    return rows


def test_texts_that_are_as_before_are_not_cut_again(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.build()
    rows = cut_again(monkeypatch)
    web.write("page2a.html", "<p>a page between two others")
    built = web.build()
    assert [built.store.reading.pages.url[row] for row in rows] == ["http://web.example/page2a.html"]
    rows.clear()
    build(web.sources, web.folder / "test.kin", base_urls=["http://web.example/"], strategy=PRESETS["fast"])
    assert rows == []


def test_texts_are_cut_again_where_a_block_becomes_a_template(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    for k in range(3):
        web.write(f"same{k}.html", f"<div>The same menu of all pages</div><p>{letters(k)} has words of its own")
    for k in range(5):
        (web.pages / f"page{k}.html").unlink()
    web.build()
    rows = cut_again(monkeypatch)
    web.write("same3.html", "<div>The same menu of all pages</div><p>the fourth makes a template of it")
    built = web.build()
    cut = [built.store.reading.pages.url[row] for row in rows]
    assert cut == [f"http://web.example/same{k}.html" for k in range(4)]
    monkeypatch.undo()
    web.assert_as_fresh()


def test_chunks_of_an_index_that_cut_texts_otherwise_are_not_used(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("pagekin.pipeline.indexing.GROUPS", GroupSettings(chunk_bytes=64))
        web.build()
    add_archive(web)
    web.build()
    web.assert_as_fresh()


def test_the_old_index_stays_until_the_new_manifest_is_in_place(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.build()
    store = web.folder / "test.kin"
    build(web.sources, store, base_urls=["http://web.example/"], strategy=PRESETS["fast"])  # a second index
    add_archive(web)

    def fail(*_: object) -> None:
        raise StoreError("the manifest cannot be written")

    with monkeypatch.context() as patch, pytest.raises(StoreError, match="cannot be written"):
        patch.setattr("pagekin.store.manifest.write_manifest", fail)
        web.build()
    assert pagekin.open(store).check().damaged == []


@pytest.mark.parametrize("fails", ["reading.write_store", "building.write_index", "indexing.calibrate"])
def test_a_failed_build_leaves_the_index_of_a_store_that_was_indexed_twice(
    web: Web, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """The second index has a higher number than its store, which the next store must not take."""
    root, base_urls = web.folder / "test.kin", ["http://web.example/"]

    def again() -> None:
        build(web.sources, root, base_urls=base_urls, strategy=Strategy(seed=7), processes=1)

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    web.build()
    again()
    before = files_of(root)
    edit(web)
    with monkeypatch.context() as patch, pytest.raises(StoreError, match="Input/output error; what was there before"):
        patch.setattr(f"pagekin.pipeline.{fails}", fail)
        again()
    assert files_of(root) == before
    again()
    assert_sound(root)
    assert not list(root.glob("*-1"))


def test_other_settings_read_everything_again(web: Web) -> None:
    web.build()
    settings = ReadingSettings(max_links=10)
    options = {"base_urls": ["http://web.example/"], "processes": 1, "settings": settings}
    again = build(web.sources, web.folder / "test.kin", **options)  # type: ignore[arg-type]
    assert (again.read, again.reused) == (11, 0)
    assert_same_store(again.store, build(web.sources, web.folder / "fresh.kin", **options).store)  # type: ignore[arg-type]


def test_another_base_url_gives_other_pages(web: Web) -> None:
    web.build()
    again = build(web.sources, web.folder / "test.kin", base_urls=["http://moved.example/"], processes=1)
    assert "http://moved.example/page0.html" in urls_of(again.store)
    assert not any(url.startswith("http://web.example/") for url in urls_of(again.store))


def test_a_page_that_gave_way_to_a_redirect_comes_back_when_the_redirect_goes(web: Web) -> None:
    moved = [
        Record("http://web.example/page4.html", "2020-01-01T00:00:00Z", location="page0.html"),
        Record("http://arc.example/9", "2020-01-01T00:00:00Z", "<p>beside it"),
    ]
    web.sources.append(write_records(web.folder / "redirects.warc.gz", moved))
    with_redirect = web.build()
    assert aliases_of(with_redirect.store) == {
        "http://web.example/page4.html": ("http://web.example/page0.html", "redirect")
    }
    web.sources.pop()
    without = web.build()
    assert aliases_of(without.store) == {}
    assert "http://web.example/page4.html" in urls_of(without.store)
    assert (without.read, without.reused) == (1, 10)
    web.assert_as_fresh()


def test_redirects_of_an_archive_that_is_not_read_again_still_hold(web: Web) -> None:
    record = Record("http://web.example/old.html", "2020-01-01T00:00:00Z", location="page0.html")
    web.sources.append(write_records(web.folder / "redirects.warc.gz", [record]))
    web.build()
    edit(web)
    assert list(aliases_of(web.build().store)) == ["http://web.example/old.html"]
    web.assert_as_fresh()


def test_an_older_capture_comes_back_when_the_newer_one_goes(web: Web) -> None:
    newer = Record("http://arc.example/1", "2021-01-01T00:00:00Z", "<p>newer words")
    web.sources.append(write_records(web.folder / "newer.warc.gz", [newer]))
    built = web.build()
    assert built.store.text(built.store.find("http://arc.example/1")) == "newer words"
    web.sources.pop()
    built = web.build()
    assert built.store.text(built.store.find("http://arc.example/1")) == "record 1"
    web.assert_as_fresh()


def test_a_capture_that_lost_is_not_read_again(web: Web) -> None:
    """What was read before and has not changed is not read again; a series of crawls holds mostly such captures."""
    newer = Record("http://arc.example/1", "2021-01-01T00:00:00Z", "<p>newer words")
    web.sources.append(write_records(web.folder / "newer.warc.gz", [newer]))
    web.build()
    edit(web)
    assert web.build().read == 1
    web.assert_as_fresh()


def test_skips_of_what_is_not_read_again_are_still_told(web: Web) -> None:
    (web.pages / "note.txt").write_text("no page")
    web.write("empty.html", " ")
    web.sources.append(write_jsonl(web.folder / "bad.jsonl", [{"url": "ftp://x/", "html": ""}, {"no": "url"}]))
    first = web.build().store.manifest.skipped
    assert first == {
        "not HTML": 1,
        "empty page": 1,
        "no http or https URL": 1,
        "line without url, or without html and text": 1,
    }
    edit(web)
    assert web.build().store.manifest.skipped == first
    web.assert_as_fresh()


# --- revisits: records whose words stand in another archive ---------------------------------------

BODY = "<p>the words of a page that did not change"


def revisits(folder: Path) -> dict[str, Path]:
    x, y = "http://arc.example/x", "http://arc.example/y"
    archives = {
        "first": [Record(x, "2019-01-01T00:00:00Z", BODY)],
        "again": [
            Record(y, "2020-01-01T00:00:00Z", "<p>beside it"),
            Record(x, "2020-01-02T00:00:00Z", BODY, again=True),
        ],
        "later": [Record(x, "2021-01-01T00:00:00Z", BODY, again=True)],
    }
    return {name: write_records(folder / f"{name}.warc.gz", records) for name, records in archives.items()}


@pytest.mark.parametrize(
    ("before", "after", "captured"),
    [
        ("again", "again first", 1577923200),
        ("first", "again first", 1577923200),
        ("again first", "first", 1546300800),
        ("again first later", "again first", 1577923200),
        ("again first", "again first later", 1609459200),
        ("first later", "again first later", 1609459200),
    ],
)
def test_a_revisit_finds_its_words_whenever_they_are_there(
    tmp_path: Path, before: str, after: str, captured: int
) -> None:
    archives = revisits(tmp_path)
    build([archives[name] for name in before.split()], tmp_path / "test.kin", processes=1)
    store = build([archives[name] for name in after.split()], tmp_path / "test.kin", processes=1).store
    row = store.find("http://arc.example/x")
    assert (store.text(row), store.page(row)["captured"]) == (BODY.removeprefix("<p>"), captured)
    fresh = build([archives[name] for name in after.split()], tmp_path / "fresh.kin", processes=1).store
    assert_same_store(store, fresh)


# --- many batches, few open files ------------------------------------------------------------------

FEW = 192


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, and a limit to set")
def test_a_build_needs_few_open_files_however_many_batches_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a first build nor one that takes pages from an old store; the files of all batches are more."""
    import resource

    monkeypatch.setattr("pagekin.pipeline.reading._JOB_PAGES", 1)
    monkeypatch.setattr("pagekin.pipeline.reading._READ_AGAIN", 0)
    lines = [
        write_jsonl(tmp_path / "a.jsonl", generated(150)),
        write_jsonl(tmp_path / "b.jsonl", generated(150, 5, 150)),
    ]

    def frugal(sources: list[Path], counts: tuple[int, int]) -> None:
        most = FEW + max(int(each.name) for each in Path("/dev/fd").iterdir())  # a fork has the open files of the tests
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        built = build(sources, tmp_path / "test.kin", processes=1)
        assert (built.read, built.reused) == counts

    assert in_a_fork(lambda: frugal(lines[:1], (150, 0))) == (0, "")
    assert in_a_fork(lambda: frugal(lines, (150, 150))) == (0, "")
    assert_same_store(tmp_path / "test.kin", build(lines, tmp_path / "whole.kin", processes=1).store)


# --- where a store may be written -----------------------------------------------------------------


def listing(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_output_that_is_a_file_is_misuse_and_left_alone(web: Web) -> None:
    (web.folder / "test.kin").write_text("my diary")
    with pytest.raises(MisuseError, match="is a file"):
        web.build()
    assert (web.folder / "test.kin").read_text() == "my diary"


def test_an_output_that_holds_other_things_is_misuse_and_left_alone(web: Web) -> None:
    (web.folder / "test.kin").mkdir()
    (web.folder / "test.kin" / "diary.txt").write_text("my diary")
    before = listing(web.folder)
    with pytest.raises(MisuseError, match=r"other files \(diary\.txt\)"):
        web.build()
    assert listing(web.folder) == before


def test_an_empty_folder_may_become_a_store(web: Web) -> None:
    (web.folder / "test.kin").mkdir()
    assert len(web.build().store) == 11


def test_folders_above_the_store_are_made(web: Web) -> None:
    assert len(web.build("deep/down/test.kin").store) == 11


def test_misuse_makes_no_folder(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "pages.jsonl", generated(1))
    with pytest.raises(MisuseError, match="does not exist"):
        build([tmp_path / "nothing.warc"], tmp_path / "test.kin")
    with pytest.raises(MisuseError, match="no source"):
        build([], tmp_path / "test.kin")
    with pytest.raises(MisuseError, match="at least 1"):
        build([source], tmp_path / "test.kin", processes=0)
    assert not (tmp_path / "test.kin").exists()


def test_a_second_build_at_the_same_time_is_turned_away(tmp_path: Path) -> None:
    refusals: list[str] = []

    def meddle(progress: Progress) -> None:
        if progress.stage == "checksums":
            with pytest.raises(StoreError) as refusal:
                store_of(tmp_path, *generated(3))
            refusals.append(str(refusal.value))

    rows = generated(5)
    built = built_of(tmp_path, *rows, progress=meddle)
    assert refusals == [f"another build is writing {tmp_path / 'test.kin'}; wait until it ends"]
    assert len(assert_sound(tmp_path / "test.kin")) == len(built.store) == 5


@pytest.mark.slow
def test_a_second_process_is_turned_away_too(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "pages.jsonl", generated(3))
    program = "import sys; from pagekin.cli.main import main; main()"
    answers = []

    def meddle(progress: Progress) -> None:
        if progress.stage == "checksums":
            command = [sys.executable, "-c", program, "build", str(source), "-o", str(tmp_path / "test.kin")]
            answers.append(subprocess.run(command, capture_output=True, text=True, timeout=600))

    build([source], tmp_path / "test.kin", processes=1, progress=meddle)
    assert answers[0].returncode == 1
    assert answers[0].stderr == f"pagekin: another build is writing {tmp_path / 'test.kin'}; wait until it ends\n"


# --- and the rest --------------------------------------------------------------------------------


def test_progress_goes_from_nothing_to_all(tmp_path: Path) -> None:
    seen: list[Progress] = []
    built_of(tmp_path, *generated(20), progress=seen.append)
    reading = [progress for progress in seen if progress.stage == "reading"]
    assert reading[0].done == 0
    assert [progress.done for progress in reading] == sorted(progress.done for progress in reading)
    assert all(progress.done <= progress.total for progress in reading)
    stages = list(dict.fromkeys(progress.stage for progress in seen))
    assert (stages[0], stages[-1]) == ("reading", "checksums")


def test_the_package_builds_and_opens(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "pages.jsonl", generated(2))
    built = pagekin.build([str(source)], str(tmp_path / "test.kin"), settings=pagekin.ReadingSettings(max_links=5))
    assert len(pagekin.open(tmp_path / "test.kin")) == len(built) == 2
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        getattr(pagekin, "nonsense")  # noqa: B009


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every file name is Unicode")
def test_a_file_name_may_be_any_bytes(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path / "web")
    Path(os.fsdecode(folder)).mkdir()
    Path(os.fsdecode(folder + b"/caf\xe9.html")).write_text("<p>a page")
    Path(os.fsdecode(folder + b"/plain.html")).write_text("<p><a href='caf%E9.html'>link</a>")
    Path(os.fsdecode(folder + b"/\xff.png")).write_text("no page")
    options = {"base_urls": ["http://a.example/"], "processes": 1}
    first = build([tmp_path / "web"], tmp_path / "test.kin", **options)  # type: ignore[arg-type]
    assert urls_of(first.store) == ["http://a.example/caf%E9.html", "http://a.example/plain.html"]
    assert first.store.page(0)["in_degree"] == 1
    assert first.store.manifest.skipped == {"not HTML": 1}
    (tmp_path / "web" / "more.html").write_text("<p>more")
    assert build([tmp_path / "web"], tmp_path / "test.kin", **options).read == 1  # type: ignore[arg-type]
