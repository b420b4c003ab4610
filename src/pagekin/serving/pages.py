"""The page for people: which template shows which view. Every part of a page can also be asked for alone."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from pagekin.errors import FailureError, MisuseError, NoPageError, PagekinError, StoreError
from pagekin.serving.context import context_of
from pagekin.serving.generations import Generation
from pagekin.serving.problems import RequestError, told
from pagekin.serving.rendering import rendered
from pagekin.serving.views import collection, graph
from pagekin.serving.views.clusters import ClusterView, around
from pagekin.serving.views.compare import compared
from pagekin.serving.views.page import page_view
from pagekin.serving.views.page_names import PageRef, meant, ref_by_id, refs_by_row, search
from pagekin.serving.views.related import AnswerFilters, learned_share, number, related
from pagekin.serving.views.reports import reports

_SUGGESTED, _FOUND, _HOME = 8, 50, 12


@dataclass(frozen=True)
class PageRequest:
    """A request, with the generation that it is answered from."""

    generation: Generation
    query: Mapping[str, str]
    id: str  # of the page, if the path names one
    root: str
    replay: str

    @property
    def alone(self) -> bool:
        """Whether only the part that changes is wanted."""
        return self.query.get("part") == "1"

    def page(self) -> PageRef:
        """The page that the path names."""
        return ref_by_id(self.generation.indexed, self.id)

    def shown(self, template: str, status: int = 200, /, **values: Any) -> Response:
        """A template as an answer."""
        return rendered(template, self.generation, self.root, values, status)


Handler = Callable[[PageRequest], Response]


def routes() -> list[BaseRoute]:
    """All paths of the page."""
    parts: dict[str, Callable[[Generation], object]] = {
        "similarities": lambda generation: collection.similarities(generation.indexed),
        "unlinked": lambda generation: collection.unlinked(generation.indexed),
        "bridges": lambda generation: collection.bridges(generation.indexed, generation.analyse_links()),
        "duplicates": lambda generation: collection.duplicate_groups(generation.indexed),
    }
    return [
        Route("/", _answered(_home)),
        Route("/search", _answered(_search)),
        Route("/random", _answered(_random)),
        Route("/page/{id}", _answered(_page)),
        Route("/page/{id}/clusters", _answered(_clusters)),
        Route("/page/{id}/graph", _answered(_graph)),
        Route("/compare", _answered(_compare)),
        Route("/collection", _answered(_collection)),
        *(Route(f"/collection/{name}", _answered(_part(name, make))) for name, make in parts.items()),
    ]


def _answered(handler: Handler) -> Callable[[Request], Any]:
    """Run a handler in a thread; what goes wrong is told on a page."""

    async def answer(request: Request) -> Response:
        context = context_of(request)
        asked = PageRequest(
            context.held.present,
            request.query_params,
            str(request.path_params.get("id", "")),
            str(request.scope.get("root_path", "")),
            context.settings.replay,
        )
        try:
            return await context.pool.run(request, handler, asked)
        except NoPageError as error:
            return _told(asked, RequestError(404, str(error)))
        except (RequestError, PagekinError) as error:
            return _told(asked, told(error))

    return answer


def _told(asked: PageRequest, error: RequestError) -> Response:
    heading = {404: "No such page", 422: "That cannot be answered"}.get(error.status, "Not now")
    values = {"heading": heading, "problem": _without_path(asked, error.detail)}
    response = asked.shown("_problem.html" if asked.alone else "error.html", error.status, **values)
    response.headers.update(error.headers)
    return response


def _without_path(asked: PageRequest, problem: str) -> str:
    """Errors name the collection by its path, which is nobody's business on the web."""
    path = re.escape(str(asked.generation.indexed.root))
    return re.sub(rf"(?<!\S){path}(?![\w/])", "the collection", problem)


def _home(asked: PageRequest) -> Response:
    generation = asked.generation
    linked = generation.kept("most linked", lambda: collection.most_linked(generation.indexed, _HOME))
    return asked.shown("home.html", most_linked=linked)


def _search(asked: PageRequest) -> Response:
    query, most = asked.query.get("q", ""), _SUGGESTED if asked.alone else _FOUND
    found = search(asked.generation.indexed, query, most)
    return asked.shown("_suggestions.html" if asked.alone else "search.html", query=query, found=found, most=most)


