"""`pagekin duplicates --report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekin.cli.output import clean, counted, say_json
from pagekin.errors import MisuseError
from pagekin.figures.plot_files import PLOT_FORMATS
from pagekin.model.files import written_whole

if TYPE_CHECKING:
    from pagekin.duplicates.report import DuplicateReport
    from pagekin.duplicates.settings import GroupSettings


def say_collection(
    store: str, settings: GroupSettings, whole_text: bool, page: str | None, picture: Path, json: bool
) -> None:
    """Draw the pictures of a collection, and tell what they show."""
    from pagekin.search.duplicates import duplicate_report
    from pagekin.search.indexed_store import IndexedStore

    _kind(picture)
    say(duplicate_report(IndexedStore.open(store), settings, page, whole_text=whole_text), picture, store, json)


def say(report: DuplicateReport, picture: Path, title: str, json: bool) -> None:
    """Draw pictures, and tell what they show."""
    from pagekin.duplicates.report import draw_report

    kind = _kind(picture)
    with written_whole(picture) as path:
        draw_report(path, kind, title, report)
    if json:
        profile = report.profile
        say_json(
            {
                "picture": str(picture),
                "pages": report.pages,
                "curves": [vars(curve) for curve in report.curves],
                "profile": profile and vars(profile),
            }
        )
        return
    click.echo(f"{picture}: {counted(report.pages, 'page')}")
    for curve in report.curves:
        click.echo(f"  {curve.threshold:.0%} similar or more: {curve.shares[-1]:6.1%} are near-duplicates of others")
    if report.profile:
        click.echo(f"  against all others: {clean(report.profile.name)}")


def _kind(picture: Path) -> str:
    kind = picture.suffix.lower().removeprefix(".")
    if kind not in PLOT_FORMATS:
        raise MisuseError(f"{picture}: which kind of picture? The suffix can be {', '.join(PLOT_FORMATS)}")
    return kind
