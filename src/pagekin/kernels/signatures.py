"""The types of the arguments of a kernel, as text. `signatures.json` lists those with which the package calls kernels.

An array is `a`, kind and size of its numbers, dimensions, layout (C, F or A for any) and access (r, w); a number is
`s`, kind and size; a named tuple is in parentheses with the name of its class first.
"""

import json
import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np


def signature(arguments: Iterable[Any]) -> str:
    """The types of arguments.

    >>> signature([np.zeros((2, 3), np.float32), 5, 0.5, True])
    'af42Cw si8 sf8 sb1'
    """
    return " ".join(map(_token, arguments))


def _token(given: Any) -> str:
    if isinstance(given, np.ndarray):
        layout = "C" if given.flags.c_contiguous else "F" if given.flags.f_contiguous else "A"
        access = "w" if given.flags.writeable else "r"
        return f"a{given.dtype.kind}{given.dtype.itemsize}{given.ndim}{layout}{access}"
    if isinstance(given, tuple):
        kind = type(given)
        return f"({kind.__module__.removeprefix('pagekin.')}.{kind.__qualname__} {signature(given)})"
    if isinstance(given, np.generic):
        return f"s{given.dtype.kind}{given.dtype.itemsize}"
    return {bool: "sb1", int: "si8", float: "sf8"}[type(given)]


@cache
def _listed() -> dict[str, dict[str, list[str]]]:
    listed: dict[str, dict[str, list[str]]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    return listed


def known() -> dict[str, list[str]]:
    """The signatures of each kernel with which the package calls it."""
    return _listed()["signatures"]


def used_by(command: str) -> set[str]:
    """The names of the kernels that a command calls."""
    also = {"demo": ("build", "evaluate", "related", "serve"), "serve": ("related", "cluster", "duplicates", "graph")}
    return set(_listed()["commands"].get(command, ())).union(*map(used_by, also.get(command, ())))


def is_known(name: str, arguments: Iterable[Any]) -> bool:
    """Whether machine code for a call is in the wheel. An array that kernels may not write fits one that they may."""
    given = signature(arguments)
    return any(
        len(given) == len(each) and all(a == b or (a, b) == ("w", "r") for a, b in zip(given, each, strict=True))
        for each in merged(known().get(name, []))
    )


def merged(signatures: Iterable[str]) -> list[str]:
    """Signatures without those that differ in access only: an array that may be read-only may also be writeable.

    >>> merged(["ai81Cr af81Cw", "ai81Cw af81Cr", "si8"])
    ['ai81Cr af81Cr', 'si8']
    """
    found: dict[str, str] = {}
    for each in signatures:
        key = re.sub(r"[rw]\b", "w", each)
        before = found.get(key, each)
        found[key] = "".join("r" if a != b else a for a, b in zip(before, each, strict=True))
    return list(found.values())


def numba_types(text: str) -> tuple[Any, ...]:
    """The types of arguments as numba has them."""
    parts, _ = _parse(text.replace(")", " )").split(), 0)
    return tuple(parts)


def is_current(text: str) -> bool:
    """Whether the named tuples of a signature have the fields that they had when it was recorded."""
    try:
        return bool(numba_types(text))
    except (ValueError, AttributeError, ModuleNotFoundError):
        return False


def _parse(tokens: list[str], k: int) -> tuple[list[Any], int]:
    from numba import types

    found: list[Any] = []
    while k < len(tokens) and tokens[k] != ")":
        token = tokens[k]
        k += 1
        if token[0] == "(":
            module, _, name = token[1:].rpartition(".")
            parts, k = _parse(tokens, k)
            kind = getattr(import_module(f"pagekin.{module}"), name)
            if len(parts) != len(kind._fields):
                raise ValueError(f"{module}.{name} has other fields now: python -m tools.machine_code.record")
            found.append(types.NamedTuple(parts, kind))
            k += 1
        else:
            number = _number(token[1:3])
            if token[0] == "a":
                number = types.Array(number, int(token[3]), token[4], readonly=token[5] == "r")
            found.append(number)
    return found, k


def _number(token: str) -> Any:
    from numba import from_dtype, types

    return types.boolean if token == "b1" else from_dtype(np.dtype(token))


def plain(text: str) -> str:
    """A signature without spaces and names of classes, as `runtime.c` reads it.

    >>> plain("si8 (kernels.query.CandidateLimits si8 sf8) au41Cr")
    'si8(si8sf8)au41Cr'
    """
    return "".join("(" if token[0] == "(" else token for token in text.split())
