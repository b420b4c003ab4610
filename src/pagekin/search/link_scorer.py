"""Link scorers: the scores of all pages by the links of one page and to it.

There are two, with the same results to the last bit: one in numpy, and one for processes that have loaded the compiler.
`LinkLimits` bounds what is looked at.
"""

import threading
from collections.abc import Sequence

import numpy as np

from pagekin.kernels import compile as kernels
from pagekin.model.arrays import Bools, Floats, Int64s, distinct, spans
from pagekin.model.link_columns import LIMITS, LinkColumns, LinkLimits

HALF_APART = 64.0  # words between two links that halve their weight
HALF_DOWN = 200.0  # words before a link that halve its weight

NodeScores = tuple[Int64s, Floats]  # the nodes with a score above 0, in any order, and their scores


class LinkScorer:
    """Scores pages in numpy. Nodes are pages of the collection."""

    def __init__(self, links: LinkColumns, limits: LinkLimits = LIMITS) -> None:
        self.links, self.limits = links, limits
        self._dense = np.zeros(len(links.in_degree) + 1)

    def proximity(self, node: int) -> NodeScores:
        """The pages that are cited close to a page.

        The sum, over the pages that link to both, of 64 / (64 + words apart) for the two links that are closest;
        divided by sqrt((in-degree + 3) (in-degree + 3)). From 0 to 1.
        """
        links = self.links
        inside = slice(links.cited[node], links.cited[node + 1])
        page = links.page[inside].astype(np.int64)
        anchor = links.offsets[page] + links.anchor[inside]
        counting = np.flatnonzero(self._counts(anchor))
        wanted = min(len(counting), self.limits.links)
        chosen = counting[np.arange(wanted) * len(counting) // max(1, wanted)]
        page, anchor = page[chosen], anchor[chosen]
        begin = np.maximum(anchor - self.limits.anchors, links.offsets[page])
        counts = np.minimum(anchor + self.limits.anchors + 1, links.offsets[page + 1]) - begin
        others = spans(begin, counts)
        apart = np.abs(links.start[others].astype(np.int64) - np.repeat(links.start[anchor], counts))
        close = (apart <= self.limits.words) & self._counts(others)
        target, apart = self._targets(others[close]), apart[close]
        page = np.repeat(page, counts)[close]
        order = np.lexsort((apart, target, page))
        page, target, apart = page[order], target[order], apart[order]
        closest = (np.diff(page, prepend=-1) != 0) | (np.diff(target, prepend=-1) != 0)
        closest &= target != node
        weights = HALF_APART / (HALF_APART + apart[closest])
        nodes, total = self._sums(target[closest], weights)
        return nodes, total / np.sqrt((links.in_degree[node] + 3.0) * (links.in_degree[nodes] + 3.0))

    def coupling(self, node: int) -> NodeScores:
        """The pages that link to the same pages as a page.

        The cosine of the vectors of link targets, with weight ln(N / in-degree) for each; from 0 to 1. See
        `write_link_statistics` on their lengths.
        """
        links = self.links
        targets = self.targets((node,))
        targets = targets[np.argsort(links.in_degree[targets], kind="stable")]
        counts = links.cited[targets + 1] - links.cited[targets]
        targets, counts = (each[np.cumsum(counts) <= self.limits.postings] for each in (targets, counts))
        postings = spans(links.cited[targets], counts)
        page = links.page[postings]
        counting = self._counts(links.offsets[page] + links.anchor[postings])
        target = np.repeat(targets, counts)[counting]
        citing = links.node[page[counting]].astype(np.int64)
        distinct = (np.diff(target, prepend=-1) != 0) | (np.diff(citing, prepend=-1) != 0)
        distinct &= citing != node
        nodes, total = self._sums(citing[distinct], np.square(links.idf[target[distinct]]))
        return nodes, total / (float(links.norm[node]) * links.norm[nodes].astype(np.float64))

    def link_shares(self, node: int) -> NodeScores:
        """The pages that a page links to, each with its share of the links.

        The weight of a linked page is sqrt(sum of 200 / (200 + words before the link)) times its rarity,
        ln(1 + N / (1 + in-degree)) / ln(1 + N). The share is the weight over 1 + the sum of all weights.
        """
        target, words = self.out_links(node)
        nodes, first, place = np.unique(target, return_index=True, return_inverse=True)
        order = np.argsort(first)  # of the page, so that the sum is added as a loop does
        weights = np.sqrt(np.bincount(place, HALF_DOWN / (HALF_DOWN + words), len(nodes))) * self.links.rarity[nodes]
        nodes, weights = nodes[order], weights[order]
        return nodes, weights / np.cumsum(np.append(1.0, weights))[-1]

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

    def _sums(self, node: Int64s, weights: Floats) -> NodeScores:
        """The sum of weights of each node, added in order as a loop does."""
        total = np.asarray(np.bincount(node, weights, len(self.links.in_degree)), np.float64)
        nodes = np.flatnonzero(total)
        return nodes, total[nodes]


class CompiledLinkScorer(LinkScorer):
    """Scores pages with compiled kernels."""

    def __init__(self, links: LinkColumns, limits: LinkLimits = LIMITS) -> None:
        from pagekin.kernels.link_scores import LinkSums

        super().__init__(links, limits)
        pages = len(links.in_degree)
        self._scratch = LinkSums(self._dense, np.zeros(pages), np.empty(2 * pages, np.int64))

    def proximity(self, node: int) -> NodeScores:
        """The same by a kernel."""
        from pagekin.kernels.link_scores import proximity

        return proximity(node, HALF_APART, self.links, self.limits, self._scratch)

    def coupling(self, node: int) -> NodeScores:
        """The same by a kernel."""
        from pagekin.kernels.link_scores import coupling

        return coupling(node, self.links, self.limits, self._scratch)

    def link_shares(self, node: int) -> NodeScores:
        """The same by a kernel."""
        from pagekin.kernels.link_scores import link_shares

        return link_shares(node, HALF_DOWN, self.links, self._scratch)


class LinkScorerPool:
    """Gives every thread a link scorer of its own."""

    def __init__(self, links: LinkColumns) -> None:
        self.links = links
        self._scorers = threading.local()

    def scorer(self) -> LinkScorer:
        """The link scorer of this thread."""
        kind = CompiledLinkScorer if kernels.at_hand() else LinkScorer
        scorer = getattr(self._scorers, "scorer", None)
        if type(scorer) is not kind:
            scorer = self._scorers.scorer = kind(self.links)
        return scorer
