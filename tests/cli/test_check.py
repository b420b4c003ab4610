"""`pagekin check`: exit code 0 for a sound store, 1 for a damaged one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cli.conftest import Pagekin
from pagekin.store.store import Store


@pytest.fixture
def copy(library: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(library, tmp_path / "copy.kin"))


def test_a_sound_store_is_told_so(pagekin: Pagekin, copy: Path) -> None:
    files = len(list(copy.glob("*-1/*")))
    assert pagekin("check", "copy.kin") == (0, f"copy.kin: all {files} files are as they were written.\n", "")
    assert json.loads(pagekin("check", copy, "--json").out) == {"files": files, "damaged": []}


def test_a_damaged_store_is_told_so(pagekin: Pagekin, copy: Path) -> None:
    folder = Store.open(copy).folder
    (folder / "catalog.sqlite").unlink()
    tokens = folder / "tokens.form.npy"
    tokens.write_bytes(tokens.read_bytes()[:-1])
    answer = pagekin("check", copy)
    assert answer.code == 1
    assert answer.out.splitlines()[0] == f"{copy} is damaged; build it again:"
    assert [line.split()[0] for line in answer.out.splitlines()[1:]] == [
        "store-1/catalog.sqlite",
        "store-1/tokens.form.npy",
    ]
    report = pagekin("check", copy, "--json")
    assert report.code == 1
    damaged = json.loads(report.out)["damaged"]
    assert [set(each) for each in damaged] == [{"file", "problem"}] * 2
    assert damaged[0] == {"file": "store-1/catalog.sqlite", "problem": "is missing"}


def test_a_store_of_another_version_is_a_failure(pagekin: Pagekin, copy: Path) -> None:
    manifest = copy / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "version": 99}))
    answer = pagekin("check", copy)
    assert (answer.code, answer.out) == (1, "")
    assert "format version 99" in answer.err


@pytest.mark.parametrize("name", ["bytes", "sha256", "pages", "max_links", "generation", "files"])
def test_a_damaged_manifest_is_a_sentence_and_not_a_traceback(pagekin: Pagekin, copy: Path, name: str) -> None:
    manifest = copy / "manifest.json"
    manifest.write_text(manifest.read_text().replace(f'"{name}"', f'"not {name}"'))
    assert pagekin("check", copy).code == 1 or name in ("pages", "max_links")
    assert pagekin("info", copy).code in (0, 1)
    assert pagekin("show", copy, "robin").code in (0, 1)


def test_a_damaged_store_is_a_sentence_and_not_a_traceback(pagekin: Pagekin, copy: Path) -> None:
    for path in Store.open(copy).folder.iterdir():
        kept = path.read_bytes()
        path.write_bytes(kept[: len(kept) // 2])
        for command in (["info", copy], ["show", copy, "robin"], ["show", copy, "robin", "--text"]):
            assert pagekin(*command).code in (0, 1)
        path.write_bytes(kept)
