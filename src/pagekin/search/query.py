"""A query: the pages, or the text from outside, that related pages are wanted for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pagekin.index.files import Index
from pagekin.index.invert import truncate
from pagekin.model.arrays import Float32s, UInt32s, Unsigned
from pagekin.model.bags import Bags


@dataclass(frozen=True)
class Bag:
    """The terms of one page or query and their weights."""

    term: UInt32s
    weight: NDArray[np.float32]


@dataclass(frozen=True)
class TermCounts:
    """How often words occur in the contents of a page."""

    word: UInt32s
    count: UInt32s
    lead: Float32s | None = None  # the same, with early occurrences counting more; only known of a text from outside


@dataclass(frozen=True, eq=False)
class Query:
    """What every evidence gets to know of a request."""

    nodes: tuple[int, ...]  # the pages of the collection that are asked for; none for a text from outside
    bag: Bag  # of several pages the mean of their bags
    signature: Unsigned
    outside: TermCounts | None = None  # the word counts of a text from outside
    exclude: tuple[int, ...] = ()  # nodes that are never candidates
    allowed: Callable[[int], bool] | None = None  # whether a node passes the filters of the request
    min_similarity: float = 0.0


def query_of_nodes(index: Index, nodes: Sequence[int]) -> Query:
    """The query for some pages of a collection; several count as one page, the mean of them."""
    bag = mean_bag([bag_of(index, node) for node in nodes])
    known = len(nodes) == 1 and nodes[0] < len(index.signatures)
    signature = index.signatures[nodes[0]] if known else signature_of(index, bag)
    return Query(tuple(nodes), bag, signature, exclude=tuple(nodes))


def term_counts(index: Index, query: Query) -> list[TermCounts]:
    """The word counts of every page of a query, or of its text from outside."""
    return [term_counts_of(index, node) for node in query.nodes] if query.outside is None else [query.outside]


def bag_of(index: Index, node: int) -> Bag:
    """The bag of a node."""
    row = index.bags.row(node)
    return Bag(np.asarray(index.bags.term[row]), np.asarray(index.bags.weight[row]))


def mean_bag(bags: list[Bag]) -> Bag:
    """The mean of several bags, each of which sums to 1."""
    if len(bags) == 1:
        return bags[0]
    terms, place = np.unique(np.concatenate([bag.term for bag in bags]), return_inverse=True)
    weights = np.bincount(place, weights=np.concatenate([bag.weight for bag in bags])) / len(bags)
    return Bag(terms, weights.astype(np.float32))


def term_counts_of(index: Index, node: int) -> TermCounts:
    """The word counts of the contents of a node."""
    row = index.bags.row(node)
    term, count = index.bags.term[row], index.bags.content[row]
    words = (term < index.words) & (count > 0)
    return TermCounts(term[words], count[words])


def signature_of(index: Index, bag: Bag) -> Unsigned:
    """The signature of a bag that H does not hold."""
    from pagekin.signatures.sign import keys_of, make_signatures, seeded  # loads the compiler

    strategy, count = index.strategy, len(bag.term)
    one = Bags(
        np.array([0, count]), np.arange(count, dtype=np.uint32), bag.weight, np.zeros(count, np.uint32), bag.weight
    )
    keys = seeded(keys_of(index.terms.name, bag.term), strategy.seed)
    made = make_signatures(one, keys, strategy.signature_length)
    signature: Unsigned = truncate(made, index.signatures.dtype.type)[0]
    return signature
