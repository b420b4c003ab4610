"""Files that a user names: written completely or not at all."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import nullcontext
from pathlib import Path

import pytest

from pagekin.errors import FailureError, MisuseError
from pagekin.model.files import open_unpacked, read_bounded, replacing, sync_folder, write_lines, written_whole


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_is_replaced_when_all_of_it_is_written(tmp_path: Path, durable: bool) -> None:
    target = tmp_path / "answers.tsv"
    target.write_text("old")
    with replacing(target, durable=durable) as path:
        path.write_text("new")
        assert target.read_text() == "old"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"answers.tsv": "new"}


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "answers.tsv"
    target.write_text("old")
    with pytest.raises(KeyError), written_whole(target) as path:
        path.write_text("half")
        raise KeyError
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"answers.tsv": "old"}


def test_bytes_are_synced_before_the_name_is_given_and_the_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, seen = tmp_path / "manifest.json", []

    def note(descriptor: int) -> None:
        seen.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), target.exists()))

    monkeypatch.setattr(os, "fsync", note)
    with replacing(target) as path:
        path.write_text("all of it")
    assert (seen, target.read_text()) == ([(False, False), (True, True)], "all of it")


@pytest.mark.parametrize(("error", "raised"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_file_system_that_cannot_sync_folders_is_used_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int, raised: bool
) -> None:
    def fail(_: int) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="error") if raised else nullcontext():
        sync_folder(tmp_path)


def test_a_file_that_cannot_be_written_is_a_failure(tmp_path: Path) -> None:
    target = tmp_path / "none" / "answers.tsv"
    with pytest.raises(FailureError, match=r"answers\.tsv cannot be written: No such file or directory"):
        write_lines(target, ["a"])


def test_files_that_cannot_be_read_are_misuse(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"not gzip")
    with pytest.raises(MisuseError, match=r"a\.gz cannot be read: "), open_unpacked(tmp_path / "a.gz") as file:
        file.read()
    with pytest.raises(MisuseError, match="does not hold weights: it has more than 3 bytes"):
        read_bounded(tmp_path / "a.gz", 3, "weights")
