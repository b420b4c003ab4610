"""How the parts of a kernel are compiled that run for every tag or word of a page.

A jitted function counts a reference to every array that it is handed, with an instruction that locks the bus, and
is handed each array as seven to nine numbers on the stack. For a function that looks at five bytes both cost more
than its work. These parts count nothing, so they must not make arrays; those that hold an array keep it alive.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

from pagekin.kernels.compile import kept

Function = TypeVar("Function", bound=Callable[..., Any])


def inner(function: Function) -> Function:
    """Compile a part of a kernel, which counts no references."""
    return _compiled(function, _nrt=False)


def inlined(function: Function) -> Function:
    """As `inner`, and every caller gets a copy: for what has few callers or few lines."""
    return _compiled(function, _nrt=False, forceinline=True)


def _compiled(function: Function, **options: bool) -> Function:
    with suppress(OSError, RuntimeError):  # as in `kernel`
        with kept(Path(function.__code__.co_filename)):
            return cast(Function, njit(cache=True, nogil=True, **options)(function))
    return cast(Function, njit(nogil=True, **options)(function))
