"""`manifest.json`: what a store is, written last, by which alone a store exists."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pagekin.errors import MisuseError, StoreError
from pagekin.model.mapper import Mapper
from pagekin.model.settings import ReadingSettings
from pagekin.store.columns import checksum, demand, sync

FORMAT = "pagekin store"
VERSION = 2
READER = 2  # goes up when reading the same bytes gives another result
NAME = "manifest.json"
_OWN = "checksum"  # of the manifest itself, with nothing in its place
_COUNTS = ("pages", "hosts", "nodes", "outside", "aliases", "tokens", "words", "links", "html_bytes", "text_bytes")


@dataclass(frozen=True)
class Manifest:
    """What a store holds and how it was made."""

    generation: int
    inputs: str  # the fingerprint of the sources
    settings: dict[str, Any]
    counts: dict[str, int]
    skipped: dict[str, int]
    files: dict[str, dict[str, Any]]  # name -> bytes and sha256
    index: dict[str, Any] | None = None  # of the index: generation, version, strategy, files
    reader: int = READER
    version: int = VERSION
    format: str = FORMAT

    @property
    def folder(self) -> str:
        """The folder of this generation's files, inside the store."""
        return folder_of(self.generation)

    @property
    def index_folder(self) -> str:
        """The folder of the index."""
        assert self.index is not None
        return f"index-{self.index['generation']}"

    def all_files(self) -> dict[str, dict[str, Any]]:
        """Every file of the store and of its index, by its path in the store."""
        files = {f"{self.folder}/{name}": facts for name, facts in self.files.items()}
        if self.index is not None:
            files |= {f"{self.index_folder}/{name}": facts for name, facts in self.index["files"].items()}
        return files


def folder_of(generation: int) -> str:
    """The folder of a generation."""
    return f"store-{generation}"


def describe_files(folder: Path, mapper: Mapper = map) -> dict[str, dict[str, Any]]:
    """Size and checksum of every file of a generation; `mapper` is like `map`, but may look at several at a time."""
    paths = sorted(folder.iterdir())
    checksums = mapper(checksum, paths)
    return {
        path.name: {"bytes": path.stat().st_size, "sha256": sum} for path, sum in zip(paths, checksums, strict=True)
    }


def write_manifest(root: Path, manifest: Manifest) -> None:
    """Put the manifest in place in one step: before it the old store holds, after it the new one."""
    sync(root / manifest.folder)
    if manifest.index is not None:
        sync(root / manifest.index_folder)
    temporary = root / f"{NAME}.new"
    facts = asdict(manifest) | {_OWN: ""}
    text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    with temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text.replace(f'"{_OWN}": ""', f'"{_OWN}": "{_digest(text)}"'))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(root / NAME)


def read_manifest(root: Path) -> Manifest:
    """The manifest of a store, or a sentence on why there is none that we can read."""
    if not root.is_dir():
        raise MisuseError(f"{root} is no store: there is no such folder; `pagekin build SOURCE -o {root}` makes one")
    path = root / NAME
    if not path.exists():
        raise MisuseError(f"{root} is no store, or its build never ended; `pagekin build SOURCE -o {root}` makes one")
    try:
        text = path.read_text("utf-8")
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise MisuseError(f"{path} is of another program ({data['format']!r})")
        if data["version"] != VERSION:
            raise StoreError(
                f"{root} has format version {data['version']}, this pagekin reads version {VERSION}; "
                f"build it again, or install the pagekin that made it"
            )
        own = data.pop(_OWN)
        demand(own == _digest(text.replace(own, "")), path, "it does not match its own checksum")
        manifest = Manifest(**data)
        _check(manifest)
        return manifest
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path} is damaged ({error!r}); build the store again") from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _check(manifest: Manifest) -> None:
    """Raise what a manifest with missing or wrong entries would raise later."""
    for facts in manifest.all_files().values():
        int(facts["bytes"]), str(facts["sha256"])
    for name in _COUNTS:
        int(manifest.counts[name])
    ReadingSettings(**manifest.settings)


def next_generation(root: Path) -> int:
    """The number of the generation to write: one more than that of the store, or than any that lies there."""
    try:
        return read_manifest(root).generation + 1
    except (StoreError, MisuseError):
        numbers = [path.name.removeprefix("store-") for path in root.glob("store-*")]
        return max((int(number) for number in numbers if number.isdecimal()), default=0) + 1


def damaged_files(root: Path, manifest: Manifest) -> list[tuple[str, str]]:
    """(file, what is wrong with it) for every file that is not what the manifest says."""
    return differing_files(root, manifest.all_files())


def differing_files(folder: Path, files: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """(file, what is wrong with it) for every file of a folder that is not as described."""
    wrong = []
    for name, facts in sorted(files.items()):
        path = folder / name
        if not path.is_file():
            wrong.append((name, "is missing"))
        elif path.stat().st_size != facts["bytes"]:
            wrong.append((name, f"has {path.stat().st_size} bytes where it should have {facts['bytes']}"))
        elif checksum(path) != facts["sha256"]:
            wrong.append((name, "does not match its checksum"))
    return wrong
