"""Power failures: every moment of builds and exports at which the machine could stop.

`python -m benchmarks.power_loss` records what a first build, a build with more sources, a killed build that is
continued, answers that are kept, an export and learned weights do to their files: writes, syncs, renames and removals.
After every prefix of these operations it makes the states that a disk may be in: what was synced is there; of the rest,
each write may be lost, torn or complete, and each change of a name done or not, in any combination. In every state
there must be the old or the new store with all of its bytes, and after the command has ended the new one. Some states
are written to a disk, and `pagekin check` and a further build run on them. Writes `results/power_loss.json`; the exit
code is 1 if a state is bad.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from click.testing import CliRunner

import pagekin
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.cli.main import cli
from pagekin.errors import MisuseError
from pagekin.model.projection import Projection
from pagekin.model.weighting import Learned, Network, load_weights, save_weights
from pagekin.pipeline import build, keep_answers
from tools.sample_web import write_folder

_HOSTS, _MORE = ("larder.example",), ("nightsky.example",)
_STATES = 1 if QUICK else 8  # drawn at random after each operation, besides the extreme ones
_ON_DISK = 2 if QUICK else 40  # states of each build that are written to a disk
_STORE = "test.kin"


class Operation(NamedTuple):
    """What happened to a path. A write has all bytes of the file, and the number of the file if it is new."""

    kind: str  # write, sync, rename, remove, folder, sync folder
    path: str
    file: int = 0
    data: bytes = b""
    target: str = ""


# --- recording -----------------------------------------------------------------------------------


class Recorder:
    """Records what this process does below a folder. SQLite writes by itself, so files are compared at each step."""

    def __init__(self, root: Path, stop_after: int = 0) -> None:
        self.operations: list[Operation] = []
        self._root, self._stop_after = root, stop_after
        self._seen: dict[int, tuple[int, int]] = {}  # by inode: time and size
        self._files = 0
        self._lock = threading.RLock()
        self._real = {name: getattr(os, name) for name in ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir")}
        self._look()
        self.operations.clear()  # what is there already is on the disk

    def start(self) -> None:
        for name in self._real:
            setattr(os, name, getattr(self, f"_{name}"))

    def _add(self, operation: Operation) -> None:
        self.operations.append(operation)
        if self._stop_after and len(self.operations) >= self._stop_after:
            raise SystemExit  # as if killed: the child ends at once

    def _look(self) -> None:
        """Record the files that were written since the last step."""
        for folder, _, names in os.walk(self._root):
            for name in names:
                path = Path(folder) / name
                try:
                    status = path.stat()
                except FileNotFoundError:
                    continue
                key = (status.st_mtime_ns, status.st_size)
                if self._seen.get(status.st_ino) != key:
                    new = status.st_ino not in self._seen
                    self._files += new
                    number = os.getpid() << 32 | self._files if new else 0
                    self._seen[status.st_ino] = key
                    self.operations.append(Operation("write", str(path), number, path.read_bytes()))

    def _step(self, operation: Operation, work: Callable[[], Any]) -> Any:
        with self._lock:
            self._look()
            result = work()
            if operation.path.startswith(str(self._root)):
                self._add(operation)
            return result

    def _path(self, path: Any, folder: int | None) -> str:
        name = os.fsdecode(path)
        return str(Path("" if folder is None else Path(f"/proc/self/fd/{folder}").readlink(), name).absolute())

    def _forget(self, path: str) -> None:
        """A removed file: its inode may come again, and is another file then."""
        with suppress(FileNotFoundError):
            self._seen.pop(Path(path).stat().st_ino, None)

    def _fsync(self, descriptor: Any) -> None:
        number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        path = Path(f"/proc/self/fd/{number}").readlink()
        kind = "sync folder" if path.is_dir() else "sync"
        self._step(Operation(kind, str(path)), lambda: None)  # really waiting is not needed

    def _replace(self, source: Any, target: Any, **named: Any) -> None:
        paths = self._path(source, None), self._path(target, None)

        def rename() -> None:
            self._forget(paths[1])
            self._real["replace"](source, target)

        self._step(Operation("rename", paths[0], target=paths[1]), rename)

    _rename = _replace

    def _unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        place = self._path(path, dir_fd)

        def remove() -> None:
            self._forget(place)
            self._real["unlink"](path, dir_fd=dir_fd)

        self._step(Operation("remove", place), remove)

    def _rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        place = self._path(path, dir_fd)
        self._step(Operation("remove", place), lambda: self._real["rmdir"](path, dir_fd=dir_fd))

    def _mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        place = self._path(path, dir_fd)
        self._step(Operation("folder", place), lambda: self._real["mkdir"](path, mode))


def recorded(root: Path, work: Callable[[], object], log: Path, stop_after: int = 0) -> list[Operation]:
    """What some work does below a folder, in a child of this process; it is killed after some operations."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        recorder = Recorder(root, stop_after)
        code = 1
        try:
            recorder.start()
            work()
            recorder._look()
            code = 0
        except SystemExit:
            code = 0
        finally:
            log.write_bytes(pickle.dumps(recorder.operations))
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise RuntimeError("the work failed by itself")
    found: list[Operation] = pickle.loads(log.read_bytes())
    return found[:stop_after] if stop_after else found


