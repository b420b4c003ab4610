"""The index of a store: bags, terms, signatures (H), and the inverted index (I) of the pages with each value."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pagekin.kernels.fnv import hash_spans
from pagekin.kernels.minhash import GOLDEN, mix_all, sign
from pagekin.kernels.query import fill_buckets
from pagekin.model.arrays import Int64s, Numbers, Strings, UInt32s, UInt64s, Unsigned
from pagekin.model.bags import Bags, CheckedBags, Contents, Heads, Terms
from pagekin.model.strategy import Strategy
from pagekin.store.checks import check, check_below, check_finite
from pagekin.store.columns import open_array, open_part

ValueType: TypeAlias = type[np.unsignedinteger[Any]]

INDEX_VERSION = 11
_POSTINGS_PER_BUCKET = 8  # at least, and less than twice as many
_MAX_SHORT = 1 << 16
KEYS = 1 << 20  # computed at a time
_ELEMENTS_PER_HASH = 6  # leaves one bin of 400 empty; more do not improve the estimate
_MIN_ELEMENTS = 200  # with fewer, a bag of many light terms could be left with none
_MOST_WORDS = 1 << 40  # of a page, or of all pages of a host
_MOST_WEIGHT = 1.001  # bags sum to 1, but for rounding
_CITING = np.uint64(0x6B696E)  # a separate seed, so that citing nodes and words do not collide


@dataclass(frozen=True)
class Inverted:
    """The pages of each coordinate sorted by value, and where values with the same leading bits begin.

    Both arrays have the type of the values.
    """

    postings: Unsigned  # coordinates x pages
    buckets: Unsigned  # coordinates x (buckets + 1)

    @property
    def shift(self) -> int:
        """The number of bits by which a value is shifted right to find its bucket."""
        return 8 * self.buckets.itemsize - int(self.buckets.shape[1] - 2).bit_length()


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

    @cached_property
    def checked_bags(self) -> CheckedBags:
        """The bags, for whoever compares all of them. Kernels for single queries skip terms that do not exist."""
        check_below(self.bags.term, len(self.terms.frequency), "bags.term.npy")
        check_finite(self.bags.weight, "bags.weight.npy", most=_MOST_WEIGHT)
        check_finite(self.bags.around, "bags.around.npy")
        return CheckedBags(self.bags)

    def check(self) -> None:
        """Raise StoreError if a number leads nowhere."""
        _ = self.checked_bags
        check_below(self.terms.frequency, len(self.bags) + 1, "terms.frequency.npy")
        check_below(self.heads.term, len(self.terms.frequency), "heads.term.npy")
        check_finite(self.heads.weight, "heads.weight.npy", most=_MOST_WEIGHT)
        check_below(self.inverted.postings, max(1, len(self.signatures)), "postings.npy")


def elements_for(length: int) -> int:
    """The number of elements that a bag is expanded to for a signature of this length."""
    return max(_MIN_ELEMENTS, _ELEMENTS_PER_HASH * length)


def keys_of(names: Strings, terms: Numbers) -> UInt64s:
    """The hash keys of terms: the hash of the name for a word, a mix of the number for a citing node."""
    named = terms < len(names)
    word = terms[named].astype(np.int64)
    node = (terms[~named] - len(names)).astype(np.uint64)
    keys = np.empty(len(terms), np.uint64)
    keys[named] = hash_spans(names.data, names.offsets[word], names.offsets[word + 1])
    keys[~named] = mix_all(_CITING + (node + np.uint64(1)) * GOLDEN)
    return keys


def seeded(keys: UInt64s, seed: int) -> UInt64s:
    """Keys combined with a seed; the same on every machine."""
    mixed, seeds = np.empty_like(keys), mix_all(np.array([seed], np.uint64))
    for begin in range(0, len(keys), KEYS):
        mixed[begin : begin + KEYS] = mix_all(keys[begin : begin + KEYS] + seeds)
    return mixed


def make_signatures(bags: Bags, keys: UInt64s, length: int) -> UInt32s:
    """One row of `length` min-hashes for each bag, from seeded keys of its terms."""
    signatures = np.empty((len(bags), length), np.uint32)
    sign(bags.offsets, bags.term, bags.weight, keys, elements_for(length), signatures)
    return signatures


def value_type(nodes: int) -> ValueType:
    """The type of signature values and node numbers for this many nodes: 16 bits if they suffice, else 32.

    Two 16-bit values agree by chance once in 65,536: with fewer nodes than that, a value has less than one false match.

    >>> value_type(65_535).__name__, value_type(65_536).__name__
    ('uint16', 'uint32')
    """
    return np.uint16 if nodes < _MAX_SHORT else np.uint32


def truncate(signatures: UInt32s, kind: ValueType) -> Unsigned:
    """Signatures reduced to the leading bits of their values; the largest number still marks an empty bag.

    >>> truncate(np.array([0x12345678, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32), np.uint16).tolist()
    [4660, 65534, 65535]
    """
    if signatures.dtype == kind:
        return signatures
    most = np.iinfo(kind).max
    leading: Unsigned = np.minimum(signatures >> np.uint32(32 - np.iinfo(kind).bits), most - 1).astype(kind)
    leading[signatures == np.iinfo(signatures.dtype).max] = most
    return leading


def members_of(signatures: Unsigned, nodes: Int64s) -> Int64s:
    """The nodes whose bags are not empty; an empty one has a signature of largest numbers."""
    return nodes[signatures[nodes, 0] != np.iinfo(signatures.dtype).max] if len(nodes) else nodes


def invert(signatures: Unsigned, nodes: Int64s) -> Inverted:
    """The inverted index over the signatures of some nodes, without those of empty bags."""
    return invert_coordinates(signatures, members_of(signatures, nodes), range(signatures.shape[1]))


def invert_coordinates(signatures: Unsigned, members: Int64s, coordinates: range) -> Inverted:
    """The inverted index of some coordinates."""
    kind = signatures.dtype
    bits = max(1, (len(members) // _POSTINGS_PER_BUCKET).bit_length() - 1)
    postings = np.empty((len(coordinates), len(members)), kind)
    buckets = np.empty((len(coordinates), (1 << bits) + 1), kind)
    for place, j in enumerate(coordinates):
        values = signatures[members, j]
        order = np.argsort(values, kind="stable")
        postings[place] = members[order]
        fill_buckets(values[order], 8 * kind.itemsize - bits, buckets[place])
    return Inverted(postings, buckets)


def open_signatures(folder: Path) -> Unsigned:
    return open_array(folder, "signatures", (np.uint16, np.uint32), 2, below=None)


def open_index(folder: Path, strategy: Strategy) -> Index:
    """Open an index.

    Kernels index arrays without bounds checks. The offsets of bags, strings and buckets are therefore checked here;
    numbers of pages and terms are too many for that, and kernels skip those that are out of range.
    """
    bags, terms = open_part(folder, "bags", Bags), open_part(folder, "terms", Terms)
    words, shown = len(terms.name), len(terms.shown)
    check(shown == words, folder / "terms.shown.offsets.npy", f"it holds {shown:,} terms")
    sound = terms.frequency.shape == (words + len(bags),)
    check(sound, folder / "terms.frequency.npy", "it belongs to other bags")
    signatures = open_signatures(folder)
    kind = value_type(len(signatures))
    check(signatures.dtype == kind, folder / "signatures.npy", f"it holds {signatures.dtype}")
    sound = len(signatures) <= len(bags) and signatures.shape[1] == strategy.signature_length
    check(sound, folder / "signatures.npy", "it belongs to other bags")
    heads = open_part(folder, "heads", Heads)
    for name, column in vars(heads).items():
        check(len(column) == len(signatures), folder / f"heads.{name}.npy", "it belongs to other bags")
    contents = _open_contents(folder, words, len(bags))
    return Index(strategy, bags, terms, contents, heads, signatures, _open_inverted(folder, strategy, kind))


def _open_contents(folder: Path, words: int, nodes: int) -> Contents:
    contents = open_part(folder, "contents", Contents)
    frequency, length = contents.frequency, contents.length
    check(frequency.shape == (words,), folder / "contents.frequency.npy", "it belongs to other terms")
    check(len(length) <= nodes, folder / "contents.length.npy", "it belongs to other bags")
    check_below(frequency, len(length) + 1, folder / "contents.frequency.npy")
    check_below(length, _MOST_WORDS, folder / "contents.length.npy")
    return contents


def _open_inverted(folder: Path, strategy: Strategy, kind: ValueType) -> Inverted:
    postings = open_array(folder, "postings", kind, 2, below=None)
    buckets = open_array(folder, "buckets", kind, 2, below=None)
    length, (rows, ends) = strategy.signature_length, buckets.shape
    check(len(postings) == length, folder / "postings.npy", "it belongs to other signatures")
    sound = rows == length and ends >= 3 and (ends - 1) & (ends - 2) == 0  # a power of two, plus 1
    sound = sound and bool((buckets[:, -1] == postings.shape[1]).all())
    ascending = sound and all(bool((row[1:] >= row[:-1]).all()) for row in buckets)
    check(ascending, folder / "buckets.npy", "buckets overlap")
    return Inverted(postings, buckets)
