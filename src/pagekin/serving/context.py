"""What every handler needs."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from pagekin.serving.api.cache import AnswerCache
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import ServerSettings
from pagekin.serving.threads import RequestThreads


@dataclass(frozen=True)
class Context:
    """The collection, the threads, what the server was told, and answers that may be asked for again."""

    held: CurrentGeneration
    pool: RequestThreads
    settings: ServerSettings
    kept: AnswerCache


def context_of(request: HTTPConnection) -> Context:
    """Of the server that a request has come to."""
    context: Context = request.app.state.context
    return context
