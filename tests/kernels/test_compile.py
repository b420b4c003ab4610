"""Where compiled kernels are cached, and that they are compiled again when their sources or their callees change."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import pagekin
from pagekin.kernels.cache import first_writable, user_cache
from pagekin.kernels.digests import imported

SOURCE = Path(pagekin.__file__).parent
KERNELS = "from pagekin.kernels.compile import "
MODULES = [path for path in sorted((SOURCE / "kernels").glob("*.py")) if f"\n{KERNELS}" in path.read_text("utf-8")]

# From the authors' own list of test vectors: FNV-1a, 64 bits, of "a".
FNV_OF_A = 0xAF63DC4C8601EC8C
HASH_A = """
import numpy as np
from numba import config
before = config.CACHE_DIR
from pagekin.kernels.fnv import fnv
print(int(fnv(np.frombuffer(b"a", np.uint8), 0, 1)), sum(fnv.stats.cache_hits.values()), config.CACHE_DIR == before)
"""
INNER = """
from pagekin.kernels.compile import kernel

STEP = 1


@kernel
def inner(x):
    return x + STEP
"""
OUTER = """
from pagekin.kernels.INNER import INNER
from pagekin.kernels.compile import kernel


@kernel
def OUTER(x):
    return 10 * INNER(x)
