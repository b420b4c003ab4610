"""The endpoints of the API: parameters, results, descriptions, and the functions that compute the answers."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp

from pagekin.collection.clusters import PageClusters, describe_clusters
from pagekin.collection.info import CollectionInfo, PageDetails, SearchResults, describe_page
from pagekin.duplicates.result_formats import Fields, results_in
from pagekin.duplicates.result_list import GroupedResults, group
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import NoPageError
from pagekin.links.settings import ClusterOptions
from pagekin.model.jsons import encode_json, to_json
from pagekin.model.options import from_values
from pagekin.search.options import RelatedOptions
from pagekin.search.results import RelatedPages
from pagekin.serving.api.handlers import Compute, Values, answer_get, answer_post, json_response
from pagekin.serving.api.params import Param, check_values, param, params_of, read_query, split_query
from pagekin.serving.context import context_of
from pagekin.serving.generations import Generation
from pagekin.serving.middleware import RequestError
from pagekin.serving.settings import RequestLimits

Handler = Callable[[Request], Awaitable[ASGIApp]]

_FIELD_NAME_LENGTH = 100
_PREFIX = "morelike:"  # of the titles in a MediaWiki request
_MEDIAWIKI_PAGES, _MEDIAWIKI_LENGTH = 50, 8000  # as in MediaWiki; characters of a parameter
_TITLE_IN_URL = re.compile(r"(?:/wiki/|[?&]title=)([^?&#]+)")
_PAGE = "URL of a page, or its title if no other page has it"


@dataclass(frozen=True)
class Endpoint:
    """A path and a method. The docstring of the handler describes it in the OpenAPI document."""

    path: str
    name: str
    result: type | None  # None: text
    handler: Handler
    params: Sequence[Param] = ()  # in the query string
    body: Sequence[Param] | None = None  # of a POST request; empty: the body is a result list

    @property
    def method(self) -> str:
        return "GET" if self.body is None else "POST"


@dataclass(frozen=True)
class Health:
    """The state of the server."""

    status: Literal["ok"]
    generation: int
    pages: int
    trouble: bool  # the newest generation cannot be served
    reason: str  # why not


def endpoints(limits: RequestLimits, related_options: type[RelatedOptions] = RelatedOptions) -> list[Endpoint]:
    name, pages, options = limits.name_length, limits.query_pages, params_of(related_options, limits, explain=False)
    urls = f"{_PAGE}; several pages form one query."
    related_params = [param("url", urls, name, many=pages, required=True), *options]
    related_body = [
        param("urls", urls, name, many=pages),
        param("html", "The HTML of a page that is not in the collection.", limits.text_length),
        param("text", "The text of a page that is not in the collection.", limits.text_length),
        *options,
    ]
    cluster_options = params_of(ClusterOptions, limits)
    cluster_params = [param("url", f"{_PAGE}.", name, required=True), *cluster_options]
    search_params = [
        param(
            "query",
            "A URL, words of a title or their beginning, or words of a text.",
            name,
            required=True,
            min_length=0,
        ),
        *(each for each in cluster_options if each.name == "limit"),
    ]
    group_params = [
        *params_of(GroupSettings, limits),
        param("query", "Compare only the text around these words.", name),
        param("text_field", "The field of a result with its text.", _FIELD_NAME_LENGTH),
        param("html_field", "The field of a result with its HTML.", _FIELD_NAME_LENGTH),
    ]
    related = partial(_related, related_options)
    default_values = {each.field: each.default for each in options}
    default_options = from_values(related_options, default_values)

    def look_up(generation: Generation, values: Values) -> bytes | None:
        [url, *others] = values["url"]
        is_default = default_values | {"url": values["url"]} == values
        options = default_options if is_default else from_values(related_options, values)
        return None if others else generation.lookup.body(url, options)

    async def get_related(request: Request) -> ASGIApp:
        """Find related pages."""
        if b"action=" in request.scope["query_string"]:  # a MediaWiki request
            return await _mediawiki(request)
        return await answer_get(request, related_params, related, look_up)

    def related_values(body: Any) -> Values:
        if not isinstance(body, dict):
            raise RequestError(422, "The body must be an object with urls, html or text.")
        values = check_values(related_body, body)
        if bool(values["urls"]) + (values["html"] is not None) + (values["text"] is not None) != 1:
            raise RequestError(422, "Give exactly one of urls, html and text.", kind="invalid-parameter")
        return values

    async def post_related(request: Request) -> ASGIApp:
        """Find pages related to several pages, or to a page that is not in the collection."""
        return await answer_post(request, related_values, related)

    async def post_duplicates(request: Request) -> ASGIApp:
        """Group the near-duplicates in a result list."""
        values = read_query(group_params, request.scope["query_string"], limits.query_bytes)
        return await answer_post(request, lambda body: {**values, "results": body}, partial(_group, limits))

    return [
        Endpoint("/api/related", "related", RelatedPages, get_related, related_params),
        Endpoint("/api/related", "relatedTo", RelatedPages, post_related, body=related_body),
        _get("/api/pages", "findPages", _search, search_params),
        _get("/api/pages/{id}", "page", _page),
        _get("/api/cluster", "cluster", _cluster, cluster_params),
        Endpoint("/api/duplicates", "duplicates", GroupedResults, post_duplicates, group_params, body=()),
        _get("/api/info", "info", _info),
        Endpoint("/w/api.php", "mediaWiki", dict, _mediawiki),
        Endpoint("/healthz", "health", Health, _health),
        Endpoint("/metrics", "metrics", None, _metrics),
    ]


def _get(path: str, name: str, compute: Compute, params: Sequence[Param] = ()) -> Endpoint:
    handler = partial(answer_get, params=params, compute=compute)
    handler.__doc__ = compute.__doc__
    return Endpoint(path, name, compute.__annotations__["return"], handler, params)


def _related(options_class: type[RelatedOptions], generation: Generation, values: Values) -> RelatedPages:
    collection, options = generation.collection, from_values(options_class, values)
    if urls := values.get("url") or values.get("urls"):
        return collection.related(urls, options)
    return collection.related_to(html=values["html"], text=values["text"], options=options)


def _search(generation: Generation, values: Values) -> SearchResults:
    """Find pages by URL, title or words of the text."""
    return generation.collection.search(values["query"], values["limit"])


def _page(generation: Generation, values: Values) -> PageDetails:
    """Describe a page."""
    id = values["id"].encode("utf-8", "replace").decode("utf-8")
    for row in generation.indexed.catalog.rows("SELECT first_row FROM nodes WHERE id = ? LIMIT 1", id):
        if row["first_row"] is not None:
            return describe_page(generation.indexed, row["first_row"])
        raise RequestError(404, "This page is known only from links to it.", kind="no-such-page")
    raise RequestError(404, f"No page has the id {id[:100]!r}; /api/pages finds ids.", kind="no-such-page")


def _cluster(generation: Generation, values: Values) -> PageClusters:
    """Cluster the pages around a page by their links.

    The first request after a build takes longest; it may get a 503 while the links are analysed.
    """
    options = from_values(ClusterOptions, values)
    with generation.clusters(values["url"], options.measure) as (analysis, clusters):
        return describe_clusters(analysis, clusters, values["url"], options)


def _group(limits: RequestLimits, generation: Generation, values: Values) -> GroupedResults:
    fields = Fields.named(values["text_field"], values["html_field"])
    results = results_in(values["results"], fields)
    if len(results) > limits.results:
        raise RequestError(422, f"There are {len(results):,} results; at most {limits.results:,} are allowed.")
    for position, each in enumerate(results, 1):
        if len(each.text or each.html or "") > limits.text_length:
            allowed = f"at most {limits.text_length:,} characters are allowed"
            raise RequestError(422, f"The text of result {position} is too long; {allowed}.")
    return group(results, from_values(GroupSettings, values), fields, values["query"]).grouped()


def _info(generation: Generation, values: Values) -> CollectionInfo:
    """Describe the collection."""
    return replace(generation.collection.info(), store=generation.indexed.root.name)


async def _health(request: Request) -> Response:
    """Report the state of the server; needs no token."""
    current = context_of(request).current
    if not current.is_open:
        raise RequestError(503, f"No generation can be served: {current.error}.", "index-unreadable", retry_after=1)
    health = Health("ok", current.number, current.pages, bool(current.error), current.error)
    return json_response(encode_json(to_json(health)))


async def _metrics(request: Request) -> Response:
    """Report the metrics of the server, for Prometheus."""
    context = context_of(request)
    text = "".join(f"{line}\n" for line in context.metrics.lines(context.current))
    return PlainTextResponse(text, headers={"Cache-Control": "no-store"}, media_type="text/plain; version=0.0.4")


async def _mediawiki(request: Request) -> ASGIApp:
    """Find related pages, in the format of MediaWiki's `api.php`; unknown parameters are ignored."""
    # A wiki can use this server without changes: its `generator=search&gsrsearch=morelike:TITLE` is understood. Titles
    # are taken from URLs of the form /wiki/A_title or ?title=A_title; other pages have the titles of the collection.
    names = sorted({name for name, _ in split_query(request.scope["query_string"])})
    params = [param(name, "", _MEDIAWIKI_LENGTH, min_length=0) for name in names]
    return await answer_get(request, params, _mediawiki_pages)


