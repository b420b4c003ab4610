"""Link analysis: the speed of all pairs above a threshold and of flexible clustering, compared with scipy.

`python -m benchmarks.links` prints the figures and writes `results/links.json`. The links are generated: how often a
page links and is linked to are both skewed. scipy multiplies the matrix of citing and cited pages with its transpose,
which gives the numbers of common in-links; pagekin finds the pairs whose similarity by equation 4 is above a tenth of
the mean, and holds a few ten thousand of them at a time. For clustering, one pair of pages in fifty is similar. All
use one thread, in turns, and the best round of each counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_matrix
from scipy.spatial.distance import squareform

from benchmarks.machine import QUICK, Figure, facts, keep, kept, show, timed
from pagekin.kernels.all_pairs import make_buffers
from pagekin.links.clusters import Clusters, build_hierarchy
from pagekin.links.link_graph import LinkGraph, StoredLinks, prepare
from pagekin.links.measures import BATCH_PAIRS, DELTA_SHARE, Subgraph, build_link_sets
from pagekin.links.settings import Preparation
from pagekin.model.arrays import Int64s

LINKS = 200_000 if QUICK else 4_000_000
PAGES = LINKS // 10
ROUNDS = 4  # of what takes seconds; more of what takes less, since the machine may be busy with other things
SIZES = (500, 1000) if QUICK else (2000, 5000)
ALPHAS = (0.06, 0.25, 0.5, 0.8)
SLIDER = 1000  # pages whose ordering follows a slider
_MEGA = 1e6


def main() -> None:
    """Measure comparing, clustering and re-ordering."""
    figures = []
    for part in (pairing(), clustering(), reordering()):
        found = list(part)
        show(found)
        figures += found
    keep("links", {"machine": facts("scipy"), "figures": kept(figures)})


def in_turns(rounds: int, *functions: Callable[[], object]) -> list[float]:
    """The best time of each function."""
    times = [[timed(function) for function in functions] for _ in range(rounds)]
    return [min(each) for each in zip(*times, strict=True)]


def generated(pages: int, links: int, seed: int = 2007) -> LinkGraph:
    """A graph in which the k-th page links like 1 / sqrt k, and pages are linked to in another order, like k ^ -0.6."""
    random = np.random.default_rng(seed)

    def drawn(power: float) -> Int64s:
        weights = np.cumsum(np.arange(1.0, pages + 1) ** -power)
        drawn: Int64s = np.searchsorted(weights / weights[-1], random.random(links + links // 6))
        return random.permutation(pages)[drawn]

    pairs = np.unique(drawn(0.5) * pages + drawn(0.6))
    pairs = random.permutation(pairs)[:links]
    nothing = np.zeros(len(pairs), np.int64)
    found = StoredLinks(pairs // pages, pairs % pages, nothing, np.ones(pages, bool), list)
    return prepare(found, Preparation(in_links=pages, out_links=pages, popular=1.0))


def pairing() -> Iterator[Figure]:
    """All pairs above delta, beside scipy's product of the same matrix."""
    graph = generated(PAGES, LINKS)
    preparing = timed(lambda: build_link_sets(graph, "co-citation"))
    link_sets = build_link_sets(graph, "co-citation")
    delta = DELTA_SHARE * link_sets.mean_similarity()
    pairs = sum(len(value) for _, _, value in link_sets.batches(delta))
    workspace = sum(column.nbytes for column in make_buffers(link_sets.sets, BATCH_PAIRS))
    matrix = csr_matrix(
        (np.ones(len(graph.pairs)), (graph.pairs.cited, graph.pairs.citing)), shape=(len(graph), len(graph))
    )
    product = matrix @ matrix.T
    theirs_bytes = product.data.nbytes + product.indices.nbytes + product.indptr.nbytes
    del product
    ours, theirs = in_turns(
        ROUNDS, lambda: sum(len(value) for _, _, value in link_sets.batches(delta)), lambda: matrix @ matrix.T
    )
    what = f"{len(graph.pairs):,} links of {PAGES:,} pages"
    yield Figure(f"{what}: delta, a tenth of the mean similarity", delta)
    yield Figure(f"{what}: pairs above delta", pairs)
    yield Figure(f"{what}: pagekin", round(ours, 3), "s")
    yield Figure(f"{what}: scipy's sparse product", round(theirs, 3), "s")
    yield Figure(f"{what}: scipy's time / pagekin's", round(theirs / ours, 2), "x", at_least=3.0)
    yield Figure(f"{what}: pagekin, making the sets ready", round(preparing, 3), "s")
    yield Figure(f"{what}: memory of pagekin's search", round(workspace / _MEGA), "MB", at_most=256)
    yield Figure(f"{what}: size of scipy's product", round(theirs_bytes / _MEGA), "MB")


def distances(n: int, seed: int = 2007) -> NDArray[np.float64]:
    """Distances of pages, condensed: one pair in fifty is similar."""
    random = np.random.default_rng(seed)
    count = n * (n - 1) // 2
    return np.where(random.random(count) < 0.02, random.random(count), 1.0)


def clustering() -> Iterator[Figure]:
    """Flexible clustering at several alphas, beside scipy's `weighted`, which is alpha = 1/2."""
    for n in SIZES:
        condensed = distances(n)
        square = squareform(condensed)
        workspace = np.empty_like(square)
        build_hierarchy(square[:10, :10].copy(), 0.5)
        ours = [partial(build_hierarchy, square, alpha, workspace) for alpha in ALPHAS]
        theirs, *times = in_turns(max(ROUNDS, 50_000 // n), partial(linkage, condensed, "weighted"), *ours)
        assert np.allclose(build_hierarchy(square, 0.5, workspace).heights, linkage(condensed, "weighted")[:, 2])
        yield Figure(f"clustering {n:,} pages: scipy, weighted", round(theirs, 4), "s")
        for alpha, seconds in zip(ALPHAS, times, strict=True):
            yield Figure(f"clustering {n:,} pages: pagekin, alpha {alpha:g}", round(seconds, 4), "s")
        half = times[ALPHAS.index(0.5)]
        yield Figure(f"clustering {n:,} pages: scipy's time / pagekin's", round(theirs / half, 2), "x", at_least=2.0)


def reordering() -> Iterator[Figure]:
    """From a new alpha to the new ordering."""
    clusters = Clusters(Subgraph(np.arange(SLIDER), squareform(distances(SLIDER)), SLIDER), 0)
    times = []
    for alpha in np.linspace(0.02, 1.0, 50).tolist():
        rounds = []
        for _ in range(ROUNDS):
            clusters.hierarchy.cache_clear()
            rounds.append(timed(partial(clusters.order, alpha)))
        times.append(min(rounds))
    yield Figure(f"re-ordering {SLIDER:,} pages at a new alpha, p50", round(1000 * float(np.median(times)), 1), "ms")
    yield Figure(
        f"re-ordering {SLIDER:,} pages at a new alpha, the slowest of 50 alphas",
        round(1000 * max(times), 1),
        "ms",
        at_most=50,
    )


if __name__ == "__main__":
    main()
