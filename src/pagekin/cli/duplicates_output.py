"""How `pagekin duplicates` tells the near-duplicates of a collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekin.cli.output import clean, counted

if TYPE_CHECKING:
    from pagekin.duplicates.filters import Overlap
    from pagekin.search.duplicates import DuplicateGroups, StoredPage


def is_store(name: str) -> bool:
    """Whether a source is a collection that was built, or wants to be one."""
    path = Path(name)
    return (path / "manifest.json").exists() or path.suffix == ".kin"


def say(twins: DuplicateGroups) -> None:
    """Tell people the groups of a collection."""
    for each in twins.groups:
        click.echo(clean(_name(each.anchor)))
        for member in each.members:
            click.echo(f"  {member.similarity:.3f}  {clean(_name(member.page))}{how(member.overlap)}")
    grouped, groups = sum(len(each.members) for each in twins.groups), counted(len(twins.groups), "group")
    click.echo(f"{counted(twins.pages, 'page')}, {groups} of near-duplicates, {grouped:,} grouped")
    click.echo(f"pairs compared: {twins.compared:,}")
    if twins.cut:
        click.echo(f"pages with a rare part that over 1,000 others have, of which some were looked at: {twins.cut:,}")
    for reason, count in twins.uncompared.items():
        click.echo(f"not compared: {count} ({clean(reason)})")


def how(overlap: Overlap) -> str:
    """Which of a member and its anchor has all of the other, as a remark."""
    if overlap.a_in_b and overlap.b_in_a:
        return "  (the same)"
    return "  (contained)" if overlap.a_in_b else "  (contains it)" if overlap.b_in_a else ""


def _name(page: StoredPage) -> str:
    return f"{page.url}  {page.title}".rstrip()
