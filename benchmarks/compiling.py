"""Compiling: which kernels take longest, what a call of compiled code costs, and whether threads run side by side.

`python -m benchmarks.compiling` prints the figures and writes `results/compiling.json`. numba compiles every kernel for
all its signatures, one after the other, in a process with an empty cache. A function that several kernels call counts
for the first of them. A call is that of a small kernel in three ways: by the extension module, by numba's dispatcher,
and by ctypes, which is given addresses. Threads: one kernel in two threads at once, compared with the same in one.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np

from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.kernels.characters import is_utf8
from pagekin.kernels.minhash import sign
from pagekin.kernels.signatures import known

LONGEST = 10  # kernels that are listed
CALLS = 1_000
ROUNDS = 10 if QUICK else 200  # the best counts
COMPILE = """
import json, sys, time
from pagekin.kernels.precompile import compile_kernel

import numba  # not a part of any kernel's time
seconds = {}
for name in sys.argv[1:]:
    begin = time.process_time()
    compile_kernel(name)
    seconds[name] = time.process_time() - begin
print(json.dumps(seconds))
"""


def main() -> None:
    """Measure."""
    print("compiling kernels, and calling them")
    figures = [*of_compiling(), *of_calls(), *of_threads()]
    show(figures)
    keep("compiling", {"machine": facts(), "figures": kept(figures)})


def of_compiling() -> Iterator[Figure]:
    names = sorted(known())[:: 10 if QUICK else 1]
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PAGEKIN_KERNELS": "numba", "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", COMPILE, *names]
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    seconds: dict[str, float] = json.loads(done.stdout)
    for name in sorted(seconds, key=lambda name: -seconds[name])[:LONGEST]:
        yield Figure(f"compiling {name}, {len(known()[name])} signatures, processor time", seconds[name], "s")
    yield Figure(f"compiling all {len(names)} kernels, processor time", sum(seconds.values()), "s")


def of_calls() -> Iterator[Figure]:
    """Nanoseconds of a call."""
    from numba import carray, cfunc, types

    text = np.frombuffer("Äpfel 1".encode(), np.uint8)
    words = text.view(np.uint64)
    compiled = cast(Any, is_utf8).fallback.dispatcher

    @cfunc(types.boolean(*(types.CPointer(types.uint8), types.intp, types.CPointer(types.uint64), types.intp)))  # type: ignore[untyped-decorator]
    def by_address(text: Any, length: int, words: Any, count: int) -> Any:
        return compiled(carray(text, (length,)), carray(words, (count,)))

    kinds = (ctypes.c_void_p, ctypes.c_ssize_t) * 2
    call = ctypes.CFUNCTYPE(ctypes.c_bool, *kinds)(by_address.address)
    ways: dict[str, Callable[[], object]] = {
        "the extension module": lambda: is_utf8(text, words),
        "numba's dispatcher": lambda: compiled(text, words),
        "ctypes": lambda: call(text.ctypes.data, len(text), words.ctypes.data, len(words)),
    }
    for name, way in ways.items():
        assert bool(way())
        yield Figure(f"a call by {name}", 1e9 * min(spent(way, CALLS) for _ in range(ROUNDS)) / CALLS, "ns")


def of_threads() -> Iterator[Figure]:
    random = np.random.default_rng(2002)
    offsets = np.arange(0, 4_000_001, 200)
    term = random.integers(0, 50_000, 4_000_000).astype(np.uint32)
    weight = np.full(4_000_000, 1 / 200, np.float32)
    hashes = random.integers(0, 2**63, 50_000).astype(np.uint64)

    def run(_: int = 0) -> None:
        sign(offsets, term, weight, hashes, 1000, np.empty((20_000, 80), np.uint32))

    with ThreadPoolExecutor(2) as threads:
        one = min(spent(run, 1) for _ in range(ROUNDS // 10))
        two = min(spent(lambda: list(threads.map(run, range(2))), 1) for _ in range(ROUNDS // 10))
    yield Figure("the same kernel in two threads at once / in one", two / one, at_most=1.3)


def spent(task: Callable[[], object], times: int) -> float:
    begin = time.perf_counter()
    for _ in range(times):
        task()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
