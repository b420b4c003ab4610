"""What the tests of indexes share."""

from __future__ import annotations

import numpy as np

from pagekin.index.index import keys_of
from pagekin.model.arrays import Strings, UInt64s


def term_keys(names: Strings, nodes: int) -> UInt64s:
    """The keys of all terms: the names, then `nodes` citing nodes."""
    return keys_of(names, np.arange(len(names) + nodes))
