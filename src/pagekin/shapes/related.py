"""The pages that are kin to a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pagekin.search.results import NearDuplicate, RelatedPage


def report(pages: Sequence[str], neighbors: list[RelatedPage], measure: str) -> dict[str, Any]:
    """An answer as JSON."""
    return {
        "query": {"pages": list(pages), "similarity": measure},
        "related": [
            {
                "url": each.url,
                "title": each.title,
                "similarity": round(each.similarity, 6),
                **_score(each),
                "pinned": each.pinned,
                "duplicate_of_query": each.is_duplicate,
                "duplicates": [_duplicate(duplicate) for duplicate in each.duplicates],
                "why": {
                    "terms": [{"term": term, "share": round(share, 4)} for term, share in each.why.terms],
                    "cited_by": each.why.cited_by,
                    "apart": each.why.apart,
                    "parts": [
                        {"part": part.name, "similarity": round(part.similarity, 6), "share": round(part.share, 4)}
                        for part in each.why.parts
                    ],
                },
            }
            for each in neighbors
        ],
    }


def _score(each: RelatedPage | NearDuplicate) -> dict[str, float]:
    """The inner product, for measures that have one."""
    return {} if each.score is None else {"score": round(each.score, 6)}


def _duplicate(duplicate: NearDuplicate) -> dict[str, Any]:
    return {
        "url": duplicate.url,
        "title": duplicate.title,
        "similarity": round(duplicate.similarity, 6),
        **_score(duplicate),
        "text_similarity": round(duplicate.overlap.similarity, 4),
        "contains": duplicate.overlap.b_in_a,
        "contained": duplicate.overlap.a_in_b,
    }
