"""Templates become answers. Everything is escaped; templates put what a crawl says into <bdi>."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from pagekin.serving.generations import Generation
from pagekin.serving.views.text import LONGEST, place, shown

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """All templates; a name that is not given is an error."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {"count": count, "counted": counted, "percent": percent, "place": place, "shown": _shown}
    return made


def rendered(
    name: str, generation: Generation, root: str, values: dict[str, Any], status: int = 200, **headers: str
) -> Response:
    """A template as an answer; `root` is the path below which the server is mounted."""
    indexed = generation.indexed
    common: dict[str, Any] = {
        "at": _below(root),
        "static": lambda file: f"{root}/static/{file}",
        "collection": shown(indexed.root.resolve().name.removesuffix(".kin"), 60),
        "counts": indexed.manifest.counts,
        "generation": generation.number,
        "here": "",
        "query": "",
        "problem": "",
    }
    text = environment().get_template(name).render(common | values)
    # Text of a crawl may hold half a character, which no encoding has.
    body = text.encode("utf-8", "replace")
    return HTMLResponse(body, status, {"Cache-Control": "no-cache", **headers})


def _below(root: str) -> Callable[[str], str]:
    return lambda path: root + path


def count(number: int) -> str:
    """A number as people read it.

    >>> count(12345)
    '12,345'
    """
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "page"), counted(1234, "page")
    ('1 page', '1,234 pages')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """A share as people read it.

    >>> percent(0.083), percent(0.002), percent(0.0)
    ('8 %', 'under 1 %', '0 %')
    """
    return "under 1 %" if 0.0 < share < 0.005 else f"{100 * share:.0f} %"


def _shown(text: str, most: int = LONGEST) -> str:
    return shown(text, most)
