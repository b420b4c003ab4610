"""How every kernel is compiled: once, kept on disk, without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile `function` with numba, and let type checkers see the function itself."""
    return cast(Function, njit(cache=True, nogil=True)(function))
