"""A kernel is compiled by one process, however many need it; and the time that takes is known."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pagekin.kernels.compile_lock import compile_seconds, lock_compilation

PROGRAM = """
import sys
import numpy as np
from pagekin.kernels.compile_lock import compile_seconds
from pagekin.kernels.fnv import fnv
assert compile_seconds() == 0
sys.stdin.readline()  # until both have imported numba
fnv(np.zeros(1, np.uint8), 0, 1)
print(sum(fnv.stats.cache_hits.values()), sum(fnv.stats.cache_misses.values()), compile_seconds() > 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no locks for kernels")
def test_two_processes_compile_a_kernel_once(tmp_path: Path) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    both = [subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, **pipes) for _ in range(2)]  # type: ignore[call-overload]
    for each in both:
        each.stdin.write("\n")
        each.stdin.flush()
    assert sorted(each.communicate()[0] for each in both) == ["0 1 True\n", "1 0 True\n"]


class Dispatcher:
    """As much of numba's as is used; one compilation needs another."""

    __name__ = "outer"

    def __init__(self, callee: "Dispatcher | None" = None) -> None:
        self.callee = callee

    def compile(self, signature: object) -> object:
        time.sleep(0.02)
        return self.callee.compile(signature) if self.callee else compile_seconds()


def test_seconds_count_once_while_a_kernel_compiles_another_and_stand_still_afterwards(tmp_path: Path) -> None:
    inner = lock_compilation(Dispatcher(), str(tmp_path))
    outer = lock_compilation(Dispatcher(inner), str(tmp_path / "cannot be written"))
    before, begin = compile_seconds(), time.monotonic()
    during = outer.compile("signature")
    after = compile_seconds()
    assert 0.04 <= during - before <= after - before <= time.monotonic() - begin
    time.sleep(0.01)
    assert compile_seconds() == after
