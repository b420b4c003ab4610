"""Compile the kernels of a command before it runs, where there is no machine code: in parallel processes, and once."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from importlib import import_module
from multiprocessing import get_context
from typing import Any

from pagekin.kernels.cache import cache_folder
from pagekin.kernels.compile import Kernel, why_not_usable
from pagekin.kernels.signatures import is_current, known, numba_types, used_by

_TICK = 3.0  # seconds between two lines of progress


def prepare(command: str, report: Callable[[str], None]) -> None:
    """Compile what a command needs and numba's cache does not have, and report what is done."""
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        return
    needed = {name: found for name in sorted(used_by(command)) if isinstance(found := _kernel(name), Kernel)}
    missing = [name for name, kernel in needed.items() if not _is_cached(kernel)]
    if missing:
        why = why_not_usable() or "their sources have changed since the machine code was compiled"
        report(f"compiling {len(missing)} of {len(known())} kernels, once ({why})")
        _compile_in_parallel(missing, report)


def load(command: str) -> None:
    """Load what a command needs into this process."""
    for name in sorted(used_by(command)):
        compile_kernel(name)


def compile_kernel(name: str) -> None:
    """Compile a kernel for all signatures with which the package calls it, or load it from the cache."""
    kernel = _kernel(name)
    # Otherwise there is machine code, or NUMBA_DISABLE_JIT is set.
    if isinstance(kernel, Kernel) and hasattr(kernel.dispatcher, "compile"):
        for signature in filter(is_current, known()[name]):
            kernel.dispatcher.compile(numba_types(signature))


def _compile_in_parallel(names: Iterable[str], report: Callable[[str], None]) -> None:
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(compile_kernel, name) for name in sorted(names, key=_size, reverse=True)]
        waiting, silent = set(futures), 0
        while waiting:
            done, waiting = wait(waiting, _TICK, FIRST_COMPLETED)
            silent = 0 if done else silent + 1  # dots show that it goes on
            report(f"  {len(futures) - len(waiting)} of {len(futures)} {'.' * silent}".rstrip())
        for future in futures:
            future.result()


def _size(name: str) -> int:
    """A guess of how long a kernel takes to compile: those with many arguments call many others."""
    return sum(map(len, known()[name]))


def _is_cached(kernel: Kernel) -> bool:
    folder = cache_folder(kernel.function)
    return folder is not None and any(folder.rglob(f"*.{kernel.function.__name__}-*.nbi"))


def _kernel(name: str) -> Any:
    """A kernel; None if the sources, which are newer than the list of signatures, do not have it any more."""
    module, _, function = name.partition(".")
    try:
        return getattr(import_module(f"pagekin.kernels.{module}"), function, None)
    except ModuleNotFoundError:
        return None
