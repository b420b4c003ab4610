"""What the server counts of itself, as Prometheus reads it. Workers count each in a row of its own; all are told."""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence

from pagekin.serving.context import Context

PATHS = (
    "/",
    "/api/related",
    "/api/pages",
    "/api/pages/{id}",
    "/api/cluster",
    "/api/duplicates",
    "/api/info",
    "/api/openapi.json",
    "/api",
    "/w/api.php",
    "/embed.js",
    "/healthz",
    "/metrics",
    "/static",
    "other",
)
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
_PLACES = {path: k for k, path in enumerate(PATHS)}
_OF_PATH = len(CLASSES) + len(BUCKETS) + 2  # answers by status, by seconds (and longer ones), and all seconds
WIDTH = len(PATHS) * _OF_PATH + 1  # and answers that were kept


class Metrics:
    """Counts in rows of a list that workers may share."""

    def __init__(self, counts: MutableSequence[float] | None = None, worker: int = 0) -> None:
        self._counts = [0.0] * WIDTH if counts is None else counts
        self._first = worker * WIDTH

    def note(self, path: str, status: int, seconds: float) -> None:
        """One more answer."""
        place = self._first + _OF_PATH * _PLACES[_group(path)]
        self._counts[place + status // 100 - 1] += 1
        slot = next((k for k, bound in enumerate(BUCKETS) if seconds <= bound), len(BUCKETS))
        self._counts[place + len(CLASSES) + slot] += 1
        self._counts[place + _OF_PATH - 1] += seconds

    def note_kept(self) -> None:
        """One more answer that was ready."""
        self._counts[self._first + WIDTH - 1] += 1

    def _sum(self, place: int) -> float:
        return sum(self._counts[k] for k in range(place, len(self._counts), WIDTH))

    def lines(self, context: Context) -> Iterator[str]:
        """All that is counted."""
        yield "# TYPE pagekin_requests_total counter"
        for k, path in enumerate(PATHS):
            for status, name in enumerate(CLASSES):
                count = self._sum(k * _OF_PATH + status)
                if count:
                    yield f'pagekin_requests_total{{path="{path}",status="{name}"}} {count:g}'
        yield "# TYPE pagekin_request_seconds histogram"
        for k, path in enumerate(PATHS):
            yield from self._histogram(k * _OF_PATH + len(CLASSES), path)
        yield "# TYPE pagekin_kept_answers_total counter"
        yield f"pagekin_kept_answers_total {self._sum(WIDTH - 1):g}"
        held = context.held
        yield "# TYPE pagekin_index_generation gauge"
        yield f"pagekin_index_generation {held.present.number}"
        yield "# TYPE pagekin_pages gauge"
        yield f"pagekin_pages {len(held.present.indexed)}"
        yield "# TYPE pagekin_index_trouble gauge"
        yield f"pagekin_index_trouble {int(bool(held.trouble))}"

    def _histogram(self, place: int, path: str) -> Iterator[str]:
        counts = [self._sum(place + k) for k in range(len(BUCKETS) + 1)]
        if not any(counts):
            return
        for k, bound in enumerate([*map(str, BUCKETS), "+Inf"], 1):
            yield f'pagekin_request_seconds_bucket{{path="{path}",le="{bound}"}} {sum(counts[:k]):.0f}'
        yield f'pagekin_request_seconds_sum{{path="{path}"}} {self._sum(place + len(BUCKETS) + 1):.6f}'
        yield f'pagekin_request_seconds_count{{path="{path}"}} {sum(counts):.0f}'


def _group(path: str) -> str:
    """The few names under which paths are counted, whatever is asked for.

    >>> _group("/api/related"), _group("/api/pages/abc"), _group("/nowhere")
    ('/api/related', '/api/pages/{id}', 'other')
    """
    if path in _PLACES:
        return path
    if path.startswith("/api/pages/"):
        return "/api/pages/{id}"
    return "/static" if path.startswith("/static/") else "other"
