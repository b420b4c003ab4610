"""Charts as SVG, which inherit their colours from the page, and sentences about them; a report as one HTML page without
external resources, for light and dark mode and small screens; and matplotlib figures as files.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from pagekin.errors import need

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, ROW, TOP, BOTTOM = 380, 26, 8, 26
_LABEL_WIDTH, _VALUE_WIDTH = 184, 42  # left and right of an interval chart
_CURVE_HEIGHT = 190
PLOT_FORMATS = ("svg", "png", "pdf")
_NO_DATE = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same figure has the same bytes


@dataclass(frozen=True)
class Bar:
    """A named value and its confidence interval; None if it could not be measured."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    """A named series of points (x, y), with y from 0 to 1."""

    name: str
    points: Sequence[tuple[float, float]]


def format_value(value: float | None) -> str:
    """Format a value for charts and sentences.

    >>> format_value(0.61249), format_value(-0.5), format_value(None)
    ('.612', '-.500', 'none')
    """
    return "none" if value is None else re.sub(r"^(-?)0\.", r"\1.", f"{value:.3f}")


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers that span a range.

    >>> ticks(0.31, 0.58)
    [0.3, 0.4, 0.5, 0.6]
    """
    span = max(high - low, 1e-6)
    step = 10.0 ** math.floor(math.log10(span / (most - 1)))
    step *= next((factor for factor in (1, 2, 5, 10) if span / (step * factor) <= most - 1), 1)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 10) for k in range(first, max(last, first + 1) + 1)]


def interval_chart(bars: Sequence[Bar], title: str, best: str | None = None) -> str:
    """One row per bar: a dot for the value, a line for its interval, and the number."""
    known = [end for bar in bars for end in (bar.value, bar.low, bar.high) if end is not None]
    scale = ticks(min(known, default=0.0), max(known, default=1.0))
    left, right, foot = _LABEL_WIDTH, WIDTH - _VALUE_WIDTH, TOP + ROW * len(bars)

    def x(value: float) -> str:
        return f"{left + (value - scale[0]) / (scale[-1] - scale[0]) * (right - left):.1f}"

    parts = []
    for tick in scale:
        parts.append(_line("grid", x(tick), x(tick), TOP, foot))
        parts.append(_text("tick", x(tick), foot + 16, f"{tick:g}", "middle"))
    for k, bar in enumerate(bars):
        y, value = TOP + ROW * (k + 0.5), format_value(bar.value)
        interval = f" [{format_value(bar.low)}, {format_value(bar.high)}]" if bar.low is not None else ""
        name = bar.name if len(bar.name) <= 27 else bar.name[:26] + "…"
        parts.append('<g class="best">' if bar.name == best else "<g>")
        parts.append(f"<title>{escape(f'{bar.name}: {value}{interval}')}</title>")
        parts.append(_text("name", left - 10, y + 4, name, "end"))
        if bar.value is not None:
            if bar.low is not None and bar.high is not None:
                parts.append(_line("range", x(bar.low), x(bar.high), y, y))
            parts.append(f'<circle class="dot" cx="{x(bar.value)}" cy="{y}" r="4"/>')
        parts.append(_text("value", WIDTH - 2, y + 4, value, "end") + "</g>")
    return _svg(foot + BOTTOM, title, parts)


def curve_chart(curves: Sequence[Curve], title: str, decades: int) -> str:
    """Curves over a logarithmic axis of this number of decades, with a legend."""
    left, right, foot = 34, WIDTH - 10, _CURVE_HEIGHT
    last = max((point[0] for curve in curves for point in curve.points), default=1.0) or 1.0
    parts = []
    for share in (0.0, 0.5, 1.0):
        y = TOP + (1.0 - share) * (foot - TOP)
        parts += [_line("grid", left, right, y, y), _text("tick", left - 6, y + 4, f"{share:g}", "end")]
    for decade in range(decades + 1):
        x = left + decade * math.log(10) / last * (right - left)
        if x <= right + 1:
            parts.append(_text("tick", f"{x:.1f}", foot + 16, f"{10**decade:,}", "middle"))
    for k, curve in enumerate(curves):
        places = ((left + x / last * (right - left), TOP + (1 - y) * (foot - TOP)) for x, y in curve.points)
        points, y = " ".join(f"{x:.1f},{y:.1f}" for x, y in places), foot + BOTTOM + 18 * k + 10
        parts.append(f'<polyline class="curve c{k % 6}" points="{points}"/>')
        parts += [_line(f"curve c{k % 6}", left, left + 24, y - 4, y - 4), _text("name", left + 32, y, curve.name)]
    return _svg(_CURVE_HEIGHT + BOTTOM + 18 * len(curves), title, parts)


