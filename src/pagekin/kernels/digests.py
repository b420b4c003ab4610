"""On what sources and options the compiled code of a kernel depends."""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path

# Undocumented options of numba: without reference counts, and inlined by LLVM.
INNER = {"_nrt": False}
INLINED = {"_nrt": False, "forceinline": True}

_PACKAGE = Path(__file__).parents[1]
_COMPILE = Path(__file__).with_name("compile.py")
_IMPORTS = re.compile(r"^from pagekin\.([\w.]+) import (\w+)", re.M)


@cache
def digest(source: Path) -> str:
    """A digest of everything that the machine code of a module depends on: its source and the modules it imports.

    Numba checks only the file of the kernel, and would reuse code that was compiled with an older callee. Of
    `compile.py` only the options matter.
    """
    if source == _COMPILE:
        return str((INNER, INLINED))
    parts = [source.read_bytes(), *(digest(each).encode() for each in imported(source))]
    return sha256(b"\0".join(parts)).hexdigest()[:12]


def imported(source: Path) -> list[Path]:
    """The sources of this package that a module imports."""
    found = set()
    for path, name in _IMPORTS.findall(source.read_text("utf-8")):
        place = _PACKAGE.joinpath(*path.split("."))
        found.add((place / name if place.is_dir() else place).with_suffix(".py"))
    return sorted(found)
