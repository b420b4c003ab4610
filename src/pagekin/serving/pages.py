"""The page for people. (A placeholder: one line with the title of the collection.)"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from pagekin.serving.context import context_of


def routes() -> list[BaseRoute]:
    """All paths of the page; /api, /static, /healthz, /metrics, /embed.js and /w are taken."""
    return [Route("/", _front)]


async def _front(request: Request) -> Response:
    generation = context_of(request).held.present
    return PlainTextResponse(f"pagekin: {len(generation.kin):,} pages, generation {generation.number}\n")
