"""What a request can get wrong, told as problem+json (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from pagekin.errors import FailureError, MisuseError, StoreError

JSON = "application/problem+json"


class RequestError(Exception):
    """A request that is not answered, and why: what, where, what to do."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        kind: str = "",
        retry_after: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.kind = kind or HTTPStatus(status).phrase.lower().replace(" ", "-")
        self.headers = dict(headers or {})
        if retry_after is not None:
            self.headers["Retry-After"] = str(retry_after)

    def as_dict(self) -> dict[str, object]:
        """Type, title, status, detail; the type is a name that stays."""
        title = HTTPStatus(self.status).phrase
        return {"type": f"urn:pagekin:{self.kind}", "title": title, "status": self.status, "detail": self.detail}

    def response(self) -> Response:
        """As an answer that nobody keeps."""
        body = json.dumps(self.as_dict()).encode()
        return Response(body, self.status, {**self.headers, "Cache-Control": "no-store"}, JSON)


def told(error: Exception) -> RequestError:
    """What is said of an error; of one that is ours to mend, nothing that helps an attacker."""
    if isinstance(error, RequestError):
        return error
    if isinstance(error, StoreError):
        return RequestError(503, "The index cannot be read now; ask again.", kind="index-unreadable", retry_after=1)
    if isinstance(error, MisuseError | FailureError):
        return RequestError(422, str(error), kind="invalid-request")
    return RequestError(500, "This is an error of the server, not of the request; its log says more.")
