"""The near-duplicates of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pagekin.duplicates.filters import Overlap
    from pagekin.search.duplicates import DuplicateGroups, StoredPage


def report(twins: DuplicateGroups) -> dict[str, Any]:
    """The groups of a collection as JSON."""
    return {
        "settings": twins.settings.as_dict(),
        "pages": twins.pages,
        "groups": [
            {
                "anchor": _page(each.anchor),
                "members": [
                    {**_page(m.page), **overlap(m.overlap), "similarity": round(m.similarity, 4)} for m in each.members
                ],
            }
            for each in twins.groups
        ],
        "uncompared": twins.uncompared,
        "compared_pairs": twins.compared,
        "cut_pages": twins.cut,
    }


def _page(page: StoredPage) -> dict[str, Any]:
    return {"url": page.url, "title": page.title}


def overlap(overlap: Overlap) -> dict[str, Any]:
    """Of a member and its anchor."""
    return {
        "similarity": round(overlap.similarity, 4),
        "share": round(overlap.share_of_a, 4),
        "share_of_anchor": round(overlap.share_of_b, 4),
        "bits": round(overlap.bits_of_a, 4),
        "bits_of_anchor": round(overlap.bits_of_b, 4),
        "contains": overlap.b_in_a,
        "contained": overlap.a_in_b,
    }
