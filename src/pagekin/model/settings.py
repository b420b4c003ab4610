"""Settings of reading, which are stored with the result."""

from dataclasses import asdict, dataclass
from typing import Any

from pagekin.errors import MisuseError
from pagekin.model.options import check_options, option

MiB = 1024 * 1024


@dataclass(frozen=True)
class ReadingSettings:
    """Limits on what is read of a page, and which requests of a page are obeyed.

    >>> ReadingSettings(max_links=0)
    Traceback (most recent call last):
    pagekin.errors.MisuseError: max_links is 0; it must be at least 1
    """

    max_page_bytes: int = option(16 * MiB, "Skip larger pages.", minimum=1, cli=False)  # the command counts in MiB
    max_links: int = option(50_000, "Keep at most this number of links of a page.", minimum=1)
    max_url_bytes: int = option(4_096, "Ignore longer URLs; in bytes.", name="max_url_length", minimum=1)
    obey_noindex: bool = option(False, "Leave out pages that ask not to be indexed.")
    obey_nofollow: bool = option(False, "Ignore links that ask not to be followed.")
    chop_host: bool = option(False, "Treat all pages of a host as one.")

    def __post_init__(self) -> None:
        check_options(self)
        if self.max_page_bytes > 1024 * MiB:
            raise MisuseError(f"max_page_bytes is {self.max_page_bytes}; at most 1 GiB can be read of one page")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
