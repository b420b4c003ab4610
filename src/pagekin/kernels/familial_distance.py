"""Familial distance of classes in a hierarchy, and of the pages in them, from a source page (paper, definition 1).

A class is a row of `lineage`: the numbers of its ancestors from the top down to itself, `depth` of them.
"""

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Bytes, Int64s

SAME, SIBLING, COUSIN, UNRELATED = range(4)


@inlined
def familial(a: int, b: int, lineage: NDArray[np.int32], depth: Int64s, whole_tree: bool) -> int:
    """The distance from class a to class b.

    With `whole_tree` it is the number of steps from a up to the lowest common ancestor. Otherwise it is SAME; SIBLING,
    for one parent below the root; COUSIN, for one top-level class; or UNRELATED.
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
    class_distances: Bytes,
    distances: Bytes,
) -> None:
    """The distance of every page from a source page: the minimum over all pairs of their classes.

    Page p has classes[offsets[p]:offsets[p + 1]], at least one. `class_distances` is a buffer of one byte per class.
    """
    for c in range(len(depth)):
        class_distances[c] = 255
        for k in range(offsets[source], offsets[source + 1]):
            class_distances[c] = min(class_distances[c], familial(classes[k], c, lineage, depth, whole_tree))
    for page in range(len(distances)):
        smallest = class_distances[classes[offsets[page]]]
        for k in range(offsets[page] + 1, offsets[page + 1]):
            smallest = min(smallest, class_distances[classes[k]])
        distances[page] = smallest
