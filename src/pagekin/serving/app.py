"""The ASGI application: API, pages and static files over one collection."""

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
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from pagekin.errors import FailureError, MisuseError, StoreError
from pagekin.serving import pages
from pagekin.serving.api.routes import routes as api_routes
from pagekin.serving.cache import AnswerCache, CachedAnswer, Compute, Key
from pagekin.serving.context import Context
from pagekin.serving.generations import CurrentGeneration, Generation
from pagekin.serving.metrics import Metrics
from pagekin.serving.middleware import RequestMiddleware
from pagekin.serving.problems import RequestError
from pagekin.serving.settings import ServerSettings
from pagekin.serving.threads import RequestThreads

_PRECOMPUTED = 1000  # answers computed again before a new generation is served
_PRECOMPUTE_SECONDS = 10.0
STATIC = Path(__file__).parent / "static"

log = logging.getLogger("pagekin.serving")


def make_app(
    current: CurrentGeneration, settings: ServerSettings | None = None, metrics: Metrics | None = None
) -> Starlette:
    """Return the application that serves a collection."""
    settings, metrics = settings or ServerSettings(), metrics or Metrics()
    middleware = [Middleware(RequestMiddleware, settings=settings, metrics=metrics)]
    if settings.cors:
        headers = ("Authorization", "Content-Type", "If-None-Match")
        methods = ("GET", "POST")
        cors = Middleware(CORSMiddleware, allow_origins=settings.cors, allow_methods=methods, allow_headers=headers)
        middleware.append(cors)
    errors = (RequestError, MisuseError, FailureError, HTTPException)
    app = Starlette(
        routes=[*api_routes(settings.limits), Mount("/static", StaticFiles(directory=STATIC)), *pages.routes()],
        middleware=[*middleware, Middleware(GZipMiddleware, minimum_size=500)],
        exception_handlers=dict.fromkeys(errors, lambda _, error: RequestError.from_exception(error).response()),
        lifespan=_lifespan,
    )
    app.state.context = Context(
        current, RequestThreads(settings), settings, AnswerCache(settings.cached_answers), metrics
    )
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    context: Context = app.state.context
    refreshing = asyncio.create_task(_refresh(context))
    yield
    refreshing.cancel()
    context.threads.close()


async def _refresh(context: Context) -> None:
    """Check for new generations, forever."""
    while True:
        await asyncio.sleep(context.settings.refresh_seconds)
        try:
            new = await asyncio.to_thread(context.current.open_newer)
            if new is not None:
                await replace_generation(context, new)
        except Exception:
            log.exception("the new generation cannot be served")


async def replace_generation(context: Context, new: Generation) -> None:
    """Serve a new generation, after the most recently used answers have been computed for it."""
    answers = await asyncio.to_thread(_precompute, new, context.cache.latest(_PRECOMPUTED))
    context.current.generation = new
    for key, answer, compute in answers:
        context.cache.put(key, answer, compute)


def _precompute(new: Generation, latest: list[tuple[Key, Compute]]) -> list[tuple[Key, CachedAnswer, Compute]]:
    answers, end = [], time.monotonic() + _PRECOMPUTE_SECONDS
    for (_, path, query), compute in reversed(latest):
        key = (new.tag, path, query)
        if time.monotonic() > end:
            break
        try:
            answers.append((key, compute(new, key), compute))
        except (RequestError, StoreError):  # the next client that asks is told
            continue
    return answers[::-1]
