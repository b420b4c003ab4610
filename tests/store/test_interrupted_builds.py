"""Killed, interrupted or out of room: the old store is as good as before, and the next build goes on from there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cli.processes import in_this_process
from pagekin.cli.main import main
from pagekin.pipeline import build, building, reading
from pagekin.store.store import Store
from store.builders import assert_same_store, assert_sound, files_of, generated, write_jsonl

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")]

OLD, NEW = 60, 600  # pages
JOB = 40  # new pages that make a batch: one that takes less room than the largest column of all
PROGRAM = f"""
from pagekin.pipeline import building, reading
from pagekin.cli.main import main
reading._JOB_PAGES, building._WORK_FOR_PROCESSES, reading._READ_AGAIN = {JOB}, 0, 0
if __name__ == "__main__":
    main()
"""
PAGEKIN = [sys.executable, "-c", PROGRAM]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sources, a store of the first (`old.kin`), and a store of both that nobody interrupted (`whole.kin`)."""
    folder = tmp_path_factory.mktemp("survival")
    old = write_jsonl(folder / "old.jsonl", generated(OLD))
    new = write_jsonl(folder / "new.jsonl", generated(NEW, hosts=40, start=10_000))
    build([old], folder / "old.kin", processes=1)
    build([old], folder / "whole.kin", processes=1)
    build([old, new], folder / "whole.kin", processes=1)
    return folder


@pytest.fixture
def root(home: Path, tmp_path: Path) -> Path:
    """A store of the first source."""
    return Path(shutil.copytree(home / "old.kin", tmp_path / "test.kin"))


class Build:
    """`pagekin build` of both sources in a session of its own.

    It runs in a fork of this process, which has loaded the kernels already; or, where processes and signals are the
    matter, in a program of its own.
    """

    def __init__(
        self, home: Path, root: Path, said: Path, processes: int, before: Callable[[], None], program: bool
    ) -> None:
        self.said = said
        self.said.touch()  # the build may be killed before it writes
        self._code: int | None = None
        arguments = ["build", "old.jsonl", "new.jsonl", "-o", str(root), "--processes", str(processes)]
        self.pid = os.fork()
        if self.pid == 0:
            code: object = 70
            try:
                os.setsid()
                os.chdir(home)
                output = self.said.open("w", buffering=1)
                before()
                if program:
                    os.dup2(output.fileno(), 1)
                    os.dup2(output.fileno(), 2)
                    os.execv(PAGEKIN[0], [*PAGEKIN, *arguments])
                sys.stdout = sys.stderr = output
                reading._JOB_PAGES, building._WORK_FOR_PROCESSES, reading._READ_AGAIN = JOB, 0, 0
                sys.argv = ["pagekin", *arguments]
                main()
            except SystemExit as end:
                code = end.code
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code if isinstance(code, int) else 0 if code is None else 1)

    def ended(self) -> bool:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code is not None

    def wait_for(self, moment: Callable[[], bool]) -> None:
        """Watch until the moment has come."""
        deadline = time.monotonic() + 600
        while not moment():
            assert not self.ended(), f"the build ended before it could be interrupted: {self.said.read_text()}"
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def kill(self) -> None:
        """Kill it, and leave what it started to itself."""
        os.kill(self.pid, signal.SIGKILL)
        self.end()

    def end(self) -> tuple[int, str]:
        """(exit code, output) of a build that ends by itself."""
        deadline = time.monotonic() + 600
        while not self.ended() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self._code is not None
        return self._code, self.said.read_text()


Start = Callable[..., Build]


@pytest.fixture
def start(home: Path, tmp_path: Path) -> Iterator[Start]:
    """Start builds; what still runs in the end is killed, with all that it started."""
    builds: list[Build] = []

    def begin(
        root: Path, processes: int = 1, before: Callable[[], None] = lambda: None, program: bool = False
    ) -> Build:
        builds.append(Build(home, root, tmp_path / f"said-{len(builds)}", processes, before, program))
        return builds[-1]

    yield begin
    for each in builds:
        with suppress(ProcessLookupError):
            os.killpg(each.pid, signal.SIGKILL)
        each.end()


def batches(root: Path) -> int:
    return len(list((root / "unfinished").glob("batch-" + "[0-9]" * 6)))


def assert_resumed(home: Path, root: Path, left: int) -> None:
    """The old store is sound; the next build uses what was read, and makes what an undisturbed build makes."""
    old = assert_sound(root)
    assert (old.manifest.generation, len(old)) == (1, OLD)
    assert files_of(old) == files_of(home / "old.kin")
    built = build([home / "old.jsonl", home / "new.jsonl"], root, processes=1)
    assert (built.reused, built.read) == (OLD + JOB * left, NEW - JOB * left)
    assert_same_store(assert_sound(root), home / "whole.kin")
    assert sorted(path.name for path in root.iterdir()) == ["index-2", "lock", "manifest.json", "store-2"]


