"""Charts as SVG that takes its colours from the page around it, and so is legible by day and by night."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, ROW, TOP, BOTTOM = 380, 26, 8, 26
_LABELS, _VALUES = 184, 42  # to the left and to the right of a chart
_PLACES = 3
_CURVE_HEIGHT = 190


@dataclass(frozen=True)
class Bar:
    """A name, a value, and the ends of its interval; None where there is nothing to measure."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    """A name and points (x, y), y from 0 to 1."""

    name: str
    points: Sequence[tuple[float, float]]


def shown(value: float | None) -> str:
    """A value as charts and sentences show it.

    >>> shown(0.61249), shown(-0.5), shown(None)
    ('.612', '-.500', 'none')
    """
    if value is None:
        return "none"
    text = f"{value:.{_PLACES}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers that span a range.

    >>> ticks(0.31, 0.58)
    [0.3, 0.4, 0.5, 0.6]
    """
    span = max(high - low, 1e-6)
    step = 10.0 ** math.floor(math.log10(span / (most - 1)))
    for factor in (1, 2, 5, 10):
        if span / (step * factor) <= most - 1:
            step *= factor
            break
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 10) for k in range(first, max(last, first + 1) + 1)]


def interval_chart(bars: Sequence[Bar], title: str, best: str | None = None) -> str:
    """A row for each bar: a dot for the value, a line for its interval, and the number."""
    known = [end for bar in bars for end in (bar.value, bar.low, bar.high) if end is not None]
    scale = ticks(min(known, default=0.0), max(known, default=1.0))
    left, right = _LABELS, WIDTH - _VALUES
    height = TOP + ROW * len(bars) + BOTTOM

    def x(value: float) -> str:
        return f"{left + (value - scale[0]) / (scale[-1] - scale[0]) * (right - left):.1f}"

    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}">']
    foot = height - BOTTOM
    for tick in scale:
        parts.append(f'<line class="grid" x1="{x(tick)}" x2="{x(tick)}" y1="{TOP}" y2="{foot}"/>')
        parts.append(f'<text class="tick" x="{x(tick)}" y="{foot + 16}" text-anchor="middle">{tick:g}</text>')
    for k, bar in enumerate(bars):
        middle = TOP + ROW * (k + 0.5)
        first = ' class="best"' if bar.name == best else ""
        parts.append(f"<g{first}><title>{escape(_told(bar))}</title>")
        parts.append(
            f'<text class="name" x="{left - 10}" y="{middle + 4}" text-anchor="end">{escape(_cut(bar.name))}</text>'
        )
        if bar.value is not None:
            if bar.low is not None and bar.high is not None:
                parts.append(f'<line class="range" x1="{x(bar.low)}" x2="{x(bar.high)}" y1="{middle}" y2="{middle}"/>')
            parts.append(f'<circle class="dot" cx="{x(bar.value)}" cy="{middle}" r="4"/>')
        parts.append(
            f'<text class="value" x="{WIDTH - 2}" y="{middle + 4}" text-anchor="end">{shown(bar.value)}</text></g>'
        )
    return "".join([*parts, "</svg>"])


def _told(bar: Bar) -> str:
    interval = f" [{shown(bar.low)}, {shown(bar.high)}]" if bar.low is not None else ""
    return f"{bar.name}: {shown(bar.value)}{interval}"


def _cut(name: str, most: int = 27) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def curve_chart(curves: Sequence[Curve], title: str, decades: int) -> str:
    """Curves over a logarithmic scale of so many decades, each with its name beside it."""
    left, right, foot = 34, WIDTH - 10, _CURVE_HEIGHT
    height = _CURVE_HEIGHT + BOTTOM + 18 * len(curves)
    last = max((point[0] for curve in curves for point in curve.points), default=1.0) or 1.0
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}">']
    for share in (0.0, 0.5, 1.0):
        y = TOP + (1.0 - share) * (foot - TOP)
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="tick" x="{left - 6}" y="{y + 4}" text-anchor="end">{share:g}</text>')
    for decade in range(decades + 1):
        x = left + decade * math.log(10) / last * (right - left)
        if x <= right + 1:
            parts.append(f'<text class="tick" x="{x:.1f}" y="{foot + 16}" text-anchor="middle">{10**decade:,}</text>')
    for k, curve in enumerate(curves):
        dots = " ".join(
            f"{left + x / last * (right - left):.1f},{TOP + (1 - y) * (foot - TOP):.1f}" for x, y in curve.points
        )
        y = foot + BOTTOM + 18 * k + 10
        parts.append(f'<polyline class="curve c{k % 6}" points="{dots}"/>')
        parts.append(f'<line class="curve c{k % 6}" x1="{left}" x2="{left + 24}" y1="{y - 4}" y2="{y - 4}"/>')
        parts.append(f'<text class="name" x="{left + 32}" y="{y}">{escape(curve.name)}</text>')
    return "".join([*parts, "</svg>"])
