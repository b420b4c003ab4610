"""How far classes of a hierarchy, and pages in them, are from the classes of a source (paper, definition 1).

A class is a row of `lineage`: numbers for its ancestors from the top down to itself, `depth` of them. Equal numbers
mean the same ancestor.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.kernels.inline import inlined
from pagekin.model.arrays import Bytes, Int64s

SAME, SIBLING, COUSIN, UNRELATED = range(4)


@inlined
def familial(a: int, b: int, lineage: NDArray[np.int32], depth: Int64s, whole_tree: bool) -> int:
    """The distance from class a to class b.

    In the whole tree it is the number of steps from a up to the class that dominates both. Else it is one of four:
    the same class; siblings, of one parent below the root; cousins, of one top; unrelated.
    """
    shared = 0
    while shared < depth[a] and shared < depth[b] and lineage[a, shared] == lineage[b, shared]:
        shared += 1
    if whole_tree:
        return int(depth[a]) - shared
    if a == b:
        return SAME
    if depth[a] == depth[b] and shared == depth[a] - 1 and shared > 0:
        return SIBLING
    return COUSIN if shared > 0 else UNRELATED


@kernel
def distances_from(
    source: int,
    offsets: Int64s,
    classes: Int64s,
    lineage: NDArray[np.int32],
    depth: Int64s,
    whole_tree: bool,
    near: Bytes,
    distances: Bytes,
) -> None:
    """The distance of every page from a source: the least over all of their classes.

    The classes of page p are classes[offsets[p]] to classes[offsets[p + 1]], at least one. `near` has room for a byte a
    class.
    """
    for c in range(len(depth)):
        near[c] = 255
        for k in range(offsets[source], offsets[source + 1]):
            near[c] = min(near[c], familial(classes[k], c, lineage, depth, whole_tree))
    for page in range(len(distances)):
        least = near[classes[offsets[page]]]
        for k in range(offsets[page] + 1, offsets[page + 1]):
            least = min(least, near[classes[k]])
        distances[page] = least
