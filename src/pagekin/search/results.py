"""What an answer is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pagekin.duplicates.filters import Overlap


@dataclass(frozen=True)
class Contribution:
    """A part of a similarity, which is the sum of its parts times their shares."""

    name: str  # of the evidence: text, links, ...
    similarity: float
    share: float


@dataclass(frozen=True)
class Explanation:
    """Why a page is in an answer."""

    terms: list[tuple[str, float]] = field(default_factory=list)  # readable words and their share of the similarity
    cited_by: list[str] = field(default_factory=list)  # pages that link to both, those first whose links are closest
    apart: list[int] = field(default_factory=list)  # words between the two links on each of these
    parts: list[Contribution] = field(default_factory=list)
    details: dict[str, dict[str, Any]] = field(default_factory=dict)  # what other evidences say, by their names


@dataclass(frozen=True)
class NearDuplicate:
    """A page of an answer that says the same as a better one."""

    url: str
    title: str
    similarity: float  # to what was asked for
    overlap: Overlap  # A is the page, B the one that it stands under
    score: float | None = None  # as of a Neighbor


@dataclass(frozen=True)
class RelatedPage:
    """A page of an answer, and its near-duplicates."""

    url: str
    title: str
    similarity: float
    why: Explanation
    pinned: bool = False
    is_duplicate: bool = False  # of the page that was asked for, as are those that stand under it
    duplicates: list[NearDuplicate] = field(default_factory=list)
    score: float | None = None  # with okapi and linklearn: the inner product that its similarity by words comes from