def _mediawiki_pages(generation: Generation, values: Values) -> dict[str, Any]:
    for name, value in {"action": "query", "generator": "search", "format": "json"}.items():
        if values.get(name, value) != value:
            return _mediawiki_error(f"unknown_{name}", f"{name} can only be {value} here.")
    search = values.get("gsrsearch", "")
    if not search.startswith(_PREFIX):
        return _mediawiki_error("missingparam", f"gsrsearch must be {_PREFIX} and a title.")
    try:
        limit = _MEDIAWIKI_PAGES if values.get("gsrlimit") == "max" else int(values.get("gsrlimit", "10"))
    except ValueError:
        return _mediawiki_error("badinteger", "gsrlimit must be a number, or max.")
    titles = [title for title in search.removeprefix(_PREFIX).split("|") if title.strip()]
    if len(titles) > _MEDIAWIKI_PAGES:
        return _mediawiki_error("toomanyvalues", f"At most {_MEDIAWIKI_PAGES} titles are allowed.")
    indexed, new_format = generation.indexed, values.get("formatversion", "1") in ("2", "latest")
    urls = [url for title in titles for url in _urls_of_title(generation, title)]
    options = RelatedOptions(limit=max(1, min(limit, _MEDIAWIKI_PAGES)), explain=False)
    found = indexed.related(urls, options) if urls else []
    rows: list[dict[str, Any]] = []
    for index, each in enumerate(found, 1):
        title, url = title_in(each.url) or each.title or each.url, each.url
        rows.append({"pageid": indexed.find_node(url) + 1, "ns": 0, "title": title, "index": index})
        if "url" in values.get("inprop", "").split("|"):
            rows[-1] |= {"fullurl": url, "canonicalurl": url}
    pages: Any = rows if new_format else {str(page["pageid"]): page for page in rows}
    answer: dict[str, Any] = {"batchcomplete": True if new_format else ""}
    return {**answer, "query": {"pages": pages}} if rows else answer


def _mediawiki_error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "info": message}}


def _urls_of_title(generation: Generation, title: str) -> list[str]:
    """Return the URL of the page with a title. A missing page is not an error in MediaWiki."""
    indexed = generation.indexed
    urls = indexed.reading.pages.url
    by_title = generation.compute_once("titles", lambda: {found: url for url in urls if (found := title_in(url))})
    url = by_title.get(_normalise(title))
    if url is not None:
        return [url]
    try:
        return [str(indexed.page(indexed.find(title))["url"])]
    except NoPageError:
        return []


def _normalise(title: str) -> str:
    """Normalise a title as MediaWiki does: spaces for underscores, first letter in upper case."""
    flat = title.replace("_", " ").strip()
    return flat[:1].upper() + flat[1:]


def title_in(url: str) -> str:
    """Return the title in the URL of a wiki page, or an empty string.

    >>> title_in("https://wiki.example/wiki/Silver_birch"), title_in("https://wiki.example/about")
    ('Silver birch', '')
    """
    found = _TITLE_IN_URL.search(url)
    return _normalise(unquote(found[1])) if found else ""
