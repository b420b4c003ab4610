"""Options of a search for missing links."""

from __future__ import annotations

from dataclasses import dataclass

from pagekin.model.options import SHARE, check_options, option
from pagekin.search.options import RelatedOptions


@dataclass(frozen=True)
class GapOptions:
    """Which missing links are returned, and which pages count as poorly linked.

    >>> GapOptions(per_page=0)
    Traceback (most recent call last):
    pagekin.errors.MisuseError: per_page is 0; it must be from 1 to 100
    """

    limit: int = option(200, "Return at most this number of missing links.", minimum=1)
    per_page: int = option(3, "Return at most this number of missing links of each page.", minimum=1, maximum=100)
    min_similarity: float = option(0.0, "Drop links between pages below this similarity (0 to 1).", **SHARE)
    min_likelihood: float = option(
        0.0,
        "Drop a link unless at least this share of the pages that have its words link them to its target (0 to 1).",
        **SHARE,
    )
    max_in_links: int | None = option(None, "Only links to pages with at most this number of in-links.", minimum=0)
    include: tuple[str, ...] = option(
        (), "Only pages whose URLs match this regular expression; repeatable.", regex=True, http=False
    )
    exclude: tuple[str, ...] = option(
        (), "No pages whose URLs match this regular expression; repeatable.", regex=True, http=False
    )
    one_way: bool = option(False, "Also return links to pages that link to the page.")
    orphan_links: int = option(0, "A page with at most this number of in-links is an orphan.", minimum=0)
    dead_end_links: int = option(0, "A page with at most this number of links in its text is a dead end.", minimum=0)
    decisions: str | None = option(
        None,
        "A CSV file with the columns source, target and decision: what is dismissed or done is not returned again.",
        file=True,
        http=False,
    )

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def search(self) -> RelatedOptions:
        """How pages are compared: as answers are."""
        return RelatedOptions(min_similarity=self.min_similarity)
