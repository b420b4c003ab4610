"""Bags that are folded but not yet weighed, in a file: their terms' frequencies are known only after the last one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pagekin.model.arrays import Int64s, UInt32s

_KINDS = (np.uint32, np.uint32, np.float32, np.float32)


@dataclass(frozen=True)
class SpilledPiece:
    """Some bags, one after the other: their lengths and terms, and what was counted of each."""

    lengths: Int64s
    term: UInt32s
    count: UInt32s  # occurrences in the page
    content: NDArray[np.float32]  # the same, the first ones counting more if the strategy says so
    around: NDArray[np.float32]

    @property
    def offsets(self) -> Int64s:
        """Where each bag begins, and where the last one ends."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.lengths)])


class Spill:
    """Pieces in a file, to be read again in their order."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lengths: list[Int64s] = []

    def add(self, piece: SpilledPiece) -> None:
        """Write a piece after the others."""
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
            yield SpilledPiece(lengths, *(self._column(kind, count) for kind in _KINDS))

    def _column(self, kind: Any, count: int) -> NDArray[Any]:
        return np.frombuffer(bytearray(self._file.read(count * np.dtype(kind).itemsize)), kind, count)
