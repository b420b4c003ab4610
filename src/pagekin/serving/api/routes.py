"""All paths of the API."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pagekin.serving.context import context_of


def routes() -> list[BaseRoute]:
    """The paths of the API."""
    return [Route("/healthz", healthz)]


async def healthz(request: Request) -> Response:
    """Whether the server is well, and what it serves."""
    held = context_of(request).held
    return JSONResponse({"status": "ok", "generation": held.present.number})
