"""What a request can get wrong, told as problem+json (RFC 9457)."""

from __future__ import annotations

import json
from http import HTTPStatus

from starlette.responses import Response

JSON = "application/problem+json"


class RequestError(Exception):
    """A request that is not answered, and why: what, where, what to do."""

    def __init__(
        self, status: int, detail: str, *, kind: str = "", retry_after: int | None = None, allow: str = ""
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.kind = kind or HTTPStatus(status).phrase.lower().replace(" ", "-")
        self.headers = {"Retry-After": str(retry_after)} if retry_after is not None else {}
        if allow:
            self.headers["Allow"] = allow

    def as_dict(self) -> dict[str, object]:
        """Type, title, status, detail; the type is a name that stays."""
        title = HTTPStatus(self.status).phrase
        return {"type": f"urn:pagekin:{self.kind}", "title": title, "status": self.status, "detail": self.detail}

    def response(self) -> Response:
        """As an answer that nobody keeps."""
        body = json.dumps(self.as_dict()).encode()
        return Response(body, self.status, {**self.headers, "Cache-Control": "no-store"}, JSON)
