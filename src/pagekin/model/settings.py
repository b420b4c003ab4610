"""Settings of reading, which are stored with the result."""

from dataclasses import asdict, dataclass
from typing import Any

from pagekin.errors import MisuseError

MiB = 1024 * 1024


@dataclass(frozen=True)
class ReadingSettings:
    """Limits on pages, and which requests of pages to robots are obeyed.

    >>> ReadingSettings(max_links=0)
    Traceback (most recent call last):
    pagekin.errors.MisuseError: max_links is 0; it must be at least 1
    """

    max_page_bytes: int = 16 * MiB
    max_links: int = 50_000
    max_url_bytes: int = 4_096
    obey_noindex: bool = False
    obey_nofollow: bool = False
    chop_host: bool = False

    def __post_init__(self) -> None:
        for name in ("max_page_bytes", "max_links", "max_url_bytes"):
            if getattr(self, name) < 1:
                raise MisuseError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.max_page_bytes > 1024 * MiB:
            raise MisuseError(f"max_page_bytes is {self.max_page_bytes}; at most 1 GiB can be read of one page")

    def as_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return asdict(self)
