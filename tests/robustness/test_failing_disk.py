"""No room, or no right to write: an error that says so, the old index as it was, and no harm to the next build."""

from __future__ import annotations

import errno
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pagekin
from pagekin.errors import StoreError
from pagekin.pipeline import indexing
from pagekin.search.indexed_store import IndexedStore
from robustness.conftest import TwoStores
from robustness.forking import become_nobody, in_a_fork
from store.builders import assert_same_store, assert_sound, files_of

pytestmark = pytest.mark.slow

ASKED = "http://host1.example/page1.html"
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be somebody else")


def answers(root: Path) -> list[tuple[str, float]]:
    indexed = IndexedStore.open(root)
    try:
        return [(each.url, each.similarity) for each in indexed.related(ASKED)]
    finally:
        indexed.close()


def assert_old(root: Path, two_stores: TwoStores) -> None:
    """The old index is as it was, and answers."""
    assert files_of(root) == files_of(two_stores.old)
    assert answers(root) == answers(two_stores.old)


# --- the disk fails at some moment ---------------------------------------------------------------


class Disk:
    """A disk that fails for good from some touch on: a write, a new folder or file, a sync, a change of name."""

    def __init__(self, touches: int, error: int) -> None:
        self.left = touches
        self.error = error

    def touch(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(self.error, os.strerror(self.error))

    def failing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def touching(*arguments: Any, **named: Any) -> Any:
            self.touch()
            return function(*arguments, **named)

        return touching

    def opening(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def opened(file: Any, mode: str = "r", *arguments: Any, **named: Any) -> Any:
            if not set(mode) & set("wax+"):
                return function(file, mode, *arguments, **named)
            self.touch()
            return File(function(file, mode, *arguments, **named), self)

        return opened

    @contextmanager
    def used(self) -> Iterator[None]:
        """All that a build writes goes to this disk, but for the catalogue, which SQLite writes."""
        with pytest.MonkeyPatch.context() as patch:
            for name in ("mkdir", "fsync", "replace", "rename"):
                patch.setattr(os, name, self.failing(getattr(os, name)))
            patch.setattr(io, "open", self.opening(io.open))
            temporary = vars(indexing)["TemporaryFile"]
            patch.setattr(indexing, "TemporaryFile", lambda **named: File(temporary(**named), self))
            yield


class File:
    """A file on that disk."""

    def __init__(self, file: IO[Any], disk: Disk) -> None:
        self._file = file
        self._disk = disk

    def write(self, data: Any) -> int:
        self._disk.touch()
        return self._file.write(data)

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@pytest.fixture(scope="module")
def touches(two_stores: TwoStores, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How often a build touches the disk."""
    root = shutil.copytree(two_stores.old, tmp_path_factory.mktemp("touches") / "test.kin")
    disk = Disk(10**9, errno.ENOSPC)
    with disk.used():
        two_stores.grow(root)
    count = 10**9 - disk.left
    assert count > 300, "then most of its writes are not seen"
    return count - 1  # after the last one, a sync before the old generation is removed, the new one is safe


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(share=st.floats(0.0, 1.0, exclude_max=True), error=st.sampled_from([errno.ENOSPC, errno.EROFS, errno.EIO]))
def test_a_disk_that_fails_at_any_moment_is_told_and_the_old_index_stays(
    two_stores: TwoStores, touches: int, share: float, error: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(shutil.copytree(two_stores.old, Path(folder) / "test.kin"))
        with Disk(int(share * touches), error).used(), pytest.raises(StoreError) as told:
            two_stores.grow(root)
        assert told.value.exit_code == 1
        said = str(told.value)
        if said.startswith(f"the new index of {root} is in place, but not safely on the disk: {os.strerror(error)}"):
            assert_same_store(assert_sound(root), two_stores.new)
        else:
            assert said == f"{root} cannot be written: {os.strerror(error)}; what was there before is untouched"
            assert_old(root, two_stores)
            assert len(list(root.glob("store-*"))) == len(list(root.glob("index-*"))) == 1
        two_stores.grow(root)
        assert_same_store(assert_sound(root), two_stores.new)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(share=st.floats(0.0, 0.999))
def test_files_that_cannot_grow_beyond_any_size_are_told_and_the_old_index_stays(
    two_stores: TwoStores, share: float
) -> None:
    import resource

    largest = max(map(len, files_of(two_stores.new).values()))
    limit = int(largest**share)  # most files are small
    with tempfile.TemporaryDirectory() as folder:
        root = Path(shutil.copytree(two_stores.old, Path(folder) / "test.kin"))
        code, said = in_a_fork(
            lambda: two_stores.grow(root), lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        )
        assert code == 1, said
        assert "cannot be written" in said
        assert_old(root, two_stores)
        two_stores.grow(root)
        assert_same_store(assert_sound(root), two_stores.new)


# --- nobody may write here -----------------------------------------------------------------------


@pytest.fixture
def square() -> Iterator[Path]:
    """A folder where everybody may look."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@as_root
def test_a_build_by_somebody_who_may_not_write_is_told_and_the_index_answers_him(
    two_stores: TwoStores, square: Path
) -> None:
    root = Path(shutil.copytree(two_stores.old, square / "test.kin"))
    source = Path(shutil.copy2(two_stores.new_source, square))
    code, said = in_a_fork(lambda: pagekin.build([source], root, processes=1), become_nobody)
    assert (code, said) == (
        1,
        f"{root} cannot be written: Permission denied; what was there before is untouched",
    )
    assert in_a_fork(lambda: answers(root), become_nobody) == (0, "")
    assert_old(root, two_stores)
    code, said = in_a_fork(lambda: pagekin.build([source], square / "mine.kin", processes=1), become_nobody)
    assert (code, said.partition(":")[0]) == (1, f"{square / 'mine.kin'} cannot be written")


@as_root
def test_somebody_who_may_write_into_the_store_of_another_user_can_build_it_again(
    two_stores: TwoStores, square: Path
) -> None:
    root = Path(shutil.copytree(two_stores.old, square / "test.kin"))
    sources = [shutil.copy2(each, square) for each in (two_stores.old_source, two_stores.new_source)]
    root.chmod(0o777)
    (root / "lock").chmod(0o666)
    code, said = in_a_fork(lambda: pagekin.build(sources, root, processes=1), become_nobody)
    assert code == 0, said
    assert_same_store(assert_sound(root), two_stores.new)
    assert (root / "manifest.json").stat().st_uid != 0
    two_stores.grow(root)  # and root, who owns the rest, puts it in order
    assert_same_store(assert_sound(root), two_stores.new)


@pytest.fixture
def frozen_disk(two_stores: TwoStores, tmp_path: Path) -> Iterator[Path]:
    """A store on a file system that is mounted read-only, where the machine lets us."""
    disk = tmp_path / "disk"
    disk.mkdir()
    try:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(disk)], capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"no mount here: {error}")
    if mounted.returncode:
        pytest.skip(f"no file system may be mounted here: {mounted.stderr.strip()}")
    try:
        shutil.copytree(two_stores.old, disk / "test.kin")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        yield disk / "test.kin"
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)  # somebody may still have a map of a file


@pytest.mark.skipif(sys.platform != "linux", reason="needs tmpfs")
def test_a_read_only_disk_is_told_and_the_index_answers(two_stores: TwoStores, frozen_disk: Path) -> None:
    with pytest.raises(StoreError) as told:
        two_stores.grow(frozen_disk)
    assert str(told.value).startswith(f"{frozen_disk} cannot be written: Read-only file system")
    with pytest.raises(StoreError, match="Read-only file system"):
        two_stores.grow(frozen_disk.parent / "another.kin")
    assert_old(frozen_disk, two_stores)
