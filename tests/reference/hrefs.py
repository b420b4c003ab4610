"""Plain hrefs, as a regular expression finds them."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"((?:\.\./)*)(?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*/)*[A-Za-z0-9_~-][A-Za-z0-9_~.-]*/?")


def levels_of_plain(href: str) -> int:
    """How many folders a plain href goes up; -1 if it is not plain.

    >>> levels_of_plain("../../trees/oak.html"), levels_of_plain("a/../b")
    (2, -1)
    """
    found = _PLAIN.fullmatch(href)
    return len(found[1]) // 3 if found else -1