def _random(asked: PageRequest) -> Response:
    indexed = asked.generation.indexed
    if not len(indexed):
        raise RequestError(404, "the collection has no pages")
    page = refs_by_row(indexed, [secrets.randbelow(len(indexed))])[0]
    return RedirectResponse(f"{asked.root}/page/{page.id}", 302, {"Cache-Control": "no-store"})


def _page(asked: PageRequest) -> Response:
    indexed, page, filters = asked.generation.indexed, asked.page(), AnswerFilters.chosen(asked.query)
    found = related(indexed, page, filters)
    if asked.alone:
        return asked.shown("_related.html", page=page, related=found, filters=filters)
    return asked.shown(
        "page.html",
        view=page_view(indexed, page, asked.replay),
        related=found,
        filters=filters,
        measures=indexed.index.strategy.measures(),
        learned_share=learned_share(indexed),
        strategy=indexed.index.strategy.as_dict(),
    )


def _clusters(asked: PageRequest) -> Response:
    page, alpha = asked.page(), number(asked.query, "alpha", 0.5, 0.01, 1.0)
    found, problem = _asking_links(asked, lambda: _around(asked.generation, page, alpha))
    values = {"page": page, "around": found, "problem": problem, "alpha": alpha}
    if asked.alone:
        return asked.shown("_clusters.html", **values)
    return asked.shown("section.html", heading="Clusters by links", part="clusters", form="alpha", **values)


def _around(generation: Generation, page: PageRef, alpha: float) -> ClusterView:
    with generation.surroundings(page.url) as (_, clusters):
        return around(generation.indexed, page, clusters, alpha)


def _graph(asked: PageRequest) -> Response:
    page, by = asked.page(), asked.query.get("by", "words")
    if by not in ("words", "links"):
        raise MisuseError("a neighbourhood can be drawn by words or by links")
    found, problem = _asking_links(asked, lambda: _drawn(asked.generation, page, by))
    values = {"page": page, "graph": found, "problem": problem, "by": by}
    if asked.alone:
        return asked.shown("_graph.html", **values)
    return asked.shown("section.html", heading="Neighbourhood", part="graph", form="by", **values)


def _drawn(generation: Generation, page: PageRef, by: str) -> graph.Graph:
    if by == "words":
        return graph.graph_by_words(generation.indexed, page)
    with generation.surroundings(page.url) as (_, clusters):
        return graph.graph_by_links(generation.indexed, page, clusters)


def _asking_links(asked: PageRequest, make: Callable[[], Any]) -> tuple[Any, str]:
    """What is made, or why it cannot be: a collection may have no links that count."""
    try:
        return make(), ""
    except StoreError:
        raise
    except FailureError as error:
        return None, _without_path(asked, str(error))


def _compare(asked: PageRequest) -> Response:
    indexed, names = asked.generation.indexed, [asked.query.get(each, "").strip()[:2000] for each in "ab"]
    values: dict[str, Any] = {"a": names[0], "b": names[1], "view": None, "problem": ""}
    try:
        pages = [meant(indexed, name) if name else None for name in names]
        values |= {key: page.url for key, page in zip("ab", pages, strict=True) if page is not None}
        if pages[0] is not None and pages[1] is not None:
            values["view"] = compared(indexed, pages[0], pages[1], asked.replay)
    except MisuseError as error:
        values["problem"] = _without_path(asked, str(error))
    return asked.shown("compare.html", here="compare", **values)


def _collection(asked: PageRequest) -> Response:
    generation = asked.generation
    view = generation.kept("collection view", lambda: collection.collection_view(generation.indexed))
    return asked.shown("collection.html", here="collection", view=view, reports=reports(generation.indexed.root))


def _part(name: str, make: Callable[[Generation], object]) -> Handler:
    """A part of the collection's view, which takes a while and is made once."""
    headings = {
        "similarities": "Nearest kin",
        "unlinked": "Kin, but not linked",
        "bridges": "Bridges between topics",
        "duplicates": "Near-duplicates",
    }

    def handler(asked: PageRequest) -> Response:
        generation = asked.generation
        found, problem = _asking_links(asked, lambda: generation.kept(("part", name), lambda: make(generation)))
        values = {"found": found, "problem": problem}
        if asked.alone:
            return asked.shown(f"_{name}.html", **values)
        return asked.shown("section.html", heading=headings[name], part=name, form="", here="collection", **values)

    return handler
