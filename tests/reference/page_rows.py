"""Candidates and scores for many pages, page by page and with lists."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[tuple[int, float]]  # nodes and their scores


def best(row: Row, most: int) -> list[int]:
    """The nodes with the largest scores, the largest first; equal ones in order of nodes.

    >>> best([(7, 0.5), (3, 0.9), (5, 0.5)], 2)
    [3, 5]
    """
    return [node for node, _ in sorted(row, key=lambda each: (-each[1], each[0]))[:most]]


def sharing_rare_columns(rows: Sequence[Sequence[int]], page: int, most_postings: int) -> set[int]:
    """The other rows that share the rarest columns of a page, as long as these have at most so many rows in all.

    >>> sharing_rare_columns([[0, 1], [1], [0, 1]], 0, 2)
    {2}
    >>> sorted(sharing_rare_columns([[0, 1], [1], [0, 1]], 0, 5))
    [1, 2]
    """
    with_column = {column: {k for k, row in enumerate(rows) if column in row} for column in rows[page]}
    found: set[int] = set()
    left = most_postings
    for column in sorted(with_column, key=lambda each: (len(with_column[each]), each)):
        left -= len(with_column[column])
        if left < 0:
            break
        found |= with_column[column]
    return found - {page}
