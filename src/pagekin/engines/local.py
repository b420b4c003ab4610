"""Run a function over many jobs, in threads or processes, with a bounded number of pending jobs."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection
from typing import TypeVar

from pagekin.errors import FailureError, MisuseError

Job = TypeVar("Job")
Result = TypeVar("Result")
_PENDING = 2  # jobs per worker; more would only fill the memory


@dataclass(frozen=True)
class WorkerPool:
    """The number of workers, and whether they are processes or threads.

    Threads start at once, but only one of them runs Python code at a time, outside of kernels. A process takes a
    second to start, mostly to load the compiler, and then runs independently.
    """

    workers: int
    processes: bool = False

    def map(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[Result]:
        """The results of `function` on every job, in the order of the jobs; always in threads, which suits kernels."""
        if self.workers == 1:
            yield from map(function, jobs)
            return
        with ThreadPoolExecutor(self.workers) as executor:
            waiting: deque[Future[Result]] = deque()
            for job in jobs:
                waiting.append(executor.submit(function, job))
                if len(waiting) > self.workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    @contextmanager
    def beside(self, function: Callable[[Callable[[], bool]], Result]) -> Iterator[Callable[[], Result]]:
        """Run `function` beside the block, which may call what it is given for the result; one worker runs it then.

        The function is told whether its result is still wanted: if the block fails, it should return at once.
        """
        if self.workers == 1:
            yield lambda: function(lambda: True)
            return
        failed = threading.Event()
        with ThreadPoolExecutor(1) as executor:
            try:
                yield executor.submit(function, lambda: not failed.is_set()).result
            except BaseException:
                failed.set()
                raise


def worker_pool(wanted: int | None, most: int, work: int, work_for_processes: int) -> WorkerPool:
    """`wanted` workers, or one per processor, but at most `most`; processes if there is enough work for them."""
    if wanted is not None and wanted < 1:
        raise MisuseError(f"{wanted} processes; there must be at least 1")
    workers = min(wanted or cpu_count(), most)
    return WorkerPool(workers, workers > 1 and work >= work_for_processes)


def cpu_count() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _follow_parent() -> None:
    """In a worker process: exit when the parent ends, and leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run(function: Callable[[Job], Result], jobs: Iterable[Job], pool: WorkerPool) -> Iterator[Result]:
    """The results of `function` on every job, in the order of completion."""
    if pool.workers == 1:
        yield from map(function, jobs)
        return
    executor: Executor = ThreadPoolExecutor(pool.workers)
    if pool.processes:
        # Not fork: it would copy running threads of numpy or numba in the middle of an operation.
        context = multiprocessing.get_context("spawn")
        executor = ProcessPoolExecutor(pool.workers, mp_context=context, initializer=_follow_parent)
    waiting: set[Future[Result]] = set()
    try:
        for job in jobs:
            waiting.add(executor.submit(function, job))
            if len(waiting) >= _PENDING * pool.workers:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise FailureError(
            "a reading process died, perhaps because memory ran out; try again with fewer --processes: "
            "pages that were read so far are not read again"
        ) from error
    finally:
        # Idle processes take a while to end; do not wait for them.
        executor.shutdown(wait=bool(waiting), cancel_futures=True)
