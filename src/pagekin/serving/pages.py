"""Web pages for people: which template shows which view. `part=1` requests only the part of a page that changes."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from pagekin.errors import FailureError, MisuseError, PagekinError, StoreError
from pagekin.serving.context import context_of
from pagekin.serving.generations import Generation
from pagekin.serving.problems import RequestError
from pagekin.serving.rendering import render
from pagekin.serving.views import collection, graph
from pagekin.serving.views.clusters import ClusterForm, ClusterView, cluster_view
from pagekin.serving.views.compare import compare_pages
from pagekin.serving.views.page import page_view
from pagekin.serving.views.page_names import PageRef, find_page, ref_by_id, refs_by_row, search_refs
from pagekin.serving.views.related import AnswerFilters, learned_share, read_form, related_rows
from pagekin.serving.views.reports import read_reports

_SUGGESTIONS, _SEARCH_RESULTS, _HOME_PAGES = 8, 50, 12


@dataclass(frozen=True)
class PageRequest:
    """A request for a page, with the generation that answers it."""

    generation: Generation
    query: Mapping[str, str]
    id: str  # of the page, if the path has one
    root: str
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
        return render(template, self.generation, self.root, values, status)

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


Handler = Callable[[PageRequest], Response]


def routes() -> list[BaseRoute]:
    """Return the routes of all pages."""
    handlers = {
        "/": _home,
        "/search": _search,
        "/random": _random,
        "/page/{id}": _page,
        "/page/{id}/clusters": _clusters,
        "/page/{id}/graph": _graph,
        "/compare": _compare,
        "/collection": _collection,
        **{f"/collection/{name}": _collection_section(name) for name in _SECTIONS},
    }
    return [Route(path, _endpoint(handler)) for path, handler in handlers.items()]


def _endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Run a handler in a thread; show errors on a page."""

    async def endpoint(request: Request) -> Response:
        context = context_of(request)
        asked = PageRequest(
            context.current.generation,
            request.query_params,
            str(request.path_params.get("id", "")),
            str(request.scope.get("root_path", "")),
            context.settings.replay,
        )
        try:
            return await context.threads.run(request, handler, asked)
        except (RequestError, PagekinError) as error:
            problem = asked.problem(error)
            heading = {404: "Page not found", 422: "Invalid request"}.get(problem.status, "Not available now")
            template = "_problem.html" if asked.is_part else "error.html"
            response = asked.render(template, problem.status, heading=heading, problem=problem.detail)
            response.headers.update(problem.headers)
            return response

    return endpoint


def _home(request: PageRequest) -> Response:
    generation = request.generation
    linked = generation.compute_once("home", lambda: collection.most_linked(generation.indexed, _HOME_PAGES))
    return request.render("home.html", most_linked=linked)


def _search(request: PageRequest) -> Response:
    query, limit = request.query.get("q", ""), _SUGGESTIONS if request.is_part else _SEARCH_RESULTS
    found = search_refs(request.generation.indexed, query, limit)
    template = "_suggestions.html" if request.is_part else "search.html"
    return request.render(template, query=query, found=found, limit=limit)


def _random(request: PageRequest) -> Response:
    indexed = request.generation.indexed
    if not len(indexed):
        raise RequestError(404, "The collection has no pages.")
    page = refs_by_row(indexed, [secrets.randbelow(len(indexed))])[0]
    return RedirectResponse(f"{request.root}/page/{page.id}", 302, {"Cache-Control": "no-store"})


def _page(request: PageRequest) -> Response:
    indexed, page, filters = request.generation.indexed, request.page(), read_form(AnswerFilters, request.query)
    found = related_rows(indexed, page, filters)
    if request.is_part:
        return request.render("_related.html", page=page, related=found, filters=filters)
    return request.render(
        "page.html",
        view=page_view(indexed, page, request.replay),
        related=found,
        filters=filters,
        measures=indexed.index.strategy.measures(),
        learned_share=learned_share(indexed),
        strategy=indexed.index.strategy.as_dict(),
    )


def _clusters(request: PageRequest) -> Response:
    page, alpha = request.page(), read_form(ClusterForm, request.query).alpha

    def compute() -> ClusterView:
        with request.generation.clusters(page.url) as (_, clusters):
            return cluster_view(request.generation.indexed, page, clusters, alpha)

    return request.render_section("clusters", "Clusters by links", compute, page=page, alpha=alpha)


def _graph(request: PageRequest) -> Response:
    generation, page, by = request.generation, request.page(), request.query.get("by", "words")
    if by not in ("words", "links"):
        raise MisuseError("a neighbourhood can be drawn by words or by links")

    def compute() -> graph.Graph:
        if by == "words":
            return graph.graph_by_words(generation.indexed, page)
        with generation.clusters(page.url) as (_, clusters):
            return graph.graph_by_links(generation.indexed, page, clusters)

    return request.render_section("graph", "Neighbourhood", compute, page=page, by=by)


def _compare(request: PageRequest) -> Response:
    indexed, names = request.generation.indexed, [request.query.get(key, "").strip()[:2000] for key in "ab"]
    values: dict[str, Any] = {"a": names[0], "b": names[1], "view": None, "problem": ""}
    try:
        pages = [find_page(indexed, name) if name else None for name in names]
        values |= {key: page.url for key, page in zip("ab", pages, strict=True) if page is not None}
        if pages[0] is not None and pages[1] is not None:
            values["view"] = compare_pages(indexed, pages[0], pages[1], request.replay)
    except MisuseError as error:
        values["problem"] = request.problem(error).detail
    return request.render("compare.html", here="compare", **values)


def _collection(request: PageRequest) -> Response:
    generation = request.generation
    view = generation.compute_once("collection", lambda: collection.collection_view(generation.indexed))
    reports = read_reports(generation.indexed.root)
    return request.render("collection.html", here="collection", view=view, reports=reports)


# Sections of the collection page that take a while and are computed once for a generation.
_SECTIONS: dict[str, tuple[str, Callable[[Generation], object]]] = {
    "similarities": ("Nearest pages", lambda each: collection.similarities(each.indexed)),
    "unlinked": ("Related but not linked", lambda each: collection.unlinked(each.indexed)),
    "bridges": ("Bridges between topics", lambda each: collection.bridges(each.indexed, each.analyse_links())),
    "duplicates": ("Near-duplicates", lambda each: collection.duplicate_groups(each.indexed)),
}


def _collection_section(name: str) -> Handler:
    heading, compute = _SECTIONS[name]

    def handler(request: PageRequest) -> Response:
        generation = request.generation
        once = partial(generation.compute_once, ("section", name), partial(compute, generation))
        return request.render_section(name, heading, once, here="collection")

    return handler
