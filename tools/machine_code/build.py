"""Compile all kernels into `src/pagekin/kernels/machine.abi3.so`: python -m tools.machine_code.

Kernels are compiled in parallel processes, for the signatures in `src/pagekin/kernels/signatures.json`. What has not
changed since the last time is kept in `build/machine-code`.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pagekin.kernels.digests import digest
from pagekin.kernels.signatures import known, merged
from tools.machine_code.entries import FEATURES, WIDE, WIDE_KERNELS, compile_entry, target

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "pagekin" / "kernels"
BUILD = ROOT / "build" / "machine-code"
MODULE = SOURCES / ("machine.pyd" if sys.platform == "win32" else "machine.abi3.so")

_SLOW = ("html.scan_pages", "fold_bags.fold_nodes")
_TICK = 2.0  # seconds between two lines of progress; at most twice that


class Task(NamedTuple):
    """A kernel and a signature; the name of its entry; where its object file goes; and for what processor it is."""

    name: str
    signature: str
    symbol: str
    folder: Path
    processor: str

    def done(self) -> bool:
        return (self.folder / f"{self.symbol}.json").is_file()


def main() -> None:
    compiler = os.environ.get("CC") or shutil.which("cc")
    if compiler is None:
        print("no C compiler (cc): kernels will be compiled by numba when they are used", file=sys.stderr)
        return
    tasks = list(all_tasks())
    compile_all([task for task in tasks if not task.done()], len(tasks))
    link(tasks, compiler)
    print(f"{MODULE.relative_to(ROOT)}: {len(tasks)} kernels, {MODULE.stat().st_size / 1e6:.1f} MB, for {target()}")


def all_tasks() -> Iterator[Task]:
    """All kernels; those for better processors come before the same for the baseline."""
    for name, signatures in known().items():
        module = name.partition(".")[0]
        for processor in (WIDE, target()) if name in WIDE_KERNELS.get(target(), ()) else (target(),):
            folder = BUILD / f"{processor}-{sysconfig.get_platform()}" / f"{module}-{module_digest(module)}"
            for signature in merged(signatures):
                key = sha256(signature.encode()).hexdigest()[:12] + "_wide" * (processor == WIDE)
                yield Task(name, signature, f"pagekin_{name.replace('.', '_')}_{key}", folder, processor)


def module_digest(module: str) -> str:
    return digest(SOURCES / f"{module}.py")


def compile_all(tasks: list[Task], total: int) -> None:
    """Compile kernels in parallel processes, the slowest first."""
    if not tasks:
        return
    print(f"compiling {len(tasks)} of {total} kernels, once", file=sys.stderr)
    for processor in (target(), WIDE):
        if some := [task for task in tasks if task.processor == processor]:
            compile_for(processor, some)


def compile_for(processor: str, tasks: list[Task]) -> None:
    os.environ |= {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": FEATURES[processor], "PAGEKIN_KERNELS": "ahead"}
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(timed, task): task for task in sorted(tasks, key=cost, reverse=True)}
        waiting, shown, before, silent = set(futures), time.monotonic(), 0, 0
        while waiting:
            done, waiting = wait(waiting, _TICK, FIRST_COMPLETED)
            if "--verbose" in sys.argv:
                for future in done:
                    if future.exception() is None:
                        print(f"{future.result():6.1f} s  {futures[future].name}", file=sys.stderr)
            elif time.monotonic() - shown > _TICK or not waiting:
                finished = len(tasks) - len(waiting)
                silent = silent + 1 if finished == before else 0  # dots show that it goes on
                print(f"  {finished} of {len(tasks)} {'.' * silent}".rstrip(), file=sys.stderr, flush=True)
                shown, before = time.monotonic(), finished
        failed = [f"{task.name}: {future.exception()}" for future, task in futures.items() if future.exception()]
    if failed:
        raise SystemExit("\n".join(failed))


def cost(task: Task) -> tuple[bool, int]:
    """A guess of how long a kernel takes to compile: those with many arguments call many others."""
    return task.name in _SLOW, len(task.signature)


def timed(task: Task) -> float:
    start = time.process_time()
    compile_entry(task.name, task.signature, task.folder, task.symbol, task.processor)
    return time.process_time() - start


def link(tasks: list[Task], compiler: str) -> None:
    """Link the object files of all kernels with `runtime.c`."""
    described = (json.loads((task.folder / f"{task.symbol}.json").read_text()) for task in tasks)
    entries = [{**each, "wide": int(task.processor == WIDE)} for task, each in zip(tasks, described, strict=True)]
    modules = sorted({task.name.partition(".")[0] for task in tasks})
    lines = [f"int32_t {each['symbol']}(int64_t *, void *, void *);" for each in entries]
    lines += ["static const Entry ENTRIES[] = {"]
    lines += [f'{{"{e["name"]}", "{e["arguments"]}", "{e["result"]}", {e["symbol"]}, {e["wide"]}}},' for e in entries]
    lines += ["{0}};", "static const char *DIGESTS[][2] = {"]
    lines += [f'{{"{module}", "{module_digest(module)}"}},' for module in modules]
    lines += ["{0}};", f'#define TARGET "{target()}"']
    (BUILD / "declarations.h").write_text("\n".join(lines))
    objects = [str(task.folder / f"{task.symbol}.o") for task in tasks]
    flags = ["-O2", "-fPIC", "-fvisibility=hidden", "-shared"]
    flags += ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-s"]
    includes = [f"-I{each}" for each in (BUILD, sysconfig.get_paths()["include"], np.get_include())]
    runtime, scratch = str(Path(__file__).with_name("runtime.c")), BUILD / MODULE.name
    subprocess.run([compiler, *flags, *includes, runtime, *objects, "-lm", "-o", str(scratch)], check=True)
    scratch.replace(MODULE)
