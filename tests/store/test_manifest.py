"""The manifest alone makes a store; whatever happens to a file is found."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest

from benchmarks.hostile import seal
from pagekin.errors import FailureError, MisuseError, PagekinError, StoreError
from pagekin.pipeline import build
from pagekin.store.manifest import damaged_files, locked_folder, read_manifest
from pagekin.store.store import Store
from store.builders import assert_same_store, assert_sound, page, store_of, write_jsonl

ROWS = [
    page("http://a.example/1", '<html lang=en><title>One</title><p>one. <a href="2">two</a> <a href="/far">far</a>', 1),
    page("http://a.example/2", '<link rel=canonical href="http://b.example/"><p>two <a href="1">one</a>', 2),
    page("http://a.example/3", '<meta http-equiv=refresh content="0; url=1">', 3),
    page("http://a.example/1", "<p>older", 0),
]


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("pristine"), *ROWS).root


@pytest.fixture
def root(pristine: Path, tmp_path: Path) -> Path:
    """A store to be damaged."""
    return Path(shutil.copytree(pristine, tmp_path / "test.kin"))


def names(root: Path) -> list[str]:
    return sorted(read_manifest(root).all_files())


def test_the_manifest_names_every_file_with_its_size(root: Path) -> None:
    store = assert_sound(root)
    assert {path.name: path.stat().st_size for path in store.folder.iterdir()} == {
        name: facts["bytes"] for name, facts in store.manifest.files.items()
    }
    assert len(names(root)) > 50


def test_every_file_that_is_missing_is_found(root: Path) -> None:
    for name in names(root):
        path = root / name
        kept = path.read_bytes()
        path.unlink()
        assert damaged_files(root, read_manifest(root)) == [(name, "is missing")]
        path.write_bytes(kept)
    assert_sound(root)


def test_every_file_that_is_cut_or_grown_is_found(root: Path) -> None:
    for name in names(root):
        path = root / name
        kept = path.read_bytes()
        for changed in (b"", kept[: len(kept) // 2], kept[:-1], kept + b"\0"):
            path.write_bytes(changed)
            assert [found for found, _ in damaged_files(root, read_manifest(root))] == [name]
        path.write_bytes(kept)
    assert_sound(root)


def test_every_flipped_byte_is_found(root: Path) -> None:
    for name in names(root):
        path = root / name
        kept = path.read_bytes()
        for offset in {0, 7, len(kept) // 3, len(kept) // 2, len(kept) - 1}:
            flipped = bytearray(kept)
            flipped[offset] ^= 0x20
            path.write_bytes(flipped)
            assert damaged_files(root, read_manifest(root)) == [(name, "does not match its checksum")]
        path.write_bytes(kept)
    assert_sound(root)


def test_a_file_cut_in_half_or_missing_is_told_when_the_store_is_used(root: Path) -> None:
    def use() -> None:
        store = Store.open(root)
        for row in range(len(store)):
            store.text(row)
            store.hrefs(row)
            store.links_to(row, 9)
            store.anchor_texts(store.page(row)["node"])
        assert len(store.words) == len(set(store.word_of_form.tolist()))
        assert len(store.form_counts)
        store.catalog.titled("one", 3)
        store.close()

    use()
    for name in sorted(name for name in names(root) if name.startswith("store-") and "words.count" not in name):
        path = root / name
        kept = path.read_bytes()
        for changed in (None, kept[: len(kept) // 2]):
            path.unlink()
            if changed is not None:
                path.write_bytes(changed)
            with pytest.raises(StoreError, match="build the store again"):
                use()
            path.write_bytes(kept)


def test_what_is_no_store_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="no such folder"):
        Store.open(tmp_path / "nothing.kin")
    with pytest.raises(MisuseError, match="no store"):
        Store.open(tmp_path)
    (tmp_path / "file.kin").write_text("a file")
    with pytest.raises(MisuseError, match="no store"):
        Store.open(tmp_path / "file.kin")


def test_a_store_of_another_version_is_told_apart(root: Path) -> None:
    data = json.loads((root / "manifest.json").read_text())
    (root / "manifest.json").write_text(json.dumps({**data, "version": 99}))
    with pytest.raises(StoreError, match="format version 99, this pagekin reads version 3"):
        Store.open(root)
    (root / "manifest.json").write_text(json.dumps({**data, "format": "another thing"}))
    with pytest.raises(MisuseError, match="another program"):
        Store.open(root)


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "{}", '"x"', '{"format": "pagekin store"}', "\0" * 100])
def test_a_damaged_manifest_is_told(root: Path, text: str) -> None:
    (root / "manifest.json").write_text(text)
    with pytest.raises(StoreError, match=r"manifest\.json is damaged"):
        Store.open(root)


def test_a_manifest_cut_anywhere_is_damaged(root: Path) -> None:
    whole = (root / "manifest.json").read_bytes()
    for length in range(0, len(whole) - 2, 97):
        (root / "manifest.json").write_bytes(whole[:length])
        with pytest.raises(StoreError, match="damaged"):
            Store.open(root)


def test_a_flipped_byte_in_the_manifest_is_an_error_of_ours_or_harmless(root: Path) -> None:
    whole = (root / "manifest.json").read_bytes()
    names_of_counts = whole.index(b'"counts"')
    surprises = {}
    for offset in [*range(names_of_counts, names_of_counts + 60), *range(0, len(whole), 41)]:
        flipped = bytearray(whole)
        flipped[offset] ^= 0x01
        (root / "manifest.json").write_bytes(flipped)
        try:
            store = Store.open(root)
            damaged_files(root, store.manifest)
            assert len(store) >= 0
            assert store.settings.max_links >= 1
        except PagekinError:
            continue
        except Exception as error:
            number = whole[: offset + 1].count(b"\n")
            surprises[whole.split(b"\n")[number].decode().strip()] = repr(error)
    assert surprises == {}


# --- and build it again --------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "pages.jsonl", ROWS)


@pytest.mark.parametrize("what", ["missing", "cut", "flipped"])
def test_building_again_mends_a_damaged_file(tmp_path: Path, source: Path, what: str) -> None:
    """`check` and every StoreError say "build it again": then building must help, though no source has changed."""
    root = tmp_path / "mended.kin"
    build([source], root, processes=1)
    path = Store.open(root).folder / "tokens.form.npy"
    kept = path.read_bytes()
    path.unlink()
    if what != "missing":
        path.write_bytes(kept[:-1] if what == "cut" else kept[:-1] + bytes([kept[-1] ^ 1]))
    build([source], root, processes=1)
    assert_same_store(assert_sound(root), build([source], tmp_path / "fresh.kin", processes=1).store)


def test_building_again_mends_a_damaged_store_when_a_source_has_changed(tmp_path: Path, source: Path) -> None:
    root = tmp_path / "mended.kin"
    build([source], root, processes=1)
    (Store.open(root).folder / "tokens.form.npy").unlink()
    write_jsonl(source, [*ROWS, page("http://c.example/", "<p>one more")])
    build([source], root, processes=1)
    assert_same_store(assert_sound(root), build([source], tmp_path / "fresh.kin", processes=1).store)


@pytest.mark.parametrize("change", ["DELETE FROM pages WHERE row = 1", "UPDATE nodes SET node = 900 WHERE node = 1"])
def test_building_again_mends_a_catalogue_with_other_rows(tmp_path: Path, source: Path, change: str) -> None:
    """Its rows are not copied, even if its checksum is right."""
    root = tmp_path / "mended.kin"
    build([source], root, processes=1)
    catalog = Store.open(root).folder / "catalog.sqlite"
    with closing(sqlite3.connect(catalog)) as connection, connection:
        connection.execute(change)
    seal(root, catalog.relative_to(root))
    write_jsonl(source, [*ROWS, page("http://c.example/", "<p>one more")])
    build([source], root, processes=1)
    assert_same_store(assert_sound(root), build([source], tmp_path / "fresh.kin", processes=1).store)


@pytest.mark.parametrize("text", ["{", '{"format": "pagekin store", "version": 99}'])
def test_building_again_replaces_a_store_whose_manifest_cannot_be_read(tmp_path: Path, source: Path, text: str) -> None:
    root = tmp_path / "mended.kin"
    build([source], root, processes=1)
    (root / "manifest.json").write_text(text)
    build([source], root, processes=1)
    assert_same_store(assert_sound(root), build([source], tmp_path / "fresh.kin", processes=1).store)


def test_a_manifest_that_cannot_be_read_at_the_moment_is_not_replaced(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may name answers, vectors and more pages than the sources have now."""
    root = tmp_path / "kept.kin"
    build([source], root, processes=1)
    before = (root / "manifest.json").read_bytes()
    with monkeypatch.context() as patch, pytest.raises(FailureError, match=r"manifest.json cannot be read: Too many"):
        patch.setattr(Path, "read_text", lambda *_, **__: fail_with(OSError(errno.EMFILE, "Too many open files")))
        build([source], root, processes=1)
    assert (root / "manifest.json").read_bytes() == before


def fail_with(error: Exception) -> NoReturn:
    raise error


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.EWOULDBLOCK, "another build is writing"),
        (errno.ENOLCK, "lock cannot be locked: No locks available; build on"),
    ],
)
def test_a_disk_without_locks_is_not_another_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, told: str
) -> None:
    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("pagekin.store.manifest._lock", refuse)
    with pytest.raises(StoreError, match=told), locked_folder(tmp_path / "a.kin"):
        pass
