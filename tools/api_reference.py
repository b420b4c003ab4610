"""docs/api.md: every public name of `pagekin`, from the docstrings.

`python -m tools.api_reference` writes it; a test checks that it is current.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pagekin
from pagekin.model.options import options_of

PAGE = Path(__file__).parent.parent / "docs" / "api.md"
_FIRST = ("build", "open", "Collection")
_HEAD = """# The Python interface

Made by `python -m tools.api_reference` from the docstrings. The examples run as tests, in a folder with nine pages in
`pages` that are built into `site.kin`; `collection` is `pagekin.open("site.kin")`. Results are frozen dataclasses;
`pagekin.to_json(result)` gives what the commands print with `--json`.
"""


def api_reference() -> str:
    """The whole page."""
    names = public_names()
    titles = {"Functions and classes": inspect.isroutine, "Options": _is_options, "Errors": _is_error}
    parts: dict[str, list[str]] = {title: [] for title in (*titles, "Results")}
    for name in [*_FIRST, *(name for name in names if name not in _FIRST)]:
        value = getattr(pagekin, name)
        plain = not _is_dataclass(value) and not _is_error(value)
        found = [title for title, test in titles.items() if test(value)] or [
            "Functions and classes" if plain else "Results"
        ]
        parts[found[0]].append("\n".join(section(name, value)))
    order = ("Functions and classes", "Options", "Results", "Errors")
    return _HEAD + "".join(f"\n## {title}\n\n" + "\n".join(parts[title]) for title in order)


def public_names() -> list[str]:
    """All public names."""
    return sorted(name for name in dir(pagekin) if name in pagekin.__all__)


def section(name: str, value: Any) -> Iterator[str]:
    """The section of a name: its signature, its docstring, its fields and its methods."""
    yield f"### `pagekin.{name}`\n"
    if inspect.isroutine(value):
        yield f"```python\n{name}{_signature(value)}\n```\n"
    yield document(value)
    if _is_dataclass(value):
        yield from _fields(value)
    elif inspect.isclass(value) and not issubclass(value, Exception):
        for method, member in public_members(value):
            signature = "" if isinstance(member, property) else _signature(member)
            yield f"#### `{name}.{method}`\n\n```python\n{method}{signature}\n```\n"
            yield document(member)


def public_members(cls: type) -> list[tuple[str, Any]]:
    """The methods and properties of a class, in the order of its source."""
    return [
        (name, member)
        for name, member in vars(cls).items()
        if not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, property))
    ]


def document(value: Any) -> str:
    """A docstring as Markdown: its examples in code blocks."""
    lines, inside = [], False
    for line in inspect.cleandoc(value.__doc__).splitlines():
        if line.startswith(">>>") and not inside:
            lines.append("```python")
            inside = True
        elif not line and inside:
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, *(["```"] if inside else [])]) + "\n"


def _signature(function: Any) -> str:
    text = str(inspect.signature(function)).replace("'", "").replace("(self, ", "(").replace("(self)", "()")
    return re.sub(r"<(?:function|built-in function|class) .*?>(?: at 0x\w+>)?", "...", text)


def _fields(cls: Any) -> Iterator[str]:
    options = {each.field: each for each in options_of(cls)}
    source = "".join(inspect.getsource(base) for base in reversed(inspect.getmro(cls)) if _is_dataclass(base))
    comments = dict(re.findall(r"^    (\w+): [^#\n]*  # (.*)$", source, re.M))
    yield "| field | type | meaning |\n|---|---|---|"
    for each in dataclasses.fields(cls):
        found, meaning = options.get(each.name), comments.get(each.name, "")
        if found is not None:
            meaning = found.help + ("" if found.default is None else f" Default: `{found.default!r}`.")
        kind = each.type.__name__ if isinstance(each.type, type) else str(each.type)
        yield "| `{}` | `{}` | {} |".format(*(text.replace("|", "\\|") for text in (each.name, kind, meaning)))
    yield ""


def _is_dataclass(value: Any) -> bool:
    return isinstance(value, type) and dataclasses.is_dataclass(value)


def _is_options(value: Any) -> bool:
    return _is_dataclass(value) and bool(options_of(value))


def _is_error(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, Exception)


if __name__ == "__main__":
    PAGE.write_text(api_reference(), "utf-8")
