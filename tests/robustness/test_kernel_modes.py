"""Kernels once more without numba, where an index outside an array is an error.

In a campaign they also run with numba's bounds checks.

A kernel that is compiled as usual reads and writes beyond the end of an array without an error.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from store.builders import generated, page, write_jsonl

pytestmark = pytest.mark.campaign

TESTS = Path(__file__).parents[1]
CAMPAIGN = os.environ.get("HYPOTHESIS_PROFILE") == "campaign"

# Statistics of a million hashes, and pages of megabytes.
_TOO_SLOW = (
    "huge",
    "bias",
    "agreement",
    "unrelated",
    "even",
    "disjoint",
    "however_much",
    "repetitions",
    "expected",
    "dense",
)
_ABOUT_COMPILING = ("compile", "precompile")

SMALL_WORLD = """
import sys
from pathlib import Path
import numpy as np
import pagekin
from store.builders import files_of

np.seterr(over="ignore")  # hashes overflow, and should
source, folder = sys.argv[1], Path(sys.argv[2])
store = pagekin.build([source], folder / "test.kin", processes=1).indexed
for name, content in files_of(store).items():
    print(name, content.hex())
for page in ("http://host1.example/page1.html", "http://host1.example/more"):
    print(store.related(page))
print(store.related_to("<p>number qa comes back, Äpfel".encode()))
"""


def kernel_tests(*options: str) -> list[str]:
    """The command that runs the tests of kernels on few examples."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "robustness.examples",
        "-p",
        "no:cacheprovider",
        "-x",
        "--tb=short",
    ]
    return [*command, "kernels", *(f"--ignore=kernels/test_{name}.py" for name in _ABOUT_COMPILING), *options]


@pytest.fixture(scope="module")
def checked(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which kernels look where they reach. They are compiled for it, once and quickly."""
    cache: pytest.Cache | None = getattr(pytestconfig, "cache", None)
    name = "checked-kernels"
    return os.environ | {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_OPT": "1",
        "NUMBA_CACHE_DIR": str(cache.mkdir(name) if cache else tmp_path_factory.mktemp(name)),
        "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]),
    }


def test_the_checks_are_on_where_they_should_be(checked: dict[str, str]) -> None:
    program = "import numpy as np; from pagekin.kernels.fnv import fnv; fnv(np.zeros(0, np.uint8), 0, 1)"
    done = subprocess.run([sys.executable, "-c", program], env=checked, capture_output=True, text=True)
    assert "IndexError" in done.stderr


@pytest.mark.skipif(not CAMPAIGN, reason="compiles all kernels for minutes: HYPOTHESIS_PROFILE=campaign")
def test_no_kernel_leaves_its_arrays(checked: dict[str, str]) -> None:
    done = subprocess.run(kernel_tests("--examples", "15"), cwd=TESTS, env=checked, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]


def test_kernels_say_the_same_without_numba() -> None:
    without = [f"not ({' or '.join(_TOO_SLOW)})", "-W", "ignore::RuntimeWarning"]
    done = subprocess.run(
        kernel_tests("--examples", "8", "-k", *without),
        cwd=TESTS,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:]


def test_a_build_and_its_answers_are_the_same_without_numba(tmp_path: Path) -> None:
    said = []
    more = page("http://host1.example/more", "<title>Mehr</title><p>Äpfel 木の家 straße, number qa")
    source = write_jsonl(tmp_path / "pages.jsonl", [*generated(12), more])
    for name, jit in (("with", {}), ("without", {"NUMBA_DISABLE_JIT": "1"})):
        (tmp_path / name).mkdir()
        done = subprocess.run(
            [sys.executable, "-c", SMALL_WORLD, str(source), str(tmp_path / name)],
            cwd=TESTS,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])} | jit,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.splitlines())
    assert len(said[0]) > 50
    assert [name.partition(" ")[0] for name, other in zip(*said, strict=True) if name != other] == []
