"""A linear projection as `pagekin learn --projection` learns it, compared with plain LSA.

Both count words as the index has them. Parameters are chosen on valid, figures are of test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pagekin.learning.learn import LearnResult, weighted_spaces
from pagekin.learning.projection import lsa_matrices
from pagekin.learning.ranking import AP, MEASURES, page_queries
from pagekin.links.link_graph import stored_links
from pagekin.model.arrays import Floats
from pagekin.search.indexed_store import IndexedStore

SEED = 2005


class Row(NamedTuple):
    """What was tried, and the measures of each question without it and with it."""

    what: str
    before: Floats
    after: Floats


def projecting(indexed: IndexedStore, outcome: LearnResult) -> Iterator[Row]:
    """LinkLearn alone, with LSA on top, and with a projection that is learned."""
    _, (train, valid, test) = weighted_spaces(indexed, outcome, stored_links(indexed, indexed.index.strategy))
    asked, wanted = page_queries(test.part), page_queries(valid.part)
    nothing = np.zeros((train.x.shape[1], 0))
    lone = test.measure(nothing, asked)
    average, tried = MEASURES.index(AP), [nothing, *lsa_matrices(train, SEED)]
    best = max(tried, key=lambda each: float(valid.measure(each, wanted)[:, average].mean()))
    what = f"LSA of {best.shape[1]} dimensions" if best.shape[1] else "LSA (valid wants none)"
    yield Row(what, lone, test.measure(best, asked))
    projection = outcome.weighting.projection
    if projection is None:
        yield Row("a learned projection (valid wants none)", lone, lone)
        return
    learned = np.zeros((train.x.shape[1], projection.matrix.shape[1]))
    learned[train.part.terms] = projection.matrix
    yield Row(f"a learned projection, {learned.shape[1]} dimensions", lone, test.measure(learned, asked))
