"""Counters of requests in the format of Prometheus. Light to import, since the parent of all workers does."""

from bisect import bisect_left
from collections.abc import Iterator, MutableSequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pagekin.serving.generations import CurrentGeneration

_SERVICE_PATHS = ("/embed.js", "/healthz", "/metrics", "/static")
_API_PATHS = ("/api/related", "/api/pages", "/api/pages/{id}", "/api/cluster", "/api/duplicates", "/api/info")
PATHS = ("/", *_API_PATHS, "/api/openapi.json", "/api", "/w/api.php", *_SERVICE_PATHS, "other")
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
_STRIDE = len(CLASSES) + len(BUCKETS) + 2  # per path: answers by status, by seconds (and slower ones), total seconds
WIDTH = len(PATHS) * _STRIDE + 1  # the last counts answers from the cache


class Metrics:
    """Counters in one row per worker of a list that workers can share."""

    def __init__(self, counts: MutableSequence[float] | None = None, worker: int = 0) -> None:
        self._counts = [0.0] * WIDTH if counts is None else counts
        self._first = worker * WIDTH

    def count_request(self, path: str, status: int, seconds: float) -> None:
        at = self._first + _STRIDE * PATHS.index(_path_label(path))
        self._counts[at + status // 100 - 1] += 1
        self._counts[at + len(CLASSES) + bisect_left(BUCKETS, seconds)] += 1
        self._counts[at + _STRIDE - 1] += seconds

    def count_cached(self) -> None:
        self._counts[self._first + WIDTH - 1] += 1

    def lines(self, current: "CurrentGeneration") -> Iterator[str]:
        *totals, cached = np.array(self._counts).reshape(-1, WIDTH).sum(axis=0).tolist()
        rows = {path: totals[k * _STRIDE : (k + 1) * _STRIDE] for k, path in enumerate(PATHS)}
        yield "# TYPE pagekin_requests_total counter"
        for path, row in rows.items():
            for name, count in zip(CLASSES, row, strict=False):
                if count:
                    yield f'pagekin_requests_total{{path="{path}",status="{name}"}} {count:.0f}'
        yield "# TYPE pagekin_request_seconds histogram"
        for path, row in rows.items():
            if any(row):
                for bound, count in zip((*BUCKETS, "+Inf"), accumulate(row[len(CLASSES) : -1]), strict=True):
                    yield f'pagekin_request_seconds_bucket{{path="{path}",le="{bound}"}} {count:.0f}'
                yield f'pagekin_request_seconds_sum{{path="{path}"}} {row[-1]:.6f}'
                yield f'pagekin_request_seconds_count{{path="{path}"}} {count:.0f}'
        for name, kind, value in (
            ("pagekin_kept_answers_total", "counter", cached),
            ("pagekin_index_generation", "gauge", current.number),
            ("pagekin_pages", "gauge", current.pages),
            ("pagekin_index_trouble", "gauge", bool(current.error)),
        ):
            yield f"# TYPE {name} {kind}"
            yield f"{name} {value:.0f}"


def _path_label(path: str) -> str:
    """Map any path to one of few labels.

    >>> _path_label("/api/related"), _path_label("/api/pages/abc"), _path_label("/nowhere")
    ('/api/related', '/api/pages/{id}', 'other')
    """
    if path in PATHS:
        return path
    if path.startswith("/api/pages/"):
        return "/api/pages/{id}"
    return "/static" if path.startswith("/static/") else "other"