# --- what a disk may hold ------------------------------------------------------------------------

Names = dict[str, int]  # path -> file; folders are 0


@dataclass
class Disk:
    """Names and bytes that are safe, and what is not yet: the bytes of files, and changes of names in order."""

    names: Names = field(default_factory=dict)
    safe: dict[int, bytes] = field(default_factory=dict)
    latest: dict[int, bytes] = field(default_factory=dict)
    pending: list[Operation] = field(default_factory=list)
    current: Names = field(default_factory=dict)  # as the programs see it
    top: str = "/"  # what is in this folder may be lost

    @classmethod
    def of(cls, root: Path) -> Disk:
        """The disk as it is, all of it safe."""
        disk = cls(top=f"{root}/")
        for path in sorted(root.rglob("*")):
            disk.names[str(path)] = 0 if path.is_dir() else path.stat().st_ino
            if path.is_file():
                disk.safe[path.stat().st_ino] = path.read_bytes()
        disk.latest, disk.current = dict(disk.safe), dict(disk.names)
        return disk

    def apply(self, operation: Operation) -> None:
        if operation.kind == "write":
            if operation.file:
                self._name(Operation("create", operation.path, operation.file))
            self.latest[self.current[operation.path]] = operation.data
        elif operation.kind == "sync":
            file = self.current[operation.path]
            self.safe[file] = self.latest[file]
        elif operation.kind == "sync folder":
            for each in self.pending:
                if folder_of(each.path) == operation.path:
                    changed(self.names, each)
            self.pending = [each for each in self.pending if folder_of(each.path) != operation.path]
        elif operation.kind == "rename":
            file = self.current.get(operation.path, 0)
            self._name(operation._replace(file=file))
        else:
            self._name(operation)

    def _name(self, operation: Operation) -> None:
        self.pending.append(operation)
        changed(self.current, operation)

    def states(self, dice: random.Random, count: int) -> Iterator[dict[str, bytes]]:
        """The files that may be there after a failure now: nothing or all of what is not safe, and some mixtures."""
        for share in (0.0, 1.0, *(dice.random() for _ in range(count))):
            names = dict(self.names)
            for each in self.pending:
                if dice.random() < share:
                    changed(names, each)
            yield {
                path: self._bytes(file, dice, share)
                for path, file in names.items()
                if file and all(each in names for each in folders_of(path, self.top))
            }

    def _bytes(self, file: int, dice: random.Random, share: float) -> bytes:
        before, after = self.safe.get(file, b""), self.latest.get(file, b"")
        if before == after or dice.random() < share:
            return after
        if dice.random() < 0.5:
            return before
        at = dice.randrange(len(after) + 1)
        return dice.choice([after[:at], after[:at] + bytes(len(after) - at), before[:at] + after[at:]])


@cache
def folders_of(path: str, top: str) -> list[str]:
    """The folders that a path is in, below `top`."""
    return [str(each) for each in Path(path).parents if str(each).startswith(top)]


@cache
def folder_of(path: str) -> str:
    return str(Path(path).parent)


