"""Shares of text, anchors and links, learned from hidden links; and the effect of words instead of stems.

Half of the links inside of valid and of test are hidden, and nothing that is compared knows of them. Words and links
are compared as `pagekin learn` and `pagekin related` do. The bags of the windows of anchors are compared by their
cosines. Shares put the hidden links of valid first; figures are of those of test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import numpy as np
from scipy.sparse import csr_matrix, diags

from benchmarks.projecting import Row
from pagekin.bags.build import fold_bags
from pagekin.bags.source import BagSource, counting_links
from pagekin.evaluation.evaluate import evaluate_system
from pagekin.evaluation.judge import judge
from pagekin.evaluation.labelled import BY_PATH, open_labelled
from pagekin.kernels.rankings import measure_rows
from pagekin.learning.corpus import CorpusPart, part_of
from pagekin.learning.learn import COUNTING, LearnResult, count_terms, links_between_pages
from pagekin.learning.link_share import SHARES, hide_links, link_share_tuner, visible_links
from pagekin.learning.projection import Matrix
from pagekin.learning.ranking import AP, MEASURES, Ranker, RankingQueries, page_queries
from pagekin.links.link_graph import StoredLinks, stored_links
from pagekin.model.arrays import Bools, Floats, Int64s, offsets_of
from pagekin.model.reading import CheckedLinks, Links
from pagekin.model.strategy import Strategy
from pagekin.model.weighting import load_weights, save_weights
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.weighted_text import shares_of_own

SEED = 2005
CLASSED = ("words alone", "with links", "with the projection")
Shares = tuple[float, float]  # of anchors and of links; words have the rest


@dataclass(frozen=True)
class Sides:
    """What words, anchors and links say of the pages of a part, for all that ask for hidden links."""

    queries: RankingQueries
    products: Floats  # by words
    words: Floats
    anchors: Floats
    links: Floats
    known: Bools

    def measured(self, shares: Shares) -> Floats:
        """The four measures of each question."""
        mixed = (1.0 - sum(shares)) * self.words + shares[0] * self.anchors + shares[1] * self.links
        scores = np.where(self.known, 0.0, mixed if any(shares) else self.products)
        asked, result = self.queries, np.empty((len(self.queries), len(MEASURES)))
        measure_rows(asked.pages, asked.relevant_offsets, asked.relevant, scores, result)
        return result

    def best(self, allowed: list[Shares]) -> Shares:
        """The shares of most average precision."""
        return max(allowed, key=lambda each: float(self.measured(each)[:, MEASURES.index(AP)].mean()))


def sides_of(indexed: IndexedStore, outcome: LearnResult, links: StoredLinks, name: str, other: str) -> Sides:
    """Of one part; links of the other one are not seen."""
    part, apart = outcome.parts[name], outcome.parts[other]
    mixer = link_share_tuner(part, apart, links, SEED, outcome.weighting)
    products, by_links, known = (np.concatenate(each) for each in list(zip(*mixer.rows(), strict=True))[1:])
    asked = mixer.queries
    anchors = _cosines(_anchors(indexed, visible_links(links, hide_links(part, SEED), apart))[part.pages])[asked.pages]
    return Sides(asked, products, shares_of_own(products, asked.pages), anchors, by_links, known)


def mixing(indexed: IndexedStore, outcome: LearnResult, elsewhere: float | None) -> Iterator[Row]:
    """The shares that valid wants, and others: as far as links agree with words, and what was learned elsewhere."""
    links = stored_links(indexed, indexed.index.strategy)
    valid = sides_of(indexed, outcome, links, "valid", "test")
    test = sides_of(indexed, outcome, links, "test", "valid")
    grid = [each for each in product(SHARES, SHARES) if sum(each) < 1.0]
    lone = test.measured((0.0, 0.0))
    by_links = valid.best([each for each in grid if each[0] == 0.0])
    by_anchors = valid.best([each for each in grid if each[1] == 0.0])
    assert by_links[1] == outcome.weighting.link_share  # the command learns the same
    both = valid.best(grid)
    yield Row(f"links, share {by_links[1]:g}", lone, test.measured(by_links))
    auto = indexed.automatic_link_weight
    yield Row(f"links, share {auto:g} (`--links auto`)", lone, test.measured((0.0, auto)))
    if elsewhere is not None:
        yield Row(f"links, share {elsewhere:g} (learned from the articles)", lone, test.measured((0.0, elsewhere)))
    yield Row(f"anchors, share {by_anchors[0]:g}", lone, test.measured(by_anchors))
    what = f"anchors, share {both[0]:g}, on top of links, share {both[1]:g}"
    yield Row(what, test.measured(by_links), test.measured(both))


def unstemmed(indexed: IndexedStore, outcome: LearnResult) -> Row:
    """Learned weights, applied to stems and to words as they are."""
    stems = outcome.parts["test"]
    counts, _ = count_terms(indexed, replace(COUNTING, stemming="stopstem"))
    words = part_of(stems.pages, counts, links_between_pages(stored_links(indexed, indexed.index.strategy)))
    before, after = (_measured(each, outcome) for each in (stems, words))
    return Row("words in place of stems", before, after)


def _measured(part: CorpusPart, outcome: LearnResult) -> Floats:
    return Ranker(part, outcome.weighting, page_queries(part)).measure()


def by_classes(indexed: IndexedStore, outcome: LearnResult, source: Path) -> Iterator[tuple[str, float]]:
    """P@10 by a hierarchy, which had no part in learning: without and with links, and with the projection."""
    labels = source / "labels.tsv"
    case = open_labelled(str(labels) if labels.is_file() else BY_PATH, indexed)
    with TemporaryDirectory() as place:
        save_weights(Path(place) / "w.json", outcome.weighting)
        projected = load_weights(Path(place) / "w.json")
        plain = replace(projected, projection=None)
        for name, weights, share in zip(CLASSED, (plain, plain, projected), (0.0, None, 0.0), strict=True):
            system = case.index_system(indexed, RelatedOptions(weighting=weights, link_share=share))
            judgement = judge(system, case.population, threads=2)
            evaluation = evaluate_system(system, judgement, case.population, None, resamples=10, seed=SEED)
            yield name, round(evaluation.precision.value, 6)


def _anchors(indexed: IndexedStore, shown: Bools) -> Matrix:
    """The bags of the windows of anchors of some of the links that count."""
    source = BagSource.of(indexed)
    kept = np.ones(len(source.links.page), bool)
    kept[np.flatnonzero(counting_links(source, indexed.index.strategy))] = shown
    nodes = len(source.links.offsets) - 1
    node = np.repeat(np.arange(nodes), np.diff(source.links.offsets))[kept]
    offsets: Int64s = offsets_of(np.bincount(node, minlength=nodes))
    links = CheckedLinks(Links(offsets, source.links.page[kept], source.links.anchor[kept]))
    with TemporaryFile() as file:
        folded = fold_bags(replace(source, links=links), Strategy(content=False, links=False), file)
        pieces = list(folded.weighted())
    weight, term = (np.concatenate([getattr(each, name) for each in pieces]) for name in ("weight", "term"))
    lengths = np.concatenate([each.lengths() for each in pieces])
    return csr_matrix((weight, term.astype(np.int64), offsets_of(lengths)))


def _cosines(x: Matrix) -> Floats:
    length = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    normal = diags(1.0 / np.maximum(length, 1e-12)) @ x
    return np.asarray((normal @ normal.T).todense())
