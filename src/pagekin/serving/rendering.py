"""How web pages are rendered: the templates, a request with what answers it, and the fields of forms."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from pagekin.duplicates.filters import Overlap
from pagekin.errors import FailureError, MisuseError, StoreError
from pagekin.figures import counted
from pagekin.model.options import check_options, options_of
from pagekin.serving.context import context_of
from pagekin.serving.generations import Generation
from pagekin.serving.jobs import Job, JobProgress
from pagekin.serving.middleware import RequestError
from pagekin.serving.views import lists
from pagekin.serving.views.names import PageRef, clean_line, ref_by_id, short_url

TEMPLATES = Path(__file__).parent / "templates"
_FIELD_LENGTH = 200  # of a form
Form = TypeVar("Form")


@cache
def environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, auto_reload=False
    )
    environment.trim_blocks = environment.lstrip_blocks = True
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
    progress: JobProgress = JobProgress()  # shown if the answer takes long

    @classmethod
    def of(cls, request: Request) -> Self:
        context = context_of(request)
        id, root = str(request.path_params.get("id", "")), str(request.scope.get("root_path", ""))
        return cls(context.current.generation, request.query_params, id, root, context.settings.replay)

    @property
    def is_part(self) -> bool:
        return self.query.get("part") == "1"

    def page(self) -> PageRef:
        return ref_by_id(self.generation.indexed, self.id)

    def render(self, template: str, status: int = 200, /, **values: Any) -> Response:
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

    def render_list(self, name: str, rows: Sequence[lists.Row]) -> Response:
        """Return a list as the file that the query asks for."""
        kind = self.query.get("format", "")
        if kind not in lists.MEDIA_TYPES:
            raise MisuseError(f"the parameter format must be one of {', '.join(lists.MEDIA_TYPES)}")
        headers = {"Cache-Control": "no-cache", "Content-Disposition": f'attachment; filename="{name}.{kind}"'}
        return Response(lists.write_list(rows, kind), headers=headers, media_type=lists.MEDIA_TYPES[kind])

    @property
    def exports(self) -> str:
        """The query of this request, for links that export the list."""
        return urlencode(
            [each for each in self.query.items() if each[0] not in ("part", "wait", "format")] + [("format", "")]
        )

    def render_section(self, name: str, heading: str, compute: Callable[[], object], **values: Any) -> Response:
        """Return a section alone or as a page. It explains itself if the collection cannot provide it."""
        found, problem = None, ""
        try:
            found = compute()
        except FailureError as error:  # the collection may have no usable links
            if isinstance(error, StoreError):
                raise
            problem = self.problem(error).detail
        template = f"_{name}.html" if self.is_part else "section.html"
        return self.render(template, heading=heading, part=name, found=found, problem=problem, **values)

    def render_waiting(self, job: Job) -> Response:
        """Return what is shown until a job has finished; a script or the browser itself asks again."""
        template = "_waiting.html" if self.is_part or "wait" in self.query else "waiting.html"
        response = self.render(template, 202, progress=job.progress, seconds=int(job.seconds))
        response.headers.update({"Cache-Control": "no-store", "Retry-After": "1"})
        return response

    def problem(self, error: Exception) -> RequestError:
        """Convert an error, without the path of the store."""
        return RequestError.from_exception(error, self.generation.indexed.root)

    def render_error(self, error: Exception) -> Response:
        problem = self.problem(error)
        heading = {404: "Page not found", 422: "Invalid request"}.get(problem.status, "Not available now")
        template = "_problem.html" if self.is_part else "error.html"
        response = self.render(template, problem.status, heading=heading, problem=problem.detail)
        response.headers.update(problem.headers)
        return response


def percent(share: float) -> str:
    """Format a share as a percentage.

    >>> percent(0.083), percent(0.002), percent(0.0)
    ('8 %', 'under 1 %', '0 %')
    """
    return "under 1 %" if 0.0 < share < 0.005 else f"{100 * share:.0f} %"


def describe_overlap(overlap: Overlap) -> str:
    """Say how a near-duplicate (A) overlaps with the page above it (B)."""
    if overlap.a_in_b and overlap.b_in_a:
        return "the same text"
    if overlap.a_in_b:
        return "all of it is in the page above"
    if overlap.b_in_a:
        return "contains all of the page above, and more"
    return f"{overlap.similarity:.0%} of the text is the same"


def read_form(cls: type[Form], query: Mapping[str, str]) -> Form:
    """Read an option dataclass from the fields of a form. Empty fields have their defaults."""
    values: dict[str, Any] = {}
    for each in options_of(cls):
        if text := query.get(each.field, "").strip()[:_FIELD_LENGTH]:
            values[each.field] = text
            with suppress(ValueError):  # check_options reports a text that is not a number
                values[each.field] = each.kind(text)
    form = cls(**values)
    check_options(form)
    return form
