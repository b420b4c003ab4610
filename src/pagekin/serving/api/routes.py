"""The routes of the API."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from pagekin.serving.api import docs
from pagekin.serving.api.endpoints import Endpoint, endpoints
from pagekin.serving.context import context_of
from pagekin.serving.settings import RequestLimits

_EMBED = Path(__file__).parent.parent / "static" / "embed.js"


def routes(limits: RequestLimits) -> list[BaseRoute]:
    """Return the routes of the API."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints(limits):
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    return [
        Route("/api", docs.page),
        Route("/api/openapi.json", docs.document),
        Route("/embed.js", embed),
        *(Route(path, _dispatch(methods), methods=list(methods)) for path, methods in by_path.items()),
    ]


def _dispatch(methods: dict[str, Endpoint]) -> Callable[[Request], Awaitable[ASGIApp]]:
    async def handler(request: Request) -> ASGIApp:
        return await methods["POST" if request.method == "POST" else "GET"].handler(request)

    return handler


async def embed(request: Request) -> Response:
    """Return the script that other sites embed."""
    headers = {"Cache-Control": f"public, max-age={context_of(request).settings.max_age}"}
    return Response(_EMBED.read_bytes(), headers=headers, media_type="text/javascript")
