"""The settings of near-duplicate detection. They are stored with fingerprints, which only compare if they agree."""

from dataclasses import asdict, dataclass
from typing import Any

from pagekin.errors import MisuseError
from pagekin.model.options import SHARE, check_options, option

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

    chunk_bytes: int = option(
        256,
        "Mean size of the chunks that texts are cut into for the comparison, in bytes: a power of two.",
        name="chunk_size",
        http=False,
    )
    max_chunk_bytes: int = MAX_CHUNK_BYTES
    min_chunk_bytes: int = 0
    filter_bits: int = 2048  # the smallest filter; pages with many chunks get a larger one
    hashes: int = 4
    threshold: float = option(
        0.7,
        "Report two pages as near-duplicates when at least this share of one page's chunks also occurs in the other.",
        **SHARE,
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
        "In a collection, the weight of common links in the similarity (0 to 1); texts have the rest.",
        **SHARE,
        below=True,
        http=False,
    )

    def __post_init__(self) -> None:
        check_options(self)
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
        if self.link_weight >= self.threshold:
            raise MisuseError(
                f"link_weight is {self.link_weight}; it must be from 0 to below the threshold, {self.threshold},"
                " or pages would be near-duplicates by their links alone"
            )

    def as_dict(self) -> dict[str, Any]:
        """The settings as stored and printed in JSON."""
        return asdict(self)
