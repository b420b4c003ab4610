"""The link similarities of one page at a time."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pagekin.links.measures import LinkSets
from pagekin.model.arrays import Floats, Int64s, spans

_MIN_AGREEMENT = 0.7


@dataclass(frozen=True)
class LinkSimilarity:
    """Link similarities page by page, equal to those that `LinkSets` computes for all pairs."""

    link_sets: LinkSets

    @cached_property
    def _number(self) -> dict[int, int]:
        return {node: number for number, node in enumerate(self.link_sets.node.tolist())}

    @cached_property
    def _direct(self) -> tuple[Int64s, Int64s, Floats, Floats]:
        """(offsets, partner, links, inside): the direct pairs of each set in both directions."""
        direct = self.link_sets.direct
        first = np.repeat(np.arange(len(direct.offsets) - 1), np.diff(direct.offsets))
        ends = np.concatenate([first, direct.partner]), np.concatenate([direct.partner, first])
        order = np.argsort(ends[0], kind="stable")
        offsets = np.searchsorted(ends[0][order], np.arange(len(direct.offsets)))
        links, inside = (np.tile(each, 2)[order] for each in (direct.links, direct.inside))
        return offsets, ends[1][order].astype(np.int64), links, inside

    def similar_to(self, node: int) -> tuple[Int64s, Floats]:
        """(nodes, similarities) of all nodes with a similarity above 0 to this node, most similar first."""
        number = self._number.get(node)
        if number is None:
            return np.empty(0, np.int64), np.empty(0)
        sets = self.link_sets.sets
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
        order = np.lexsort((self.link_sets.node[found], -similarity))
        return self.link_sets.node[found[order]], similarity[order]


def link_share_for(agreement: float) -> float:
    """The share of links in a blended similarity, from the agreement of links with text in the collection.

    The agreement is the text similarity of the ten pages nearest by links, divided by that of the ten pages nearest
    by text; mean over pages. An encyclopedia, with links to any subject, has .73, and a share of .1 is best there; a
    reference manual has .85, and .5 is best.

    >>> [round(link_share_for(agreement), 2) for agreement in (0.6, 0.73, 0.85, 1.0)]
    [0.0, 0.1, 0.5, 1.0]
    """
    return min(1.0, max(0.0, (agreement - _MIN_AGREEMENT) / (1.0 - _MIN_AGREEMENT)))
