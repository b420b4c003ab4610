"""A hierarchy as lines of text, for terminals."""

from __future__ import annotations

from collections.abc import Sequence

from pagekin.links.hierarchy import Hierarchy


def drawn(hierarchy: Hierarchy, names: Sequence[str]) -> list[str]:
    r"""The tree, a line for each leaf and for each height at which clusters come together.

    >>> import numpy as np
    >>> from pagekin.links.hierarchy import merged
    >>> distance = np.array([[0, 0.2, 0.9], [0.2, 0, 0.7], [0.9, 0.7, 0]])
    >>> print("\n".join(drawn(merged(distance, 0.5), ["oak", "beech", "gale"])))
    0.800
    ├── 0.200
    │   ├── oak
    │   └── beech
    └── gale
    """
    n = len(hierarchy)
    lines: list[str] = []
    waiting = [(2 * n - 2, "", "")]  # a cluster, what stands before it, and before what is below it
    while waiting:
        cluster, before, below = waiting.pop()
        if cluster < n:
            lines.append(before + names[cluster])
            continue
        lines.append(f"{before}{hierarchy.heights[cluster - n]:.3f}")
        parts = _parts(hierarchy, cluster)
        last = [(parts[-1], below + "└── ", below + "    ")]
        waiting += last + [(part, below + "├── ", below + "│   ") for part in parts[-2::-1]]
    return lines


def _parts(hierarchy: Hierarchy, cluster: int) -> list[int]:
    """The clusters that come together at the height of this one, be it in one merge or in several."""
    n, height = len(hierarchy), hierarchy.heights[cluster - len(hierarchy)]
    parts, waiting = [], [cluster]
    while waiting:
        each = waiting.pop()
        if each >= n and hierarchy.heights[each - n] == height:
            waiting += hierarchy.merges[each - n][::-1].tolist()
        else:
            parts.append(each)
    return parts
