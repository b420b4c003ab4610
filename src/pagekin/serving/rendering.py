"""Templates. All output is escaped; templates put crawled text into <bdi>."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from pagekin.serving.generations import Generation
from pagekin.serving.views.related import describe_overlap
from pagekin.serving.views.text import clean_line, short_url

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """Return the environment of all templates. Undefined names are errors."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters = {
        "clean": clean_line,
        "short_url": short_url,
        "count": "{:,}".format,
        "counted": counted,
        "percent": percent,
    }
    environment.filters |= {**filters, "describe_overlap": describe_overlap}
    return environment


def render(name: str, generation: Generation, root: str, values: dict[str, Any], status: int = 200) -> Response:
    """Return a response with a template; `root` is the path under which the server is mounted."""
    indexed = generation.indexed
    common: dict[str, Any] = {
        "at": lambda path: root + path,
        "collection": clean_line(indexed.root.resolve().name.removesuffix(".kin"), 60),
        "counts": indexed.manifest.counts,
        "generation": generation.number,
        "here": "",
        "query": "",
        "problem": "",
    }
    text = environment().get_template(name).render(common | values)
    # Crawled text can contain lone surrogates, which cannot be encoded.
    return HTMLResponse(text.encode("utf-8", "replace"), status, {"Cache-Control": "no-cache"})


def counted(number: int, noun: str) -> str:
    """Format a number with its noun.

    >>> counted(1, "page"), counted(1234, "page")
    ('1 page', '1,234 pages')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """Format a share as a percentage.

    >>> percent(0.083), percent(0.002), percent(0.0)
    ('8 %', 'under 1 %', '0 %')
    """
    return "under 1 %" if 0.0 < share < 0.005 else f"{100 * share:.0f} %"
