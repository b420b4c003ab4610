"""Sentences that summarise the bars of a chart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pagekin.figures.charts import Bar, format_value


@dataclass(frozen=True)
class Gap:
    """The difference of two values and its confidence interval."""

    value: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        low, high = sorted((abs(self.low), abs(self.high))) if self.significant else (self.low, self.high)
        return f"{format_value(abs(self.value))} [{format_value(low)}, {format_value(high)}]"


def ranked(bars: Sequence[Bar], less_is_better: bool = False) -> list[Bar]:
    """The bars with a value, best first; ties in their given order."""
    sign = 1.0 if less_is_better else -1.0
    return sorted((bar for bar in bars if bar.value is not None), key=lambda bar: sign * (bar.value or 0.0))


def sentence(
    measure: str, bars: Sequence[Bar], compare: Callable[[str, str], Gap], *, less_is_better: bool = False
) -> str:
    """The best bar by a measure, whether its lead is significant, and the last bar.

    >>> gap = lambda a, b: Gap(0.1, 0.05, 0.15)
    >>> sentence("P@10", [Bar("plain", 0.4), Bar("weighted", 0.5)], gap)
    'By P@10 weighted (.500) is best, .100 [.050, .150] from plain (.400).'
    """
    order = ranked(bars, less_is_better)
    if not order:
        return f"There is nothing to measure by {measure}."
    if len(order) == 1:
        return f"By {measure}, {order[0].name} has {format_value(order[0].value)}; there is nothing to compare it with."
    first, second, last = (f"{bar.name} ({format_value(bar.value)})" for bar in (order[0], order[1], order[-1]))
    gap = compare(order[0].name, order[1].name)
    if gap.significant:
        text = f"By {measure} {first} is best, {gap} from {second}"
    else:
        text = f"By {measure} {first} and {second} come first and cannot be told apart ({gap})"
    if len(order) > 2:
        gap = compare(order[0].name, order[-1].name)
        text += f"; last is {last}, " + (f"{gap} away" if gap.significant else "which may be chance")
    return f"{text}."


def trend(measure: str, bars: Sequence[Bar]) -> str:
    """Whether a measure rises or falls over bars that are in the order of a setting; "" for fewer than three values.

    >>> trend("Gamma", [Bar("0", 0.1), Bar("4", 0.2), Bar("8", 0.3)])
    'Gamma rises all the way from 0 to 8.'
    >>> trend("Gamma", [Bar("0", 0.1), Bar("4", 0.3), Bar("8", 0.2)])
    'Gamma is highest at 4.'
    """
    values = [bar.value for bar in bars if bar.value is not None]
    if len(values) < len(bars) or len(values) < 3:
        return ""
    steps = [b - a for a, b in pairwise(values)]
    for verb, is_monotonic in (("rises", min(steps) > 0), ("falls", max(steps) < 0)):
        if is_monotonic:
            return f"{measure} {verb} all the way from {bars[0].name} to {bars[-1].name}."
    return f"{measure} is highest at {bars[values.index(max(values))].name}."