def _svg(height: int, title: str, parts: Sequence[str]) -> str:
    label = escape(title, quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _line(kind: str, x1: float | str, x2: float | str, y1: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}"/>'


def _text(kind: str, x: float | str, y: float, text: str, anchor: str = "") -> str:
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{kind}" x="{x}" y="{y}"{anchored}>{escape(text)}</text>'


@dataclass(frozen=True)
class Gap:
    """The difference of two values and its confidence interval."""

    value: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
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


COPY = "static/copy.js"  # the script of copy buttons


@dataclass(frozen=True)
class Table:
    """A head and rows of cells; columns of numbers are aligned right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A title, sentences, charts and tables."""

    title: str
    sentences: Sequence[str] = ()
    charts: Sequence[tuple[str, str]] = ()  # caption, SVG
    tables: Sequence[Table] = ()
    folded: bool = False  # closed until the reader opens it


def page(title: str, lines: Sequence[str], sections: Sequence[Section]) -> str:
    """The whole page; `lines` come below the title."""
    return document(title, lines, (part for section in sections for part in _section(section)))


def document(title: str, lines: Sequence[str], parts: Iterable[str], style: str = "", script: str = "") -> str:
    """An HTML document of its title, lines of text below it, and parts that are HTML."""
    style = Path(__file__).with_name("page.css").read_text("utf-8") + style
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body><main><h1>{escape(title)}</h1>"
    )
    faint = (f'<p class="faint">{escape(line)}</p>' for line in lines)
    end = f"<script>{script}</script>" if script else ""
    return "".join([head, *faint, *parts, f"</main>{end}</body></html>\n"])


def _section(section: Section) -> Iterator[str]:
    title = escape(section.title)
    yield "<section>" + (f"<details><summary>{title}</summary>" if section.folded else f"<h2>{title}</h2>")
    yield from (f"<p>{escape(each)}</p>" for each in section.sentences if each)
    if section.charts:
        yield '<div class="charts">'
        yield from (f"<figure><figcaption>{escape(text)}</figcaption>{svg}</figure>" for text, svg in section.charts)
        yield "</div>"
    for table in section.tables:
        yield from _table(table)
    yield "</details></section>" if section.folded else "</section>"


def _table(table: Table) -> Iterator[str]:
    if table.caption:
        yield f"<p>{escape(table.caption)}</p>"
    numeric = [all(isinstance(row[k], int | float) for row in table.rows) for k in range(len(table.head))]
    kinds = [' class="n"' if each else "" for each in numeric]
    yield '<div class="scroll"><table><thead><tr>'
    yield from (f"<th{kind}>{escape(cell)}</th>" for kind, cell in zip(kinds, table.head, strict=True))
    yield "</tr></thead><tbody>"
    for row in table.rows:
        cells = (f"<td{kind}>{_cell(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def _cell(cell: str | float) -> str:
    if isinstance(cell, str):
        return escape(cell)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.3f}"


def new_figure(width: float, height: float) -> "Figure":
    """An empty matplotlib figure of this size in inches; matplotlib is an optional dependency."""
    need("matplotlib", what="a picture", extra="plots")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", path: Path, kind: str) -> None:
    """Write a figure in one of PLOT_FORMATS; text of an SVG stays text."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "pagekin", "svg.fonttype": "none"}):
        figure.savefig(path, format=kind, dpi=130, metadata=_NO_DATE.get(kind))
