"""Link similarity by equation 4 of the paper: of all pairs of pages above a threshold, and of one page at a time.

The pairs above a threshold form the threshold graph, which has connected subgraphs (section 5).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pagekin.errors import MisuseError
from pagekin.kernels.all_pairs import Direct, Sets, make_buffers, pairs_above
from pagekin.kernels.graph import adjacency, best_reachable, components, distance_matrix
from pagekin.links.link_graph import LinkGraph, StoredLinks, prepare
from pagekin.links.settings import Preparation
from pagekin.model.arrays import Bools, Floats, Int64s, UInt32s, offsets_of, spans

HALF_DISTANCE = 64.0  # words between two links at which a common in-link counts one half in `proximity`
BATCH_PAIRS = 1 << 16
DELTA_SHARE = 0.1  # default threshold as a share of the mean similarity (section 6.3.1)
NEAR_IDENTICAL = 0.95  # pages with a higher similarity are collapsed into one (section 5.1)
MAX_PAGES = 2000  # of a subgraph to cluster


@dataclass(frozen=True)
class SimilarPairs:
    """Pairs of nodes and their similarities."""

    first: Int64s
    second: Int64s
    value: Floats

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True)
class LinkSets:
    """The sets C(p) of the compared pages under one measure, sorted by decreasing size."""

    node: Int64s  # of each set
    sets: Sets
    direct: Direct
    half_distance: float

    def batches(self, delta: float) -> Iterator[tuple[UInt32s, UInt32s, Floats]]:
        """Yield (set, set, similarity) of all pairs with similarity of at least `delta`, in bounded batches.

        Pairs are unsorted. A batch is valid until the next one, which reuses its arrays.
        """
        buffers, begin = make_buffers(self.sets, BATCH_PAIRS), 0
        while begin < len(self.node):
            begin, count = pairs_above(self.sets, self.direct, buffers, begin, delta, self.half_distance)
            yield buffers.one[:count], buffers.other[:count], buffers.value[:count]

    def pairs(self, delta: float) -> SimilarPairs:
        """All pairs with similarity of at least `delta`, the smaller node first, sorted."""
        nothing = np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0)
        batches = [tuple(column.copy() for column in batch) for batch in self.batches(delta)]
        one, other, value = map(np.concatenate, zip(nothing, *batches, strict=True))
        ends = self.node[one], self.node[other]
        first, second = np.minimum(*ends), np.maximum(*ends)
        order = np.argsort(first * (int(self.node.max(initial=0)) + 1) + second)
        return SimilarPairs(first[order], second[order], value[order])

    def mean_similarity(self) -> float:
        """The mean similarity of the pairs with a similarity above 0."""
        sums = [(float(value.sum()), len(value)) for _, _, value in self.batches(0.0)]
        return sum(each for each, _ in sums) / max(1, sum(count for _, count in sums))

    @cached_property
    def _number(self) -> dict[int, int]:
        return {node: number for number, node in enumerate(self.node.tolist())}

    @cached_property
    def _direct_pairs(self) -> tuple[Int64s, Int64s, Floats, Floats]:
        """(offsets, partner, links, inside): the direct pairs of each set in both directions."""
        direct = self.direct
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
        sets = self.sets
        element = sets.element[sets.offsets[number] : sets.offsets[number + 1]].astype(np.int64)
        counts = sets.holder_offsets[element + 1] - sets.holder_offsets[element]
        holder = sets.holder[spans(sets.holder_offsets[element], counts)]
        common = np.asarray(np.bincount(holder, np.repeat(sets.weight[element], counts), len(sets.size)), np.float64)
        offsets, partner, links, inside = self._direct_pairs
        row = slice(offsets[number], offsets[number + 1])
        shared, union = common.copy(), sets.size[number] + sets.size - common + 2.0
        shared[partner[row]] += links[row]
        union[partner[row]] -= inside[row]
        shared[number] = 0.0
        found = np.flatnonzero(shared)
        similarity = shared[found] / union[found]
        order = np.lexsort((self.node[found], -similarity))
        return self.node[found[order]], similarity[order]


def build_link_sets(graph: LinkGraph, measure: str) -> LinkSets:
    """Build the sets C(p) of a measure and an inverted index of them."""
    page, element, link = _elements(graph, measure)
    weight = graph.weight if measure in ("coupling", "amsler") else np.ones(len(graph))
    size = _sums(page, weight[element], len(graph))
    nodes = np.flatnonzero(graph.compared)
    nodes = nodes[np.argsort(-size[nodes], kind="stable")]
    number = np.full(len(graph), -1)
    number[nodes] = np.arange(len(nodes))
    compared = number[page] >= 0
    page, element, link = number[page[compared]], element[compared], link[compared]
    by_set, by_element = np.argsort(page * len(graph) + element), np.argsort(element * len(graph) + page)
    pairs = graph.pairs
    held = offsets_of(np.bincount(page, minlength=len(nodes))), element[by_set].astype(np.uint32), size[nodes], weight
    holders = page[by_element].astype(np.uint32), link[by_element].astype(np.uint32)
    holder_offsets = offsets_of(np.bincount(element, minlength=len(graph)))
    sets = Sets(*held, holder_offsets, *holders, pairs.position_offsets, pairs.position)
    direct = _direct(number[pairs.citing], number[pairs.cited], page, number[element], weight[element], len(nodes))
    return LinkSets(nodes, sets, direct, HALF_DISTANCE if measure == "proximity" else 0.0)


def _elements(graph: LinkGraph, measure: str) -> tuple[Int64s, Int64s, Int64s]:
    """(page, element, pair): the elements of every set C(page), and the pair of nodes that each comes from."""
    pairs = graph.pairs
    incoming = graph.page, pairs.citing[graph.in_link], graph.in_link
    outgoing = pairs.citing, pairs.cited, np.arange(len(pairs))
    if measure != "amsler":
        return outgoing if measure == "coupling" else incoming
    page, element, link = (np.concatenate(both) for both in zip(incoming, outgoing, strict=True))
    first = np.unique(page * len(graph) + element, return_index=True)[1]
    return page[first], element[first], link[first]


def _sums(rows: Int64s, values: Floats, count: int) -> Floats:
    return np.asarray(np.bincount(rows, values, count), np.float64)


def _direct(citing: Int64s, cited: Int64s, page: Int64s, element: Int64s, weight: Floats, sets: int) -> Direct:
    """Pairs of pages that link to each other or contain each other in their sets; numbers below 0 are no pages."""
    one, other = np.concatenate([citing, page]), np.concatenate([cited, element])
    links = np.concatenate([np.ones(len(citing)), np.zeros(len(page))])
    inside = np.concatenate([np.zeros(len(citing)), weight])
    both = (one >= 0) & (other >= 0)
    keys = (np.minimum(one, other) * sets + np.maximum(one, other))[both]
    distinct, inverse = np.unique(keys, return_inverse=True)
    first, second = distinct // max(1, sets), distinct % max(1, sets)
    sums = (_sums(inverse, values[both], len(distinct)) for values in (links, inside))
    return Direct(offsets_of(np.bincount(first, minlength=sets)), second.astype(np.uint32), *sums)


def link_similarity(links: StoredLinks) -> LinkSets:
    """Link similarities for ranking, by the most accurate measure (`python -m benchmarks.kinship`)."""
    return build_link_sets(prepare(links, Preparation()), "amsler")


@dataclass(frozen=True)
class Subgraph:
    """Pages of one connected subgraph, ascending, and their distances."""

    nodes: Int64s
    distance: Floats
    total: int  # pages of the whole connected subgraph; `nodes` are the nearest of them


@dataclass(frozen=True)
class ThresholdGraph:
    """Graph G: edges between pages with similarity of at least `delta`. Near-identical pages are collapsed into one."""

    pages: int  # compared
    delta: float
    pairs: SimilarPairs  # of all pages, above delta
    edges: SimilarPairs  # the pairs of representatives
    representative: Int64s  # the node that each node is collapsed into; itself for most
    component: Int64s  # for each representative, the smallest node of its connected subgraph

    def near_identical(self, node: int) -> list[int]:
        """The other nodes with the same representative."""
        group: list[int] = np.flatnonzero(self.representative == self.representative[node]).tolist()
        return [each for each in group if each != node]

    @property
    def _is_representative(self) -> Bools:
        return np.asarray(self.representative == np.arange(len(self.representative)))

    def collapsed(self) -> int:
        """The number of nodes with another node as representative."""
        return int((~self._is_representative).sum())

    def connected_nodes(self) -> Int64s:
        return np.unique(np.concatenate([self.edges.first, self.edges.second]))

    def subgraph_sizes(self) -> Int64s:
        """The sizes of the connected subgraphs of two or more pages, largest first."""
        return np.sort(np.unique(self.component[self.connected_nodes()], return_counts=True)[1])[::-1]

    @cached_property
    def _adjacency(self) -> tuple[Int64s, Int64s, Floats]:
        return adjacency(len(self.representative), self.edges.first, self.edges.second, self.edges.value)

    def subgraph(self, node: int, limit: int = MAX_PAGES) -> Subgraph:
        """The connected subgraph of a page, or the `limit` pages of it with the best paths to the page."""
        node = int(self.representative[node])
        whole = np.flatnonzero((self.component == self.component[node]) & self._is_representative)
        nodes = whole if len(whole) <= limit else np.sort(best_reachable(*self._adjacency, node, limit))
        return Subgraph(nodes, distance_matrix(*self._adjacency, nodes), len(whole))


def build_threshold_graph(link_sets: LinkSets, nodes: int, delta: float | None = None) -> ThresholdGraph:
    """Build the graph of all pairs with similarity of at least `delta`, by default a tenth of the mean."""
    if delta is not None and not 0.0 <= delta <= 1.0:
        raise MisuseError(f"delta is {delta}; it must be from 0 to 1")
    delta = DELTA_SHARE * link_sets.mean_similarity() if delta is None else delta
    pairs = link_sets.pairs(delta)
    identical = pairs.value > NEAR_IDENTICAL
    representative = components(nodes, pairs.first[identical], pairs.second[identical])
    kept = (representative[pairs.first] == pairs.first) & (representative[pairs.second] == pairs.second)
    edges = SimilarPairs(pairs.first[kept], pairs.second[kept], pairs.value[kept])
    component = components(nodes, edges.first, edges.second)
    return ThresholdGraph(len(link_sets.node), delta, pairs, edges, representative, component)
