"""Settings of a server."""

import os
from dataclasses import dataclass, field

from pagekin.errors import MisuseError

_KIB, _MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class RequestLimits:
    """The largest requests that are answered; larger ones get a 4xx status."""

    body_bytes: int = 8 * _MIB
    all_body_bytes: int = 64 * _MIB  # of all bodies that one process holds; half of them from one address
    json_values: int = 200_000  # numbers, texts, lists and objects in a body
    text_length: int = 2 * _MIB  # characters of a text or of the HTML of a page
    query_bytes: int = 8 * _KIB  # of a URL
    name_length: int = 2000  # characters of the URL or title of a page
    query_pages: int = 20  # pages in one query
    limit: int = 100  # related pages in one answer
    results: int = 1000  # in a result list to be grouped
    seconds: float = 10.0  # until a body must be there, and after that the answer of the API
    patience: float = 1.0  # seconds after which a web page that is still being computed shows its progress
    queued: int = 64  # requests waiting for a thread
    per_client: int = 32  # requests of one address, running or queued
    at_once: int = 64  # requests of one address, also those that need no thread or have no body yet
    connections: int = 1000  # open in one process; half of them for one address
    head_bytes: int = 64 * _KIB  # of a request without its body
    head_seconds: float = 10.0  # until the head must be there, after the connection or the answer before
    idle_seconds: int = 5  # between two requests on one connection
    reading_seconds: float = 60.0  # until a client must have read an answer

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise MisuseError(f"the limit {name} is {value}; it must be above 0")


@dataclass(frozen=True)
class ServerSettings:
    """How a collection is served."""

    replay: str = ""  # base URL of a web archive; links to original pages start with it
    token: str = field(default="", repr=False)  # required in every request, if set
    cors: tuple[str, ...] = ()  # origins allowed to call the API from a browser; * is any
    hosts: tuple[str, ...] = ()  # accepted values of the Host header; empty: any
    limits: RequestLimits = RequestLimits()
    threads: int = max(2, min(8, os.cpu_count() or 1))  # more threads only wait for each other
    cached_answers: int = 4096
    max_age: int = 60  # seconds for which browsers and proxies may reuse an answer
    refresh_seconds: float = 1.0  # between two checks for a new generation

    def __post_init__(self) -> None:
        if self.replay and not self.replay.startswith(("http://", "https://")):
            raise MisuseError(f"the replay base is {self.replay!r}; it must begin with http:// or https://")
        for origin in self.cors:
            if origin != "*" and (not origin.startswith(("http://", "https://")) or origin.count("/") != 2):
                raise MisuseError(f"the origin {origin!r} should look like https://example.org, without a path")
