"""Changes of a site's files: each is made in one step or not at all, inside of the folder only."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pagekin.errors import FailureError

TEMPORARY = ".pagekin-new"


def replace_file(path: Path, data: bytes, before: os.stat_result | None) -> bool:
    """Write a file in one step; False, without writing, if its state is no longer that of `before`.

    A file that exists keeps its mode, and its owner where that is allowed.
    """
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        temporary.write_bytes(data)
        if before is not None:
            temporary.chmod(stat.S_IMODE(before.st_mode))
            with suppress(OSError, AttributeError):
                os.chown(temporary, before.st_uid, before.st_gid)
            now = path.lstat()
            if _state(now) != _state(before):
                return False
        temporary.replace(path)
        return True
    except OSError as error:
        raise FailureError(f"{path} cannot be written: {error.strerror or error}; the file is unchanged") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _state(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns, stat.S_IFMT(status.st_mode)


def check_writable(root: Path, paths: Iterable[str]) -> None:
    """Raise FailureError, before anything is written, if a file or its folder is read-only."""
    found, folders = [], set()
    for name in paths:
        path = root / name
        with suppress(FileNotFoundError):
            if not path.lstat().st_mode & 0o222 or not os.access(path, os.W_OK):
                found.append(name)
        folders.add(path.parent)
    found += [str(folder) for folder in sorted(folders) if folder.is_dir() and not os.access(folder, os.W_OK)]
    if found:
        more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
        raise FailureError(f"{root / found[0]}{more} is read-only; nothing was changed. Make the site writable first")


def check_inside(root: Path, paths: Iterable[str]) -> None:
    """Raise FailureError if a path leads out of the folder by a symbolic link."""
    inside = root.resolve()
    for folder in {(root / name).parent for name in paths}:
        if not folder.resolve().is_relative_to(inside):
            raise FailureError(f"{folder} is a symbolic link out of {root}; nothing was changed. Remove the link first")
