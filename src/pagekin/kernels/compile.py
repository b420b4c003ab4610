"""How every kernel is compiled: once, kept on disk, without the interpreter's lock.

Kernels are kept where NUMBA_CACHE_DIR says, else beside their sources, else, where that may not be written, in the
cache of the user. Where nothing may be written, every process compiles them anew.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import config, njit, types

from pagekin.kernels.compile_lock import lock_compilation

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parents[1]
_BESIDE = Path(__file__).parent / "__pycache__"
_IMPORTS = re.compile(rb"^from pagekin\.([\w.]+) import ", re.M)


def kernel(function: Function) -> Function:
    """Compile `function` with numba, and let type checkers see the function itself."""
    return compiled(function)


def compiled(function: Function, **options: bool) -> Function:
    """Compile `function` with options of numba beyond those that all have. Nobody calls kernels from C."""
    options |= {"nogil": True, "no_cfunc_wrapper": True}
    with suppress(OSError, RuntimeError):  # what numba raises when it finds no place to keep it
        with kept(Path(function.__code__.co_filename)):
            made = _for_any_number(njit(cache=True, **options)(function))
            return cast(Function, lock_compilation(made, config.CACHE_DIR))
    return cast(Function, _for_any_number(njit(**options)(function)))


def _for_any_number(made: Any) -> Any:
    """Numba would compile a function anew for each constant that a kernel calls it with: once will do."""
    if not hasattr(made, "get_call_template"):  # numba is told to compile nothing
        return made
    template = made.get_call_template

    def for_any(args: Any, kws: Any) -> Any:
        return template(
            tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in dict(kws).items()}
        )

    made.get_call_template = for_any
    return made


@contextmanager
def kept(source: Path) -> Iterator[None]:
    """Tell numba where to keep the kernels of a module; it asks when a kernel is declared, and only then."""
    place = _place()
    if place is None:
        raise OSError("there is no place to keep kernels")
    folder = place / f"{source.stem}-{digest(source)}"
    if place == _BESIDE and not folder.exists():
        _forget_older(folder)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


@cache
def digest(source: Path) -> str:
    """What the machine code of a module depends on: its source and the sources of what it imports from us.

    Numba looks at the file of a kernel alone, and would go on using what was compiled with an older callee.
    """
    parts = [source.read_bytes(), *(digest(each).encode() for each in imported(source))]
    return sha256(b"\0".join(parts)).hexdigest()[:12]


def imported(source: Path) -> list[Path]:
    """The sources of ours that a module imports."""
    names = sorted({name.decode() for name in _IMPORTS.findall(source.read_bytes())})
    return [_PACKAGE.joinpath(*name.split(".")).with_suffix(".py") for name in names]


def _forget_older(folder: Path) -> None:
    """Remove what was compiled from older sources of a module; beside the sources nobody else can need it."""
    module, _, _ = folder.name.partition("-")
    for each in folder.parent.glob(f"{module}-*"):
        if each != folder:  # another process may just have made it
            shutil.rmtree(each, ignore_errors=True)


@cache
def _place() -> Path | None:
    places = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    places.append(_BESIDE)
    with suppress(RuntimeError):  # somebody without a home
        places.append(user_cache(sys.platform, os.environ))
    return first_writable(places)


def user_cache(platform: str, environment: Mapping[str, str]) -> Path:
    """Where the customs of a system want a program to keep, for a user, what it can make again."""
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "pagekin" / "Cache"
    if platform == "darwin":
        return Path.home() / "Library/Caches/pagekin"
    given = Path(environment.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "pagekin"


def first_writable(places: Iterable[Path]) -> Path | None:
    """The first folder that a file can be made in. Only trying tells: disks are read-only, and root may do all."""
    for place in places:
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=place).close()
            return place
    return None
