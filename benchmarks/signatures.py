"""Signatures: weighted bags to m = 80 min-hashes, speed and accuracy compared with datasketch and rensa.

`python -m benchmarks.signatures` prints the figures and writes `results/signatures.json`. pagekin begins with the
weighted bags of real pages; the others are given the same bags as sets of a thousand integers, which costs them
nothing. All use one thread, in turns, and the best round of each counts. How good: the root mean square error (RMSE)
of estimated against exact bag Jaccard, on pairs of pages that have something in common, beside sqrt(J (1 - J) / m),
that of m independent hash functions.

Of what rensa offers, `RMinHash.digest_matrix_from_flat_token_hashes` is the fastest that sees all of a set. Its rho
sketch is faster because it looks at some places of a list alone, and does not estimate Jaccard. pagekin itself
draws fewer elements, which does not make it err more; so rensa's figure for sets of that size stands beside it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from datasketch import MinHash
from numpy.typing import NDArray
from rensa import RMinHash

from benchmarks.agreement import collections
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show, timed
from pagekin.index.index import elements_for, keys_of, make_signatures, seeded
from pagekin.kernels.minhash import GOLDEN, mix_all
from pagekin.model.arrays import Int64s, UInt64s
from pagekin.model.bags import Bags
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore

LENGTH = 80
ELEMENTS = 1000  # of a set that the others are given
ROUNDS = 5 if QUICK else 25
SEEDS = range(1, 4 if QUICK else 11)
_SLOW = 100 if QUICK else 400  # bags for datasketch
_ASKED = 100 if QUICK else 400  # pages of which pairs are made

Rows = NDArray[Any]


@dataclass(frozen=True)
class Sets:
    """Bags as sets of integers, end to end."""

    offsets: UInt64s
    elements: UInt64s

    @classmethod
    def of(cls, bags: Bags, keys: UInt64s, elements: int) -> Sets:
        """As many integers a bag, of each term as its weight is worth; a remainder counts by a chance of the term."""
        key = mix_all(keys[bags.term])
        exact = bags.weight.astype(np.float64) * elements
        counts = np.floor(exact + (key >> np.uint64(11)).astype(np.float64) / 2**53).astype(np.int64)
        ends = np.cumsum(counts)
        nth = np.arange(ends[-1]) - np.repeat(ends - counts, counts) + 1
        offsets = np.concatenate([[0], ends])[bags.offsets]
        return cls(offsets.astype(np.uint64), mix_all(np.repeat(key, counts) + nth.astype(np.uint64) * GOLDEN))

    def lists(self, most: int) -> list[list[int]]:
        """The first sets as Python has them, 32 bits each."""
        bounds = self.offsets[: most + 1].tolist()
        return [(self.elements[a:b] & np.uint64(0xFFFFFFFF)).tolist() for a, b in pairwise(bounds)]


def main() -> None:
    """Measure every collection at hand."""
    os.environ["RAYON_NUM_THREADS"] = "1"  # rensa makes its threads when it is first asked for something
    figures = []
    for name, folder in collections().items():
        if folder.is_dir():
            print(f"signing {name}")
            with tempfile.TemporaryDirectory() as place:
                build([folder], Path(place) / "bench.kin")
                indexed = IndexedStore.open(Path(place) / "bench.kin")
                index = indexed.index
                keys = keys_of(index.terms.name, np.arange(len(index.terms.frequency)))
                found = list(measure(name, compact(indexed.index.bags.first(len(indexed))), keys))
            show(found)
            figures += found
    keep("signatures", {"machine": facts("datasketch", "rensa"), "figures": kept(figures)})


def compact(bags: Bags) -> Bags:
    """Bags that are not empty, out of the file and in memory."""
    end = bags.offsets[-1]
    term, weight = np.array(bags.term[:end]), np.array(bags.weight[:end])
    return Bags(np.unique(bags.offsets), term, weight, np.zeros(len(term), np.uint32), weight)


def measure(name: str, bags: Bags, keys: UInt64s) -> Iterator[Figure]:
    """The figures of one collection."""
    sets, fewer = Sets.of(bags, keys, ELEMENTS), Sets.of(bags, keys, elements_for(LENGTH))
    lists = sets.lists(_SLOW)
    ours, rensa, rensa_fewer, rho, datasketch = in_turns(
        lambda: make_signatures(bags, seeded(keys, 1), LENGTH),
        lambda: by_rensa(sets, 1),
        lambda: by_rensa(fewer, 1),
        lambda: by_rho(sets, 1),
        lambda: by_datasketch(lists, 1),
    )
    rate, slow_rate = len(bags) / ours, len(lists) / datasketch
    smaller = f"rensa, flat, sets of {elements_for(LENGTH)}"
    yield Figure(f"{name}: bags", len(bags))
    yield Figure(f"{name}: terms of a bag", round(len(bags.term) / len(bags)))
    yield Figure(f"{name}: pagekin", round(rate), "bags/s")
    yield Figure(f"{name}: datasketch, MinHash.bulk", round(slow_rate), "bags/s")
    yield Figure(f"{name}: rensa, flat", round(len(bags) / rensa), "bags/s")
    yield Figure(f"{name}: {smaller}", round(len(bags) / rensa_fewer), "bags/s")
    yield Figure(f"{name}: rensa, rho", round(len(bags) / rho), "bags/s")
    yield Figure(f"{name}: pagekin / datasketch", round(rate / slow_rate), at_least=80)
    yield Figure(f"{name}: pagekin / rensa, flat", round(rensa / ours, 2), at_least=0.6)
    yield Figure(f"{name}: pagekin / {smaller}", round(rensa_fewer / ours, 2))
    yield from errors(name, bags, keys, sets)


def in_turns(*contestants: Callable[[], object]) -> list[float]:
    """The seconds of the best round of each; in turns, since the machine may be busier at one time than at another."""
    rounds = [[timed(each) for each in contestants] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def by_rensa(sets: Sets, seed: int) -> Any:
    return RMinHash.digest_matrix_from_flat_token_hashes(sets.elements, sets.offsets, LENGTH, seed)


def by_rho(sets: Sets, seed: int) -> Any:
    return RMinHash.digest_matrix_from_flat_token_hashes_rho(sets.elements, sets.offsets, LENGTH, seed)


def by_datasketch(lists: list[list[int]], seed: int) -> Any:
    return MinHash.bulk(lists, num_perm=LENGTH, seed=seed, hashfunc=int)


def errors(name: str, bags: Bags, keys: UInt64s, sets: Sets) -> Iterator[Figure]:
    """How far the estimates are off."""
    pairs = pairs_of(make_signatures(bags, seeded(keys, 0), LENGTH))
    exact = np.array([jaccard(bags, a, b) for a, b in pairs.tolist()])
    theory = float(np.sqrt((exact * (1 - exact)).mean() / LENGTH))
    yield Figure(f"{name}: pairs of bags", len(pairs))
    yield Figure(f"{name}: their mean Jaccard", round(float(exact.mean()), 3))
    yield Figure(f"{name}: RMSE of {LENGTH} hash functions, in theory", round(theory, 4))
    context: dict[str, Callable[[int], Rows]] = {
        "pagekin": lambda seed: make_signatures(bags, seeded(keys, seed), LENGTH),
        "rensa, flat": lambda seed: np.array(by_rensa(sets, seed).to_rows()),
        "rensa, rho": lambda seed: np.array(by_rho(sets, seed).to_rows()),
    }
    for way, rows in context.items():
        off = np.array([agreement(rows(seed), pairs) - exact for seed in SEEDS])
        rmse = round(float(np.sqrt((off**2).mean())), 4)
        yield Figure(f"{name}: RMSE of {way}", rmse)
        yield Figure(f"{name}: bias of {way}", round(float(off.mean()), 4))
        if way == "pagekin":
            yield Figure(f"{name}: RMSE of pagekin / theory", round(rmse / theory, 2), at_most=1.05)


def pairs_of(signatures: Rows) -> Int64s:
    """Pairs of rows: some rows, each with three of the fifty that agree with it most."""
    random = np.random.default_rng(2002)
    asked = random.choice(len(signatures), min(_ASKED, len(signatures)), replace=False)
    pairs = []
    for row in asked.tolist():
        closest = np.argsort(-(signatures == signatures[row]).mean(axis=1), kind="stable")[:51]
        pairs += [(row, other) for other in random.choice(closest[closest != row], 3, replace=False).tolist()]
    return np.array(pairs)


def jaccard(bags: Bags, a: int, b: int) -> float:
    """The exact bag Jaccard of two bags."""
    weights = np.zeros((2, int(bags.term.max()) + 1))
    for side, row in ((0, a), (1, b)):
        weights[side, bags.term[bags.row(row)]] = bags.weight[bags.row(row)]
    return float(weights.min(axis=0).sum() / weights.max(axis=0).sum())


def agreement(rows: Rows, pairs: Int64s) -> NDArray[np.float64]:
    """The share of coordinates in which the rows of every pair agree."""
    result: NDArray[np.float64] = (rows[pairs[:, 0]] == rows[pairs[:, 1]]).mean(axis=1)
    return result


if __name__ == "__main__":
    main()
