"""Web pages that are computed in the background: who asks for one waits a moment, then sees its progress."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from starlette.requests import HTTPConnection
from starlette.responses import Response

from pagekin.serving.context import RequestThreads
from pagekin.serving.middleware import RequestError
from pagekin.serving.settings import ServerSettings

_FINISHED = 64  # answers of jobs that somebody waits for; they may come from any of several requests
Item = TypeVar("Item")
JobKey: TypeAlias = tuple[str, str, str]  # tag of the generation, path, query


class JobProgress:
    """How far a computation has come. Written by one thread, read by others."""

    def __init__(self) -> None:
        self.done = self.total = 0
        self.stopped = False

    def over(self, items: Sequence[Item]) -> Iterator[Item]:
        """Iterate, and count; the iteration ends with an error if the server stops.

        >>> progress = JobProgress()
        >>> [(item, progress.done, progress.total) for item in progress.over("ab")]
        [('a', 0, 2), ('b', 1, 2)]
        """
        self.done, self.total = 0, len(items)
        for item in items:
            if self.stopped:
                raise RequestError(503, "The server is stopping; try again.", retry_after=10)
            yield item
            self.done += 1


class Job:
    """The computation of a page."""

    def __init__(self, answer: asyncio.Future[Response], progress: JobProgress) -> None:
        self.answer, self.progress = answer, progress
        self.late = False  # somebody was told to wait
        self._started = time.monotonic()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be left to see it

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started


class Jobs:
    """The running jobs, and the answers of those that took long. Used by the event loop only.

    Views that may take long have threads of their own, so that the others are answered meanwhile.
    """

    def __init__(self, settings: ServerSettings, threads: RequestThreads) -> None:
        self._patience = settings.limits.patience
        self._threads, self._long_threads = threads, RequestThreads(settings)
        self._jobs: dict[JobKey, Job] = {}
        self._progress: dict[tuple[str, str], JobProgress] = {}  # of all jobs for one path

    async def wait(
        self, request: HTTPConnection, key: JobKey, compute: Callable[[JobProgress], Response], *, is_long: bool
    ) -> Job:
        """Start a job unless it runs already, and wait for it. It may still run after that."""
        job = self._jobs.get(key)
        if job is None:
            self._forget()
            progress = self._progress.setdefault(key[:2], JobProgress())
            threads = self._long_threads if is_long else self._threads
            job = self._jobs[key] = Job(threads.submit(request, compute, progress), progress)
        await asyncio.wait([job.answer], timeout=self._patience)
        if not job.answer.done():
            job.late = True
        elif not job.late or job.answer.exception() or job.answer.result().headers["cache-control"] == "no-store":
            self._jobs.pop(key, None)
        return job

    def _forget(self) -> None:
        """Drop the oldest answers, and the progress of what has finished."""
        finished = [key for key, job in self._jobs.items() if job.answer.done()]
        for key in finished[:-_FINISHED]:
            del self._jobs[key]
        self._progress = {key[:2]: job.progress for key, job in self._jobs.items() if not job.answer.done()}

    def close(self) -> None:
        for progress in self._progress.values():
            progress.stopped = True
        self._long_threads.close()
