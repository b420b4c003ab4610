"""Every job is done once, here or in other processes, and what goes wrong comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pagekin.engines.local import len_of_cpus, processes_for, run
from pagekin.errors import FailureError, MisuseError


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


def whoami(number: int) -> int:
    time.sleep(0.2)
    return os.getpid()


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_every_job_is_done_once(processes: int) -> None:
    assert sorted(run(square_slowly, range(20), processes)) == [k * k for k in range(20)]


@pytest.mark.parametrize("processes", [1, 2])
def test_no_jobs_give_no_results(processes: int) -> None:
    assert list(run(square, [], processes)) == []


def test_one_process_is_this_one_and_two_are_others() -> None:
    assert set(run(whoami, range(2), 1)) == {os.getpid()}
    others = set(run(whoami, range(6), 2))
    assert os.getpid() not in others
    assert len(others) == 2


@pytest.mark.parametrize("processes", [1, 2])
def test_jobs_are_made_when_there_is_room_for_them(processes: int) -> None:
    made: list[int] = []

    def jobs() -> Iterator[int]:
        for k in range(40):
            made.append(k)
            yield k

    done = 0
    for _ in run(square, jobs(), processes):
        done += 1
        assert len(made) - done < 2 * 2 * processes, "a crawl must not pile up in memory"
    assert done == 40


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_a_job_comes_back_as_it_is(processes: int) -> None:
    with pytest.raises(OSError, match="No space left") as error:
        list(run(fail_at_three, range(8), processes))
    assert error.value.errno == 28


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_whoever_makes_the_jobs_comes_back_as_it_is(processes: int) -> None:
    def jobs() -> Iterator[int]:
        yield 1
        raise FailureError("the archive ends here")

    with pytest.raises(FailureError, match="the archive ends here"):
        list(run(square, jobs(), processes))


def test_a_process_that_dies_is_told_with_what_to_do() -> None:
    with pytest.raises(FailureError, match="fewer --processes"):
        list(run(die_at_three, range(8), 2))


def test_whoever_stops_listening_ends_the_work() -> None:
    drawn: list[int] = []

    def jobs() -> Iterator[int]:
        for job in range(1000):
            drawn.append(job)
            yield job

    results = run(whoami, jobs(), 2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(drawn) < 1000


IDLE = """
import time
from engines.test_local import whoami
from pagekin.engines.local import run
try:
    for _ in run(whoami, range(2), 2):
        print("idle soon", flush=True)
        time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")
def test_an_interrupt_is_told_once_and_not_by_every_process() -> None:
    """Ctrl-C in a terminal reaches every process of a command."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-c", IDLE],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "idle soon\n"
        time.sleep(0.6)  # a job takes 0.2 s
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=600)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert (out, err) == ("interrupted\n", "")


def test_the_number_of_processes_is_what_the_user_wants() -> None:
    assert processes_for(7, 0, 100) == 7
    with pytest.raises(MisuseError, match="at least 1"):
        processes_for(0, 1000, 100)


def test_else_it_is_what_the_work_pays_for_and_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekin.engines.local.len_of_cpus", lambda: 4)
    assert [processes_for(None, work, 100) for work in (0, 99, 199, 200, 450, 10_000)] == [1, 1, 1, 2, 4, 4]


def test_there_is_at_least_one_processor() -> None:
    assert len_of_cpus() >= 1
