"""What every handler needs."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from pagekin.serving.api.cache import Kept
from pagekin.serving.generations import Held
from pagekin.serving.settings import Settings
from pagekin.serving.threads import Crew


@dataclass(frozen=True)
class Context:
    """The collection, the threads, what the server was told, and answers that may be asked for again."""

    held: Held
    crew: Crew
    settings: Settings
    kept: Kept


def context_of(request: HTTPConnection) -> Context:
    """Of the server that a request has come to."""
    context: Context = request.app.state.context
    return context
