"""The files of an index: bags, terms, signatures (H) and the inverted index (I)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.index.invert import Inverted, ValueType, value_type
from pagekin.model.arrays import Int64s, Unsigned
from pagekin.model.bags import BAG_COLUMNS, Bags, Contents, Heads, Terms
from pagekin.model.strategy import Strategy
from pagekin.store.columns import check, check_offsets, column_writer, open_array, open_strings, write_columns

INDEX_VERSION = 6
HEAD = 32  # heaviest terms of a bag, which bound the similarity before the rest is read


@dataclass(frozen=True)
class Index:
    """An index, memory-mapped."""

    strategy: Strategy
    bags: Bags
    terms: Terms
    contents: Contents
    heads: Heads
    signatures: Unsigned
    inverted: Inverted

    @property
    def words(self) -> int:
        """The number of words; terms from this number on are citing nodes."""
        return len(self.terms.name)


def write_bags(folder: Path, offsets: Int64s, signed: int, pieces: Iterable[Bags]) -> Iterator[Bags]:
    """Write bags and the heads of the first `signed` of them; yield each piece, cut to those that get signatures."""
    write_columns(folder, {"bags.offsets": offsets})
    columns: dict[str, tuple[Any, tuple[int, ...]]] = {
        f"bags.{name}": (kind, (int(offsets[-1]),)) for name, kind in BAG_COLUMNS.items()
    }
    columns |= {f"heads.{name}": (BAG_COLUMNS[name], (signed, HEAD)) for name in ("term", "weight")}
    node = 0
    with column_writer(folder, columns) as append:
        for bags in pieces:
            first = bags.first(signed - node)
            head = first.heads(HEAD)
            append(bags.term, bags.weight, bags.content, bags.around, head.term, head.weight)
            yield first
            node += len(bags)


def write_lookup(folder: Path, terms: Terms, contents: Contents, signatures: Unsigned, inverted: Inverted) -> None:
    """Write terms, signatures, the inverted index, and the statistics of the contents."""
    parts = {"terms": terms, "contents": contents, "signatures": signatures}
    write_columns(folder, {**parts, "postings": inverted.postings, "buckets": inverted.buckets})


def open_index(folder: Path, strategy: Strategy) -> Index:
    """Open an index.

    Kernels index arrays without bounds checks. The offsets of bags, strings and buckets are therefore checked here;
    numbers of pages and terms are too many for that, and kernels skip those that are out of range.
    """
    bags = _open_bags(folder)
    names, shown = open_strings(folder, "terms.name"), open_strings(folder, "terms.shown")
    frequency = open_array(folder, "terms.frequency", np.int64, 1)
    check(len(shown) == len(names), folder / "terms.shown.offsets.npy", f"it holds {len(shown):,} terms")
    check(len(frequency) == len(names) + len(bags), folder / "terms.frequency.npy", "it belongs to other bags")
    signatures = open_array(folder, "signatures", dimensions=2)
    kind = value_type(len(signatures))
    check(signatures.dtype == kind, folder / "signatures.npy", f"it holds {signatures.dtype}")
    sound = len(signatures) <= len(bags) and signatures.shape[1] == strategy.signature_length
    check(sound, folder / "signatures.npy", "it belongs to other bags")
    heads = Heads(open_array(folder, "heads.term", np.uint32, 2), open_array(folder, "heads.weight", np.float32, 2))
    for name, column in vars(heads).items():
        check(column.shape == (len(signatures), HEAD), folder / f"heads.{name}.npy", "it belongs to other bags")
    terms, contents = Terms(names, shown, frequency), _open_contents(folder, len(names), len(bags))
    return Index(strategy, bags, terms, contents, heads, signatures, _open_inverted(folder, strategy, kind))


def _open_bags(folder: Path) -> Bags:
    columns = {name: open_array(folder, f"bags.{name}", kind, 1) for name, kind in BAG_COLUMNS.items()}
    offsets = open_array(folder, "bags.offsets")
    for name, column in columns.items():
        check_offsets(offsets, len(column), f"{folder}: bags.offsets.npy or bags.{name}.npy")
    return Bags(offsets, **columns)


def _open_contents(folder: Path, words: int, nodes: int) -> Contents:
    frequency = open_array(folder, "contents.frequency", np.int64, 1)
    length = open_array(folder, "contents.length", np.int64, 1)
    check(len(frequency) == words, folder / "contents.frequency.npy", "it belongs to other terms")
    check(len(length) <= nodes, folder / "contents.length.npy", "it belongs to other bags")
    sound = frequency.min(initial=0) >= 0 and frequency.max(initial=0) <= len(length)
    check(bool(sound), folder / "contents.frequency.npy", "a frequency exceeds the number of pages")
    check(bool(length.min(initial=0) >= 0), folder / "contents.length.npy", "it holds negative numbers")
    return Contents(frequency, length)


def _open_inverted(folder: Path, strategy: Strategy, kind: ValueType) -> Inverted:
    postings, buckets = open_array(folder, "postings", kind, 2), open_array(folder, "buckets", kind, 2)
    length, (rows, ends) = strategy.signature_length, buckets.shape
    check(len(postings) == length, folder / "postings.npy", "it belongs to other signatures")
    sound = rows == length and ends >= 3 and (ends - 1) & (ends - 2) == 0  # a power of two, plus 1
    sound = sound and bool((buckets[:, -1] == postings.shape[1]).all())
    check(sound and bool((buckets[:, 1:] >= buckets[:, :-1]).all()), folder / "buckets.npy", "buckets overlap")
    return Inverted(postings, buckets)
