"""One build at a time on one store."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pagekin.errors import StoreError


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold the store's lock. The system gives it back when the process ends, however it ends."""
    path = root / "lock"
    with path.open("a+b") as file:
        try:
            _lock(file.fileno())
        except OSError as error:
            raise StoreError(f"another build is at work on {root}; wait until it ends") from error
        yield


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
