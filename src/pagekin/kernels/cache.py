"""Where numba keeps compiled kernels: one folder per module, named by a digest of its sources.

It is in NUMBA_CACHE_DIR if that is set, else next to the sources, else (if that is not writable) in the cache directory
of the user. If no directory is writable, every process compiles the kernels again.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pagekin.kernels.digests import digest

_BESIDE_SOURCES = Path(__file__).parent / "__pycache__"


def cache_folder(function: Callable[..., Any]) -> Path | None:
    """The folder for the code of a kernel; none if nothing can be written."""
    source, root = Path(function.__code__.co_filename), _cache_root()
    return root and root / f"{source.stem}-{digest(source)}"


def remove_older(folder: Path) -> None:
    """Remove code that was compiled from older sources of a module. Next to the sources nothing else can need it."""
    if folder.parent != _BESIDE_SOURCES or folder.exists():
        return
    module, _, _ = folder.name.partition("-")
    for each in folder.parent.glob(f"{module}-*"):
        if each != folder:  # another process may just have created it
            shutil.rmtree(each, ignore_errors=True)


@cache
def _cache_root() -> Path | None:
    given = os.environ.get("NUMBA_CACHE_DIR")
    roots = [Path(given)] if given else []
    roots.append(_BESIDE_SOURCES)
    with suppress(RuntimeError):  # a user without a home directory
        roots.append(user_cache(sys.platform, os.environ))
    return first_writable(roots)


def user_cache(platform: str, environment: Mapping[str, str]) -> Path:
    """The cache directory of the user, by the conventions of the operating system."""
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "pagekin" / "Cache"
    if platform == "darwin":
        return Path.home() / "Library/Caches/pagekin"
    given = Path(environment.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "pagekin"


def first_writable(folders: Iterable[Path]) -> Path | None:
    """The first folder in which a file can be created. Permissions do not tell: disks are read-only, root is exempt."""
    for folder in folders:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None
