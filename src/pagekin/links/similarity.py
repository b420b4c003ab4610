"""What links say of one page, for a question at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pagekin.model.arrays import Floats, Int64s, spans

if TYPE_CHECKING:  # it loads a compiler, which a question of words alone can do without
    from pagekin.links.measures import LinkSets

FAINT = 0.7  # links that agree less than this with words are not believed


@dataclass(frozen=True)
class LinkSimilarity:
    """Similarities by links, page by page; the same as `LinkSets` finds for all pairs."""

    comparison: LinkSets

    @cached_property
    def _number(self) -> dict[int, int]:
        return {node: number for number, node in enumerate(self.comparison.node.tolist())}

    @cached_property
    def _direct(self) -> tuple[Int64s, Int64s, Floats, Floats]:
        """(offsets, partner, links, inside) of the pairs of each set, seen from both sides."""
        direct = self.comparison.direct
        first = np.repeat(np.arange(len(direct.offsets) - 1), np.diff(direct.offsets))
        ends = np.concatenate([first, direct.partner]), np.concatenate([direct.partner, first])
        order = np.argsort(ends[0], kind="stable")
        offsets = np.searchsorted(ends[0][order], np.arange(len(direct.offsets)))
        links, inside = (np.tile(each, 2)[order] for each in (direct.links, direct.inside))
        return offsets, ends[1][order].astype(np.int64), links, inside

    def beside(self, node: int) -> tuple[Int64s, Floats]:
        """(nodes, similarities) of all that links make similar to a node, the most similar first."""
        number = self._number.get(node)
        if number is None:
            return np.empty(0, np.int64), np.empty(0)
        sets = self.comparison.sets
        element = sets.element[sets.offsets[number] : sets.offsets[number + 1]].astype(np.int64)
        counts = sets.holder_offsets[element + 1] - sets.holder_offsets[element]
        holder = sets.holder[spans(sets.holder_offsets[element], counts)]
        common = np.asarray(np.bincount(holder, np.repeat(sets.weight[element], counts), len(sets.size)), np.float64)
        offsets, partner, links, inside = self._direct
        row = slice(offsets[number], offsets[number + 1])
        shared, union = common.copy(), sets.size[number] + sets.size - common + 2.0
        shared[partner[row]] += links[row]
        union[partner[row]] -= inside[row]
        shared[number] = 0.0
        found = np.flatnonzero(shared)
        similarity = shared[found] / union[found]
        order = np.lexsort((self.comparison.node[found], -similarity))
        return self.comparison.node[found[order]], similarity[order]


def believed(agreement: float) -> float:
    """The share of links in a fused similarity, from how far they agree with words.

    The agreement of a collection is the mean, over pages, of the similarity of words of the ten pages nearest by links
    over that of the ten pages nearest by words. On an encyclopedia, whose links lead anywhere, it is .73, and a tenth
    is best; on a reference manual it is .85, and one half is.

    >>> [round(believed(agreement), 2) for agreement in (0.6, 0.73, 0.85, 1.0)]
    [0.0, 0.1, 0.5, 1.0]
    """
    return min(1.0, max(0.0, (agreement - FAINT) / (1.0 - FAINT)))
