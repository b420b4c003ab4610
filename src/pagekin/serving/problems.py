"""Errors of a request, reported as problem+json (RFC 9457)."""

import json
import re
from asyncio import CancelledError
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from pagekin.errors import FailureError, MisuseError, NoPageError, StoreError

MEDIA_TYPE = "application/problem+json"
_ROUTING = {404: "There is no such path; /api lists the paths for programs.", 405: "This path has other methods."}


@dataclass(frozen=True)
class Problem:
    """The JSON of an error."""

    type: str  # a stable name for programs
    title: str
    status: int
    detail: str  # a sentence for people


class RequestError(Exception):
    """A request that cannot be answered: HTTP status, and a sentence that says what is wrong and what to do."""

    def __init__(
        self, status: int, detail: str, kind: str = "", retry_after: int = 0, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail
        self.kind = kind or HTTPStatus(status).phrase.lower().replace(" ", "-")
        self.headers = dict(headers or {})
        if retry_after:
            self.headers["Retry-After"] = str(retry_after)

    @classmethod
    def from_exception(cls, error: BaseException, root: Path | None = None) -> "RequestError":
        """Convert any exception. The path of the store, if given, is removed; internal errors reveal no details."""
        if isinstance(error, RequestError):
            return error
        if isinstance(error, HTTPException):
            return cls(error.status_code, _ROUTING.get(error.status_code, error.detail), headers=error.headers)
        if isinstance(error, CancelledError):  # the grace period of a shutdown is over
            return cls(503, "The server is stopping; try again.", retry_after=10)
        if isinstance(error, StoreError):
            return cls(503, "The index cannot be read now; try again.", kind="index-unreadable", retry_after=1)
        if isinstance(error, MisuseError | FailureError):
            detail = str(error)
            if root is not None:
                detail = re.sub(rf"(?<!\S){re.escape(str(root))}(?![\w/])", "this collection", detail)
            missing = isinstance(error, NoPageError)
            return cls(404 if missing else 422, detail, kind="no-such-page" if missing else "invalid-request")
        return cls(500, "The server failed to answer this request; its log has the details.")

    def response(self) -> Response:
        """Return the error as a response that must not be cached."""
        problem = Problem(f"urn:pagekin:{self.kind}", HTTPStatus(self.status).phrase, self.status, self.detail)
        headers = {**self.headers, "Cache-Control": "no-store"}
        return Response(json.dumps(asdict(problem)), self.status, headers, MEDIA_TYPE)
