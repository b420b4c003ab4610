"""The links of a collection, some of them withheld: how well do words and the other links find those?"""

from __future__ import annotations

from typing import Any

import numpy as np

from pagekin.learning.corpus import CorpusPart
from pagekin.learning.link_share import Beside, HiddenLinks, LinkShareTuner, hide
from pagekin.learning.ranking import page_queries, sample_queries
from pagekin.learning.report import compare_measures
from pagekin.links.link_graph import StoredLinks
from pagekin.links.stored import link_similarity
from pagekin.model.arrays import Bools
from pagekin.model.weighting import Learned


def mixing_on(
    part: CorpusPart, other: CorpusPart, links: StoredLinks, seed: int, weighting: Learned, most: int | None = None
) -> LinkShareTuner:
    """Words and links to be mixed, for at most so many pages of a part; the links of the other part are not seen."""
    riddle = hide(part, seed)
    hidden = riddle.hidden
    queries = page_queries(hidden) if most is None else sample_queries(hidden, most, seed)
    return LinkShareTuner(riddle, weighting, shown(links, riddle, other), queries)


def shown(links: StoredLinks, riddle: HiddenLinks, other: CorpusPart) -> Beside:
    """What links say that are neither hidden nor inside of the other part."""
    kept = are_shown(links, riddle, other)
    columns = (links.citing[kept], links.cited[kept], links.position[kept])
    return link_similarity(StoredLinks(*columns, links.has_page, links.urls)).similar_to


def are_shown(links: StoredLinks, riddle: HiddenLinks, other: CorpusPart) -> Bools:
    """Which links these are."""
    nodes = len(links.has_page)
    a, b = riddle.pairs()
    apart = np.zeros(nodes, bool)
    apart[other.pages] = True
    hidden = np.isin(links.citing * nodes + links.cited, a * nodes + b)
    return np.asarray(~hidden & ~(apart[links.citing] & apart[links.cited]))


def mixed(test: CorpusPart, valid: CorpusPart, links: StoredLinks, seed: int, weighting: Learned) -> dict[str, Any]:
    """Words alone beside words and links."""
    mixer = mixing_on(test, valid, links, seed, weighting)
    if not len(mixer.queries):
        return {"pages": 0, "measures": {}}
    one, other = mixer.measured((0.0, weighting.link_share))
    return {"pages": len(mixer.queries), "measures": compare_measures(one, other, ("words", "words_and_links"))}
