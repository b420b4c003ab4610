"""What every handler needs."""

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from pagekin.serving.cache import AnswerCache
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.metrics import Metrics
from pagekin.serving.settings import ServerSettings
from pagekin.serving.threads import RequestThreads


@dataclass(frozen=True)
class Context:
    """The collection, the worker threads, the settings, the cache and the counters of one server."""

    current: CurrentGeneration
    threads: RequestThreads
    settings: ServerSettings
    cache: AnswerCache
    metrics: Metrics


def context_of(request: HTTPConnection) -> Context:
    """Return the context of the server that received a request."""
    context: Context = request.app.state.context
    return context
