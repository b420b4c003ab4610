"""A kernel that several processes need at the same time is compiled by one of them. The others wait, then load it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock

try:
    import fcntl
except ImportError:  # Windows: two processes may compile the same kernel, with the same result
    fcntl = None  # type: ignore[assignment]

_finished, _since, _depth = 0.0, 0.0, 0  # changed only by the thread that holds numba's lock


def compile_seconds() -> float:
    """Seconds that this process has spent compiling and loading kernels, up to now."""
    return _finished + (time.monotonic() - _since if _depth else 0.0)


def lock_compilation(dispatcher: Any, folder: str) -> Any:
    """Let one process at a time compile a kernel. Numba looks into its cache again when it is this process's turn."""
    compile_now = getattr(dispatcher, "compile", None)  # missing if NUMBA_DISABLE_JIT is set
    if compile_now is not None:
        path = Path(folder) / f"{dispatcher.__name__}.lock"

        def compile_alone(signature: Any) -> Any:
            # Numba's lock comes first: a thread that waits for it must not hold the lock of a kernel. Kernels do not
            # call each other in a circle, so two processes cannot wait for each other.
            with global_compiler_lock, _timed(), _locked(path):
                return compile_now(signature)

        dispatcher.compile = compile_alone
    return dispatcher


@contextmanager
def _timed() -> Iterator[None]:
    global _finished, _since, _depth
    if not _depth:
        _since = time.monotonic()
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _finished += time.monotonic() - _since


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a kernel, if there is one: the system releases it when the process ends."""
    try:
        file = path.open("ab")
    except OSError:  # the cache was removed, or its disk is full
        yield
        return
    with file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
