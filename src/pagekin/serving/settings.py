"""What a server is told when it starts."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from pagekin.errors import MisuseError

_KIB, _MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class RequestLimits:
    """How much may be asked for. What is more gets a 4xx, not an answer."""

    body: int = 8 * _MIB  # bytes of a request
    text: int = 2 * _MIB  # characters of a text or of the HTML of a page
    query: int = 8 * _KIB  # bytes of the query of a URL
    name: int = 2000  # characters of a URL or title that is asked for
    seeds: int = 20  # pages that are asked for as one
    limit: int = 100  # related pages
    results: int = 1000  # of a list whose near-duplicates are asked for
    seconds: float = 10.0  # until an answer must be there
    waiting: int = 64  # requests that wait for a thread
    per_client: int = 32  # of them from one address

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise MisuseError(f"the bound {name} is {value}; it must be above 0")


@dataclass(frozen=True)
class ServerSettings:
    """How a collection is served."""

    replay: str = ""  # where captures are shown: links to pages begin with it
    token: str = field(default="", repr=False)  # that requests must bring
    cors: tuple[str, ...] = ()  # origins whose pages may ask; * is any
    hosts: tuple[str, ...] = ()  # names under which the server may be called; none: any
    bounds: RequestLimits = RequestLimits()
    threads: int = max(2, min(8, os.cpu_count() or 1))  # more of them wait for each other
    kept: int = 4096  # answers in memory
    max_age: int = 60  # seconds for which browsers and caches need not ask again
    look_seconds: float = 1.0  # between two looks for a new generation

    def __post_init__(self) -> None:
        if self.replay and not self.replay.startswith(("http://", "https://")):
            raise MisuseError(f"the replay base is {self.replay!r}; it must begin with http:// or https://")
        for origin in self.cors:
            if origin != "*" and (not origin.startswith(("http://", "https://")) or origin.count("/") != 2):
                raise MisuseError(f"the origin {origin!r} should look like https://example.org, without a path")
