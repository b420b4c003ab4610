"""One sentence that says what the bars of a figure say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pagekin.figures.charts import Bar, shown


@dataclass(frozen=True)
class Gap:
    """By how much one is above another, and the ends of the interval of that."""

    value: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether chance alone would hardly part them so."""
        return self.low > 0 or self.high < 0


Compare = Callable[[str, str], Gap]


def ranked(bars: Sequence[Bar], less_is_better: bool = False) -> list[Bar]:
    """Those that have a value, the best first; of equal ones the earlier."""
    sign = 1.0 if less_is_better else -1.0
    return sorted((bar for bar in bars if bar.value is not None), key=lambda bar: sign * (bar.value or 0.0))


def sentence(measure: str, bars: Sequence[Bar], compare: Compare, *, less_is_better: bool = False) -> str:
    """Who is first by a measure, whether that is more than chance, and who is last.

    >>> gap = lambda a, b: Gap(0.1, 0.05, 0.15)
    >>> sentence("P@10", [Bar("plain", 0.4), Bar("weighted", 0.5)], gap)
    'By P@10 weighted (.500) is best, .100 [.050, .150] from plain (.400).'
    """
    order = ranked(bars, less_is_better)
    if not order:
        return f"There is nothing to measure by {measure}."
    if len(order) == 1:
        return f"By {measure}, {order[0].name} has {shown(order[0].value)}; there is nothing to compare it with."
    first, second, last = order[0], order[1], order[-1]
    gap = compare(first.name, second.name)
    if gap.sure:
        told = f"By {measure} {_named(first)} is best, {_gap(gap)} from {_named(second)}"
    else:
        told = f"By {measure} {_named(first)} and {_named(second)} come first and cannot be told apart ({_gap(gap)})"
    if len(order) > 2:
        worst = compare(first.name, last.name)
        told += f"; last is {_named(last)}, " + (f"{_gap(worst)} away" if worst.sure else "which may be chance")
    return f"{told}."


def _named(bar: Bar) -> str:
    return f"{bar.name} ({shown(bar.value)})"


def _gap(gap: Gap) -> str:
    low, high = sorted((abs(gap.low), abs(gap.high))) if gap.sure else (gap.low, gap.high)
    return f"{shown(abs(gap.value))} [{shown(low)}, {shown(high)}]"


def trend(measure: str, bars: Sequence[Bar]) -> str:
    """For bars that are in the order of a setting: whether the measure rises or falls all the way.

    >>> trend("Gamma", [Bar("0", 0.1), Bar("4", 0.2), Bar("8", 0.3)])
    'Gamma rises all the way from 0 to 8.'
    >>> trend("Gamma", [Bar("0", 0.1), Bar("4", 0.3), Bar("8", 0.2)])
    'Gamma is highest at 4.'
    """
    values = [bar.value for bar in bars if bar.value is not None]
    if len(values) < len(bars) or len(values) < 3:
        return ""
    steps = [b - a for a, b in pairwise(values)]
    ends = f"from {bars[0].name} to {bars[-1].name}"
    if all(step > 0 for step in steps):
        return f"{measure} rises all the way {ends}."
    if all(step < 0 for step in steps):
        return f"{measure} falls all the way {ends}."
    return f"{measure} is highest at {bars[values.index(max(values))].name}."
