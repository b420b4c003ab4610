"""Link scorers: the scores of all pages by the links of one page and to it."""

from collections.abc import Sequence

import numpy as np

from pagekin.kernels import link_scores as kernels
from pagekin.kernels import page_rows
from pagekin.kernels.page_rows import PageRows, ScoredRows
from pagekin.model.arrays import Floats, Int64s, spans
from pagekin.model.link_columns import LIMITS, LinkColumns, LinkLimits

HALF_APART = 64.0  # words between two links that halve their weight
_ANY_DISTANCE = 1e18  # in its place where the distance does not count
HALF_DOWN = 200.0  # words before a link that halve its weight

NodeScores = tuple[Int64s, Floats]  # the nodes with a score above 0, in any order, and their scores


class LinkScorer:
    """Scores pages. Nodes are pages of the collection; `LinkLimits` bounds what is looked at."""

    def __init__(self, links: LinkColumns, limits: LinkLimits = LIMITS) -> None:
        self.links, self.limits = links, limits
        self._anywhere = limits._replace(words=1 << 32)
        pages = len(links.in_degree)
        self._dense = np.zeros(pages + 1)
        self._scratch = kernels.LinkSums(self._dense, np.zeros(pages), np.empty(2 * pages, np.int64))

    def proximity(self, node: int) -> NodeScores:
        """The pages that are cited close to a page.

        The sum, over the pages that link to both, of 64 / (64 + words apart) for the two links that are closest;
        divided by sqrt((in-degree + 3) (in-degree + 3)). From 0 to 1.
        """
        return kernels.proximity(node, HALF_APART, self.links, self.limits, self._scratch)

    def cocitation(self, node: int) -> NodeScores:
        """The pages that are cited by the same pages as a page: as `proximity`, whatever the distance of the links."""
        return kernels.proximity(node, _ANY_DISTANCE, self.links, self._anywhere, self._scratch)

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

    def rows(self, kind: int, pages: Int64s) -> ScoredRows:
        """For each page the nodes with a score above 0 of one kind: proximity, coupling or link shares."""
        half = HALF_APART if kind == page_rows.PROXIMITY else HALF_DOWN
        return page_rows.link_rows(kind, half, pages, self.links, self.limits, self._scratch)

    def cocitation_rows(self, pages: Int64s) -> ScoredRows:
        """For each page the pages that are cited by the same pages."""
        return page_rows.link_rows(page_rows.PROXIMITY, _ANY_DISTANCE, pages, self.links, self._anywhere, self._scratch)

    def rarest_shared(self, queries: Sequence[int], nodes: Int64s, most: int) -> Int64s:
        """For each node the pages that both it and the queries link to, those with the fewest in-links first."""
        return kernels.rarest_shared(np.array(queries, np.int64), nodes, most, self.links, self._scratch)

    def out_links(self, nodes: Sequence[int]) -> Int64s:
        """The nodes that the links of some nodes lead to, of those that count."""
        links, node = self.links, np.array(nodes, np.int64)
        inside = np.minimum(node, len(links.in_degree) - 1)  # nodes that are known only from links have none
        begin = links.offsets[links.rows[inside]]
        counts = np.where(inside == node, links.offsets[links.rows[inside + 1]] - begin, 0)
        anchors = spans(begin, counts)
        counting = np.asarray(links.counting[anchors >> 3] >> (anchors & 7) & 1, bool)
        return np.asarray(links.node_of_target[links.target[anchors[counting]]], np.int64)

    def looked_up(self, found: NodeScores, nodes: Int64s) -> Floats:
        """The scores of some nodes; 0 for those that were not found."""
        self._dense[found[0]] = found[1]
        scores = self._dense[np.minimum(nodes, len(self._dense) - 1)]
        self._dense[found[0]] = 0.0
        return scores

    def looked_up_rows(self, found: ScoredRows, rows: PageRows) -> Floats:
        """The same for rows of nodes."""
        scores = np.empty(len(rows.node))
        page_rows.looked_up(found, rows, self._dense, scores)
        return scores
