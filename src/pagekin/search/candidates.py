"""Candidates by collisions, then the truth: exact similarity from the stored bags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pagekin.index.files import Index
from pagekin.index.invert import truncate
from pagekin.model.arrays import Int64s, UInt32s, Unsigned
from pagekin.model.bags import Bags
from pagekin.search.scorer import Bag, Floats, Scorer, jaccard
from pagekin.search.weighted_text import WeightedQuery

# Where weights are not those of bags, bags foretell less: more candidates are compared, and they may agree less often.
ROOM = 800
SLACK = 10  # times as many as are wanted may agree as often


@dataclass(frozen=True)
class Query:
    """The bag that is asked for, its signature, and how bags are compared; `but` are nodes that are no answer."""

    bag: Bag
    signature: Unsigned
    measure: str
    but: tuple[int, ...] = ()
    weighed: WeightedQuery | None = None  # for measures that weigh contents in a way of their own


@dataclass(frozen=True)
class SharedTerm:
    """A term that two bags share, and its share of what they share."""

    term: int
    share: float


def bag_of(index: Index, node: int) -> Bag:
    """The bag of a node."""
    row = index.bags.row(node)
    return Bag(np.asarray(index.bags.term[row]), np.asarray(index.bags.weight[row]))


def mean_bag(bags: list[Bag]) -> Bag:
    """The mean of several bags, which all sum to one."""
    if len(bags) == 1:
        return bags[0]
    terms, place = np.unique(np.concatenate([bag.term for bag in bags]), return_inverse=True)
    weights = np.bincount(place, weights=np.concatenate([bag.weight for bag in bags])) / len(bags)
    return Bag(terms, weights.astype(np.float32))


def nearest(
    scorer: Scorer, query: Query, limit: int, least: float, allowed: Callable[[int], bool] | None = None
) -> list[tuple[float, int]]:
    """The nodes most similar to the bag on the desk, with their similarities; nodes of one similarity in order.

    The most promising candidates are compared exactly. Should those that are allowed not fill the answer though others
    might, all candidates are.
    """
    if query.measure == "jaccard":
        similar, nodes = scorer.compared(query.signature, query.but, limit)
    else:
        wide = query.weighed is not None
        nodes = scorer.narrowed(query.signature, query.but, SLACK * limit if wide else limit, ROOM if wide else 0)
        similar, nodes = _ranked(scorer, query, nodes)
    answer = _best(similar, nodes, limit, least, allowed)
    if len(answer) < limit and (len(similar) == 0 or similar[-1] >= least):
        nodes = np.setdiff1d(scorer.agreements(query.signature)[0], query.but)
        answer = _best(*_ranked(scorer, query, nodes), limit, least, allowed)
    return answer


def exact(scorer: Scorer, query: Query, nodes: Int64s) -> Floats:
    """The exact similarity of the bag on the desk to those of nodes, to nine places."""
    return _similar(query, raw_scores(scorer, query, nodes))


def raw_scores(scorer: Scorer, query: Query, nodes: Int64s) -> Floats:
    """What similarities are made of, to nine places: inner products, if the measure weighs contents; else the same."""
    if query.weighed is not None:
        return scorer.weighed_products(nodes, query.weighed.tables).round(9)
    if query.measure == "jaccard":
        return jaccard(scorer.minima(nodes))
    both, squares = scorer.products(nodes)
    own = float(np.square(query.bag.weight, dtype=np.float64).sum())
    lengths = np.sqrt(own * squares)
    return np.divide(both, lengths, out=np.zeros(len(nodes)), where=lengths > 0).round(9)


def _similar(query: Query, scores: Floats) -> Floats:
    """The similarities that scores are: of an inner product its share of that of the question with itself."""
    if query.weighed is None:
        return scores
    own = query.weighed.own
    return (np.clip(scores / own, 0.0, 1.0) if own > 0.0 else np.zeros(len(scores))).round(9)


def _ranked(scorer: Scorer, query: Query, nodes: Int64s) -> tuple[Floats, Int64s]:
    """The similarities of nodes, and the nodes; the best first, by scores, of which several may be one similarity."""
    scores = raw_scores(scorer, query, nodes)
    order = np.lexsort((nodes, -scores))
    return _similar(query, scores)[order], nodes[order]


def _best(
    similar: Floats, nodes: Int64s, limit: int, least: float, allowed: Callable[[int], bool] | None
) -> list[tuple[float, int]]:
    """The first nodes that are similar enough and allowed, with their similarities."""
    answer: list[tuple[float, int]] = []
    for similarity, node in zip(similar.tolist(), nodes.tolist(), strict=True):
        if similarity < least or len(answer) == limit:
            break
        if allowed is None or allowed(node):
            answer.append((similarity, node))
    return answer


def signature_of(index: Index, bag: Bag) -> Unsigned:
    """The signature of a bag that is not in the index; of one that is, H has it."""
    from pagekin.signatures.sign import keys_of, make_signatures, seeded

    strategy, count = index.strategy, len(bag.term)
    one = Bags(
        np.array([0, count]), np.arange(count, dtype=np.uint32), bag.weight, np.zeros(count, np.uint32), bag.weight
    )
    keys = seeded(keys_of(index.terms.name, bag.term), strategy.seed)
    made = make_signatures(one, keys, strategy.signature_length)
    signature: Unsigned = truncate(made, index.signatures.dtype.type)[0]
    return signature


def shared_terms(scorer: Scorer, query: Query, nodes: Int64s, most: int) -> list[list[SharedTerm]]:
    """The words that make the bag on the desk and nodes similar, with their shares of it, the strongest first."""
    row, places = scorer.places(nodes)
    term = scorer.index.bags.term[places]
    parts = _parts(scorer, query, nodes[row], places, term)
    total = np.bincount(row, parts, len(nodes))
    told = (parts > 0.0) & (term < scorer.index.words) & (total > 0.0)[row]
    if query.weighed is not None and len(query.weighed.said) < len(query.weighed.word):
        told &= np.isin(term, query.weighed.said)  # others are not shared, but alike by a projection
    row, term, parts = row[told], term[told], parts[told]
    shared = []
    for k, (begin, end) in enumerate(pairwise(np.searchsorted(row, np.arange(len(nodes) + 1)).tolist())):
        best = _largest(parts[begin:end], term[begin:end], most)
        terms, shares = term[begin:end][best].tolist(), (parts[begin:end][best] / total[k]).tolist()
        shared.append(list(map(SharedTerm, terms, shares)))
    return shared


def _largest(parts: Floats, term: UInt32s, most: int) -> Int64s:
    """Where the largest parts are, the largest first; of equal ones in the order of terms."""
    if len(parts) <= most:
        return np.lexsort((term, -parts))
    likely = np.flatnonzero(parts >= np.partition(parts, -most)[-most])
    return likely[np.lexsort((term[likely], -parts[likely]))[:most]]


def _parts(scorer: Scorer, query: Query, node: Int64s, places: Int64s, term: UInt32s) -> Floats:
    """What each term of some nodes' bags adds to their scores."""
    bags = scorer.index.bags
    if query.weighed is not None:
        words = np.minimum(term, scorer.index.words)
        return np.append(scorer.worth, 0.0)[words] * query.weighed.tables.weights(node, bags.content[places])
    mine, theirs = scorer.asked[term].astype(np.float64), bags.weight[places].astype(np.float64)
    return mine * theirs if query.measure == "cosine" else np.minimum(mine, theirs)
