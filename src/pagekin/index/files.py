"""The files of an index: bags, terms, H and I."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from pagekin.arrays import Int64s, UInt32s
from pagekin.disk import open_array, open_strings, write_array, write_strings, writing_columns
from pagekin.index.inverted import Inverted
from pagekin.model.bags import Bags, Heads, Terms
from pagekin.model.strategy import Strategy

VERSION = 2
HEAD = 32  # terms of a bag that tell whether the rest is worth a look


@dataclass(frozen=True)
class Index:
    """Everything between a strategy and its answers, memory-mapped."""

    strategy: Strategy
    bags: Bags
    terms: Terms
    heads: Heads
    signatures: UInt32s
    inverted: Inverted

    @property
    def words(self) -> int:
        """Terms below this are words; the others are citing nodes."""
        return len(self.terms.name)


def write_bags(folder: Path, offsets: Int64s, signed: int, pieces: Iterable[Bags]) -> Iterator[Bags]:
    """Write bags as they come by, and the heads of the first ones, those that are in H."""
    write_array(folder, "bags.offsets", offsets)
    terms, heads = (int(offsets[-1]),), (signed, HEAD)
    columns = {
        "bags.term": (np.uint32, terms),
        "bags.weight": (np.float32, terms),
        "bags.content": (np.float32, terms),
        "bags.around": (np.float32, terms),
        "heads.term": (np.uint32, heads),
        "heads.weight": (np.float32, heads),
    }
    node = 0
    with writing_columns(folder, columns) as append:
        for bags in pieces:
            head = bags.first(signed - node).heads(HEAD)
            append(bags.term, bags.weight, bags.content, bags.around, head.term, head.weight)
            yield bags
            node += len(bags)


def write_lookup(folder: Path, terms: Terms, signatures: UInt32s, inverted: Inverted) -> None:
    """Write what leads to bags: terms, H and I."""
    write_strings(folder, "terms.name", terms.name)
    write_strings(folder, "terms.shown", terms.shown)
    write_array(folder, "terms.frequency", terms.frequency)
    write_array(folder, "signatures", signatures)
    write_array(folder, "postings", inverted.postings)
    write_array(folder, "buckets", inverted.buckets)


def open_index(folder: Path, strategy: Strategy) -> Index:
    """An index as it was written."""
    return Index(
        strategy,
        Bags(**{each.name: open_array(folder, f"bags.{each.name}") for each in fields(Bags)}),
        Terms(
            open_strings(folder, "terms.name"),
            open_strings(folder, "terms.shown"),
            open_array(folder, "terms.frequency"),
        ),
        Heads(open_array(folder, "heads.term"), open_array(folder, "heads.weight")),
        open_array(folder, "signatures"),
        Inverted(open_array(folder, "postings"), open_array(folder, "buckets")),
    )
