"""What is decided about chunks, filters and groups: stored with what it made, for only the same can be compared."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pagekin.errors import MisuseError

LARGEST_CHUNK = 64 * 1024
LARGEST_FILTER = 1 << 26  # bits
LINKS = ("single", "complete")


@dataclass(frozen=True)
class GroupSettings:
    """How near-duplicates are found.

    >>> GroupSettings(chunk_bytes=100)
    Traceback (most recent call last):
    pagekin.errors.MisuseError: chunk_bytes is 100; it must be a power of two from 1 to 65536
    """

    chunk_bytes: int = 256  # of a chunk, as expected
    max_chunk_bytes: int = LARGEST_CHUNK
    min_chunk_bytes: int = 0
    filter_bits: int = 2048  # the smallest filter; a page that would saturate it gets a larger one
    hashes: int = 4
    threshold: float = 0.7  # of the similarity of near-duplicates
    link: str = "single"  # "complete": all of a group are similar to each other, not each to some other
    link_weight: float = 0.0  # of the similarity of links beside that of texts, in a collection

    def __post_init__(self) -> None:
        for name, low, high in (("chunk_bytes", 1, LARGEST_CHUNK), ("filter_bits", 64, LARGEST_FILTER)):
            value = getattr(self, name)
            if not low <= value <= high or value & (value - 1):
                raise MisuseError(f"{name} is {value}; it must be a power of two from {low} to {high}")
        for name, low, high in (
            ("max_chunk_bytes", self.chunk_bytes, LARGEST_CHUNK),
            ("min_chunk_bytes", 0, self.max_chunk_bytes),
            ("hashes", 1, 32),
        ):
            if not low <= getattr(self, name) <= high:
                raise MisuseError(f"{name} is {getattr(self, name)}; it must be from {low} to {high}")
        if not 0.0 < self.threshold <= 1.0:
            raise MisuseError(f"threshold is {self.threshold}; it must be more than 0 and at most 1")
        if not 0.0 <= self.link_weight < self.threshold:
            raise MisuseError(
                f"link_weight is {self.link_weight}; it must be from 0 to below the threshold, {self.threshold},"
                " or pages would be near-duplicates by their links alone"
            )
        if self.link not in LINKS:
            raise MisuseError(f"link is {self.link!r}; it can be {', '.join(LINKS)}")

    def as_dict(self) -> dict[str, Any]:
        """For what it is stored with."""
        return asdict(self)
