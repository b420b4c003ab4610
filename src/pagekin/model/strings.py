"""Many strings as two arrays: their concatenated bytes, and the offset of each."""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from pagekin.model.arrays import Bytes, Int64s, offsets_of


@dataclass(frozen=True)
class Strings:
    """A list of UTF-8 strings, which can be memory-mapped from a file.

    >>> words = Strings.of(["kin", "", "page"])
    >>> words[2], len(words), list(words)
    ('page', 3, ['kin', '', 'page'])
    """

    offsets: Int64s
    data: Bytes

    @classmethod
    def of(cls, strings: Iterable[str | bytes]) -> Self:
        """Pack strings; a lone surrogate becomes `?`, since UTF-8 cannot encode it."""
        encoded = [s if isinstance(s, bytes) else s.encode("utf-8", "replace") for s in strings]
        offsets = offsets_of(np.array([len(s) for s in encoded], np.int64))
        return cls(offsets, np.frombuffer(b"".join(encoded), np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def raw(self, k: int) -> bytes:
        return self.data[self.offsets[k] : self.offsets[k + 1]].tobytes()

    def __getitem__(self, k: int) -> str:
        return self.raw(k).decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        for piece in self.all_raw():
            yield piece.decode("utf-8", "replace")

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
