"""The settings of a generator's configuration, and what it is told after a build."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pagekin.model.options import Option, from_values, options_of
from pagekin.site.options import SiteOptions
from pagekin.site.site import update_site


def site_settings() -> list[tuple[Option, Any]]:
    """The settings of a site with their defaults, as configuration files write them."""
    return [(each, list(each.default) if each.many else each.default) for each in options_of(SiteOptions)]


def insert_lists(
    folder: str | Path,
    values: Mapping[str, Any],
    index: str | Path | None,
    say: Callable[[str], None],
    warn: Callable[[str], None],
) -> None:
    """Insert lists into a site that was just built."""
    report = update_site(folder, from_values(SiteOptions, values), index=index, inject=True)
    say(f"related pages in {report.lists:,} of {report.pages:,} pages")
    for reason, count, example in report.left_out:
        say(f"{count:,} left out: {example} {reason}")
    for path, problem in report.problems:
        warn(f"{path} {problem}; it was left as it is")
