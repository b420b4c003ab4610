"""Settings for all tests."""

import fcntl
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from pagekin import sample_web
from pagekin.cli import progress
from pagekin.kernels.compile import KERNELS, Kernel, kernel_name
from pagekin.kernels.signatures import is_known, signature
from pagekin.pipeline import build

# How long an example takes depends on what else the machine does.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("campaign", settings.get_profile("tests"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "tests"))

LONGEST = "test_kernel_modes.py"
BROWSER = Path(__file__).parent / "serving" / "browser"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a browser; begin with what takes longest, so that no worker waits for it in the end."""
    for item in items:
        if item.path.is_relative_to(BROWSER):
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: item.path.name != LONGEST)


def pytest_configure() -> None:
    """Refuse unknown signatures; let Ctrl-C reach the processes that tests start, even if the shell ignores it.

    Commands print no line of progress, however slow the machine is.
    """
    progress.INTERVAL = 1e6
    if "PAGEKIN_RECORD_KERNELS" not in os.environ:
        Kernel.__call__ = _call_known  # type: ignore[method-assign]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _call_known(self: Kernel, *arguments: Any) -> Any:
    """Call a kernel that was not compiled ahead of time; but for the package itself, all of them are."""
    caller = sys._getframe(1)
    if caller.f_globals["__name__"].startswith("pagekin.") and caller.f_code not in KERNELS:
        name = kernel_name(self.function)
        assert is_known(name, arguments), (
            f"{name} is called with new types; see CONTRIBUTING.md: {signature(arguments)}"
        )
    return self.dispatcher(*arguments)


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
