"""The options of a site: which pages get related links, and how these look."""

from dataclasses import asdict, dataclass
from typing import Any

from pagekin.errors import MisuseError
from pagekin.model.options import check_options, option, option_like
from pagekin.search.options import RelatedOptions
from pagekin.site.markup import parse_selector

MARKER = "marker"  # as a place: only where the marker is
ARROW = "->"


@dataclass(frozen=True)
class SiteOptions:
    """Which pages of a site are related to which, and how the lists look.

    Patterns are those of file names: `*` matches any characters, also slashes. Pages are named by their path in the
    folder.

    >>> SiteOptions(pin=("guide.html", "faq.html -> help.html")).pairs("pin")
    [('', 'guide.html'), ('faq.html', 'help.html')]
    """

    limit: int = option_like(RelatedOptions, "limit", default=5, help="List at most this number of pages.")
    min_similarity: float = option_like(RelatedOptions, "min_similarity")
    include: tuple[str, ...] = option(
        (),
        "Only pages whose path matches this pattern get lists and are listed, such as 'posts/*'; repeatable. Search,"
        " index, tag and error pages are left out unless such a pattern matches them.",
        metavar="PATTERN",
    )
    exclude: tuple[str, ...] = option(
        (), "Pages whose path matches this pattern get no list and are not listed; repeatable.", metavar="PATTERN"
    )
    pin: tuple[str, ...] = option(
        (), "List this page first: everywhere, or on one page ('PAGE -> OTHER'); repeatable.", metavar="PAGE"
    )
    never: tuple[str, ...] = option(
        (), "Do not list this page: anywhere, or on one page ('PAGE -> OTHER'); repeatable.", metavar="PAGE"
    )
    main_text: bool = option(
        True,
        "Compare the main text of pages: parts with the attribute data-pagekin-body, else the article or main part.",
    )
    exclude_linked: bool = option_like(RelatedOptions, "exclude_linked")
    explain: bool = option(False, "Write into the JSON files why each page is related.")
    language: str = option("", "The language of pages that do not declare one, such as de.")
    heading: str = option("Related pages", "The heading of the lists.")
    at: str = option(
        "",
        "Where lists go in pages without <!-- pagekin -->: at the end of the element that this CSS selector names (tag,"
        " #id, .class, [attribute=value]); `marker` for no other place. Default: the end of the article or main part.",
        metavar="SELECTOR",
    )
    style: bool = option(True, "Link a style sheet of a few lines in pages with a list.")
    base_url: str = option("", "The URL of the site, if its pages link to each other by full URLs.", metavar="URL")
    allow_shrink: bool = option(False, "Accept that the site has lost more than half of its pages.")

    def __post_init__(self) -> None:
        check_options(self)
        if self.at not in ("", MARKER):
            parse_selector(self.at)
        if not self.heading.strip():
            raise MisuseError("heading is empty; give the lists a heading, such as 'Related pages'")

    def pairs(self, field: str) -> list[tuple[str, str]]:
        """The entries of `pin` or `never` as pairs of a page, or "" for all pages, and the page that it lists."""
        found = []
        for entry in getattr(self, field):
            page, arrow, other = entry.partition(ARROW)
            found.append((page.strip().lstrip("/"), other.strip().lstrip("/")) if arrow else ("", page.lstrip("/")))
        return found

    def decides_answers(self) -> dict[str, Any]:
        """The options on which it depends which pages are listed."""
        return {name: value for name, value in asdict(self).items() if name not in ("heading", "at", "style")}
