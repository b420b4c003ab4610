"""Run a function over many jobs, by threads or in other processes, with a bounded number under way."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import connection
from typing import TypeVar

from pagekin.errors import FailureError, MisuseError

Job = TypeVar("Job")
Result = TypeVar("Result")
_UNDER_WAY = 2  # jobs per worker; more would only fill the memory


@dataclass(frozen=True)
class WorkerPool:
    """Who does the jobs: so many workers, threads of this process or processes of their own.

    Threads begin at once, but Python lets only one of them run at a time outside of kernels. A process takes a second
    to begin, most of it to load a compiler, and then works undisturbed.
    """

    workers: int
    processes: bool = False


def check_processes(wanted: int | None) -> None:
    """Refuse a number of processes that makes no sense."""
    if wanted is not None and wanted < 1:
        raise MisuseError(f"{wanted} processes; there must be at least 1")


def worker_pool(wanted: int | None, most: int, work: int, work_for_processes: int) -> WorkerPool:
    """As many workers as the user wants, or as there are processors; processes, if there is enough work for them."""
    check_processes(wanted)
    workers = min(wanted or len_of_cpus(), most)
    return WorkerPool(workers, workers > 1 and work >= work_for_processes)


def len_of_cpus() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _follow_parent() -> None:
    """In a worker: end with the parent, however it ends, and leave Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run(function: Callable[[Job], Result], jobs: Iterable[Job], pool: WorkerPool) -> Iterator[Result]:
    """The results of `function` on every job, as they come."""
    if pool.workers == 1:
        for job in jobs:
            yield function(job)
        return
    executor = _executor(pool)
    waiting: set[Future[Result]] = set()
    try:
        for job in jobs:
            waiting.add(executor.submit(function, job))
            if len(waiting) >= _UNDER_WAY * pool.workers:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise FailureError(
            "a reading process died, perhaps for want of memory; try again with fewer --processes, "
            "and what was read so far will be used"
        ) from error
    finally:
        # Processes that have nothing left to do take a while to end; nobody need wait for them.
        executor.shutdown(wait=bool(waiting), cancel_futures=True)


def _executor(pool: WorkerPool) -> Executor:
    if not pool.processes:
        return ThreadPoolExecutor(pool.workers)
    # Not fork: threads of numpy or numba that were running would be copied in the middle of a step.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(pool.workers, mp_context=context, initializer=_follow_parent)


def in_order(workers: int, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[Result]:
    """The results of `function` on every job, in the order of the jobs; by threads, which pays for kernels."""
    if workers == 1:
        yield from map(function, jobs)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Result]] = deque()
        for job in jobs:
            waiting.append(pool.submit(function, job))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
