"""All paths of the API."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from pagekin.serving.api import cluster, docs, duplicates, mediawiki, pages, related
from pagekin.serving.api.cache import as_json
from pagekin.serving.context import context_of

_EMBED = Path(__file__).parent.parent / "static" / "embed.js"


def routes() -> list[BaseRoute]:
    """The paths of the API."""
    return [
        Route("/healthz", healthz),
        Route("/metrics", metrics),
        Route("/embed.js", embed),
        Route("/api", docs.page),
        Route("/api/openapi.json", docs.schema),
        Route("/api/related", related.related, methods=["GET", "POST"]),
        Route("/api/pages", pages.find),
        Route("/api/pages/{id}", pages.page),
        Route("/api/cluster", cluster.get),
        Route("/api/duplicates", duplicates.post, methods=["POST"]),
        Route("/api/info", pages.info),
        Route("/w/api.php", mediawiki.mediawiki),
    ]


async def healthz(request: Request) -> Response:
    """Whether the server is well, and what it serves."""
    held = context_of(request).held
    facts = {
        "status": "ok",
        "generation": held.present.number,
        "pages": len(held.present.indexed),
        "trouble": bool(held.trouble),
    }
    return Response(as_json(facts), headers={"Cache-Control": "no-store"}, media_type="application/json")


async def metrics(request: Request) -> Response:
    """What the server counts, for Prometheus."""
    lines = request.app.state.metrics.lines(context_of(request))
    text = "".join(f"{line}\n" for line in lines)
    return PlainTextResponse(text, headers={"Cache-Control": "no-store"}, media_type="text/plain; version=0.0.4")


async def embed(request: Request) -> Response:
    """The script for other people's pages."""
    headers = {"Cache-Control": f"public, max-age={context_of(request).settings.max_age}"}
    return Response(_EMBED.read_bytes(), headers=headers, media_type="text/javascript")
