"""/api/related: the pages that are kin to a page, to several, or to one that is not in the collection."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp

from pagekin.model.strategy import MEASURES
from pagekin.search.options import RelatedOptions
from pagekin.serving.api.handlers import Given, answered, body_of, posted
from pagekin.serving.api.mediawiki import is_mediawiki, mediawiki
from pagekin.serving.api.params import Param, complete
from pagekin.serving.context import context_of
from pagekin.serving.generations import Generation
from pagekin.serving.problems import RequestError
from pagekin.serving.settings import RequestLimits
from pagekin.shapes.related import report

PAGE = "the URL of a page, or its title if only one page has it"
LINKS = (
    "The share of links in the similarity; auto: as much as they agree with words. By default as much as was learned"
    " for linklearn, and none for other measures."
)


def option_params(bounds: RequestLimits) -> tuple[Param, ...]:
    """What may be wished for in an answer."""
    options = RelatedOptions()
    return (
        Param("limit", "integer", "At most so many pages, or groups of them.", options.limit, 1, bounds.limit),
        Param("min_similarity", "number", "Rather fewer than worse.", options.min_similarity, 0, 1),
        Param("similarity", "string", "By default that of the strategy.", choices=MEASURES),
        Param("exclude_linked", "boolean", "No pages that the page links to already.", False),
        Param("exclude_host", "boolean", "No pages of the same host.", False),
        Param("explain", "boolean", "Say why.", False),
        Param("group_duplicates", "boolean", "Put pages that say the same under the best of them.", True),
        Param("links", "share", LINKS),
    )


def get_params(bounds: RequestLimits) -> tuple[Param, ...]:
    """Of a GET."""
    about = f"{PAGE}; several are asked for as one."
    url = Param("url", "string", about, least=1, most=bounds.name, required=True, many=bounds.seeds)
    return (url, *option_params(bounds))


def post_params(bounds: RequestLimits) -> tuple[Param, ...]:
    """Of the body of a POST."""

    def pages(name: str, about: str) -> Param:
        return Param(name, "string", about, least=1, most=bounds.name, many=bounds.seeds)

    return (
        pages("urls", f"Pages that are asked for as one: each {PAGE}."),
        Param("html", "string", "The HTML of a page that is not in the collection.", least=1, most=bounds.text),
        Param("text", "string", "The text of one.", least=1, most=bounds.text),
        pages("pin", "Pages that come first."),
        pages("never", "Pages that do not appear."),
        *option_params(bounds),
    )


async def related(request: Request) -> ASGIApp:
    """GET and POST; in the shape of MediaWiki if it is asked like a MediaWiki."""
    if request.method == "POST":
        return await _post(request)
    if is_mediawiki(request):
        return await mediawiki(request)
    return await answered(request, get_params(context_of(request).settings.bounds), _of_pages)


async def _post(request: Request) -> ASGIApp:
    body = await body_of(request)
    if not isinstance(body, dict):
        raise RequestError(422, "The body must be an object with urls, html or text.")
    given = complete(post_params(context_of(request).settings.bounds), body)
    if bool(given["urls"]) + (given["html"] is not None) + (given["text"] is not None) != 1:
        raise RequestError(422, "Give urls, or html, or text: one of them.", kind="invalid-parameter")
    return await posted(request, given, _of_any)


def _of_pages(generation: Generation, given: Given) -> dict[str, Any]:
    indexed, urls = generation.indexed, given["url"]
    return report(
        urls, indexed.related(urls, options_of(given)), given["similarity"] or indexed.index.strategy.similarity
    )


def _of_any(generation: Generation, given: Given) -> dict[str, Any]:
    if given["urls"]:
        return _of_pages(generation, {**given, "url": given["urls"]})
    indexed, plain = generation.indexed, given["text"] is not None
    body = (given["text"] if plain else given["html"]).encode("utf-8", "replace")
    neighbors = indexed.related_to(body, options_of(given), plain=plain)
    return report((), neighbors, given["similarity"] or indexed.index.strategy.similarity)


def options_of(given: Given) -> RelatedOptions:
    """The wishes of a request."""
    return RelatedOptions(
        limit=given["limit"],
        min_similarity=given["min_similarity"],
        similarity=given["similarity"],
        exclude_host=given["exclude_host"],
        exclude_linked=given["exclude_linked"],
        pin=tuple(given.get("pin", ())),
        never=tuple(given.get("never", ())),
        link_share=given["links"],
        group_duplicates=given["group_duplicates"],
        explain=given["explain"],
    )
