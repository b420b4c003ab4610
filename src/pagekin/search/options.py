"""The options of a request for related pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pagekin.errors import MisuseError
from pagekin.model.options import SHARE, check_options, option
from pagekin.model.strategy import MEASURES, parse_blend

if TYPE_CHECKING:
    from pagekin.model.weighting import Weighting

MOST_ANSWERS = 1000  # of a page that an index keeps
AUTO: Final = "auto"  # as a link share: how well links agree with text in this collection


def _weighting_in(file: str) -> Weighting:
    from pagekin.model.weighting import load_weights

    return load_weights(Path(file))


@dataclass(frozen=True)
class RelatedOptions:
    """Which related pages are returned, and how they are compared.

    >>> RelatedOptions(limit=3).limit
    3
    >>> RelatedOptions(min_similarity=2.0)
    Traceback (most recent call last):
    pagekin.errors.MisuseError: min_similarity is 2.0; it must be from 0 to 1
    """

    limit: int = option(10, "Return at most this number of pages, or of groups of near-duplicates.", minimum=1)
    min_similarity: float = option(0.05, "Drop results below this similarity (0 to 1).", **SHARE)
    similarity: str | None = option(
        None,
        "The similarity measure. Default: linklearn with learned weights, else that of the index.",
        choices=MEASURES,
    )
    weighting: Weighting | None = option(
        None,
        "Learned weights for linklearn: a file that `pagekin learn` has written.",
        name="weights",
        metavar="FILE",
        parse=_weighting_in,
        http=False,
    )
    exclude_host: bool = option(False, "Drop pages of the same host.")
    exclude_linked: bool = option(False, "Drop pages that the page links to already.")
    include: tuple[str, ...] = option(
        (), "Return only URLs that match this regular expression; repeatable.", regex=True, http=False
    )
    exclude: tuple[str, ...] = option(
        (), "Drop URLs that match this regular expression; repeatable.", regex=True, http=False
    )
    pin: tuple[str, ...] = option((), "Put this page first; repeatable.")
    never: tuple[str, ...] = option((), "Drop this page; repeatable.")
    outside: bool = option(False, "Also return pages that are known only from links.", http=False)
    link_share: float | Literal["auto"] | None = option(
        None,
        "Blend link similarity into the score with this share (0 to 1), or auto: weighted by how well links agree with"
        " text in this collection. Default: the share learned for linklearn, and 0 for other measures.",
        name="links",
        metavar="SHARE",
        **SHARE,
    )
    blend: Mapping[str, float] | None = option(
        None,
        "Rank by a weighted sum of these evidences, such as text=0.7,links=0.3, in place of --links.",
        metavar="NAME=WEIGHT,...",
        parse=parse_blend,
    )
    group_duplicates: bool = option(True, "Group near-duplicates under the best of them; the limit counts groups.")
    explain: bool = option(True, "Explain each result: shared terms, and pages that link to both.")

    @property
    def has_default_ranking(self) -> bool:
        """Whether all pages are ranked as the index ranks them by default, without filters.

        >>> RelatedOptions(limit=3).has_default_ranking, RelatedOptions(exclude_linked=True).has_default_ranking
        (True, False)
        """
        measure = self.similarity, self.weighting, self.link_share, self.blend
        return self.is_unfiltered and all(each is None for each in measure)

    @property
    def is_unfiltered(self) -> bool:
        """Whether every page may be in the answer, and none has a fixed place."""
        urls = self.include, self.exclude, self.pin, self.never
        return not (any(urls) or self.exclude_host or self.exclude_linked or self.outside)

    def __post_init__(self) -> None:
        check_options(self)
        if self.weighting is not None:
            if self.similarity not in (None, self.weighting.kind):
                raise MisuseError(f"similarity is {self.similarity!r}, but the weights are for {self.weighting.kind}")
            object.__setattr__(self, "similarity", self.weighting.kind)
        if self.blend is not None and not (min(self.blend.values(), default=0) >= 0 and sum(self.blend.values()) > 0):
            raise MisuseError(f"blend is {dict(self.blend)}; weights must not be negative, and one must be positive")
