"""The array types of the package, arithmetic on offsets, and many strings as two arrays."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Bytes: TypeAlias = NDArray[np.uint8]
UInt32s: TypeAlias = NDArray[np.uint32]
Unsigned: TypeAlias = NDArray[np.unsignedinteger[Any]]  # 16 or 32 bits
UInt64s: TypeAlias = NDArray[np.uint64]
Int32s: TypeAlias = NDArray[np.int32]
Int64s: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Float32s: TypeAlias = NDArray[np.float32]
Integer: TypeAlias = int | np.integer[Any]


def offsets_of(lengths: Int64s) -> Int64s:
    """The offsets of rows of these lengths, with the end of the last row.

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def spans(first: Int64s, counts: Int64s) -> Int64s:
    """For each k in turn, counts[k] consecutive numbers from first[k] on.

    >>> spans(np.array([5, 2]), np.array([2, 3])).tolist()
    [5, 6, 2, 3, 4]
    """
    before = np.cumsum(counts) - counts
    numbers: Int64s = np.arange(int(counts.sum())) + np.repeat(first - before, counts)
    return numbers


def distinct(numbers: Int64s) -> Int64s:
    """The distinct numbers, ascending. `np.unique` alone imports numpy.ma, which takes longer than a query.

    >>> distinct(np.array([5, 2, 5])).tolist()
    [2, 5]
    """
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def row_ranges(offsets: Int64s, size: int) -> list[tuple[int, int]]:
    """Ranges of ragged rows with about `size` elements; no row is divided.

    >>> row_ranges(np.array([0, 2, 4, 5, 9]), 3)
    [(0, 2), (2, 4)]
    """
    cuts = np.searchsorted(offsets, np.arange(size, offsets[-1], size))
    return list(pairwise(distinct(np.array([0, *cuts.tolist(), len(offsets) - 1])).tolist()))


@dataclass(frozen=True)
class Strings:
    """A list of UTF-8 strings as their concatenated bytes and the offset of each; a file can be memory-mapped.

    >>> words = Strings.of(["kin", "", "page"])
    >>> words[2], len(words), list(words)
    ('page', 3, ['kin', '', 'page'])
    """

    offsets: Int64s
    data: Bytes

    @classmethod
    def of(cls, strings: Iterable[str | bytes]) -> Self:
        """Pack strings; a lone surrogate becomes `?`, since UTF-8 cannot encode it."""
        every: list[Any] = list(strings)
        try:
            data = "".join(every).encode("utf-8", "replace")  # in one call, since there may be many
            lengths = [len(s) if s.isascii() else len(s.encode("utf-8", "replace")) for s in every]
        except TypeError:  # some are bytes
            encoded = [s if isinstance(s, bytes) else s.encode("utf-8", "replace") for s in every]
            data, lengths = b"".join(encoded), list(map(len, encoded))
        return cls(offsets_of(np.array(lengths, np.int64)), np.frombuffer(data, np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def raw(self, k: int) -> bytes:
        return self.data[self.offsets.item(k) : self.offsets.item(k + 1)].tobytes()

    def __getitem__(self, k: int) -> str:
        return self.raw(k).decode("utf-8", "replace")

    def part(self, begin: int, end: int) -> "Strings":
        """Consecutive strings; their bytes are not copied.

        >>> list(Strings.of(["kin", "", "page"]).part(1, 3))
        ['', 'page']
        """
        offsets = self.offsets[begin : end + 1]
        return Strings(offsets - offsets[0], self.data[offsets[0] : offsets[-1]])

    def take(self, rows: Sequence[int]) -> list[str]:
        """Some of the strings."""
        places = np.array(rows, np.int64)
        both = zip(self.offsets[places].tolist(), self.offsets[places + 1].tolist(), strict=True)
        data = self.data.data
        return [str(data[begin:end], "utf-8", "replace") for begin, end in both]

    def take_lists(self, lists: Sequence[Sequence[int]]) -> list[list[str]]:
        """Lists of strings, each given by their numbers.

        >>> Strings.of(["kin", "", "page"]).take_lists([[2, 0], [], [2]])
        [['page', 'kin'], [], ['page']]
        """
        taken = iter(self.take([number for numbers in lists for number in numbers]))
        return [list(islice(taken, len(numbers))) for numbers in lists]

    def __iter__(self) -> Iterator[str]:
        data = self.data.tobytes()
        if data.isascii():  # then bytes are characters
            text = data.decode("ascii")
            return (text[a:b] for a, b in pairwise(self.offsets.tolist()))
        return (piece.decode("utf-8", "replace") for piece in self.all_raw())

    def all_raw(self) -> list[bytes]:
        """The bytes of every string, read at once."""
        data = self.data.tobytes()
        return [data[a:b] for a, b in pairwise(self.offsets.tolist())]


def together(texts: Iterable[bytes], room: int) -> Iterator[list[bytes]]:
    """Consecutive texts in batches of at least `room` bytes, except for the last batch.

    >>> list(together([b"kin", b"page", b"link", b"a"], 6))
    [[b'kin', b'page'], [b'link', b'a']]
    """
    batch: list[bytes] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= room:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def word_of(form: str) -> str:
    """The word of a form, which is one spelling of it: NFC, in lower case.

    >>> word_of("Über")
    'über'
    """
    return unicodedata.normalize("NFC", form).lower()
