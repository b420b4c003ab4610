"""How the parts of a kernel are compiled that run for every tag or word of a page.

A jitted function counts a reference to every array that it is handed, with an instruction that locks the bus, and
is handed each array as seven to nine numbers on the stack. For a function that looks at five bytes both cost more
than its work. These parts count nothing, so they must not make arrays; those that hold an array keep it alive.
"""

from __future__ import annotations

from pagekin.kernels.compile import Function, compiled


def inner(function: Function) -> Function:
    """Compile a part of a kernel, which counts no references."""
    return compiled(function, _nrt=False)


def inlined(function: Function) -> Function:
    """As `inner`, and every caller gets a copy: for what has few callers or few lines."""
    return compiled(function, _nrt=False, forceinline=True)