def changed(names: Names, operation: Operation) -> None:
    """Change names as an operation does."""
    if operation.kind == "create":
        names[operation.path] = operation.file
    elif operation.kind == "folder":
        names[operation.path] = 0
    elif operation.kind == "rename":
        names.pop(operation.path, None)
        names[operation.target] = operation.file
    elif operation.kind == "remove" and not any(each.startswith(operation.path + "/") for each in names):
        names.pop(operation.path, None)


# --- what must be there --------------------------------------------------------------------------


def store_in(files: dict[str, bytes], root: str) -> dict[str, bytes] | None:
    """The manifest and every file that it names; None if there is no store."""
    text = files.get(f"{root}/manifest.json")
    if text is None:
        return None
    names = named_in(text)
    return {"manifest.json": text, **{name: files.get(f"{root}/{name}", b"") for name in names}}


@cache
def named_in(text: bytes) -> list[str]:
    """The files that a manifest names; none if it is torn."""
    try:
        manifest = json.loads(text)
    except ValueError:
        return []
    parts = {f"store-{manifest['generation']}": manifest["files"]}
    parts[f"index-{manifest['index']['generation']}"] = manifest["index"]["files"]
    return [f"{folder}/{name}" for folder, inside in parts.items() for name in inside]


@dataclass
class Tally:
    """States by scene, and those that are bad."""

    states: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    on_disk: int = 0


class Replay:
    """All prefixes of the operations of a scene."""

    def __init__(self, name: str, root: Path, tally: Tally, seed: int) -> None:
        self.name, self.root, self.tally, self.dice = name, str(root), tally, random.Random(f"{seed} {name}")
        self.examples: list[dict[str, bytes]] = []

    def run(self, disk: Disk, operations: list[Operation], good: list[Any], look: Callable[..., Any]) -> None:
        """`look` finds the result in a state; before the end it is one of `good`, at the end the last of them."""
        for number, operation in enumerate([*operations, None]):
            if operation is not None:
                disk.apply(operation)
            expected = good if operation is not None else good[-1:]
            for state in disk.states(self.dice, _STATES):
                self.tally.states[self.name] += 1
                if look(state, self.root) not in expected:
                    last = f"{operation.kind} {operation.path}" if operation else "the end"
                    self.tally.bad.append(f"{self.name}: after operation {number}, {last}")
                elif self.dice.random() < _ON_DISK / (3 * len(operations)):
                    self.examples.append(state)


def put(files: dict[str, bytes], root: Path) -> None:
    """Write a state to the disk."""
    shutil.rmtree(root, ignore_errors=True)
    for path, data in files.items():
        place = Path(path)
        if place.is_relative_to(root):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


# --- the scenes ----------------------------------------------------------------------------------


def campaign(seed: int = 1) -> Tally:
    """All scenes."""
    tally = Tally()
    disk = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=disk) as place:
        home = Path(place)
        web, more = write_folder(home / "web", _HOSTS), write_folder(home / "more", _MORE)

        def grow(root: Path, *sources: Path) -> None:
            build(sources, root, base_urls=["http://"], processes=1, answers=2)

        first, second = home / "built" / _STORE, home / "grown" / _STORE
        for each in (first, second):
            each.parent.mkdir()
        grow(first, web)  # also loads what a build loads
        shutil.copytree(first, second)
        grow(second, web, more)
        old, new = _on_disk(first), _on_disk(second)
        log, work = home / "log", home / "work"
        root = work / _STORE

        def prepare(before: Path | None) -> Disk:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            if before is not None:
                shutil.copytree(before, root)
            return Disk.of(home)

        scene = Replay("first build", root, tally, seed)
        scene.run(prepare(None), recorded(work, lambda: grow(root, web), log), [None, old], store_in)
        _try(scene, root, lambda: grow(root, web), tally)
        scene = Replay("build with more sources", root, tally, seed)
        begun = prepare(first)
        operations = recorded(work, lambda: grow(root, web, more), log)
        scene.run(begun, operations, [old, new], store_in)
        _try(scene, root, lambda: grow(root, web, more), tally)
        dice = random.Random(seed)
        near_end = [len(operations) - each for each in ((3,) if QUICK else (1, 2, 3, 20, 60))]
        for stop in (*near_end, *(dice.randrange(10, len(operations)) for _ in range(0 if QUICK else 4))):
            scene = Replay("killed and continued", root, tally, seed + stop)
            begun = prepare(first)
            for operation in recorded(work, lambda: grow(root, web, more), log, stop):
                begun.apply(operation)
            again = recorded(work, lambda: grow(root, web, more), log)
            scene.run(begun, again, [old, new], store_in)
        kept = Path(shutil.copytree(first, home / "kept" / _STORE))
        keep_answers(kept, 3)
        scene = Replay("answers", root, tally, seed)
        begun = prepare(first)
        operations = recorded(work, lambda: keep_answers(root, 3), log)
        scene.run(begun, operations, [old, _on_disk(kept)], store_in)
        _export(home, first, tally, seed, log)
        _weights(home, tally, seed, log)
    return tally


