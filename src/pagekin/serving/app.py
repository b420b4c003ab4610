"""The ASGI application: API, pages and static files over one collection."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message

from pagekin.errors import FailureError, MisuseError, PagekinError, StoreError
from pagekin.serving import pages
from pagekin.serving.api import schema
from pagekin.serving.api.endpoints import Handler, endpoints
from pagekin.serving.bodies import Bodies
from pagekin.serving.context import AnswerCache, CachedAnswer, Context, Key, Recompute, RequestThreads, context_of
from pagekin.serving.generations import CurrentGeneration, Generation
from pagekin.serving.jobs import Jobs
from pagekin.serving.metrics import Metrics
from pagekin.serving.middleware import RequestError, RequestMiddleware
from pagekin.serving.rendering import environment
from pagekin.serving.settings import RequestLimits, ServerSettings
from pagekin.serving.views.names import find_page

_PRECOMPUTED = 1000  # answers computed again before a new generation is served
_PRECOMPUTE_SECONDS = 10.0
STATIC = Path(__file__).parent / "static"
_DOCUMENTS = ("/api", "/api/openapi.json", "/embed.js", "/static/page.css")
_IMPORTED_LATER = ("numpy.fft", "pagekin.gaps.find", "pagekin.gaps.report", "pagekin.search.words")


def make_app(
    current: CurrentGeneration, settings: ServerSettings | None = None, metrics: Metrics | None = None
) -> Starlette:
    settings, metrics = settings or ServerSettings(), metrics or Metrics()
    middleware = [Middleware(RequestMiddleware, settings=settings, metrics=metrics)]
    if settings.cors:
        methods, headers = ("GET", "POST"), ("Authorization", "Content-Type", "If-None-Match")
        cors = Middleware(CORSMiddleware, allow_origins=settings.cors, allow_methods=methods, allow_headers=headers)
        middleware.append(cors)
    errors = (RequestError, MisuseError, FailureError, HTTPException)
    static = StaticFiles(directory=STATIC, packages=[("pagekin.figures", "static")])  # the latter: copy.js
    app = Starlette(
        routes=[*api_routes(settings.limits), Mount("/static", static), *pages.routes()],
        middleware=[*middleware, Middleware(GZipMiddleware, minimum_size=500)],
        exception_handlers=dict.fromkeys(errors, lambda _, error: RequestError.from_exception(error).response()),
        lifespan=_lifespan,
    )
    cache = AnswerCache(settings.cached_answers)
    threads = RequestThreads(settings)
    app.state.context = Context(current, threads, settings, cache, metrics, Bodies(settings.limits))
    app.state.jobs = Jobs(settings, threads)
    return app


def api_routes(limits: RequestLimits) -> list[BaseRoute]:
    by_path: dict[str, dict[str, Handler]] = {}
    for endpoint in endpoints(limits):
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint.handler
    return [
        Route("/api", schema.page),
        Route("/api/openapi.json", schema.document),
        Route("/embed.js", _embed),
        *(Route(path, partial(_dispatch, methods), methods=list(methods)) for path, methods in by_path.items()),
    ]


async def _dispatch(methods: dict[str, Handler], request: Request) -> ASGIApp:
    return await methods["POST" if request.method == "POST" else "GET"](request)


async def _embed(request: Request) -> Response:
    headers = {"Cache-Control": f"public, max-age={context_of(request).settings.max_age}"}
    return Response((STATIC / "embed.js").read_bytes(), headers=headers, media_type="text/javascript")


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    context: Context = app.state.context
    refreshing = asyncio.create_task(_refresh(context))
    yield
    refreshing.cancel()
    app.state.jobs.close()
    context.threads.close()


async def warm_up(app: Starlette) -> None:
    """Answer each quick request once, and load what the others need, so that the first client does not wait for it.

    The requests do not pass the middleware, so nothing counts them.
    """
    for template in environment().list_templates():
        environment().get_template(template)
    for module in _IMPORTED_LATER:
        import_module(module)
    context, query = context_of(Request({"type": "http", "app": app})), {"q": "a"}
    paths = ["/", "/search", "/random", "/ask", "/collection", "/compare", *_DOCUMENTS]
    if context.current.pages:
        url = context.current.generation.indexed.reading.pages.url[0]
        query |= {"a": url, "b": url}
        paths.append(f"/page/{find_page(context.current.generation.indexed, url).id}")
    for path in paths:
        await _request(app, path, urlencode(query))


async def _request(app: Starlette, path: str, query: str) -> None:
    """Let the application answer a request, and drop the answer."""
    parts: list[Message] = [{"type": "http.request"}]

    async def receive() -> Message:
        return parts.pop() if parts else await asyncio.Future()  # a client that stays connected

    async def send(message: Message) -> None:
        pass

    scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": [], "app": app}
    with suppress(RequestError, PagekinError, HTTPException):  # a client that asks is told
        await app.router(scope, receive, send)


async def _refresh(context: Context) -> None:
    while True:
        await asyncio.sleep(context.settings.refresh_seconds)
        new = await asyncio.to_thread(context.current.open_newer)
        if new is not None:
            try:
                await replace_generation(context, new)
            except Exception as error:
                context.current.report(error)


async def replace_generation(context: Context, new: Generation) -> None:
    """Serve a new generation, after the most recently used answers have been computed for it."""
    latest = context.cache.latest(_PRECOMPUTED) if context.current.is_open else []
    answers = await asyncio.to_thread(_precompute, new, latest)
    context.current.generation = new
    for key, answer, compute in answers:
        context.cache.put(key, answer, compute)


def _precompute(new: Generation, latest: list[tuple[Key, Recompute]]) -> list[tuple[Key, CachedAnswer, Recompute]]:
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
