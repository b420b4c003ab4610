"""Candidates by collisions, then the truth: exact similarity from the stored bags."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pagekin.arrays import Int64s, UInt32s
from pagekin.index.files import Index
from pagekin.kernels.postings import collide
from pagekin.kernels.similarity import COSINE, JACCARD, similarities
from pagekin.model.bags import Bags
from pagekin.signatures.making import make_signatures, term_keys

MEASURES = {"jaccard": JACCARD, "cosine": COSINE}
MOST_CANDIDATES = 1000


@dataclass(frozen=True)
class Bag:
    """One bag, of a page or of a question."""

    term: UInt32s
    weight: NDArray[np.float32]


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


def candidates(index: Index, signature: UInt32s, most: int = MOST_CANDIDATES) -> Int64s:
    """The nodes whose signatures agree with this one most often, at most so many (paper, figure 11)."""
    nodes = len(index.bags)
    counts = np.zeros(nodes, np.int64)
    touched = np.empty(nodes, np.int64)
    inverted = index.inverted
    found = collide(signature, index.signatures, inverted.postings, inverted.buckets, inverted.shift, counts, touched)
    pages = np.sort(touched[:found])
    if found <= most:
        return pages
    order = np.argsort(-counts[pages], kind="stable")
    return np.sort(pages[order[:most]])


def signature_of(index: Index, bag: Bag) -> UInt32s:
    """The signature of a bag that is not in the index; of one that is, H has it."""
    strategy = index.strategy
    one = Bags(np.array([0, len(bag.term)]), bag.term, bag.weight, bag.weight, bag.weight)
    keys = term_keys(index.terms.name, len(index.bags))
    signature: UInt32s = make_signatures(one, keys, strategy.seed, strategy.signature_length)[0]
    return signature


def exact(index: Index, bag: Bag, nodes: Int64s, measure: str) -> NDArray[np.float64]:
    """The exact similarity of a bag to the bags of nodes."""
    bags = index.bags
    return similarities(bag.term, bag.weight, bags.offsets, bags.term, bags.weight, nodes, MEASURES[measure])


def shared_terms(index: Index, bag: Bag, node: int, measure: str, most: int) -> list[SharedTerm]:
    """The words that make a bag and a node similar, each with its share of the similarity, the strongest first."""
    other = bag_of(index, node)
    terms, mine, theirs = np.intersect1d(bag.term, other.term, assume_unique=True, return_indices=True)
    a, b = bag.weight[mine].astype(np.float64), other.weight[theirs].astype(np.float64)
    parts = a * b if measure == "cosine" else np.minimum(a, b)
    total = parts.sum()
    order = np.argsort(-parts, kind="stable")
    strongest = [k for k in order.tolist() if terms[k] < index.words][:most]
    return [SharedTerm(int(terms[k]), float(parts[k] / total)) for k in strongest] if total > 0 else []
