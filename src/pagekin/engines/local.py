"""Run a function over many jobs, here or in other processes, with a bounded number under way."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from typing import TypeVar

from pagekin.errors import FailureError, MisuseError

Job = TypeVar("Job")
Result = TypeVar("Result")
_UNDER_WAY = 2  # jobs per process; more would only fill the memory


def check_processes(wanted: int | None) -> None:
    """Refuse a number of processes that makes no sense."""
    if wanted is not None and wanted < 1:
        raise MisuseError(f"{wanted} processes; there must be at least 1")


def processes_for(wanted: int | None, work: int, work_per_process: int) -> int:
    """How many processes to use: what the user wants, or as many as the machine has and the work pays for."""
    check_processes(wanted)
    if wanted is not None:
        return wanted
    return max(1, min(len_of_cpus(), work // work_per_process))


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


def run(function: Callable[[Job], Result], jobs: Iterable[Job], processes: int) -> Iterator[Result]:
    """The results of `function` on every job, as they come."""
    if processes == 1:
        for job in jobs:
            yield function(job)
        return
    # Not fork: threads of numpy or numba that were running would be copied in the middle of a step.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_follow_parent)
    waiting: set[Future[Result]] = set()
    try:
        for job in jobs:
            waiting.add(pool.submit(function, job))
            if len(waiting) >= _UNDER_WAY * processes:
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
        pool.shutdown(wait=bool(waiting), cancel_futures=True)
