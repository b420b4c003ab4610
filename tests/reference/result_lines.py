"""Lines of results, as Python formats them."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[tuple[int, float]]  # pages and their similarities


def result_lines(rows: Sequence[Row], queries: Sequence[tuple[str, str]], pages: Sequence[tuple[str, str, str]]) -> str:
    """The lines of rows of results, given the parts of lines of each query and page.

    >>> result_lines([[(0, 0.5)]], [("q,", "")], [("", ",p,", "")]).rstrip()
    'q,1,p,0.500000'
    """
    return "".join(
        f"{begin}{pages[page][0]}{rank}{pages[page][1]}{similarity:.6f}{end}{pages[page][2]}\n"
        for (begin, end), row in zip(queries, rows, strict=True)
        for rank, (page, similarity) in enumerate(row, 1)
    )
