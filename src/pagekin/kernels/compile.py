"""How kernels run: as machine code that came with the package or, where that does not fit, compiled by numba.

Importing numba takes longer than most commands, so it is imported when a kernel has to be compiled, and not before.
Machine code fits if it was compiled from these sources (by their digests) and for this processor. The variable
PAGEKIN_KERNELS=numba makes every kernel run by numba, and so do numba's own variables for debugging.
"""

import os
import sys
from collections.abc import Callable
from functools import cached_property, update_wrapper
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar, cast

import numpy  # noqa: F401, first: if it cannot be loaded, machine code that needs it prints a traceback

from pagekin.kernels import hooks
from pagekin.kernels.digests import INLINED, INNER, digest

Function = TypeVar("Function", bound=Callable[..., Any])

KERNELS: set[CodeType] = set()
_BY_NUMBA = {"PAGEKIN_KERNELS": ("numba", "ahead"), "NUMBA_DISABLE_JIT": ("1",), "NUMBA_BOUNDSCHECK": ("1",)}
# With these errors numba, which needs more memory and files, would not be loaded either.
_REFUSED = (
    "failed to map segment",
    "cannot map zero-fill",
    "annot allocate memory",
    "cannot open shared object",
    "cannot read file data",
)

try:
    machine: Any = import_module("pagekin.kernels.machine")
except ImportError as error:  # a package without machine code, or for another system
    if any(reason in str(error) for reason in _REFUSED):
        raise
    machine = None


class Kernel:
    """A function that numba compiles when it is first called. Other attributes are those of numba's dispatcher."""

    def __init__(self, function: Callable[..., Any], **options: bool) -> None:
        update_wrapper(self, function)
        KERNELS.add(function.__code__)
        self.function = function
        self.options = options

    @cached_property
    def dispatcher(self) -> Any:
        action, hooks.before_numba = hooks.before_numba, None
        if action is not None:
            action()
        from pagekin.kernels.jit import compiled  # imports numba

        return compiled(self.function, self.options, (Kernel, machine.Kernel) if machine else (Kernel,))

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)


class RecordingKernel(Kernel):
    """Appends to the file PAGEKIN_RECORD_KERNELS with what types the package calls the kernel."""

    @cached_property
    def seen(self) -> set[str]:
        return set()

    def __call__(self, *arguments: Any) -> Any:
        from pagekin.kernels.signatures import signature

        result = self.dispatcher(*arguments)
        caller = sys._getframe(1)
        if caller.f_globals["__name__"].startswith("pagekin.") and caller.f_code not in KERNELS:
            command = sys.argv[1] if Path(sys.argv[0]).name == "pagekin" else ""
            line = f"{kernel_name(self.function)}\t{signature(arguments)}\t{command}\n"
            if line not in self.seen:
                self.seen.add(line)
                with Path(os.environ["PAGEKIN_RECORD_KERNELS"]).open("a") as file:
                    file.write(line)
        return result


def kernel(function: Function) -> Function:
    """Compile `function`. Type checkers see the function itself."""
    compiled = (RecordingKernel if "PAGEKIN_RECORD_KERNELS" in os.environ else Kernel)(function)
    source = Path(function.__code__.co_filename)
    if not usable() or machine.DIGESTS.get(source.stem) != digest(source):
        return cast(Function, compiled)
    result = function.__annotations__.get("return")
    named = result if isinstance(result, type) and issubclass(result, tuple) else None
    return cast(Function, machine.Kernel(kernel_name(function), compiled, named))


def inner(function: Function) -> Function:
    """Compile a part of a kernel that runs for every tag or word, without reference counting.

    A jitted function increments and decrements a reference count for every array argument, with an atomic instruction.
    In a function that reads five bytes this costs more than the work. A function without reference counting must not
    create arrays; its caller keeps the arguments alive.
    """
    return cast(Function, Kernel(function, **INNER))


def inlined(function: Function) -> Function:
    """As `inner`, and inlined into every caller: for functions with few callers or few lines.

    An argument that is an array is passed as seven to nine numbers on the stack, which inlining avoids.
    """
    return cast(Function, Kernel(function, **INLINED))


def uncompiled(function: Function) -> Function:
    """A part of a kernel as it was written, for a few calls: loading numba would take longer."""
    return cast(Function, cast(Any, function).function)


def kernel_name(function: Callable[..., Any]) -> str:
    """The name of a kernel among all kernels: its module and its own name."""
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def usable() -> bool:
    """Whether machine code came with the package, for this processor, and nothing asks for numba."""
    return not why_not_usable()


def why_not_usable() -> str:
    """Why machine code is not used; empty if it is."""
    for name, values in _BY_NUMBA.items():
        if (value := os.environ.get(name, "")) in values:
            return f"{name}={value} is set"
    if machine is None:
        return "no machine code came with the package"
    return "" if machine.FITS else f"this processor lacks instructions of {machine.TARGET}"
