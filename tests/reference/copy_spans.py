"""Plain twins of `kernels/runs.py`: stretches are given as (start, length, place)."""

from __future__ import annotations

Run = tuple[int, int, int]


def copy_runs(source: list[int], runs: list[Run], target: list[int]) -> list[int]:
    """`target` with every stretch of `source` copied to its place."""
    for start, length, place in runs:
        target[place : place + length] = source[start : start + length]
    return target


def map_runs(source: list[int], runs: list[Run], table: list[int], target: list[int]) -> list[int]:
    """The same with every value looked up in `table`, if it is in there."""
    return copy_runs([table[v] if v < len(table) else v for v in source], runs, target)


def count_runs(source: list[int], runs: list[Run], size: int) -> list[int]:
    """How often each value below `size` stands in the stretches."""
    values = [v for start, length, _ in runs for v in source[start : start + length]]
    return [values.count(v) for v in range(size)]


def places_within(rows: list[list[int]], begins: list[int]) -> list[int]:
    """
    >>> places_within([[5, 7], [], [9]], [5, 8, 8])
    [0, 2, 1]
    """
    return [place - begin for row, begin in zip(rows, begins, strict=True) for place in row]