def _on_disk(root: Path) -> dict[str, bytes] | None:
    files = {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return store_in(files, str(root))


def _try(scene: Replay, root: Path, again: Callable[[], None], tally: Tally) -> None:
    """Write some of the states to the disk; check them, build again, and check that."""
    for state in scene.examples[:_ON_DISK]:
        put(state, root)
        tally.on_disk += 1
        exists = (root / "manifest.json").exists()
        checked = [CliRunner().invoke(cli, ["check", str(root)]).exit_code if exists else 0]
        again()
        checked.append(CliRunner().invoke(cli, ["check", str(root)]).exit_code)
        if checked != [0, 0]:
            tally.bad.append(f"{scene.name}: on the disk, `check` ends with {checked}")


def _export(home: Path, store: Path, tally: Tally, seed: int, log: Path) -> None:
    """An export over an older one: the file is the old or the new one, and at the end the new one."""
    folder = home / "exported"
    folder.mkdir()
    target = folder / "answers.tsv"
    target.write_bytes(b"old")
    disk = Disk.of(home)

    def export() -> None:
        with pagekin.open(store) as collection:
            collection.export(target)

    operations = recorded(folder, export, log)
    scene = Replay("export", folder, tally, seed)
    scene.run(disk, operations, [b"old", target.read_bytes()], lambda files, root: files.get(f"{root}/answers.tsv"))


def _weights(home: Path, tally: Tally, seed: int, log: Path) -> None:
    """Learned weights with a projection over older ones: a state has one of both pairs, at the end the new one."""
    folder = home / "learned"
    folder.mkdir()
    path, flat = folder / "w.json", Network(0.0, 1.0, (), (), (), 1.0)
    pairs = [
        Learned(flat, flat, flat, {}, share, Projection(("oak",), np.full((1, 2), share, np.float32)))
        for share in (0.25, 0.5)
    ]
    save_weights(path, pairs[0])
    disk = Disk.of(home)

    def weights(root: Path) -> tuple[str, bytes] | str:
        try:
            found = load_weights(root / path.name)
        except MisuseError as error:
            return str(error)
        return found.as_text(), b"" if found.projection is None else found.projection.as_bytes()

    def look(files: dict[str, bytes], _: str) -> tuple[str, bytes] | str:
        put(files, folder)
        return weights(folder)

    old = weights(folder)
    operations = recorded(folder, lambda: save_weights(path, pairs[1]), log)
    Replay("learned weights", folder, tally, seed).run(disk, operations, [old, weights(folder)], look)


def figures_of(tally: Tally) -> list[Figure]:
    every = [Figure(f"states of: {name}", count) for name, count in tally.states.items()]
    bars = [Figure("states in all", tally.states.total(), at_least=1000), Figure("bad", len(tally.bad), at_most=0)]
    return [*every, Figure("states on a disk, checked and built again", tally.on_disk), *bars]


def main(seed: int = 1) -> int:
    """Run all scenes; how many states are bad."""
    tally = campaign(seed)
    print("power_loss")
    show(figures_of(tally))
    for each in tally.bad[:20]:
        print(f"  {each}")
    return len(tally.bad)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    tally = campaign(given.seed)
    print("power_loss")
    show(figures_of(tally))
    for each in tally.bad[:20]:
        print(f"  {each}")
    keep("power_loss", {"machine": facts(), "figures": kept(figures_of(tally)), "bad": tally.bad, "seed": given.seed})
    sys.exit(bool(tally.bad))
