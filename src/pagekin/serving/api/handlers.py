"""How handlers answer: from the cache, or in a thread."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from pagekin.errors import FailureError, MisuseError
from pagekin.model.jsons import encode_json, to_json
from pagekin.serving.api.params import Param, read_query
from pagekin.serving.bodies import check_type, parse_json
from pagekin.serving.context import CachedAnswer, Key, context_of, etag_of, matches_etag
from pagekin.serving.generations import Generation
from pagekin.serving.middleware import RequestError

Values = dict[str, Any]  # of parameters, by field name
Compute = Callable[[Generation, Values], Any]
LookUp = Callable[[Generation, Values], bytes | None]  # without blocking; None if there is nothing to be found


async def answer_get(
    request: Request, params: Sequence[Param], compute: Compute, look_up: LookUp = lambda *_: None
) -> ASGIApp:
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
        return CachedAnswer(encode_json(_compute(generation, compute, values)), etag_of(key), cache_control)

    with _reported(generation):
        found = look_up(generation, values)
    if found is not None:
        answer = CachedAnswer(found, etag, cache_control)
    else:
        answer = await context.threads.run(request, compute_answer, generation, key)
    context.cache.put(key, answer, compute_answer)
    return answer


async def answer_post(request: Request, read_values: Callable[[Any], Values], compute: Compute) -> Response:
    """Answer a POST request. Its body is parsed in the thread that answers it, so only when its turn has come."""
    context = context_of(request)
    limits = context.settings.limits
    check_type(request)
    async with context.bodies.read(request) as body:
        generation = context.current.generation

        def compute_answer() -> bytes:
            return encode_json(_compute(generation, compute, read_values(parse_json(body, limits))))

        return json_response(await context.threads.run(request, compute_answer))


def json_response(body: bytes) -> Response:
    return Response(body, headers={"Cache-Control": "no-store"}, media_type="application/json")


def _compute(generation: Generation, compute: Compute, values: Values) -> Any:
    with _reported(generation):
        return to_json(compute(generation, values))


@contextmanager
def _reported(generation: Generation) -> Iterator[None]:
    """Report errors of the request, without the path of the store."""
    try:
        yield
    except (MisuseError, FailureError) as error:
        raise RequestError.from_exception(error, generation.indexed.root) from error
