"""A collection in several shards is the same collection: the same columns and the same answers."""

from __future__ import annotations

import gc
import io
import os
import shutil
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

import pagekin
from pagekin.errors import MisuseError, StoreError
from pagekin.index.shards import INDEX_CUTS
from pagekin.model.capture import ReadingSettings
from pagekin.model.jsons import to_json
from pagekin.pipeline import Built, build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import ServerSettings
from pagekin.store import array_files
from pagekin.store import shards as store_shards
from pagekin.store.columns import MOST_SHARDS, open_array
from pagekin.store.manifest import damaged_files, write_manifest
from pagekin.store.shards import STORE_CUTS
from pagekin.store.store import Store
from robustness.forking import in_a_fork
from store.builders import assert_same_store, assert_sound, generated, letters, page, write_jsonl

PAGES, ANSWERS = 150, 5
NUMBERS = (2, 7, PAGES)
PAGE = "http://host3.example/page3.html"


def built(folder: Path, shards: int | None, pages: int = PAGES, **options: object) -> Built:
    source = folder / "pages.jsonl"
    if not source.exists():
        folder.mkdir(exist_ok=True)
        text = " ".join(letters(7 * k) for k in range(400))
        twins = [page(f"http://twins.example/{k}", f"<title>Twin</title><p>{text}") for k in range(2)]
        write_jsonl(source, [*generated(pages - 2), *twins])
    return build([source], folder / f"{shards}.kin", processes=1, shards=shards, **options)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _short_pieces_are_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are as those of a large store, which are too long to be read into memory."""
    monkeypatch.setattr(array_files, "_SHORT", 0)
    monkeypatch.setattr(array_files, "_SHORT_ARRAY", 0)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stores of the same pages in 1, 2, 7 and as many shards as pages."""
    folder = tmp_path_factory.mktemp("shards")
    for number in (1, *NUMBERS):
        built(folder, number, answers=ANSWERS)
    return folder


def columns(store: Store, folder: Path) -> dict[str, bytes]:
    """All columns of a folder as they were divided or not: type, shape and bytes."""
    found = {}
    for name in {path.stem for path in folder.rglob("*.npy")} - {"shards"}:
        with_type = (np.uint8, np.int8, np.uint16, np.uint32, np.int64, np.uint64, np.float32, np.float64)
        paths = sorted(folder.glob(f"shard-*/{name}.npy"))
        dimensions = np.load(paths[0] if paths else folder / f"{name}.npy", max_header_size=20_000).ndim
        array = open_array(folder, name, with_type, dimensions, below=None)
        if paths:
            pieces = np.concatenate([np.load(path, max_header_size=20_000) for path in paths])
            assert np.array_equal(array, pieces, equal_nan=array.dtype.kind == "f"), name
        found[name] = repr((array.dtype, array.shape)).encode() + array.tobytes()
    return found


def folders(store: Store) -> tuple[Path, Path]:
    return store.folder, store.root / store.manifest.index_folder


@pytest.mark.parametrize("number", NUMBERS)
def test_the_pieces_together_are_the_columns_of_one_shard(home: Path, number: int) -> None:
    one, several = assert_sound(home / "1.kin"), assert_sound(home / f"{number}.kin")
    assert (one.manifest.shards, several.manifest.shards) == (1, number)
    for whole, divided in zip(folders(one), folders(several), strict=True):
        assert columns(one, whole) == columns(several, divided)
        assert len(list(divided.glob("shard-*"))) == number
    assert several.manifest.counts == one.manifest.counts
    IndexedStore.open(several.root).verify()


