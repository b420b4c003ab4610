"""The application: the API, the page and the files of the page around one collection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from pagekin.errors import MisuseError
from pagekin.serving import pages
from pagekin.serving.api.routes import routes as api_routes
from pagekin.serving.context import Context
from pagekin.serving.guard import Guard
from pagekin.serving.holding import Held
from pagekin.serving.problems import RequestError
from pagekin.serving.settings import Settings
from pagekin.serving.work import Crew

STATIC = Path(__file__).parent / "static"


def make_app(held: Held, settings: Settings | None = None) -> Starlette:
    """The application that serves a collection."""
    settings = settings or Settings()
    app = Starlette(
        routes=[*api_routes(), Mount("/static", StaticFiles(directory=STATIC)), *pages.routes()],
        middleware=[Middleware(Guard)],
        exception_handlers={RequestError: _problem, MisuseError: _misuse, HTTPException: _http},
        lifespan=_lifespan,
    )
    app.state.context = Context(held, Crew(settings), settings)
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    context: Context = app.state.context
    looking = asyncio.create_task(_look(context))
    yield
    looking.cancel()
    context.crew.close()


async def _look(context: Context) -> None:
    """Go on looking for a new generation."""
    while True:
        await asyncio.sleep(context.settings.look_seconds)
        await asyncio.to_thread(context.held.look)


def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return error.response()


def _misuse(request: Request, error: Exception) -> Response:
    return RequestError(422, str(error)).response()


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return RequestError(error.status_code, error.detail).response()
