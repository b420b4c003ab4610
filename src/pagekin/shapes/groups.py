"""The near-duplicates of a result list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagekin.shapes.twins import overlap

if TYPE_CHECKING:
    from pagekin.duplicates.result_list import Grouping, ResultEntry


def report(grouping: Grouping) -> dict[str, Any]:
    """Groups as JSON."""
    return {
        "settings": grouping.settings.as_dict(),
        "results": len(grouping.entries),
        "groups": [
            {
                "anchor": entry_of(each.anchor),
                "members": [{**entry_of(member.page), **overlap(member.overlap)} for member in each.members],
            }
            for each in grouping.groups()
        ],
        "uncompared": grouping.uncompared(),
        "repeated_ids": grouping.repeated_ids(),
        "without_words": grouping.without_words,
    }


def entry_of(entry: ResultEntry) -> dict[str, Any]:
    """A result in its list."""
    facts = {
        "id": entry.result.id,
        "position": entry.position,
        "rank": entry.rank,
        "url": entry.result.url,
        "title": entry.result.title,
    }
    return {**facts, "uncompared": entry.uncompared} if entry.uncompared else facts
