"""Link scorers: the scores of all pages by the links of one page and to it."""

from collections.abc import Sequence

import numpy as np

from pagekin.kernels import link_scores as kernels
from pagekin.model.arrays import Bools, Floats, Int64s, distinct
from pagekin.model.link_columns import LIMITS, LinkColumns, LinkLimits

HALF_APART = 64.0  # words between two links that halve their weight
HALF_DOWN = 200.0  # words before a link that halve its weight

NodeScores = tuple[Int64s, Floats]  # the nodes with a score above 0, in any order, and their scores


class LinkScorer:
    """Scores pages. Nodes are pages of the collection; `LinkLimits` bounds what is looked at."""

    def __init__(self, links: LinkColumns, limits: LinkLimits = LIMITS) -> None:
        self.links, self.limits = links, limits
        pages = len(links.in_degree)
        self._dense = np.zeros(pages + 1)
        self._scratch = kernels.LinkSums(self._dense, np.zeros(pages), np.empty(2 * pages, np.int64))

    def proximity(self, node: int) -> NodeScores:
        """The pages that are cited close to a page.

        The sum, over the pages that link to both, of 64 / (64 + words apart) for the two links that are closest;
        divided by sqrt((in-degree + 3) (in-degree + 3)). From 0 to 1.
        """
        return kernels.proximity(node, HALF_APART, self.links, self.limits, self._scratch)

    def coupling(self, node: int) -> NodeScores:
        """The pages that link to the same pages as a page.

        The cosine of the vectors of link targets, with weight ln(N / in-degree) for each; from 0 to 1. See
        `write_link_statistics` on their lengths.
        """
        return kernels.coupling(node, self.links, self.limits, self._scratch)

    def link_shares(self, node: int) -> NodeScores:
        """The pages that a page links to, each with its share of the links.

        The weight of a linked page is sqrt(sum of 200 / (200 + words before the link)) times its rarity,
        ln(1 + N / (1 + in-degree)) / ln(1 + N). The share is the weight over 1 + the sum of all weights.
        """
        return kernels.link_shares(node, HALF_DOWN, self.links, self._scratch)

    def out_links(self, node: int) -> tuple[Int64s, Int64s]:
        """(node, words before the link) of every link of a node that counts, in document order."""
        links = self.links
        begin, end = links.offsets[links.rows[node : node + 2]] if node < len(links.in_degree) else (0, 0)
        anchors = np.arange(begin, end)
        anchors = anchors[self._counts(anchors)]
        return self._targets(anchors), links.start[anchors].astype(np.int64)

    def targets(self, nodes: Sequence[int]) -> Int64s:
        """The nodes that any of these link to, ascending."""
        return distinct(np.concatenate([np.empty(0, np.int64), *(self.out_links(node)[0] for node in nodes)]))

    def looked_up(self, found: NodeScores, nodes: Int64s) -> Floats:
        """The scores of some nodes; 0 for those that were not found."""
        self._dense[found[0]] = found[1]
        scores = self._dense[np.minimum(nodes, len(self._dense) - 1)]
        self._dense[found[0]] = 0.0
        return scores

    def _counts(self, anchors: Int64s) -> Bools:
        return np.asarray(self.links.counting[anchors >> 3] >> (anchors & 7) & 1, bool)

    def _targets(self, anchors: Int64s) -> Int64s:
        return self.links.node_of_target[self.links.target[anchors]].astype(np.int64)
