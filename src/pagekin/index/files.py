"""The files of an index: bags, terms, H and I."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from pagekin.arrays import UInt32s
from pagekin.disk import open_array, open_strings, write_array, write_strings
from pagekin.index.inverting import Inverted
from pagekin.model.bags import Bags, Terms
from pagekin.model.strategy import Strategy

VERSION = 1


@dataclass(frozen=True)
class Index:
    """Everything between a strategy and its answers, memory-mapped."""

    strategy: Strategy
    bags: Bags
    terms: Terms
    signatures: UInt32s
    inverted: Inverted

    @property
    def words(self) -> int:
        """Terms below this are words; the others are citing nodes."""
        return len(self.terms.name)


def write_index(folder: Path, index: Index) -> None:
    """Write all files of an index into a new folder."""
    folder.mkdir()
    for each in fields(index.bags):
        write_array(folder, f"bags.{each.name}", getattr(index.bags, each.name))
    write_strings(folder, "terms.name", index.terms.name)
    write_strings(folder, "terms.shown", index.terms.shown)
    write_array(folder, "terms.frequency", index.terms.frequency)
    write_array(folder, "signatures", index.signatures)
    write_array(folder, "postings", index.inverted.postings)
    write_array(folder, "buckets", index.inverted.buckets)


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
        open_array(folder, "signatures"),
        Inverted(open_array(folder, "postings"), open_array(folder, "buckets")),
    )
