"""The application: the API, the page and the files of the page around one collection."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from pagekin.errors import FailureError, MisuseError, StoreError
from pagekin.serving import pages
from pagekin.serving.api.cache import Again, AnswerCache, CachedAnswer, Key
from pagekin.serving.api.routes import routes as api_routes
from pagekin.serving.context import Context
from pagekin.serving.generations import CurrentGeneration, Generation
from pagekin.serving.metrics import Metrics
from pagekin.serving.middleware import RequestMiddleware
from pagekin.serving.problems import RequestError, told
from pagekin.serving.settings import ServerSettings
from pagekin.serving.threads import RequestThreads

_REHEARSED = 1000  # answers that are found again before a new generation is served
_REHEARSAL = 10.0  # seconds for that
STATIC = Path(__file__).parent / "static"

log = logging.getLogger("pagekin.serving")


def make_app(
    held: CurrentGeneration, settings: ServerSettings | None = None, metrics: Metrics | None = None
) -> Starlette:
    """The application that serves a collection."""
    settings, metrics = settings or ServerSettings(), metrics or Metrics()
    middleware = [Middleware(RequestMiddleware, settings=settings, metrics=metrics)]
    if settings.cors:
        allowed = ("Authorization", "Content-Type", "If-None-Match")
        methods = ("GET", "POST")
        cors = Middleware(CORSMiddleware, allow_origins=settings.cors, allow_methods=methods, allow_headers=allowed)
        middleware.append(cors)
    app = Starlette(
        routes=[*api_routes(), Mount("/static", StaticFiles(directory=STATIC)), *pages.routes()],
        middleware=[*middleware, Middleware(GZipMiddleware, minimum_size=500)],
        exception_handlers={RequestError: _told, MisuseError: _told, FailureError: _told, HTTPException: _http},
        lifespan=_lifespan,
    )
    app.state.context = Context(held, RequestThreads(settings), settings, AnswerCache(settings.kept))
    app.state.metrics = metrics
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    context: Context = app.state.context
    looking = asyncio.create_task(_look(context))
    yield
    looking.cancel()
    context.pool.close()


async def _look(context: Context) -> None:
    """Go on looking for a new generation."""
    while True:
        await asyncio.sleep(context.settings.look_seconds)
        try:
            new = await asyncio.to_thread(context.held.newer)
            if new is not None:
                await switch(context, new)
        except Exception:
            log.exception("the new generation cannot be served")


async def switch(context: Context, new: Generation) -> None:
    """Serve a new generation, of which the answers that were asked for last are found before anybody asks again."""
    answers = await asyncio.to_thread(_rehearsed, new, context.kept.latest(_REHEARSED))
    context.held.switch(new)
    for key, answer, again in answers:
        context.kept.put(key, answer, again)


def _rehearsed(new: Generation, asked: list[tuple[Key, Again]]) -> list[tuple[Key, CachedAnswer, Again]]:
    answers, end = [], time.monotonic() + _REHEARSAL
    for (_, path, query), again in reversed(asked):
        key = (new.tag, path, query)
        if time.monotonic() > end:
            break
        try:
            answers.append((key, again(new, key), again))
        except (RequestError, StoreError):  # it is told to who asks again
            continue
    return answers[::-1]


def _told(request: Request, error: Exception) -> Response:
    return told(error).response()


def _http(request: Request, error: Exception) -> Response:
    """What the router says: no such path, no such method."""
    assert isinstance(error, HTTPException)
    said = {404: "There is no such path here; /api lists those for programs.", 405: "Not with this method."}
    detail = said.get(error.status_code, error.detail)
    return RequestError(error.status_code, detail, headers=error.headers).response()
