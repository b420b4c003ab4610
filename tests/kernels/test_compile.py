"""Where compiled kernels are kept, and that they are compiled again when their sources, or those they call, change."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pagekin
from pagekin.kernels.compile import first_writable, imported, user_cache

SOURCE = Path(pagekin.__file__).parent
MODULES = sorted((SOURCE / "kernels").glob("*.py"))

# From the authors' own list of test vectors: FNV-1a, 64 bits, of "a".
FNV_OF_A = 0xAF63DC4C8601EC8C
ASK = """
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


# --- where ---------------------------------------------------------------------------------------


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
def test_the_cache_of_a_user_is_where_the_system_has_it(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], place: str
) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ann"))
    assert user_cache(platform, environment) == Path(place)


def test_the_first_place_that_can_be_written_is_taken_and_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    closed = [tmp_path / "file", tmp_path / "file" / "below"]
    assert first_writable(closed) is None
    assert first_writable([*closed, tmp_path / "new" / "place", tmp_path / "other"]) == tmp_path / "new" / "place"
    assert list((tmp_path / "new" / "place").iterdir()) == []
    assert not (tmp_path / "other").exists()
    assert (tmp_path / "file").read_text() == "in the way"


class House:
    """A copy of the kernels in a place of its own, asked in processes of their own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.kernels = root / "lib" / "pagekin" / "kernels"
        self.cache = root / "cache"
        shutil.copytree(SOURCE / "kernels", self.kernels, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("__init__.py", "arrays.py"):
            shutil.copy(SOURCE / name, self.kernels.parent / name)

    def ask(self, program: str = ASK, **environment: str) -> list[str]:
        """What a program prints in a process that has this copy and, by default, a writable cache of its user."""
        home = {name: str(self.cache) for name in ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME")}
        ours = {**os.environ, "PYTHONPATH": str(self.root / "lib"), **home}
        ours.pop("NUMBA_CACHE_DIR", None)
        done = subprocess.run(
            [sys.executable, "-c", program], env=ours | environment, capture_output=True, text=True, cwd=self.root
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    def close(self) -> None:
        """Nothing can be written beside the sources; not even by root, who may pass over the modes of folders."""
        (self.kernels / "__pycache__").write_text("in the way")

    def kept(self) -> set[str]:
        """Below which folders of the root machine code is kept."""
        return {path.relative_to(self.root).parts[0] for path in self.root.rglob("*.nbc")}


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.slow
def test_kernels_are_kept_beside_their_sources_and_used_again(house: House) -> None:
    assert house.ask() == [str(FNV_OF_A), "0", "True"]
    assert house.kept() == {"lib"}
    assert house.ask() == [str(FNV_OF_A), "1", "True"]


@pytest.mark.slow
def test_kernels_are_kept_for_the_user_where_nothing_can_be_written_beside_them(house: House) -> None:
    house.close()
    assert house.ask() == [str(FNV_OF_A), "0", "True"]
    assert house.kept() == {"cache"}
    assert house.ask() == [str(FNV_OF_A), "1", "True"]
    assert all("pagekin" in path.parts for path in house.cache.rglob("*.nbc"))


@pytest.mark.slow
def test_kernels_work_where_nothing_can_be_written_at_all(house: House) -> None:
    house.close()
    below = str(house.kernels / "__pycache__" / "below")
    nowhere = dict.fromkeys(("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), below)
    assert house.ask(**nowhere) == [str(FNV_OF_A), "0", "True"]
    assert house.kept() == set()


@pytest.mark.slow
def test_the_place_that_the_user_gives_numba_comes_first(house: House) -> None:
    given = str(house.root / "given")
    assert house.ask(NUMBA_CACHE_DIR=given) == [str(FNV_OF_A), "0", "True"]
    assert house.kept() == {"given"}
    assert house.ask(NUMBA_CACHE_DIR=given) == [str(FNV_OF_A), "1", "True"]


# --- when ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_kernel_is_compiled_again_when_one_that_it_calls_through_another_has_changed(house: House) -> None:
    (house.kernels / "inner.py").write_text(INNER)
    (house.kernels / "apart.py").write_text(INNER.replace("inner", "apart"))
    (house.kernels / "middle.py").write_text(OUTER.replace("INNER", "inner").replace("OUTER", "middle"))
    (house.kernels / "outmost.py").write_text(OUTER.replace("INNER", "middle").replace("OUTER", "outmost"))
    assert house.ask(CALL) == ["100", "1", "0", "0"]
    assert house.ask(CALL) == ["100", "1", "1", "1"]
    (house.kernels / "inner.py").write_text(INNER.replace("STEP = 1", "STEP = 2"))
    assert house.ask(CALL) == ["200", "1", "0", "1"]


@pytest.mark.slow
def test_what_a_kernel_calls_with_constants_is_compiled_once(house: House) -> None:
    (house.kernels / "apart.py").write_text(INNER.replace("inner", "apart"))
    outmost = OUTER.replace("INNER", "apart").replace("OUTER", "outmost")
    (house.kernels / "outmost.py").write_text(outmost.replace("10 * apart(x)", "apart(x) + apart(1) + apart(x=2)"))
    asked = "from pagekin.kernels.outmost import outmost; from pagekin.kernels.apart import apart\n"
    assert house.ask(f"{asked}print(outmost(0), len(apart.signatures))") == ["6", "1"]


@pytest.mark.slow
def test_what_was_compiled_from_older_sources_does_not_pile_up_beside_them(house: House) -> None:
    program = "from pagekin.kernels.apart import apart; from pagekin.kernels import hashing; print(apart(0))"
    folders = []
    for step in ("1", "2"):
        (house.kernels / "apart.py").write_text(INNER.replace("inner", "apart").replace("STEP = 1", f"STEP = {step}"))
        assert house.ask(program) == [step]
        folders.append({path.name for path in (house.kernels / "__pycache__").iterdir() if path.is_dir()})
    assert [len(each) for each in folders] == [2, 2]
    assert {name.partition("-")[0] for name in folders[0]} == {"apart", "hashing"}
    (stayed,) = folders[0] & folders[1]
    assert stayed.startswith("hashing-")


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_every_import_of_a_kernel_is_seen(path: Path) -> None:
    """They are looked for by their spelling; this holds the spelling to what Python reads."""
    seen = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        assert not (isinstance(node, ast.Import) and any(each.name.startswith("pagekin") for each in node.names))
        if isinstance(node, ast.ImportFrom) and (node.level or str(node.module).startswith("pagekin")):
            assert node.level == 0
            seen.add(SOURCE.parent.joinpath(*str(node.module).split(".")).with_suffix(".py"))
    assert set(imported(path)) == seen
    assert all(each.is_file() for each in seen)
