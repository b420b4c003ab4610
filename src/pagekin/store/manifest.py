"""The folder of a store, which one build at a time writes, and `manifest.json`, the description of the store.

Each generation has its own folders. The manifest is written last; without it there is no store.
"""

import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pagekin.errors import FailureError, MisuseError, PagekinError, StoreError
from pagekin.model.capture import ReadingSettings
from pagekin.model.files import replacing, sync_folder
from pagekin.store.checks import check
from pagekin.store.columns import checksum, shard_name, sync

PathMapper: TypeAlias = Callable[[Callable[[Path], str], Iterable[Path]], Iterable[str]]

FORMAT = "pagekin store"
VERSION = 3
READER = 6  # increased when the same bytes are read differently
NAME = "manifest.json"
SPOOL = "unfinished"
SITE = "site.json"  # what `pagekin site` keeps beside the index of a site
_MOST = 1 << 53  # of any count; what JSON numbers hold exactly
_OURS = {NAME, f"{NAME}.new", "lock", SPOOL, SITE}
_IN_SHARD = re.compile(r"shard-[0-9]{4}/")
_OWN = "checksum"  # of the manifest itself, computed with this entry empty
_COUNTS = ("pages", "hosts", "nodes", "outside", "aliases", "tokens", "words", "links", "html_bytes", "text_bytes")


@dataclass(frozen=True)
class Manifest:
    """What a store holds and how it was built."""

    generation: int
    inputs: str  # the fingerprint of the sources
    settings: dict[str, Any]
    counts: dict[str, int]
    skipped: dict[str, int]
    files: dict[str, dict[str, Any]]  # name -> bytes and sha256
    index: dict[str, Any] | None = None  # generation, version, strategy and files of the index
    reader: int = READER
    version: int = VERSION
    format: str = FORMAT

    @property
    def folder(self) -> str:
        return f"store-{self.generation}"

    @property
    def index_folder(self) -> str:
        assert self.index is not None
        return f"index-{self.index['generation']}"

    @property
    def folders(self) -> tuple[str, ...]:
        return (self.folder,) if self.index is None else (self.folder, self.index_folder)

    @property
    def shards(self) -> int:
        """The number of shards that the columns of pages are divided into."""
        return len({name.partition("/")[0] for name in self.files if "/" in name}) or 1

    def has_column(self, name: str) -> bool:
        """Whether the index has a column, whole or in shards."""
        files = {} if self.index is None else self.index["files"]
        return f"{name}.npy" in files or f"{shard_name(0)}/{name}.npy" in files

    def all_files(self) -> dict[str, dict[str, Any]]:
        """Every file of the store and its index, by path inside the store."""
        files = {f"{self.folder}/{name}": facts for name, facts in self.files.items()}
        if self.index is not None:
            files |= {f"{self.index_folder}/{name}": facts for name, facts in self.index["files"].items()}
        return files


def describe_files(folder: Path, mapper: PathMapper = map, known: Container[str] = ()) -> dict[str, dict[str, Any]]:
    """Size and checksum of every file of a folder, except those that are known.

    `mapper` is like `map`, but may work on several at a time.
    """
    paths = [path for path in files_of(folder) if path not in known]
    described = zip(paths, mapper(checksum, (folder / path for path in paths)), strict=True)
    return {path: {"bytes": (folder / path).stat().st_size, "sha256": digest} for path, digest in described}


def files_of(folder: Path) -> list[str]:
    """The files of a folder and of the shards in it, as paths inside the folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def write_manifest(root: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step, which replaces the old generation by the new one.

    All files of the new generation are on the disk before, and the manifest is when this ends.
    """
    sync(root / manifest.folder)
    if manifest.index is not None:
        sync(root / manifest.index_folder)
    sync_folder(root.parent)  # the folder of the store may be new
    facts = asdict(manifest) | {_OWN: ""}
    text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    text = text.replace(f'"{_OWN}": ""', f'"{_OWN}": "{_digest(text)}"')
    try:
        with replacing(root / NAME) as path:
            path.write_text(text, "utf-8", newline="\n")
    except OSError as error:
        if (root / NAME).exists() and (root / NAME).read_text("utf-8") == text:  # it was renamed, but not synced
            reason = f"{error.strerror or error}; it could be lost in a power failure. Build again"
            raise StoreError(f"the new index of {root} is in place, but not safely on the disk: {reason}") from error
        raise


