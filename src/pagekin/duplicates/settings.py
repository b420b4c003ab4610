"""The settings of near-duplicate detection. They are stored with fingerprints, which only compare if they agree."""

from dataclasses import asdict, dataclass
from typing import Any

from pagekin.errors import MisuseError

MAX_CHUNK_BYTES = 64 * 1024
MAX_FILTER_BITS = 1 << 26
LINKS = ("single", "complete")


@dataclass(frozen=True)
class GroupSettings:
    """How near-duplicates are found and grouped.

    >>> GroupSettings(chunk_bytes=100)
    Traceback (most recent call last):
    pagekin.errors.MisuseError: chunk_bytes is 100; it must be a power of two from 1 to 65536
    """

    chunk_bytes: int = 256  # expected size
    max_chunk_bytes: int = MAX_CHUNK_BYTES
    min_chunk_bytes: int = 0
    filter_bits: int = 2048  # the smallest filter; pages with many chunks get a larger one
    hashes: int = 4
    threshold: float = 0.7  # least similarity of near-duplicates
    link: str = "single"  # linkage of groups; "complete": all members are near-duplicates of each other
    link_weight: float = 0.0  # of link similarity relative to text similarity, in a collection

    def __post_init__(self) -> None:
        for name, low, high, power_of_two in (
            ("chunk_bytes", 1, MAX_CHUNK_BYTES, True),
            ("filter_bits", 64, MAX_FILTER_BITS, True),
            ("max_chunk_bytes", self.chunk_bytes, MAX_CHUNK_BYTES, False),
            ("min_chunk_bytes", 0, self.max_chunk_bytes, False),
            ("hashes", 1, 32, False),
        ):
            value = getattr(self, name)
            if not low <= value <= high or (power_of_two and value & (value - 1)):
                kind = "a power of two " if power_of_two else ""
                raise MisuseError(f"{name} is {value}; it must be {kind}from {low} to {high}")
        if not 0.0 < self.threshold <= 1.0:
            raise MisuseError(f"threshold is {self.threshold}; it must be above 0 and at most 1")
        if not 0.0 <= self.link_weight < self.threshold:
            raise MisuseError(
                f"link_weight is {self.link_weight}; it must be from 0 to below the threshold, {self.threshold},"
                " or pages would be near-duplicates by their links alone"
            )
        if self.link not in LINKS:
            raise MisuseError(f"link is {self.link!r}; it must be one of {', '.join(LINKS)}")

    def as_dict(self) -> dict[str, Any]:
        """The settings as stored and printed in JSON."""
        return asdict(self)
