"""The folder of a store: one build at a time writes there, and each generation has its own folders."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pagekin.errors import MisuseError, StoreError
from pagekin.store.manifest import NAME, Manifest, read_manifest

SPOOL = "unfinished"
_OURS = {NAME, f"{NAME}.new", "lock", SPOOL}


@contextmanager
def locked_folder(root: Path) -> Iterator[None]:
    """Create the folder of a store and hold its lock, which the system releases when the process ends.

    Raise MisuseError if the folder holds other files, StoreError if another build holds the lock.
    """
    if root.exists() and not root.is_dir():
        raise MisuseError(f"{root} is a file; name a folder for the store, such as my.kin")
    if root.is_dir() and not (root / NAME).exists():
        found = {path.name for path in root.iterdir() if not path.name.startswith(("store-", "index-"))}
        if others := sorted(found - _OURS):
            raise MisuseError(f"{root} holds other files ({others[0]}); name a new folder for the store")
    root.mkdir(parents=True, exist_ok=True)
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


def next_generation(root: Path) -> int:
    """The number of the next generation: one more than that of the store, or of any generation in its folder."""
    try:
        return read_manifest(root).generation + 1
    except (StoreError, MisuseError):
        numbers = [path.name.removeprefix("store-") for path in root.glob("store-*")]
        return max((int(number) for number in numbers if number.isdecimal()), default=0) + 1


def new_folder(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def remove_old(root: Path, manifest: Manifest) -> None:
    """Remove other generations. One that is still open elsewhere may stay; the next build tries again."""
    for folder in (*root.glob("store-*"), *root.glob("index-*")):
        if folder.name not in (manifest.folder, manifest.index_folder):
            shutil.rmtree(folder, ignore_errors=True)
