"""How kernels are compiled: once, cached on disk, without the global interpreter lock.

A kernel that several processes need at the same time is compiled by one of them. The others wait, then load it.

The cache is in NUMBA_CACHE_DIR if that is set, else next to the sources, else (if that is not writable) in the cache
directory of the user. If no directory is writable, every process compiles the kernels again.
"""

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import config, njit, types
from numba.core.compiler_lock import global_compiler_lock

try:
    import fcntl
except ImportError:  # Windows: two processes may compile the same kernel, with the same result
    fcntl = None  # type: ignore[assignment]

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parents[1]
_BESIDE_SOURCES = Path(__file__).parent / "__pycache__"
_IMPORTS = re.compile(r"^from pagekin\.([\w.]+) import (\w+)", re.M)
_finished, _since, _depth = 0.0, 0.0, 0  # changed only by the thread that holds numba's lock


def kernel(function: Function) -> Function:
    """Compile `function` with numba. Type checkers see the function itself."""
    return _compile(function)


def inner(function: Function) -> Function:
    """Compile a part of a kernel that runs for every tag or word, without reference counting.

    A jitted function increments and decrements a reference count for every array argument, with an atomic instruction.
    In a function that reads five bytes this costs more than the work. A function without reference counting must not
    create arrays; its caller keeps the arguments alive.
    """
    return _compile(function, _nrt=False)


def inlined(function: Function) -> Function:
    """As `inner`, and inlined into every caller: for functions with few callers or few lines.

    An argument that is an array is passed as seven to nine numbers on the stack, which inlining avoids.
    """
    return _compile(function, _nrt=False, forceinline=True)


def _compile(function: Function, **options: bool) -> Function:
    options = {"nogil": True, **_supported(no_cfunc_wrapper=True, **options)}  # kernels are not called from C
    with suppress(OSError, RuntimeError):  # numba raises RuntimeError if it finds no directory for its cache
        with _cache_directory(Path(function.__code__.co_filename)):
            dispatcher = _without_literal_types(njit(cache=True, **options)(function))
            return cast(Function, lock_compilation(dispatcher, config.CACHE_DIR))
    return cast(Function, _without_literal_types(njit(**options)(function)))


def _supported(**options: bool) -> dict[str, bool]:
    """The options that this version of numba has. They are undocumented, and only make kernels faster."""
    try:
        from numba.core.cpu import CPUTargetOptions
    except ImportError:
        return {}
    return {name: value for name, value in options.items() if hasattr(CPUTargetOptions, name)}


def _without_literal_types(dispatcher: Any) -> Any:
    """Compile a function once for all constants that kernels call it with; numba compiles it for each constant.

    This replaces an undocumented method. Without it kernels give the same results, and take longer to compile.
    """
    resolve = getattr(dispatcher, "get_call_template", None)  # missing if NUMBA_DISABLE_JIT is set
    if resolve is not None:
        dispatcher.get_call_template = lambda args, kws: resolve(
            tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in dict(kws).items()}
        )
    return dispatcher


@contextmanager
def _cache_directory(source: Path) -> Iterator[None]:
    """Set numba's cache directory for the kernels of one module; numba reads it when a kernel is declared."""
    root = _cache_root()
    if root is None:
        raise OSError("no directory for compiled kernels is writable")
    folder = root / f"{source.stem}-{_digest(source)}"
    if root == _BESIDE_SOURCES and not folder.exists():
        _remove_older(folder)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


@cache
def _digest(source: Path) -> str:
    """A digest of everything that the machine code of a module depends on: its source and the modules it imports.

    Numba checks only the file of the kernel, and would reuse code that was compiled with an older callee.
    """
    parts = [source.read_bytes(), *(_digest(each).encode() for each in imported(source))]
    return sha256(b"\0".join(parts)).hexdigest()[:12]


def imported(source: Path) -> list[Path]:
    """The sources of this package that a module imports."""
    found = set()
    for path, name in _IMPORTS.findall(source.read_text("utf-8")):
        place = _PACKAGE.joinpath(*path.split("."))
        found.add((place / name if place.is_dir() else place).with_suffix(".py"))
    return sorted(found)


def _remove_older(folder: Path) -> None:
    """Remove code that was compiled from older sources of a module. Next to the sources nothing else can need it."""
    module, _, _ = folder.name.partition("-")
    for each in folder.parent.glob(f"{module}-*"):
        if each != folder:  # another process may just have created it
            shutil.rmtree(each, ignore_errors=True)


@cache
def _cache_root() -> Path | None:
    roots = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    roots.append(_BESIDE_SOURCES)
    with suppress(RuntimeError):  # a user without a home directory
        roots.append(user_cache(sys.platform, os.environ))
    return first_writable(roots)


def user_cache(platform: str, environment: Mapping[str, str]) -> Path:
    """The cache directory of the user, by the conventions of the operating system."""
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "pagekin" / "Cache"
    if platform == "darwin":
        return Path.home() / "Library/Caches/pagekin"
    given = Path(environment.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "pagekin"


def first_writable(folders: Iterable[Path]) -> Path | None:
    """The first folder in which a file can be created. Permissions do not tell: disks are read-only, root is exempt."""
    for folder in folders:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


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
