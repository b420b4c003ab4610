"""Lines of results, against Python's formatting."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from kernels.test_page_rows import scored_of
from pagekin.evaluation.export_lines import packed
from pagekin.kernels.result_lines import LineParts, result_lines, rounded_millionths
from reference import result_lines as reference

TEXTS = st.sampled_from(["", "a", "é\t", "木,"])
PAGES = 4
SIMILARITIES = st.integers(0, 10**9).map(lambda units: units / 10**9)
ROWS = st.lists(st.lists(st.tuples(st.integers(0, PAGES - 1), SIMILARITIES), max_size=12), max_size=3)


@given(ROWS, st.data())
def test_lines_are_those_of_the_reference(rows: list[list[tuple[int, float]]], data: st.DataObject) -> None:
    queries = data.draw(st.lists(st.tuples(TEXTS, TEXTS), min_size=len(rows), max_size=len(rows)))
    pages = data.draw(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=PAGES, max_size=PAGES))
    lines = result_lines(scored_of(rows), LineParts(*packed(queries), *packed(pages)))
    assert lines.tobytes().decode() == reference.result_lines(rows, queries, pages)


@given(st.integers(0, 999_999), st.integers(-2, 2), st.booleans())
@example(7812, 0, True)  # 0.0078125 is in the middle of two units, exactly
@example(0, 1, True)
@example(999_999, 0, True)
def test_similarities_are_rounded_as_python_does(unit: int, steps: int, middle: bool) -> None:
    """Numbers next to the middle of two units, and next to a unit."""
    number = (2 * unit + middle) / 2_000_000
    for _ in range(abs(steps)):
        number = float(np.nextafter(number, 2.0 * (steps > 0)))
    assert f"{max(number, 0.0):.6f}" == "{}.{:06}".format(*divmod(rounded_millionths(max(number, 0.0)), 10**6))