MOMENTS: dict[str, Callable[[Path], bool]] = {
    "after the first batch": lambda root: batches(root) >= 1,
    "after the second batch": lambda root: batches(root) >= 2,
    "when the new generation begins": lambda root: (root / "store-2").exists(),
    "while the catalogue is written": lambda root: (root / "store-2" / "catalog.sqlite").exists(),
}


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
def test_a_killed_build_leaves_the_old_store_and_is_taken_up_again(
    home: Path, root: Path, start: Start, moment: Callable[[Path], bool]
) -> None:
    process = start(root)
    process.wait_for(lambda: moment(root))
    process.kill()
    assert batches(root) >= 1
    assert_resumed(home, root, batches(root))


def test_a_build_may_be_killed_again_and_again(home: Path, root: Path, start: Start) -> None:
    for _ in range(2):
        before = batches(root)
        process = start(root)
        process.wait_for(lambda before=before: batches(root) > before or (root / "store-2").exists())  # type: ignore[misc]
        process.kill()
    assert_resumed(home, root, batches(root))


def test_a_first_build_that_is_killed_leaves_no_store_and_is_taken_up_again(
    home: Path, tmp_path: Path, start: Start
) -> None:
    root = tmp_path / "test.kin"
    process = start(root)
    process.wait_for(lambda: batches(root) >= 2)
    process.kill()
    left = batches(root)
    answer = in_this_process("info", str(root), folder=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert "its build did not finish" in answer.err
    built = build([home / "old.jsonl", home / "new.jsonl"], root, processes=1)
    assert built.reused == JOB * left > 0
    whole = Store.open(home / "whole.kin")
    assert files_of(built.store) == files_of(whole)


def children(pid: int) -> list[int]:
    """The processes that a process has started, by /proc."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_a_killed_build_leaves_no_process_behind_that_still_writes(home: Path, root: Path, start: Start) -> None:
    process = start(root, processes=2, program=True)
    process.wait_for(lambda: batches(root) >= 1)
    workers = children(process.pid)
    assert len(workers) >= 2
    process.kill()
    deadline = time.monotonic() + 600
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [pid for pid in workers if alive(pid)]
    assert left == [], "orphans would write into the spool of the next build"
    assert_resumed(home, root, batches(root))


def test_an_interrupted_build_says_so_without_a_traceback(home: Path, root: Path, start: Start) -> None:
    process = start(root, program=True)
    process.wait_for(lambda: batches(root) >= 1)
    os.killpg(process.pid, signal.SIGINT)
    code, said = process.end()
    assert code == 1
    assert "Traceback" not in said
    assert_resumed(home, root, batches(root))


# --- out of room ---------------------------------------------------------------------------------


def limited(size: int) -> Callable[[], None]:
    """No file may grow beyond a size: writing more fails as on a full disk."""

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.parametrize(
    ("where", "processes"), [("in a batch", 1), ("in a batch", 2), ("in a column", 1), ("in the catalogue", 1)]
)
def test_a_write_that_fails_is_told_and_the_old_store_stays(
    home: Path, root: Path, start: Start, where: str, processes: int
) -> None:
    sizes = {name: len(data) for name, data in files_of(home / "whole.kin").items()}
    columns = max(size for name, size in sizes.items() if name.startswith("store/") and name.endswith(".npy"))
    assert sizes["store/catalog.sqlite"] > columns + 8192, "else this test could not tell them apart"
    limit = {"in a batch": 20_000, "in a column": columns - 1, "in the catalogue": columns + 1}[where]
    code, said = start(root, processes, before=limited(limit)).end()
    assert code == 1
    assert said.startswith("pagekin: ")
    assert "cannot be written" in said
    assert "Traceback" not in said
    assert_resumed(home, root, 0 if where == "in a batch" else NEW // JOB)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with little room, where the machine lets us have one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except OSError as error:
        pytest.skip(f"no mount here: {error}")
    if mounted.returncode:
        pytest.skip(f"no file system may be mounted here: {mounted.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True, timeout=600)


def test_a_full_disk_is_told_and_the_old_store_stays(
    home: Path, small_disk: Path, tmp_path: Path, start: Start
) -> None:
    root = Path(shutil.copytree(home / "old.kin", small_disk / "test.kin"))
    code, said = start(root).end()
    assert code == 1
    assert said == f"pagekin: {root} cannot be written: No space left on device; what was there before is untouched\n"
    old = assert_sound(root)
    assert files_of(old) == files_of(home / "old.kin")
    old.close()
    # Somebody makes room: here, by moving the store to a larger disk.
    moved = Path(shutil.copytree(root, tmp_path / "larger.kin"))
    assert_resumed(home, moved, batches(moved))