def test_a_shard_holds_the_rows_of_its_pages(home: Path) -> None:
    """As computed one page at a time from the offsets of the whole columns."""
    one, several = IndexedStore.open(home / "1.kin"), Store.open(home / "7.kin")
    first = [shard * PAGES // 7 for shard in range(8)]
    for whole, divided, cuts in zip(folders(one), folders(several), (STORE_CUTS, INDEX_CUTS), strict=True):
        assert np.load(divided / "shards.npy").tolist() == first
        for name in (path.stem for path in whole.glob("*.npy") if path.stem in cuts):
            rows, cut = np.load(whole / f"{name}.npy"), cuts[name]
            if not cut.order:
                continue
            for number, (begin, end) in enumerate(pairwise(first)):
                last = number == 6
                if cut.offsets:
                    offsets = np.load(whole / f"{cut.offsets}.npy").tolist()
                    begin, end = offsets[begin], offsets[-1] if last else offsets[end]
                piece = np.load(divided / f"shard-{number:04}" / f"{name}.npy", max_header_size=20_000)
                assert np.array_equal(piece, rows[begin : None if last else end]), (name, number)


def test_every_column_that_grows_with_the_pages_is_divided(tmp_path: Path) -> None:
    """Of twice the pages, whole columns are not much larger, except for vocabularies and the list of sources."""
    few, many = (built(tmp_path / str(pages), 1, pages, answers=2) for pages in (200, 400))
    cuts = {*STORE_CUTS, *INDEX_CUTS}
    vocabulary = ("forms", "words", "targets", "terms", "latent.terms", "contents.frequency", "titles.w", "titles.page")
    for before, after in zip(folders(few.store), folders(many.store), strict=True):
        for path in before.glob("*.npy"):
            grown = (after / path.name).stat().st_size > 1.5 * path.stat().st_size
            known = path.stem in cuts or path.stem.startswith(("answers-", "sources", *vocabulary))
            assert known or not grown, path.stem


@pytest.mark.parametrize("number", NUMBERS)
def test_answers_do_not_depend_on_shards(home: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    one, several = pagekin.open(home / "1.kin"), pagekin.open(home / f"{number}.kin")
    for limit in (ANSWERS, 12):  # kept, and searched
        options = RelatedOptions(limit=limit, explain=True)
        for url in list(one.indexed.reading.pages.url)[::10]:
            assert several.indexed.related(url, options) == one.indexed.related(url, options)
    assert several.indexed.kept_answers is not None
    groups = [list(collection.duplicates()) for collection in (one, several)]
    assert groups[0] == groups[1]
    assert groups[0]
    clusters = [to_json(collection.clusters(PAGE)) for collection in (one, several)]
    assert clusters[0] == clusters[1]
    labels = home / "labels.tsv"
    labels.write_text("".join(f"{url}\tA/{k % 3}/{k % 6}\n" for k, url in enumerate(one.indexed.reading.pages.url)))
    systems = [to_json(collection.evaluate(labels, resamples=2).systems) for collection in (one, several)]
    for each in (*systems[0], *systems[1]):
        assert str(home) in each.pop("system")
    assert systems[0] == systems[1]
    html = b"<p>Every page says this and qc comes back"
    assert several.indexed.related_to(html, RelatedOptions()) == one.indexed.related_to(html, RelatedOptions())
    for name, collection in (("one", one), ("several", several)):
        collection.export(home / f"{name}.tsv", limit=7)
    assert (home / "one.tsv").read_bytes() == (home / "several.tsv").read_bytes()
    assert one.check().damaged == several.check().damaged == []


def test_columns_of_hosts_are_divided_too(tmp_path: Path) -> None:
    """The nodes are hosts, and a host may have pages in several shards."""
    settings = ReadingSettings(chop_host=True)
    one, several = (built(tmp_path, shards, 40, settings=settings).store for shards in (1, 11))
    for whole, divided in zip(folders(one), folders(several), strict=True):
        assert columns(one, whole) == columns(several, divided)
    related = [IndexedStore.open(store.root).related("http://host3.example/") for store in (one, several)]
    assert related[0] == related[1]


# --- builds --------------------------------------------------------------------------------------


def test_shards_are_kept_until_another_number_is_asked_for(tmp_path: Path) -> None:
    root, sources = built(tmp_path, 4).store.root, [tmp_path / "pages.jsonl"]
    again = build(sources, root, processes=1)
    assert (again.changed, again.store.manifest.shards) == (False, 4)
    sources.append(write_jsonl(tmp_path / "more.jsonl", generated(30, start=PAGES)))
    more = build(sources, root, processes=1)
    assert (more.read, more.reused, more.store.manifest.shards) == (30, PAGES, 4)
    assert_same_store(root, build(sources, tmp_path / "new.kin", processes=1, shards=4).store)
    other = build(sources, root, processes=1, shards=3)
    assert (other.read, other.reused, other.changed, other.store.manifest.shards) == (0, PAGES + 30, True, 3)
    assert_same_store(root, build(sources, tmp_path / "third.kin", processes=1, shards=3).store)
    whole = build(sources, root, processes=1, shards=1)
    assert (whole.read, whole.store.manifest.shards) == (0, 1)
    assert_same_store(root, build(sources, tmp_path / "whole.kin", processes=1).store)


def test_a_smaller_collection_has_fewer_shards(tmp_path: Path) -> None:
    root = built(tmp_path, 20, 20).store.root
    write_jsonl(tmp_path / "pages.jsonl", generated(12))
    assert build([tmp_path / "pages.jsonl"], root, processes=1).store.manifest.shards == 12


@pytest.mark.parametrize(
    ("shards", "problem"),
    [(0, "0 shards; a store has from 1 to"), (MOST_SHARDS + 1, "from 1 to"), (31, "31 shards of 30 pages; .* most 30")],
)
def test_a_number_of_shards_that_cannot_be_is_told(tmp_path: Path, shards: int, problem: str) -> None:
    before = built(tmp_path, None, 30)
    with pytest.raises(MisuseError, match=problem):
        build([tmp_path / "pages.jsonl"], before.store.root, processes=1, shards=shards)
    assert_sound(before.store.root)
    assert Store.open(before.store.root).manifest == before.store.manifest


def test_another_index_and_other_answers_are_divided_as_the_store_is(tmp_path: Path) -> None:
    root = built(tmp_path, 5).store.root
    assert pagekin.open(root).keep_answers(3).bytes > 0
    assert len(list(root.glob("index-*/shard-*/answers-3.node.npy"))) == 5
    pagekin.open(root).keep_answers(4)
    assert not list(root.glob("index-*/**/answers-3.*"))
    assert_sound(root)
    reindexed = build([tmp_path / "pages.jsonl"], root, processes=1, strategy=pagekin.Strategy(seed=5))
    assert (reindexed.read, reindexed.store.manifest.shards) == (0, 5)
    assert len(list(root.glob("index-*/shard-*/answers-4.node.npy"))) == 5
    assert_sound(root)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize("count", [1, 60, 3 * len(STORE_CUTS) + 1, 3 * len(STORE_CUTS) + 60])
def test_a_build_that_is_killed_while_it_divides_leaves_the_old_index(
    tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = built(tmp_path, 3, 30).store.root
    before = IndexedStore.open(root).related(PAGE)
    write_jsonl(tmp_path / "pages.jsonl", generated(40))
    divided: list[object] = []
    copy_piece = store_shards._copy_piece

    def killed(*given: object) -> None:
        divided.append(given)
        if len(divided) == count:
            os._exit(9)
        copy_piece(*given)  # type: ignore[arg-type]

    def interrupted() -> None:
        monkeypatch.setattr(store_shards, "_copy_piece", killed)
        build([tmp_path / "pages.jsonl"], root, processes=1)

    assert in_a_fork(interrupted) == (9, "")
    assert IndexedStore.open(root).related(PAGE) == before
    assert damaged_files(root, Store.open(root).manifest) == []
    build([tmp_path / "pages.jsonl"], root, processes=1)
    assert_same_store(root, build([tmp_path / "pages.jsonl"], tmp_path / "new.kin", processes=1, shards=3).store)
    assert len(list(root.glob("*-*"))) == 2


# --- serving -------------------------------------------------------------------------------------


def test_a_new_generation_of_shards_is_served_and_the_old_one_is_unmapped(tmp_path: Path) -> None:
    root = built(tmp_path, 6, 60).store.root
    current = CurrentGeneration(root)
    path = f"/api/related?page={PAGE}"
    with TestClient(make_app(current, ServerSettings())) as client:
        assert client.get(path).json() == client.get(path).json()
    maps, mapped = Path("/proc/self/maps"), []
    for pages in (70, 80, 90):
        write_jsonl(tmp_path / "pages.jsonl", generated(pages))
        build([tmp_path / "pages.jsonl"], root, processes=1)
        new = current.open_newer()
        assert new is not None
        old, current.generation = current.generation, new
        assert old.indexed.related(PAGE)
        assert len(new.indexed) == pages
        assert new.indexed.manifest.shards == 6
        old.indexed.close()
        del old, new
        gc.collect()
        mapped.append(len(maps.read_text().splitlines()) if maps.exists() else 0)
    assert mapped[2] < mapped[1] + 40, "mappings of old generations are gone"


# --- damage --------------------------------------------------------------------------------------


def refused(root: Path) -> str:
    """What every way to read a damaged store says."""
    store = IndexedStore.open(root)
    with pytest.raises(StoreError) as raised:
        store.verify()
    assert "\n" not in str(raised.value)
    return str(raised.value)


def packed(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape})
    return file.getvalue() + array.tobytes()


@pytest.mark.parametrize("place", ["store", "index"])
@pytest.mark.parametrize(
    "first",
    [
        [0],
        [0, 1, 2, 3, 4, 5, 6, PAGES],
        [0, 1, 2, 3, 4, 5, 6, 8, PAGES],
        [0, 90, 60, 61, 62, 63, 64, PAGES],
        list(range(5000)),
        [],
    ],
)
def test_ranges_that_cannot_be_are_told(home: Path, tmp_path: Path, place: str, first: list[int]) -> None:
    root = Path(shutil.copytree(home / "7.kin", tmp_path / "7.kin"))
    next(root.glob(f"{place}-*/shards.npy")).write_bytes(packed(np.array(first, np.int64)))
    assert "damaged" in refused(root)


@pytest.mark.parametrize(
    "name",
    ["shard-0000/../../../x.npy", "shard-0000/shard-0001/x.npy", "shard-0000/", "shard-00001/x.npy", "other/x.npy"],
)
def test_a_manifest_names_no_file_outside_of_shards(home: Path, tmp_path: Path, name: str) -> None:
    root = Path(shutil.copytree(home / "2.kin", tmp_path / "2.kin"))
    manifest = Store.open(root).manifest
    write_manifest(root, replace(manifest, files={**manifest.files, name: {"bytes": 1, "sha256": ""}}))
    with pytest.raises(StoreError, match="is damaged"):
        Store.open(root)


def link(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


@pytest.mark.parametrize("file", ["store-1/shard-0003/tokens.form.npy", "index-1/shard-0006/bags.term.npy"])
def test_a_piece_that_is_no_piece_is_told(home: Path, tmp_path: Path, file: str) -> None:
    for number, damage in enumerate(
        (
            Path.unlink,
            lambda path: path.write_bytes(path.read_bytes()[:-4]),
            lambda path: shutil.copy(path.parent.parent / "shard-0001" / path.name, path),
            lambda path: link(path, Path("/dev/null")),
            lambda path: link(path, path.parent),
            lambda path: link(path, path),
            lambda path: shutil.rmtree(path.parent),
        )
    ):
        root = Path(shutil.copytree(home / "7.kin", tmp_path / f"{number}.kin"))
        damage(root / file)  # type: ignore[no-untyped-call]
        assert "damaged" in (said := refused(root)) or "cannot be opened" in said
        assert file.partition("/")[0] in said
        report = pagekin.open(root).check()
        assert file in [name for name, _ in report.damaged]
