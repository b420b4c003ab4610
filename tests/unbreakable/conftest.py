"""A store of the sample web, one of a few pages, and the tests of kernels with bounds checks, begun early."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pagekin.pipeline import build
from pagekin.village import write_warc
from store.making import generated, write_jsonl

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def village(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the sample web; whoever wants to damage it makes a copy."""
    folder = tmp_path_factory.mktemp("unbreakable")
    build([write_warc(folder / "village.warc.gz")], folder / "village.kin", processes=1)
    return folder / "village.kin"


class Hamlet:
    """A few pages, then a few more: the store of the first, and of all, each built without disturbance."""

    def __init__(self, folder: Path) -> None:
        self.old_source = write_jsonl(folder / "old.jsonl", generated(30))
        self.new_source = write_jsonl(folder / "new.jsonl", generated(30, start=100))
        self.old, self.new = folder / "old.kin", folder / "new.kin"
        build([self.old_source], self.old, processes=1)
        build([self.old_source], self.new, processes=1)
        self.grow(self.new)

    def grow(self, root: Path) -> None:
        """Build again, with more pages."""
        build([self.old_source, self.new_source], root, processes=1)


@pytest.fixture(scope="session")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    return Hamlet(tmp_path_factory.mktemp("hamlet"))


class Checks(NamedTuple):
    """The tests of kernels under way with numba's bounds checks on, and the environment that they run in."""

    process: subprocess.Popen[str]
    environment: dict[str, str]


@pytest.fixture(scope="session")
def checks(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checks]:
    from unbreakable.test_with_checks import kernel_tests

    cache: pytest.Cache | None = getattr(pytestconfig, "cache", None)
    name = "checked-kernels"
    environment = os.environ | {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_OPT": "1",
        "NUMBA_CACHE_DIR": str(cache.mkdir(name) if cache else tmp_path_factory.mktemp(name)),
        "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]),
    }
    command = kernel_tests("--examples", "100")
    with subprocess.Popen(
        command, cwd=TESTS, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        yield Checks(process, environment)
        process.kill()


@pytest.fixture(scope="session", autouse=True)
def _begin_early(request: pytest.FixtureRequest) -> None:
    """It compiles for a minute, which the tests before it can be used for."""
    if any(item.name == "test_no_kernel_leaves_its_arrays" for item in request.session.items):
        request.getfixturevalue("checks")
