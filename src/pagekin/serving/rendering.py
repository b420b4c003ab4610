"""Requests for pages and their templates. All output is escaped; templates put crawled text into <bdi>."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from pagekin.errors import FailureError, StoreError
from pagekin.serving.generations import Generation
from pagekin.serving.problems import RequestError
from pagekin.serving.views.page_names import PageRef, clean_line, ref_by_id, short_url
from pagekin.serving.views.related import describe_overlap

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """Return the environment of all templates. Undefined names are errors."""
    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {"clean": clean_line, "count": "{:,}".format}
    environment.filters |= {each.__name__: each for each in (counted, describe_overlap, percent, short_url)}
    return environment


class PageRequest(NamedTuple):
    """A request for a page, with the generation that answers it."""

    generation: Generation
    query: Mapping[str, str]
    id: str  # of the page, if the path has one
    root: str  # path under which the server is mounted
    replay: str

    @property
    def is_part(self) -> bool:
        """Whether only the part that changes is requested."""
        return self.query.get("part") == "1"

    def page(self) -> PageRef:
        """Return the page that the path names."""
        return ref_by_id(self.generation.indexed, self.id)

    def render(self, template: str, status: int = 200, /, **values: Any) -> Response:
        """Return a response with a template."""
        indexed = self.generation.indexed
        common: dict[str, Any] = {
            "at": lambda path: self.root + path,
            "collection": clean_line(indexed.root.resolve().name.removesuffix(".kin"), 60),
            "counts": indexed.manifest.counts,
            "generation": self.generation.number,
            **dict.fromkeys(("here", "query", "problem"), ""),
        }
        text = environment().get_template(template).render(common | values)
        # Crawled text can contain lone surrogates, which cannot be encoded.
        return HTMLResponse(text.encode("utf-8", "replace"), status, {"Cache-Control": "no-cache"})

    def render_section(self, name: str, heading: str, compute: Callable[[], object], **values: Any) -> Response:
        """Return a section alone or as a page. It explains itself if the collection cannot provide it."""
        found, problem = None, ""
        try:
            found = compute()
        except StoreError:
            raise
        except FailureError as error:  # the collection may have no usable links
            problem = self.problem(error).detail
        template = f"_{name}.html" if self.is_part else "section.html"
        return self.render(template, heading=heading, part=name, found=found, problem=problem, **values)

    def problem(self, error: Exception) -> RequestError:
        """Convert an error, without the path of the store."""
        return RequestError.from_exception(error, self.generation.indexed.root)


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
