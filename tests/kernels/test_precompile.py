"""Where there is no machine code, the kernels of a command are compiled in parallel before it runs, and once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pagekin.cli.main import COMMANDS
from pagekin.kernels.signatures import known, used_by

PROGRAM = """
import numpy as np
from pagekin.kernels import precompile
from pagekin.kernels.graph import roots

precompile.used_by = lambda command: {"graph.roots", "graph.degrees"}
for _ in range(2):
    print("prepare")
    precompile.prepare("cluster", print)
precompile.load("cluster")
print(roots(np.array([0, 0, 1])).tolist(), sum(roots.stats.cache_hits.values()), sum(roots.stats.cache_misses.values()))
"""


def run_by_numba(program: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a program whose kernels are compiled by numba and kept in a folder."""
    environment = {"PAGEKIN_KERNELS": "numba", "NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    return subprocess.run([sys.executable, "-c", program], env=os.environ | environment, capture_output=True, text=True)


@pytest.mark.slow
def test_kernels_are_compiled_once_and_then_loaded(tmp_path: Path) -> None:
    done = run_by_numba(PROGRAM, tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split("prepare\n")[1:]
    assert first.startswith(f"compiling 2 of {len(known())} kernels, once\n") and first.endswith("  2 of 2\n")
    assert second == "[0, 0, 0] 1 0\n"


STALE = """
import numpy as np
from pagekin.kernels import precompile, signatures
from pagekin.kernels.graph import roots

listed = signatures._listed()
listed["signatures"] |= {"graph.gone": ["si8"], "gone.kernel": ["si8"]}
listed["signatures"]["graph.roots"] = [
    "(kernels.query.CandidateLimits si8)", "(kernels.query.Gone si8)", "(kernels.gone.Limits si8)", "ai81Cw"
]
listed["commands"]["cluster"] = ["graph.gone", "gone.kernel", "graph.roots"]
precompile.load("cluster")
print(len(roots.signatures), roots(np.array([0, 0, 1])).tolist())
"""


@pytest.mark.slow
def test_signatures_that_no_longer_fit_the_sources_are_not_compiled(tmp_path: Path) -> None:
    done = run_by_numba(STALE, tmp_path)
    assert (done.stdout, done.stderr) == ("1 [0, 0, 0]\n", "")


def test_commands_and_kernels_in_the_list_exist() -> None:
    assert set(used_by("build")) and set(used_by("demo")) > set(used_by("build"))
    for command in COMMANDS:
        assert used_by(command) <= set(known())
