"""Counted bags in a temporary file, until document frequencies are known and they can be weighted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pagekin.model.arrays import Int64s, UInt32s

_TYPES = (np.uint32, np.uint32, np.float32, np.float32)  # of term, count, content, around; 4 bytes each


@dataclass(frozen=True)
class SpilledPiece:
    """Some bags in order: their lengths, their terms, and the counts of each term."""

    lengths: Int64s
    term: UInt32s
    count: UInt32s  # occurrences in the page
    content: NDArray[np.float32]  # the same, with early occurrences counting more if the strategy says so
    around: NDArray[np.float32]  # sums over anchor windows and titles


class Spill:
    """Pieces in a file, read back in the order of writing."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lengths: list[Int64s] = []

    def add(self, piece: SpilledPiece) -> None:
        """Append a piece."""
        self._lengths.append(piece.lengths)
        for column in (piece.term, piece.count, piece.content, piece.around):
            self._file.write(column.data)

    @property
    def lengths(self) -> Int64s:
        """The lengths of all bags."""
        return np.concatenate([np.empty(0, np.int64), *self._lengths])

    def pieces(self) -> Iterator[SpilledPiece]:
        """All pieces, one at a time."""
        self._file.seek(0)
        for lengths in self._lengths:
            count = int(lengths.sum())
            columns: list[Any] = [np.frombuffer(bytearray(self._file.read(4 * count)), kind) for kind in _TYPES]
            yield SpilledPiece(lengths, *columns)
