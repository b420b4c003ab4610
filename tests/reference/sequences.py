"""Which links lead to the previous or the next page, by the definition."""

from __future__ import annotations

Link = tuple[int, int, str]  # the citing page, the cited page, and where: "text", "menu" or "rel"


def is_sequential(link: Link, links: list[Link]) -> bool:
    """Whether a link is one of a sequence, among all links of a collection.

    A link with `rel` is if another such link leads back. A link of a menu is if a menu leads back, and neither page has
    more than two partners: pages that its menus link to and whose menus link back. A block with `rel` is a menu.
    """
    one, other, kind = link
    if one == other or kind == "text":
        return False
    if kind == "rel" and (other, one, "rel") in links:
        return True
    return other in _partners(one, links) and all(len(_partners(page, links)) <= 2 for page in (one, other))


def _partners(page: int, links: list[Link]) -> set[int]:
    by_menus = {(one, other) for one, other, kind in links if kind != "text" and one != other}
    return {other for one, other in by_menus if one == page and (other, one) in by_menus}
