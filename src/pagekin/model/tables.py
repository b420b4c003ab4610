"""Results as tables: in a notebook, as a pandas data frame, and as an Arrow table."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import Any

from pagekin.errors import need

_SHOWN = 50  # rows of a table in a notebook
_LONGEST = 200  # characters of a cell there
_EXTRA = "notebook"
_STYLE = "text-align:left;vertical-align:top;max-width:40em;overflow-wrap:anywhere"


class Tabular:
    """A result with rows. Its columns are those of the first row."""

    @abstractmethod
    def table(self) -> list[dict[str, Any]]:
        """The rows, each with the same columns."""

    def to_pandas(self) -> Any:
        """The rows as a pandas `DataFrame`."""
        need("pandas", what="a data frame", extra=_EXTRA)
        import pandas

        return pandas.DataFrame(self.table())

    def to_arrow(self) -> Any:
        """The rows as a `pyarrow.Table`."""
        need("pyarrow", what="an Arrow table", extra=_EXTRA)
        import pyarrow

        return pyarrow.Table.from_pylist(self.table())

    def _repr_html_(self) -> str:
        """The first rows, for a notebook. Texts of pages are escaped."""
        return html_table(self.table())


def scalars(item: Any) -> dict[str, Any]:
    """The fields of a dataclass that are numbers, strings or truth values."""
    values = {each.name: getattr(item, each.name) for each in fields(item)}
    return {name: value for name, value in values.items() if value is None or isinstance(value, str | int | float)}


def html_table(rows: Sequence[dict[str, Any]]) -> str:
    """A table in HTML: a title is a link to the `url` of its row. Long tables and cells are cut, empty columns omitted.

    >>> "<b>" in html_table([{"title": "<b>", "url": "http://a.example/"}])
    False
    """
    columns = [name for name in rows[0] if not all(_is_empty(row[name]) for row in rows)] if rows else []
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{_cells(row, columns)}</tr>" for row in rows[:_SHOWN])
    more = f"<p>The first {_SHOWN} of {len(rows):,} rows.</p>" if len(rows) > _SHOWN else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}" if rows else "<p>None.</p>"


def _is_empty(value: Any) -> bool:
    return value is None or value is False or value == ""


def _cells(row: dict[str, Any], columns: Iterable[str]) -> str:
    return "".join(f'<td style="{_STYLE}">{_cell(name, row)}</td>' for name in columns)


def _cell(name: str, row: dict[str, Any]) -> str:
    value, url = row[name], row.get(name.removesuffix("title") + "url", "")
    if isinstance(value, float):
        return f"{value:.3f}"
    text = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(str("" if value is None else value).split()))
    shown = f"<bdi>{escape(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…')}</bdi>"
    if name.endswith("title") and isinstance(url, str) and url.startswith(("http://", "https://")):
        return f'<a href="{escape(url)}">{shown if text else escape(url)}</a>'
    return shown
