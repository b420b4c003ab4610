"""The links of a store that count under a strategy."""

import numpy as np

from pagekin.bags.build import BagSource, counting_links
from pagekin.links.link_graph import Preparation, StoredLinks, prepare
from pagekin.links.measures import build_link_sets
from pagekin.links.similarity import LinkSimilarity
from pagekin.model.strategy import Strategy
from pagekin.store.store import Store


def stored_links(store: Store, strategy: Strategy) -> StoredLinks:
    """The links of a store that count under a strategy."""

    def urls() -> list[str]:
        return [row[0] for row in store.catalog.each("SELECT url FROM nodes ORDER BY node")]

    links, anchors = store.links, store.reading.anchors
    source = BagSource.of(store)
    counting = counting_links(source, strategy) != 0
    page = links.page.astype(np.int64)
    cited = np.repeat(np.arange(len(links.offsets) - 1), links.lengths())
    citing = source.node_of_page()[page].astype(np.int64)
    position = page << 32 | anchors.start[anchors.offsets[page] + links.anchor]
    has_page = np.arange(len(links.offsets) - 1) < len(store.nodes) - 1
    return StoredLinks(citing[counting], cited[counting], position[counting], has_page, urls)


def link_similarity(links: StoredLinks) -> LinkSimilarity:
    """Link similarities for ranking, by the most accurate measure (`python -m benchmarks.kinship`)."""
    return LinkSimilarity(build_link_sets(prepare(links, Preparation()), "amsler"))
