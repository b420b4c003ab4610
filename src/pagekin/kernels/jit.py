"""Kernels compiled by numba when they are called, and cached on disk."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit, types
from numba.extending import models, register_model, typeof_impl

from pagekin.kernels.cache import cache_folder, remove_older


def compiled(function: Callable[..., Any], options: Mapping[str, bool], kinds: Iterable[type]) -> Any:
    """A dispatcher of numba, which compiles `function` for the types of its arguments, or loads that from the cache.

    `kinds` are the classes of the kernels that it may call, which have a `dispatcher` or a `fallback` that has one.
    """
    for kind in kinds:
        _let_kernels_call(kind)
    chosen = {"nogil": True, **_supported(no_cfunc_wrapper=True, **options)}  # kernels are not called from C
    if os.environ.get("PAGEKIN_KERNELS") == "ahead":  # of time, by tools/machine_code
        return njit(**chosen, **_supported(no_cpython_wrapper=True))(function)
    folder = cache_folder(function)
    if folder is not None:
        remove_older(folder)
        with _cache_directory(folder), suppress(RuntimeError):  # numba finds that it cannot write there
            return njit(cache=True, **chosen)(function)
    return njit(**chosen)(function)


def _supported(**options: bool) -> dict[str, bool]:
    """The options that this version of numba has. They are undocumented, and only make kernels faster."""
    try:
        from numba.core.cpu import CPUTargetOptions
    except ImportError:
        return {}
    return {name: value for name, value in options.items() if hasattr(CPUTargetOptions, name)}


class KernelType(types.Dispatcher):  # type: ignore[misc]
    """A kernel that another one calls: compiled once for all constants. Numba would compile it for each constant."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        named = {name: types.unliteral(kind) for name, kind in dict(kws).items()}
        return super().get_call_type(context, tuple(map(types.unliteral, args)), named)


register_model(KernelType)(models.OpaqueModel)


@cache
def _let_kernels_call(kind: type) -> None:
    """Let kernels call each other: tell numba the type of these objects."""

    def type_of(kernel: Any, _: Any) -> KernelType:
        return KernelType(kernel.fallback.dispatcher if hasattr(kind, "fallback") else kernel.dispatcher)

    typeof_impl.register(kind)(type_of)


@contextmanager
def _cache_directory(folder: Path) -> Iterator[None]:
    """Set numba's cache directory for the kernels of one module; numba reads it when a kernel is declared."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before
