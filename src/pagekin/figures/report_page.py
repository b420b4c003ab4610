"""A report as one HTML page without external resources, for light and dark mode and small screens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files


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
    style = files("pagekin.figures").joinpath("page.css").read_text("utf-8")
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body><main><h1>{escape(title)}</h1>"
    )
    faint = (f'<p class="faint">{escape(line)}</p>' for line in lines)
    parts = (part for section in sections for part in _section(section))
    return "".join([head, *faint, *parts, "</main></body></html>\n"])


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
