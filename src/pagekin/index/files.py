"""The files of an index: bags, terms, H and I."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pagekin.index.inverted import Inverted
from pagekin.index.values import Kind, kind_for
from pagekin.model.arrays import Int64s, Unsigned
from pagekin.model.bags import Bags, Contents, Heads, Terms
from pagekin.model.strategy import Strategy
from pagekin.store.columns import (
    demand,
    demand_rows,
    open_array,
    open_strings,
    write_array,
    write_strings,
    writing_columns,
)

VERSION = 5
HEAD = 32  # terms of a bag that tell whether the rest is worth a look


@dataclass(frozen=True)
class Index:
    """Everything between a strategy and its answers, memory-mapped."""

    strategy: Strategy
    bags: Bags
    terms: Terms
    contents: Contents
    heads: Heads
    signatures: Unsigned
    inverted: Inverted

    @property
    def words(self) -> int:
        """Terms below this are words; the others are citing nodes."""
        return len(self.terms.name)


def write_bags(folder: Path, offsets: Int64s, signed: int, pieces: Iterable[Bags]) -> Iterator[Bags]:
    """Write bags as they come by, and the heads of those that are in H, the first ones; these go on."""
    write_array(folder, "bags.offsets", offsets)
    terms, heads = (int(offsets[-1]),), (signed, HEAD)
    columns = {
        "bags.term": (np.uint32, terms),
        "bags.weight": (np.float32, terms),
        "bags.content": (np.uint32, terms),
        "bags.around": (np.float32, terms),
        "heads.term": (np.uint32, heads),
        "heads.weight": (np.float32, heads),
    }
    node = 0
    with writing_columns(folder, columns) as append:
        for bags in pieces:
            first = bags.first(signed - node)
            head = first.heads(HEAD)
            append(bags.term, bags.weight, bags.content, bags.around, head.term, head.weight)
            yield first
            node += len(bags)


def write_lookup(folder: Path, terms: Terms, contents: Contents, signatures: Unsigned, inverted: Inverted) -> None:
    """Write what leads to bags: terms, H and I; and what is known of the contents of all pages."""
    write_strings(folder, "terms.name", terms.name)
    write_strings(folder, "terms.shown", terms.shown)
    write_array(folder, "terms.frequency", terms.frequency)
    write_array(folder, "contents.frequency", contents.frequency)
    write_array(folder, "contents.length", contents.length)
    write_array(folder, "signatures", signatures)
    write_array(folder, "postings", inverted.postings)
    write_array(folder, "buckets", inverted.buckets)


def open_index(folder: Path, strategy: Strategy) -> Index:
    """An index as it was written.

    Kernels look where its numbers tell them to. What leads into arrays is looked through here: where bags, strings and
    buckets begin. Numbers of pages and terms are too many for that; kernels pass over those that there are not.
    """
    bags = _open_bags(folder)
    names, shown = open_strings(folder, "terms.name"), open_strings(folder, "terms.shown")
    frequency = open_array(folder, "terms.frequency", np.int64, 1)
    demand(len(shown) == len(names), folder / "terms.shown.offsets.npy", f"it holds {len(shown):,} terms")
    demand(len(frequency) == len(names) + len(bags), folder / "terms.frequency.npy", "it is of other bags")
    signatures = open_array(folder, "signatures", dimensions=2)
    kind = kind_for(len(signatures))
    demand(signatures.dtype == kind, folder / "signatures.npy", f"it holds {signatures.dtype}")
    sound = len(signatures) <= len(bags) and signatures.shape[1] == strategy.signature_length
    demand(sound, folder / "signatures.npy", "it is of other bags")
    heads = Heads(open_array(folder, "heads.term", np.uint32, 2), open_array(folder, "heads.weight", np.float32, 2))
    for name, column in vars(heads).items():
        demand(column.shape == (len(signatures), HEAD), folder / f"heads.{name}.npy", "it is of other bags")
    terms, contents = Terms(names, shown, frequency), _open_contents(folder, len(names), len(bags))
    return Index(strategy, bags, terms, contents, heads, signatures, _open_inverted(folder, strategy, kind))


def _open_bags(folder: Path) -> Bags:
    kinds = {"term": np.uint32, "weight": np.float32, "content": np.uint32, "around": np.float32}
    columns = {name: open_array(folder, f"bags.{name}", kind, 1) for name, kind in kinds.items()}
    offsets = open_array(folder, "bags.offsets")
    for name, column in columns.items():
        demand_rows(offsets, len(column), f"{folder}: bags.offsets.npy or bags.{name}.npy")
    return Bags(offsets, **columns)


def _open_contents(folder: Path, words: int, nodes: int) -> Contents:
    frequency = open_array(folder, "contents.frequency", np.int64, 1)
    length = open_array(folder, "contents.length", np.int64, 1)
    demand(len(frequency) == words, folder / "contents.frequency.npy", "it is of other terms")
    demand(len(length) <= nodes, folder / "contents.length.npy", "it is of other bags")
    sound = frequency.min(initial=0) >= 0 and frequency.max(initial=0) <= len(length)
    demand(bool(sound), folder / "contents.frequency.npy", "it names more pages than there are")
    demand(bool(length.min(initial=0) >= 0), folder / "contents.length.npy", "it holds negative numbers")
    return Contents(frequency, length)


def _open_inverted(folder: Path, strategy: Strategy, kind: Kind) -> Inverted:
    postings, buckets = open_array(folder, "postings", kind, 2), open_array(folder, "buckets", kind, 2)
    length, (rows, ends) = strategy.signature_length, buckets.shape
    demand(len(postings) == length, folder / "postings.npy", "it is of other signatures")
    sound = rows == length and ends >= 3 and (ends - 1) & (ends - 2) == 0  # a power of two, and the end of the last
    sound = sound and bool((buckets[:, -1] == postings.shape[1]).all())
    demand(sound and bool((buckets[:, 1:] >= buckets[:, :-1]).all()), folder / "buckets.npy", "buckets overlap")
    return Inverted(postings, buckets)
