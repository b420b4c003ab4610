"""Web pages for people: which template shows which view. `part=1` requests only the part of a page that changes.

All output is escaped; templates put crawled text into <bdi>.
"""

import secrets
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from pagekin.errors import MisuseError, PagekinError
from pagekin.model.jsons import encode_json
from pagekin.serving.context import context_of
from pagekin.serving.generations import Generation
from pagekin.serving.middleware import RequestError
from pagekin.serving.rendering import PageRequest, read_form
from pagekin.serving.views import collection, drawings, lists
from pagekin.serving.views.map import COLOUR_BY, MapView, PageMap, map_points, page_map, pages_in_view
from pagekin.serving.views.names import find_page, refs_by_row, search_refs
from pagekin.serving.views.page import (
    AnswerFilters,
    compare_pages,
    learned_share,
    page_view,
    related_rows,
    rows_related_to,
)

_SUGGESTIONS, _SEARCH_RESULTS, _HOME_PAGES = 8, 50, 12


Handler = Callable[[PageRequest], Response]


def routes() -> list[BaseRoute]:
    usual: dict[str, Handler] = {
        "/": _home,
        "/search": _search,
        "/random": _random,
        "/page/{id}": _page,
        "/compare": _compare,
        "/collection": _collection,
    }
    long: dict[str, Handler] = {
        "/page/{id}/clusters": _clusters,
        "/page/{id}/graph": _graph,
        **{f"/collection/{name}": partial(_collection_section, name) for name in _SECTIONS},
        "/collection/map": _map,
        "/collection/map/points": _map_points,
        "/collection/map/pages": _map_pages,
    }
    found = [Route(path, partial(_endpoint, handler, path in long)) for path, handler in (usual | long).items()]
    return [*found, Route("/ask", _ask, methods=["GET", "POST"])]


async def _endpoint(handler: Handler, is_long: bool, request: Request) -> Response:
    """Answer with a page or, while it is being computed, with its progress; `wait=1` asks only whether it is ready."""
    asked = PageRequest.of(request)
    query = urlencode([each for each in request.query_params.multi_items() if each[0] != "wait"])
    key = asked.generation.tag, asked.root + request.scope["path"], query
    try:
        job = await request.app.state.jobs.wait(
            request, key, lambda progress: handler(asked._replace(progress=progress)), is_long=is_long
        )
        if not job.answer.done():
            return asked.render_waiting(job)
        return Response(status_code=204) if "wait" in asked.query else _copy(job.answer.result())
    except (RequestError, PagekinError) as error:
        return asked.render_error(error)


async def _ask(request: Request) -> Response:
    """Find the pages related to a text or HTML that was pasted into a form."""
    asked, context = PageRequest.of(request), context_of(request)
    try:
        async with context.bodies.read(request) as body:
            [text] = parse_qs(body.decode("latin-1"), max_num_fields=1, keep_blank_values=True).get("text", [""])
            return await context.threads.run(request, _answer_text, asked, text, context.settings.limits.text_length)
    except (RequestError, PagekinError) as error:
        return asked.render_error(error)
    except ValueError:
        return asked.render_error(RequestError(422, "The form has more than one field."))


def _answer_text(request: PageRequest, text: str, longest: int) -> Response:
    values: dict[str, Any] = {"text": text, "related": None, "problem": "", "page": None, "filters": AnswerFilters()}
    if len(text) > longest:
        values["problem"] = f"The text has {len(text):,} characters; at most {longest:,} are allowed."
    elif text.strip():
        values["related"] = rows_related_to(request.generation.indexed, text)
    return request.render("ask.html", 422 if values["problem"] else 200, here="ask", **values)


def _copy(response: Response) -> Response:
    """Return a response for one request; compressing it changes its headers."""
    copied = copy(response)
    copied.raw_headers = list(response.raw_headers)
    return copied


def _home(request: PageRequest) -> Response:
    generation = request.generation
    linked = generation.compute_once("home", lambda: collection.most_linked(generation.indexed, _HOME_PAGES))
    return request.render("home.html", most_linked=linked)


def _search(request: PageRequest) -> Response:
    query, limit = request.query.get("q", ""), _SUGGESTIONS if request.is_part else _SEARCH_RESULTS
    found = search_refs(request.generation.indexed, query, limit)
    if "format" in request.query:
        return request.render_list("pages", [{"title": page.title, "url": page.url} for page in found])
    template = "_suggestions.html" if request.is_part else "search.html"
    return request.render(template, query=query, found=found, limit=limit, exports=request.exports)


