"""The class of every character: a letter, a combining mark, a letter of a script without spaces, a stop ...

The table is data (`letters.txt`, written by `tools/letters.py`), so that a page has the same words under every version
of Python and of Unicode.
"""

from functools import cache
from importlib.resources import files

import numpy as np

from pagekin.model.arrays import Bytes


@cache
def classes() -> Bytes:
    """The class of every code point; `kernels/words.py` has the classes."""
    table = np.zeros(0x110000, np.uint8)
    for line in files("pagekin.reading").joinpath("letters.txt").read_text("ascii").splitlines():
        if not line.startswith("#"):
            first, last, kind = line.split()
            table[int(first, 16) : int(last, 16) + 1] = int(kind)
    return table
