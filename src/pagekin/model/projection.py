"""A learned projection of term weights, in a file beside the weights: a line of JSON, then numbers.

{"format": "pagekin projection", "version": 1, "dimensions": 64, "terms": ["oak", ...]} and, for each term, `dimensions`
little-endian 32-bit floats.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pagekin.errors import MisuseError
from pagekin.model.arrays import Float32s, Int64s
from pagekin.model.files import read_bounded

FORMAT, VERSION = "pagekin projection", 1
SUFFIX = ".projection"  # appended to the name of the file of weights
MOST_BYTES = 1 << 30
_LARGEST = 1e6  # absolute value in a matrix


@dataclass(frozen=True, eq=False)
class Projection:
    """A vector for every known term."""

    terms: tuple[str, ...]
    matrix: Float32s  # terms x dimensions

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.terms):
            raise MisuseError(f"{len(self.terms)} terms, but a matrix of {self.matrix.shape}")
        if not (np.abs(self.matrix) <= _LARGEST).all():  # false for NaN
            raise MisuseError(f"a number of the matrix is not finite, or above {_LARGEST:g}")

    def places(self, names: Sequence[str]) -> tuple[Int64s, Int64s]:
        """The indices of the names that are known terms, and the rows of these terms."""
        number = {term: k for k, term in enumerate(self.terms)}
        found = [(k, number[name]) for k, name in enumerate(names) if name in number]
        pairs = np.array(found, np.int64).reshape(-1, 2)
        return pairs[:, 0].copy(), pairs[:, 1].copy()

    def as_bytes(self) -> bytes:
        """The contents of a file, which `projection` reads."""
        facts = {"format": FORMAT, "version": VERSION, "dimensions": self.matrix.shape[1], "terms": self.terms}
        return json.dumps(facts, ensure_ascii=False).encode() + b"\n" + self.matrix.astype("<f4").tobytes()


def projection(data: bytes, where: str) -> Projection:
    """A projection from its bytes; `where` is the source to name in errors."""
    head, _, numbers = data.partition(b"\n")
    try:
        facts = json.loads(head)
    except (ValueError, RecursionError) as error:
        raise MisuseError(f"{where} holds no projection: it does not begin with JSON ({error})") from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT or facts.get("version") != VERSION:
        raise MisuseError(f"{where} holds no projection of version {VERSION}; `pagekin learn --projection` writes one")
    terms, dimensions = facts.get("terms"), facts.get("dimensions")
    if not isinstance(terms, list) or not all(isinstance(each, str) for each in terms) or type(dimensions) is not int:
        raise MisuseError(f"{where}: terms should be words, dimensions a number")
    if dimensions < 0 or len(numbers) != 4 * len(terms) * dimensions:
        raise MisuseError(f"{where} has {len(numbers):,} bytes of numbers for {len(terms):,} terms; it is damaged")
    try:
        return Projection(tuple(terms), np.frombuffer(numbers, "<f4").astype(np.float32).reshape(-1, dimensions))
    except (MisuseError, ValueError) as error:
        raise MisuseError(f"{where}: {error}") from error


def load_projection(path: Path) -> Projection:
    return projection(read_bounded(path, MOST_BYTES, "the projection of weights"), str(path))
