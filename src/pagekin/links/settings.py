"""Options of link analysis."""

from dataclasses import dataclass
from functools import partial

from pagekin.model.options import SHARE, check_options, option

MEASURES = ("co-citation", "coupling", "amsler", "proximity")
_option = partial(option, http=False)  # one of the command line and of Python


@dataclass(frozen=True)
class Preparation:
    """How links are selected and weighted (section 6.1 of the paper)."""

    # Kept are the links from the pages with most out-links, which are the most informative.
    in_links: int = _option(
        50, "Compare a page by at most this number of links to it, those from the pages with most links.", minimum=1
    )
    out_links: int = _option(
        1000, "Ignore all links on a page that has more links than this, such as a portal.", minimum=1
    )
    # A page linked to by k times as many has weight 1/k as a common out-link.
    popular: float = _option(
        0.1,
        "Reduce the weight of links to a page that more than this share of all pages link to.",
        **SHARE,
        above=True,
    )
    back_off: int = _option(
        0, "Compare a page with fewer in-links than this by those of its parent URL; 0 turns this off.", minimum=0
    )
    chop_hosts: bool = _option(False, "Treat all pages of a host as one page.")
    stop: tuple[str, ...] = _option(
        (), "Ignore links from and to URLs that match this regular expression; repeatable.", regex=True
    )
    outside: bool = _option(False, "Also compare pages that are known only from links.")

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class LinkOptions(Preparation):
    """How pages are compared by their links.

    >>> LinkOptions(measure="coupling").in_links
    50
    """

    measure: str = option(
        "amsler",
        "Compare in-links (co-citation), out-links (coupling), both (amsler), or in-links weighted by how close"
        " together they stand (proximity).",
        choices=MEASURES,
    )
    delta: float | None = option(
        None,
        "Connect two pages in the graph if their similarity is at least this. Default: a tenth of the mean.",
        **SHARE,
        http=False,
    )


@dataclass(frozen=True)
class GraphOptions(LinkOptions):
    """Which pages are vertices of the similarity graph."""

    core: tuple[str, ...] = option((), "Compare only these pages.", cli=False)
    steps: int = option(
        1, "1 compares the core pages alone, 2 also the pages that they link with, and so on.", minimum=1, maximum=10
    )


@dataclass(frozen=True)
class ClusterOptions(LinkOptions):
    """How the pages around a page are clustered by their links.

    >>> ClusterOptions(alpha=(0.1, 0.9)).alpha
    (0.1, 0.9)
    """

    alpha: tuple[float, ...] = option(
        (0.5,),
        "How tightly to cluster, from chains near 0 to tight groups at 1; repeatable, to compare.",
        **SHARE,
        above=True,
    )
    limit: int = option(10, "Print at most this number of pages.", minimum=1)
    clusters: int | None = option(
        None, "Also divide the connected pages into this number of clusters, and list the clusters.", minimum=1
    )
    most: int = option(
        2000, "Cluster at most this number of pages, those nearest to the page.", minimum=2, maximum=20_000, http=False
    )
