"""What a request for related pages can ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pagekin.errors import MisuseError
from pagekin.model.strategy import MEASURES
from pagekin.model.weighting import Weighting

AUTO: Final = "auto"  # as a share of links: as far as they agree with words


@dataclass(frozen=True)
class RelatedOptions:
    """What an answer should be like."""

    limit: int = 10
    min_similarity: float = 0.05
    similarity: str | None = None  # by default that of the weighting, if there is one, else that of the strategy
    weighting: Weighting | None = None  # for okapi and linklearn; by default that of the strategy
    exclude_host: bool = False
    exclude_linked: bool = False
    include: tuple[str, ...] = ()  # patterns of URLs; if any, one must match
    exclude: tuple[str, ...] = ()
    pin: tuple[str, ...] = ()  # URLs that come first, in this order
    never: tuple[str, ...] = ()
    outside: bool = False  # whether pages that are known only from links may appear
    link_share: float | Literal["auto"] | None = None  # of links in the similarity; None: as it was learned, else none
    blend: Mapping[str, float] | None = None  # weights of evidences by name, in place of link_share
    group_duplicates: bool = True  # near-duplicates stand under the best of them; the limit counts groups
    explain: bool = True

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise MisuseError(f"limit is {self.limit}; it must be at least 1")
        if not 0.0 <= self.min_similarity <= 1.0:
            raise MisuseError(f"min_similarity is {self.min_similarity}; it must be from 0 to 1")
        if self.similarity is not None and self.similarity not in MEASURES:
            raise MisuseError(f"similarity is {self.similarity!r}; it can be {', '.join(MEASURES)}")
        if self.weighting is not None and self.similarity not in (None, self.weighting.kind):
            raise MisuseError(f"similarity is {self.similarity!r}, but the weights are for {self.weighting.kind}")
        if self.weighting is not None:
            object.__setattr__(self, "similarity", self.weighting.kind)
        if isinstance(self.link_share, int | float) and not 0.0 <= self.link_share <= 1.0:
            raise MisuseError(f"link_share is {self.link_share}; it must be from 0 to 1, or {AUTO}")
        if self.blend is not None and not (min(self.blend.values(), default=0) >= 0 and sum(self.blend.values()) > 0):
            raise MisuseError(f"blend is {dict(self.blend)}; weights must not be negative, and one must be positive")
        for pattern in (*self.include, *self.exclude):
            try:
                re.compile(pattern)
            except re.error as error:
                raise MisuseError(f"{pattern!r} is no regular expression ({error})") from error
