"""Counters of the server in the format of Prometheus. Each worker writes its own row; the output sums all rows."""

from collections.abc import Iterator, MutableSequence

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
        """Count one request."""
        at = self._first + _STRIDE * PATHS.index(_path_label(path))
        self._counts[at + status // 100 - 1] += 1
        bucket = next((k for k, bound in enumerate(BUCKETS) if seconds <= bound), len(BUCKETS))
        self._counts[at + len(CLASSES) + bucket] += 1
        self._counts[at + _STRIDE - 1] += seconds

    def count_cached(self) -> None:
        """Count one answer from the cache."""
        self._counts[self._first + WIDTH - 1] += 1

    def _sum(self, at: int) -> float:
        return sum(self._counts[k] for k in range(at, len(self._counts), WIDTH))

    def lines(self, current: CurrentGeneration) -> Iterator[str]:
        """Yield all metrics."""
        yield "# TYPE pagekin_requests_total counter"
        for k, path in enumerate(PATHS):
            for status, name in enumerate(CLASSES):
                if count := self._sum(k * _STRIDE + status):
                    yield f'pagekin_requests_total{{path="{path}",status="{name}"}} {count:g}'
        yield "# TYPE pagekin_request_seconds histogram"
        for k, path in enumerate(PATHS):
            yield from self._histogram(k * _STRIDE + len(CLASSES), path)
        generation = current.generation
        for name, kind, value in (
            ("pagekin_kept_answers_total", "counter", self._sum(WIDTH - 1)),
            ("pagekin_index_generation", "gauge", generation.number),
            ("pagekin_pages", "gauge", len(generation.indexed)),
            ("pagekin_index_trouble", "gauge", bool(current.error)),
        ):
            yield f"# TYPE {name} {kind}"
            yield f"{name} {value:.0f}"

    def _histogram(self, at: int, path: str) -> Iterator[str]:
        counts = [self._sum(at + k) for k in range(len(BUCKETS) + 1)]
        if not any(counts):
            return
        for k, bound in enumerate([*map(str, BUCKETS), "+Inf"], 1):
            yield f'pagekin_request_seconds_bucket{{path="{path}",le="{bound}"}} {sum(counts[:k]):.0f}'
        yield f'pagekin_request_seconds_sum{{path="{path}"}} {self._sum(at + len(BUCKETS) + 1):.6f}'
        yield f'pagekin_request_seconds_count{{path="{path}"}} {sum(counts):.0f}'


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