"""
CALL = """
from pagekin.kernels.outmost import outmost
from pagekin.kernels.apart import apart
print(outmost(0), apart(0), *(sum(each.stats.cache_hits.values()) for each in (outmost, apart)))
"""


# --- the cache directory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "environment", "place"),
    [
        ("linux", {"XDG_CACHE_HOME": "/var/kept"}, "/var/kept/pagekin"),
        ("linux", {"XDG_CACHE_HOME": ""}, "/home/ann/.cache/pagekin"),
        ("linux", {"XDG_CACHE_HOME": "not/from/the/root"}, "/home/ann/.cache/pagekin"),
        ("linux", {}, "/home/ann/.cache/pagekin"),
        ("freebsd14", {}, "/home/ann/.cache/pagekin"),
        ("darwin", {"XDG_CACHE_HOME": "/var/kept"}, "/home/ann/Library/Caches/pagekin"),
        ("win32", {"LOCALAPPDATA": "/c/Local"}, "/c/Local/pagekin/Cache"),
        ("win32", {}, "/home/ann/AppData/Local/pagekin/Cache"),
    ],
)
def test_the_cache_of_a_user_follows_the_conventions_of_the_system(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], place: str
) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ann"))
    assert user_cache(platform, environment) == Path(place)


def test_the_first_writable_directory_is_taken_and_created(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    closed = [tmp_path / "file", tmp_path / "file" / "below"]
    assert first_writable(closed) is None
    assert first_writable([*closed, tmp_path / "new" / "place", tmp_path / "other"]) == tmp_path / "new" / "place"
    assert list((tmp_path / "new" / "place").iterdir()) == []
    assert not (tmp_path / "other").exists()
    assert (tmp_path / "file").read_text() == "in the way"


class KernelCopy:
    """A copy of the kernels in its own folder, used by separate processes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.kernels = root / "lib" / "pagekin" / "kernels"
        self.cache = root / "cache"
        shutil.copytree(SOURCE / "kernels", self.kernels, ignore=shutil.ignore_patterns("__pycache__", "machine.*"))
        shutil.copy(SOURCE / "__init__.py", self.kernels.parent)
        (self.kernels.parent / "model").mkdir()
        for name in ("__init__.py", "arrays.py"):
            shutil.copy(SOURCE / "model" / name, self.kernels.parent / "model")

    def run(self, program: str = HASH_A, **environment: str) -> list[str]:
        """The output of a program that uses this copy and, by default, a writable cache directory of the user."""
        home = {name: str(self.cache) for name in ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME")}
        ours = {**os.environ, "PYTHONPATH": str(self.root / "lib"), **home}
        ours.pop("NUMBA_CACHE_DIR", None)
        done = subprocess.run(
            [sys.executable, "-c", program], env=ours | environment, capture_output=True, text=True, cwd=self.root
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    def make_read_only(self) -> None:
        """Let nothing be written beside the sources, not even by root, to whom permissions do not apply."""
        (self.kernels / "__pycache__").write_text("in the way")

    def cached(self) -> set[str]:
        """The folders of the root that contain machine code."""
        return {path.relative_to(self.root).parts[0] for path in self.root.rglob("*.nbc")}


@pytest.fixture
def copy(tmp_path: Path) -> KernelCopy:
    return KernelCopy(tmp_path)


@pytest.mark.slow
def test_kernels_are_cached_beside_their_sources_and_reused(copy: KernelCopy) -> None:
    assert copy.run() == [str(FNV_OF_A), "0", "True"]
    assert copy.cached() == {"lib"}
    assert copy.run() == [str(FNV_OF_A), "1", "True"]


@pytest.mark.slow
def test_kernels_are_cached_for_the_user_if_the_sources_are_read_only(copy: KernelCopy) -> None:
    copy.make_read_only()
    assert copy.run() == [str(FNV_OF_A), "0", "True"]
    assert copy.cached() == {"cache"}
    assert copy.run() == [str(FNV_OF_A), "1", "True"]
    assert all("pagekin" in path.parts for path in copy.cache.rglob("*.nbc"))


@pytest.mark.slow
def test_kernels_work_without_a_writable_directory(copy: KernelCopy) -> None:
    copy.make_read_only()
    below = str(copy.kernels / "__pycache__" / "below")
    nowhere = dict.fromkeys(("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), below)
    assert copy.run(**nowhere) == [str(FNV_OF_A), "0", "True"]
    assert copy.cached() == set()


@pytest.mark.slow
def test_the_directory_in_numba_cache_dir_comes_first(copy: KernelCopy) -> None:
    given = str(copy.root / "given")
    assert copy.run(NUMBA_CACHE_DIR=given) == [str(FNV_OF_A), "0", "True"]
    assert copy.cached() == {"given"}
    assert copy.run(NUMBA_CACHE_DIR=given) == [str(FNV_OF_A), "1", "True"]


# --- recompilation ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_kernel_is_compiled_again_when_one_that_it_calls_through_another_has_changed(copy: KernelCopy) -> None:
    (copy.kernels / "inner.py").write_text(INNER)
    (copy.kernels / "apart.py").write_text(INNER.replace("inner", "apart"))
    (copy.kernels / "middle.py").write_text(OUTER.replace("INNER", "inner").replace("OUTER", "middle"))
    (copy.kernels / "outmost.py").write_text(OUTER.replace("INNER", "middle").replace("OUTER", "outmost"))
    assert copy.run(CALL) == ["100", "1", "0", "0"]
    assert copy.run(CALL) == ["100", "1", "1", "1"]
    (copy.kernels / "inner.py").write_text(INNER.replace("STEP = 1", "STEP = 22"))
    assert copy.run(CALL) == ["2200", "1", "0", "1"]


@pytest.mark.slow
def test_a_function_called_with_constants_is_compiled_once(copy: KernelCopy) -> None:
    (copy.kernels / "apart.py").write_text(INNER.replace("inner", "apart"))
    outmost = OUTER.replace("INNER", "apart").replace("OUTER", "outmost")
    (copy.kernels / "outmost.py").write_text(outmost.replace("10 * apart(x)", "apart(x) + apart(1) + apart(x=2)"))
    asked = "from pagekin.kernels.outmost import outmost; from pagekin.kernels.apart import apart\n"
    assert copy.run(f"{asked}print(outmost(0), len(apart.signatures))") == ["6", "1"]


@pytest.mark.slow
def test_code_compiled_from_older_sources_is_removed(copy: KernelCopy) -> None:
    program = "import numpy as np; from pagekin.kernels.fnv import fnv; fnv(np.zeros(1, np.uint8), 0, 1)\n"
    program += "from pagekin.kernels.apart import apart; print(apart(0))"
    folders = []
    for step in ("1", "22"):  # of other lengths: Python takes a source of the same size and second for the same
        (copy.kernels / "apart.py").write_text(INNER.replace("inner", "apart").replace("STEP = 1", f"STEP = {step}"))
        assert copy.run(program) == [step]
        folders.append({path.name for path in (copy.kernels / "__pycache__").iterdir() if path.is_dir()})
    assert [len(each) for each in folders] == [2, 2]
    assert {name.partition("-")[0] for name in folders[0]} == {"apart", "fnv"}
    (stayed,) = folders[0] & folders[1]
    assert stayed.startswith("fnv-")


# --- internals of numba ---------------------------------------------------------------------------


@pytest.mark.slow
def test_kernels_compile_if_numba_has_no_undocumented_options(copy: KernelCopy) -> None:
    without = """
    from numba.core import cpu
    for name in ("_nrt", "forceinline", "no_cfunc_wrapper"):
        delattr(cpu._options_mixin, name)
    """
    assert copy.run(textwrap.dedent(without) + HASH_A) == [str(FNV_OF_A), "0", "True"]
    assert copy.run("from numba.core import cpu; del cpu.CPUTargetOptions\n" + HASH_A)[0] == str(FNV_OF_A)


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_every_import_of_a_kernel_is_seen(path: Path) -> None:
    """Imports are found with a regular expression; compare it with the syntax tree."""
    seen = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        assert not (isinstance(node, ast.Import) and any(each.name.startswith("pagekin") for each in node.names))
        if isinstance(node, ast.ImportFrom) and (node.level or str(node.module).startswith("pagekin")):
            assert node.level == 0
            place = SOURCE.parent.joinpath(*str(node.module).split("."))
            seen |= {(place / each.name if place.is_dir() else place).with_suffix(".py") for each in node.names}
    assert set(imported(path)) == seen
    assert all(each.is_file() for each in seen)
