"""How handlers answer: from what is kept, or in a thread; bodies within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from pagekin.errors import FailureError, MisuseError, NoPageError, StoreError
from pagekin.serving.api.cache import CachedAnswer, Key, as_json, etag_of, is_known, ready
from pagekin.serving.api.params import Param, parse_json, read_query
from pagekin.serving.context import Context, context_of
from pagekin.serving.generations import Generation
from pagekin.serving.problems import RequestError
from pagekin.serving.settings import ServerSettings

Given = dict[str, Any]
Make = Callable[[Generation, Given], Any]


async def answered(request: Request, params: Sequence[Param], make: Make) -> ASGIApp:
    """The answer to a GET: of a generation and a query, so that it can be kept here, on the way and in the browser."""
    context = context_of(request)
    query: bytes = request.scope["query_string"]
    generation = context.held.present
    key = (generation.tag, request.scope["path"], query)
    found = context.kept.get(key)
    if found is not None:
        request.app.state.metrics.note_kept()
        return found
    control = cache_control(context.settings)
    if is_known(request.headers, etag_of(key)):
        return Response(status_code=304, headers={"ETag": etag_of(key), "Cache-Control": control})
    given = read_query(params, query, context.settings.bounds.query)
    given |= request.path_params

    def made(generation: Generation, key: Key) -> CachedAnswer:
        return ready(_told(generation, make, given), key, control)

    answer = await context.pool.run(request, made, generation, key)
    context.kept.put(key, answer, made)
    return answer


def _told(generation: Generation, make: Make, given: Given) -> Any:
    """Call a maker; what it cannot do is told without the place of the store."""
    try:
        return make(generation, given)
    except StoreError:
        raise
    except (MisuseError, FailureError) as error:
        told = str(error).replace(str(generation.indexed.root), "this collection")
        if isinstance(error, NoPageError):
            raise RequestError(404, told, kind="no-such-page") from error
        raise RequestError(422, told, kind="invalid-request") from error


async def posted(request: Request, given: Given, make: Make) -> Response:
    """The answer to a POST, which nobody keeps."""
    context = context_of(request)

    def made() -> bytes:
        return as_json(_told(context.held.present, make, given))

    body = await context.pool.run(request, made)
    return Response(body, headers={"Cache-Control": "no-store"}, media_type="application/json")


async def body_of(request: Request) -> Any:
    """The JSON of a request."""
    context = context_of(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestError(415, "Send JSON, with Content-Type: application/json.")
    return parse_json(await _bytes_of(request, context))


async def _bytes_of(request: Request, context: Context) -> bytes:
    most, seconds = context.settings.bounds.body, context.settings.bounds.seconds
    told = f"The body is too large; there may be {most:,} bytes."
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > most:
        raise RequestError(413, told)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise RequestError(413, told)
    except TimeoutError:
        raise RequestError(408, f"The body has not come within {seconds:g} seconds.") from None
    return bytes(body)


def cache_control(settings: ServerSettings) -> str:
    """Who may keep an answer, and how long without asking again."""
    return f"{'private' if settings.token else 'public'}, max-age={settings.max_age}"
