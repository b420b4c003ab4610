"""Every job is done once, by threads or in other processes, and what goes wrong comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pagekin.engines.local import WorkerPool, cpu_count, run, worker_pool
from pagekin.errors import FailureError, MisuseError

pytestmark = pytest.mark.slow  # most of them start processes

POOLS = [WorkerPool(1), WorkerPool(2), WorkerPool(2, processes=True)]
PROCESSES = WorkerPool(2, processes=True)


def square(number: int) -> int:
    return number * number


def square_slowly(number: int) -> int:
    time.sleep(0.05 if number % 2 else 0.001)
    return number * number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise OSError(28, "No space left on device")
    return number


def die_at_three(number: int) -> int:
    if number == 3:
        os._exit(9)
    return number


def meet(folder: str) -> None:
    """Wait until two processes are here."""
    Path(folder, str(os.getpid())).touch()
    while len(list(Path(folder).iterdir())) < 2:
        time.sleep(0.01)


def whoami(number: int) -> int:
    time.sleep(0.2)
    return os.getpid()


@pytest.mark.parametrize("pool", [*POOLS, WorkerPool(3), WorkerPool(3, processes=True)])
def test_every_job_is_done_once(pool: WorkerPool) -> None:
    assert sorted(run(square_slowly, range(20), pool)) == [k * k for k in range(20)]


@pytest.mark.parametrize("pool", POOLS)
def test_no_jobs_give_no_results(pool: WorkerPool) -> None:
    assert list(run(square, [], pool)) == []


@pytest.mark.parametrize("pool", [WorkerPool(1), WorkerPool(2)])
def test_one_worker_and_threads_are_this_process(pool: WorkerPool) -> None:
    assert set(run(whoami, range(2), pool)) == {os.getpid()}


def test_two_processes_are_others() -> None:
    others = set(run(whoami, range(6), PROCESSES))
    assert os.getpid() not in others
    assert len(others) == 2


@pytest.mark.parametrize("pool", POOLS)
def test_jobs_are_made_when_there_is_room_for_them(pool: WorkerPool) -> None:
    made: list[int] = []

    def jobs() -> Iterator[int]:
        for k in range(40):
            made.append(k)
            yield k

    done = 0
    for _ in run(square, jobs(), pool):
        done += 1
        assert len(made) - done < 2 * 2 * pool.workers, "a crawl must not pile up in memory"
    assert done == 40


@pytest.mark.parametrize("pool", POOLS)
def test_an_error_of_a_job_comes_back_as_it_is(pool: WorkerPool) -> None:
    with pytest.raises(OSError, match="No space left") as error:
        list(run(fail_at_three, range(8), pool))
    assert error.value.errno == 28


@pytest.mark.parametrize("pool", POOLS)
def test_an_error_of_whoever_makes_the_jobs_comes_back_as_it_is(pool: WorkerPool) -> None:
    def jobs() -> Iterator[int]:
        yield 1
        raise FailureError("the archive ends here")

    with pytest.raises(FailureError, match="the archive ends here"):
        list(run(square, jobs(), pool))


def test_a_process_that_dies_is_told_with_what_to_do() -> None:
    with pytest.raises(FailureError, match="fewer --processes"):
        list(run(die_at_three, range(8), PROCESSES))


@pytest.mark.parametrize("pool", POOLS)
def test_whoever_stops_listening_ends_the_work(pool: WorkerPool) -> None:
    drawn: list[int] = []

    def jobs() -> Iterator[int]:
        for job in range(1000):
            drawn.append(job)
            yield job

    results = run(whoami, jobs(), pool)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(drawn) < 1000


IDLE = """
import sys, time
from engines.test_local import meet
from pagekin.engines.local import WorkerPool, run
try:
    for _ in run(meet, [sys.argv[1]] * 2, WorkerPool(2, processes=True)):
        print("idle soon", flush=True)
        time.sleep(600)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")
def test_an_interrupt_is_told_once_and_not_by_every_process(tmp_path: Path) -> None:
    """Ctrl-C in a terminal reaches every process of a command."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-c", IDLE, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "idle soon\n"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=600)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert (out, err) == ("interrupted\n", "")


def test_there_are_as_many_workers_as_the_user_wants_and_memory_has_room_for() -> None:
    assert [worker_pool(wanted, 5, 0, 100).workers for wanted in (1, 4, 7)] == [1, 4, 5]
    with pytest.raises(MisuseError, match="at least 1"):
        worker_pool(0, 5, 1000, 100)


def test_else_there_are_as_many_as_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekin.engines.local.cpu_count", lambda: 4)
    assert [worker_pool(None, most, 0, 100).workers for most in (3, 9)] == [3, 4]


def test_processes_are_for_much_work_and_for_more_than_one_worker() -> None:
    assert [worker_pool(2, 2, work, 100).processes for work in (0, 99, 100, 10_000)] == [False, False, True, True]
    assert not worker_pool(1, 2, 10_000, 100).processes


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_the_order_of_their_jobs_and_jobs_are_made_when_there_is_room(workers: int) -> None:
    made: list[int] = []

    def jobs() -> Iterator[int]:
        for k in range(20):
            made.append(k)
            yield k

    for k, result in enumerate(WorkerPool(workers).map(square_slowly, jobs())):
        assert result == k * k
        assert len(made) <= k + 1 + workers
    assert len(made) == 20


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_comes_back_in_order_too(workers: int) -> None:
    with pytest.raises(OSError, match="No space left"):
        list(WorkerPool(workers).map(fail_at_three, range(8)))


def test_there_is_at_least_one_processor() -> None:
    assert cpu_count() >= 1


@pytest.mark.parametrize("pool", POOLS)
def test_a_job_beside_a_block_gives_its_result_there(pool: WorkerPool) -> None:
    with pool.beside(lambda _: square(3)) as result:
        assert result() == 9


def test_two_workers_run_the_job_and_the_block_at_the_same_time() -> None:
    reached = threading.Event()
    with WorkerPool(2).beside(lambda _: reached.set()):
        assert reached.wait(60)


@pytest.mark.parametrize("pool", POOLS)
def test_an_error_of_a_job_beside_a_block_is_raised_there(pool: WorkerPool) -> None:
    with pool.beside(lambda _: fail_at_three(3)) as result, pytest.raises(OSError, match="No space"):
        result()


def test_a_block_that_fails_stops_the_job_beside_it_and_waits_for_its_end() -> None:
    ended = []

    def work(wanted: Callable[[], bool]) -> None:
        while wanted():
            time.sleep(0.001)
        time.sleep(0.05)
        ended.append(True)

    with pytest.raises(FailureError), WorkerPool(2).beside(work):
        raise FailureError("stopped")
    assert ended
