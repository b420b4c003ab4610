"""What holds for all tests."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pagekin import sample_web
from pagekin.pipeline import build

LONG = "test_with_checks.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that nobody waits for them in the end."""
    items.sort(key=lambda item: item.path.name != LONG)


def pytest_configure() -> None:
    """Let Ctrl-C reach the processes that tests start, also where a shell that runs them aside has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the sample web: its archive, `labels.tsv` and the default index, `sample_web.kin`.

    All workers of a test run share it, and the first that needs it builds it. A test that changes something copies it.
    """
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / "sample_web"
    with (base / "sample_web.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if lock.seek(0, os.SEEK_END) == 0:  # empty until the index is complete
            folder.mkdir(exist_ok=True)
            build([sample_web.copy_to(folder)], folder / "sample_web.kin", processes=1)
            lock.write("built")
    before = _files(folder)
    yield folder
    assert _files(folder) == before, "a test has changed the shared sample web; it should change a copy"


@pytest.fixture(scope="session")
def sample_index(sample_folder: Path) -> Path:
    """The default index of the sample web, shared by all workers; a test that changes it copies it."""
    return sample_folder / "sample_web.kin"


def _files(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}