def _random(request: PageRequest) -> Response:
    indexed = request.generation.indexed
    if not len(indexed):
        raise RequestError(404, "The collection has no pages.")
    page = refs_by_row(indexed, [secrets.randbelow(len(indexed))])[0]
    return RedirectResponse(f"{request.root}/page/{page.id}", 302, {"Cache-Control": "no-store"})


def _page(request: PageRequest) -> Response:
    indexed, page, filters = request.generation.indexed, request.page(), read_form(AnswerFilters, request.query)
    found = related_rows(indexed, page, filters)
    if "format" in request.query:
        return request.render_list("related", lists.related_list(found))
    values: dict[str, Any] = {"page": page, "related": found, "filters": filters, "exports": request.exports}
    if request.is_part:
        return request.render("_related.html", **values)
    view, share, strategy = page_view(indexed, page, request.replay), learned_share(indexed), indexed.index.strategy
    index = {
        "learned_share": share,
        "blended": not share and len(strategy.weights_of_evidences()) > 1,
        "measures": strategy.measures(),
        "strategy": strategy.as_dict(),
    }
    return request.render("page.html", view=view, **values, **index)


def _clusters(request: PageRequest) -> Response:
    page, alpha = request.page(), read_form(drawings.ClusterForm, request.query).alpha

    def compute() -> drawings.ClusterView:
        with request.generation.clusters(page.url) as (_, clusters):
            return drawings.cluster_view(request.generation.indexed, page, clusters, alpha)

    return request.render_section("clusters", "Clusters by links", compute, page=page, alpha=alpha)


def _graph(request: PageRequest) -> Response:
    generation, page, by = request.generation, request.page(), request.query.get("by", "words")
    if by not in ("words", "links"):
        raise MisuseError("the parameter by must be words or links")

    def compute() -> drawings.Graph:
        if by == "words":
            return drawings.graph_by_words(generation.indexed, page)
        with generation.clusters(page.url) as (_, clusters):
            return drawings.graph_by_links(generation.indexed, page, clusters)

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
    reports = collection.read_reports(generation.indexed.root)
    return request.render("collection.html", here="collection", view=view, reports=reports)


# Sections of the collection page that take a while and are computed once for a generation.
_SECTIONS: dict[str, tuple[str, Callable[[Generation, collection.Over], object]]] = {
    "similarities": ("Nearest pages", lambda each, over: collection.similarities(each.indexed, over)),
    "gaps": ("Missing links", lambda each, over: collection.missing_links(each.collection, over)),
    "bridges": (
        "Bridges between topics",
        lambda each, over: collection.bridges(each.indexed, each.analyse_links(), over),
    ),
    "duplicates": ("Near-duplicates", lambda each, over: collection.duplicate_groups(each.indexed)),
}


_LISTS: dict[str, Callable[[Any], list[lists.Row]]] = {
    "gaps": lambda found: lists.gap_list(found.rows),
    "bridges": lambda found: lists.bridge_list(found.rows),
    "duplicates": lambda found: lists.duplicate_list(found[1]),
}


def _collection_section(name: str, request: PageRequest) -> Response:
    (heading, compute), generation = _SECTIONS[name], request.generation
    once = partial(generation.compute_once, ("section", name), partial(compute, generation, request.progress.over))
    if "format" in request.query and name in _LISTS:
        return request.render_list(name, _LISTS[name](once()))
    return request.render_section(name, heading, once, here="collection", exports=request.exports)


def _map(request: PageRequest) -> Response:
    return request.render_section("map", "Map", partial(_page_map, request), here="map", by=_colour_by(request))


def _map_points(request: PageRequest) -> Response:
    points = map_points(request.generation.indexed, _page_map(request), _colour_by(request))
    return Response(encode_json(points), headers={"Cache-Control": "no-cache"}, media_type="application/json")


def _map_pages(request: PageRequest) -> Response:
    """The pages in a part of the map."""
    found = pages_in_view(request.generation.indexed, _page_map(request), read_form(MapView, request.query))
    return request.render_list("map", found)


def _page_map(request: PageRequest) -> PageMap:
    generation = request.generation
    return generation.compute_once("map", lambda: page_map(generation.indexed, request.progress.over))


def _colour_by(request: PageRequest) -> str:
    """Return what gives pages their colours: by default the host, or the folder if there is one host."""
    by = request.query.get("by") or COLOUR_BY[request.generation.indexed.manifest.counts["hosts"] == 1]
    if by not in COLOUR_BY:
        raise MisuseError(f"the parameter by, which colours the map, must be one of {', '.join(COLOUR_BY)}")
    return by