def read_manifest(root: Path) -> Manifest:
    """Read the manifest of a store; raise an error that says why if it cannot be read.

    What the disk or the system is to blame for is a FailureError, but no StoreError: a build replaces a damaged store,
    but not one that cannot be read at the moment.
    """
    if not root.is_dir():
        raise MisuseError(f"{root} is no store: there is no such folder; run `pagekin build SOURCE -o {root}`")
    path = root / NAME
    if not path.exists():
        raise MisuseError(f"{root} is no store, or its build did not finish; run `pagekin build SOURCE -o {root}`")
    try:
        text = path.read_text("utf-8")
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise MisuseError(f"{path} belongs to another program ({data['format']!r}); name another folder")
        if data["version"] != VERSION:
            raise StoreError(
                f"{root} has format version {data['version']}, this pagekin reads version {VERSION}; "
                f"build it again, or install the pagekin that built it"
            )
        own = data.pop(_OWN)
        check(own == _digest(text.replace(own, "")), path, "it does not match its own checksum")
        manifest = Manifest(**data)
        _validate(manifest)
        return manifest
    except OSError as error:
        raise FailureError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"{path} is damaged ({error!r}); build the store again") from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _validate(manifest: Manifest) -> None:
    """Raise ValueError, or now what missing or wrong entries would raise later."""
    index: dict[str, Any] = manifest.index or {"files": {}, "generation": 0, "version": 0}
    for name, facts in (*manifest.files.items(), *index["files"].items()):
        own = name[name.find("/") + 1 :] if _IN_SHARD.match(name) else name
        _expect(Path(own).name == own and own not in ("", ".", ".."), f"a file {name!r}")
        _expect(type(facts["sha256"]) is str, f"{name} has no checksum")
        _expect_number(facts["bytes"], f"bytes of {name}")
    for name in _COUNTS:
        _expect_number(manifest.counts[name], name)
    for name, count in (*manifest.counts.items(), *manifest.skipped.items()):
        _expect_number(count, name)
    for value, name in ((manifest.generation, "generation"), (index["generation"], "index"), (index["version"], "")):
        _expect_number(value, name)
    _expect(type(manifest.inputs) is str, "inputs are no text")
    if manifest.index is not None:
        _expect(isinstance(index["strategy"], dict), "the strategy is no table")
        _expect_number(index.get("answers", 0), "answers")
        numbers = (index["blend"]["chance"], *index["blend"]["scales"].values())
        _expect(all(type(each) in (int, float) and math.isfinite(each) for each in numbers), "a scale is no number")
        for facts in (index["duplicates"], index.get("vectors", {"sha256": ""})):
            for name, value in facts.items():
                _expect(name in ("settings", "sha256") or _is_number(value), name)
        _expect(isinstance(index["duplicates"]["settings"], dict), "the settings of duplicates are no table")
    try:
        ReadingSettings(**manifest.settings)
    except MisuseError as error:
        raise ValueError(str(error)) from error


def _expect(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _expect_number(value: Any, name: str) -> None:
    _expect(_is_number(value), f"{name}: {value!r}")


def damaged_files(
    root: Path, manifest: Manifest, is_wanted: Callable[[str], bool] = lambda _: True
) -> list[tuple[str, str]]:
    """(file, problem) for every file, of those that are wanted, that differs from its description in the manifest."""
    damaged = []
    for name, facts in sorted(manifest.all_files().items()):
        if not is_wanted(name):
            continue
        path = root / name
        if not path.is_file():
            damaged.append((name, "is missing"))
        elif path.stat().st_size != facts["bytes"]:
            damaged.append((name, f"has {path.stat().st_size} bytes where it should have {facts['bytes']}"))
        elif checksum(path) != facts["sha256"]:
            damaged.append((name, "does not match its checksum"))
    return damaged


def check_folder(root: Path) -> None:
    """Raise MisuseError if this is a file, or a folder that holds other files than those of a store."""
    if root.exists() and not root.is_dir():
        raise MisuseError(f"{root} is a file; name a folder for the store, such as my.kin")
    if root.is_dir() and not (root / NAME).exists():
        found = {path.name for path in root.iterdir() if not path.name.startswith(("store-", "index-"))}
        if others := sorted(found - _OURS):
            raise MisuseError(f"{root} holds other files ({others[0]}); name a new folder for the store")


@contextmanager
def locked_folder(root: Path) -> Iterator[None]:
    """Create the folder of a store and hold its lock, which the system releases when the process ends.

    Raise MisuseError if the folder holds other files, StoreError if another build holds the lock.
    """
    check_folder(root)
    root.mkdir(parents=True, exist_ok=True)
    with (root / "lock").open("a+b") as file:
        try:
            _lock(file.fileno())
        except (BlockingIOError, PermissionError) as error:  # as POSIX and Windows say it
            raise StoreError(f"another build is writing {root}; wait until it ends") from error
        except OSError as error:  # some network file systems have no locks
            problem = f"{root / 'lock'} cannot be locked: {error.strerror or error}"
            raise StoreError(f"{problem}; build on a file system with locks and copy the store") from error
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
    """The number of the next generation: one more than that of the store and its index, or of any in its folder."""
    try:
        manifest = read_manifest(root)
        return max(manifest.generation, int((manifest.index or {}).get("generation", 0))) + 1
    except (StoreError, MisuseError):
        numbers = [path.name.removeprefix("store-") for path in root.glob("store-*")]
        return max((int(number) for number in numbers if number.isdecimal()), default=0) + 1


def pages_before(root: Path) -> int:
    """The number of pages of the present store; 0 if there is none that can be read."""
    try:
        return read_manifest(root).counts["pages"]
    except (StoreError, MisuseError):
        return 0


@contextmanager
def new_generation(folder: Path) -> Iterator[Path]:
    """A new folder for a generation, which is removed at once if it does not become the present one."""
    _remove(folder)
    folder.mkdir()
    try:
        yield folder
    except BaseException:
        with suppress(PagekinError, OSError):
            manifest = read_manifest(folder.parent) if (folder.parent / NAME).exists() else None
            if manifest is None or folder.name not in manifest.folders:
                _remove(folder)
        raise


def remove_old(root: Path, manifest: Manifest) -> None:
    """Remove other generations. One that is still open elsewhere may stay; the next build tries again.

    The manifest may be that of a build that was killed. It is on the disk before anything is removed.
    """
    try:
        sync_folder(root)
    except OSError:
        return
    for folder in (*root.glob("store-*"), *root.glob("index-*")):
        if folder.name not in manifest.folders:
            _remove(folder)


def _remove(folder: Path) -> None:
    import shutil  # takes longer than a query

    shutil.rmtree(folder, ignore_errors=True)
