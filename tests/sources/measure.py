"""Whether work ends, and how much memory it takes."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

# On Linux `ru_maxrss` begins with the peak of the process that has started this one; VmHWM does not.
_FRAME = """
import resource, sys, warnings
warnings.simplefilter("ignore")

def peak():
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024

{before}
start = peak()
{work}
print(peak() - start)
"""
HANGING = 600  # seconds


def peak_megabytes(imports: str, *steps: str) -> tuple[float, str]:
    """(megabytes that the last step takes beyond what the steps before it took, what it printed).

    Measured in a process of its own, whose folder is `tests`.
    """
    *before, work = steps
    script = _FRAME.format(before="\n".join([imports, *before]), work=work)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=HANGING,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *said, peak = done.stdout.splitlines()
    return float(peak), "\n".join(said)


class TooSlowError(Exception):
    """Work that took longer than it may; no OSError, which somebody might catch."""


@contextmanager
def within() -> Iterator[None]:
    """Work that must end: it is broken off, even if it waits for something that never comes.

    The limit tells what hangs, not what is slow: no test may fail because a machine is busy.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlowError(f"not done after {HANGING} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, HANGING)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
