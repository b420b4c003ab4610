"""What is decided about chunks, filters and groups: stored with what it made, for only the same can be compared."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pagekin.errors import MisuseError
from pagekin.model.options import check_options, option

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

    chunk_bytes: int = option(
        256, "The expected size of a chunk in bytes, a power of two.", name="chunk_size", http=False
    )
    max_chunk_bytes: int = LARGEST_CHUNK
    min_chunk_bytes: int = 0
    filter_bits: int = 2048  # the smallest filter; a page that would saturate it gets a larger one
    hashes: int = 4
    threshold: float = option(
        0.7,
        "Report two pages as near-duplicates when at least this share of one page's chunks also occurs in the other.",
        minimum=0,
        maximum=1,
        above=True,
    )
    link: str = option(
        "single",
        "complete: all pages of a group are similar to each other, not each to some other.",
        choices=LINKS,
        cli=False,
    )
    link_weight: float = option(
        0.0,
        "In a collection, the weight of the sets of links beside the texts.",
        minimum=0,
        maximum=1,
        below=True,
        http=False,
    )

    def __post_init__(self) -> None:
        check_options(self)
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
        if self.link_weight >= self.threshold:
            raise MisuseError(
                f"link_weight is {self.link_weight}; it must be from 0 to below the threshold, {self.threshold},"
                " or pages would be near-duplicates by their links alone"
            )

    def as_dict(self) -> dict[str, Any]:
        """For what it is stored with."""
        return asdict(self)
