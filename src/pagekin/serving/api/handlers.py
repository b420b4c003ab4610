"""How handlers answer: from the cache, or in a thread; and how they read bodies."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from pagekin.errors import FailureError, MisuseError
from pagekin.model.jsons import to_json
from pagekin.serving.api.params import Param, read_query
from pagekin.serving.context import CachedAnswer, Key, context_of, encode_json, etag_of, matches_etag, read_body
from pagekin.serving.generations import Generation
from pagekin.serving.middleware import RequestError

Values = dict[str, Any]  # of parameters, by field name
Compute = Callable[[Generation, Values], Any]


async def answer_get(request: Request, params: Sequence[Param], compute: Compute) -> ASGIApp:
    """Answer a GET request. The answer depends only on generation, path and query, so it can be cached anywhere."""
    context = context_of(request)
    query: bytes = request.scope["query_string"]
    generation = context.current.generation
    key = (generation.tag, request.scope["path"], query)
    cached = context.cache.get(key)
    if cached is not None:
        context.metrics.count_cached()
        return cached
    cache_control = f"{'private' if context.settings.token else 'public'}, max-age={context.settings.max_age}"
    etag = etag_of(key)
    if matches_etag(request.headers, etag):
        return Response(status_code=304, headers={"ETag": etag, "Cache-Control": cache_control})
    values = read_query(params, query, context.settings.limits.query_bytes) | request.path_params

    def compute_answer(generation: Generation, key: Key) -> CachedAnswer:
        return CachedAnswer(_compute(generation, compute, values), key, cache_control)

    answer = await context.threads.run(request, compute_answer, generation, key)
    context.cache.put(key, answer, compute_answer)
    return answer


async def answer_post(request: Request, values: Values, compute: Compute) -> Response:
    context = context_of(request)
    generation = context.current.generation
    body = await context.threads.run(request, lambda: encode_json(_compute(generation, compute, values)))
    return json_response(body)


def json_response(body: bytes) -> Response:
    return Response(body, headers={"Cache-Control": "no-store"}, media_type="application/json")


def _compute(generation: Generation, compute: Compute, values: Values) -> Any:
    """Compute the JSON of an answer; errors do not mention the path of the store."""
    try:
        return to_json(compute(generation, values))
    except (MisuseError, FailureError) as error:
        raise RequestError.from_exception(error, generation.indexed.root) from error


async def read_json_body(request: Request) -> Any:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError(415, "Send JSON, with Content-Type: application/json.")
    body = await read_body(request)
    try:
        return json.loads(body, parse_constant=_reject_constant)
    except RecursionError:
        raise RequestError(422, "The body is not valid JSON: it is nested too deeply.") from None
    except ValueError as error:
        raise RequestError(422, f"The body is not valid JSON: {str(error)[:200]}.") from None


def _reject_constant(word: str) -> Any:
    """Reject NaN and Infinity, which are extensions of Python's parser."""
    raise ValueError(f"{word} is not a number")
