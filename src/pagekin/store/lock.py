"""The lock of a store: one build at a time."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pagekin.errors import StoreError


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold the lock of a store. The system releases it when the process ends, for whatever reason."""
    with (root / "lock").open("a+b") as file:
        try:
            _lock(file.fileno())
        except OSError as error:
            raise StoreError(f"another build is writing {root}; wait until it ends") from error
        yield


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
