"""Hostile stores: files that were changed on purpose, and every command that reads them.

`python -m benchmarks.hostile --cases 10000` changes one file of a small store in each case: values, types, shapes and
offsets of columns, values of the catalogue and the manifest, batches of an unfinished build, learned projections, the
index and the state of a site. Of a store of three shards it also removes, exchanges and links pieces. In half of the
cases the checksums are those of the changed file. A child of this process, forked after everything is loaded, then runs
a command or asks a server. It must give an answer or one sentence. A signal, a traceback, or more than ten seconds of
processor time is a finding. Findings are printed with the number of the case, which `--case NUMBER` repeats; the exit
code is 1. Writes `results/hostile.json`.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import io
import json
import os
import random
import select
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

import numpy as np

from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.cli.main import main as run_pagekin
from pagekin.model.projection import SUFFIX, Projection
from pagekin.pipeline import build
from pagekin.site.options import SiteOptions
from pagekin.site.site import update_site
from pagekin.store.manifest import SITE
from tools.sample_web import write_folder, write_labels

CASES = 60 if QUICK else 500  # for a look
_HOSTS = ("larder.example", "nightsky.example")
_MORE = ("skydiary.example",)
_SECONDS = 10  # of processor time
_PATIENCE = 120_000  # milliseconds; on a busy machine processor time passes slowly
_MEMORY = 6 << 30  # bytes of addresses
_TRACEBACK = 70  # exit code
_OF_DIVIDED = 0.6  # share of the cases that do not take files in turn
_LONGEST_HEADER = 20_000  # bytes; that of a piece of a column is long
_PAGE = "http://larder.example/"
_SWEEP = """store = "hostile.kin"
hierarchy = "labels.tsv"
resamples = 2
[[figure]]
title = "Windows"
grid = { window_width = [0] }
"""
_NETWORK = {"shift": 1.0, "scale": 0.2, "inner": [1.0], "bias": [0.0], "outer": [0.5], "last": 0.5}
_OUTSIDE = "<p>cheese and stars and oak <a href=x>y</a>"
_PATHS = (
    "/healthz",
    f"/api/related?page={_PAGE}&explain=true",
    f"/api/page?page={_PAGE}",
    "/api/search?q=cheese",
    "/",
    f"/page?url={_PAGE}",
    "/metrics",
)

# What is run, and how often compared with the others: what takes long is run less often.
_STORE, _SITE, _DIVIDED = "hostile.kin", "site.kin", "divided.kin"
_BUILD = ("-o", _STORE, "--base-url", "http://", "--processes", "1")
COMMANDS: dict[str, tuple[int, tuple[str, ...]]] = {
    "info": (4, ("info", _STORE)),
    "check": (3, ("check", _STORE)),
    "show": (6, ("show", _STORE, _PAGE)),
    "search": (3, ("search", _STORE, "cheese", "stars")),
    "show --text": (3, ("show", _STORE, "http://nightsky.example/", "--text")),
    "related": (10, ("related", _STORE, _PAGE)),
    "related, two pages": (6, ("related", _STORE, _PAGE, "http://nightsky.example/", "--min-similarity", "0")),
    "related --limit": (5, ("related", _STORE, _PAGE, "--limit", "2")),  # of kept answers
    "related --html": (5, ("related", _STORE, "--html", "outside.html")),
    "related --similarity okapi": (4, ("related", _STORE, _PAGE, "--similarity", "okapi", "--min-similarity", "0")),
    "related --weights": (4, ("related", _STORE, _PAGE, "--similarity", "linklearn", "--weights", "w.json")),
    "related --links": (3, ("related", _STORE, _PAGE, "--links", "auto")),
    "export": (4, ("export", _STORE, "-o", "out.tsv")),
    "gaps": (3, ("gaps", _STORE, "-o", "out.csv")),
    "answers": (2, ("answers", _STORE, "--limit", "3")),
    "duplicates": (4, ("duplicates", _STORE)),
    "duplicates --chunk-size": (4, ("duplicates", _STORE, "--chunk-size", "128", "--link-weight", "0.3")),
    "cluster": (4, ("cluster", _STORE, _PAGE)),
    "cluster --cross-topic": (2, ("cluster", _STORE, "--cross-topic")),
    "graph": (4, ("graph", _STORE, "-o", "out.csv")),
    "evaluate": (4, ("evaluate", _STORE, "--hierarchy", "labels.tsv", "--resamples", "2", "--threads", "1")),
    "evaluate --strategy": (
        5,
        ("evaluate", _STORE, "--hierarchy", "labels.tsv", "--strategy", "paper", "--resamples", "2", "--threads", "1"),
    ),
    "evaluate --see-also": (1, ("evaluate", _STORE, "--see-also", "--resamples", "2", "--threads", "1")),
    "sweep": (2, ("sweep", "sweep.toml", "-o", "swept", "--threads", "1")),
    "tune": (1, ("tune", _STORE, "--hierarchy", "labels.tsv", "--resamples", "2", "--folds", "2")),
    "learn": (1, ("learn", _STORE, "-o", "learned.json", "--steps", "20", "--units", "1,1,1")),
    "build, nothing new": (3, ("build", "web", *_BUILD)),
    "build --strategy": (1, ("build", "web", *_BUILD, "--vectors", "v.npy", "--strategy", "text-only")),
    "build, more sources": (2, ("build", "web", "more", *_BUILD, "--vectors", "v.npy")),
    "site": (1, ("site", "site", "--inject", "--at", "body", "--index", _SITE, "--processes", "1")),
    "serve": (5, ("serve", _STORE)),
    "mcp": (3, ("mcp", _STORE)),
}


@dataclass(frozen=True)
class Outcome:
    """How a command ended: answered, refused with a sentence, or a finding."""

    kind: str  # answered, refused, signal, traceback, hang
    said: str = ""

    @property
    def is_finding(self) -> bool:
        return self.kind not in ("answered", "refused")


# --- the store that is changed -------------------------------------------------------------------


class Scene:
    """A folder with a store, its sources, labels and learned weights; every case works on a copy."""

    def __init__(self, home: Path) -> None:
        self.whole, self.work = home / "whole", home / "work"
        self.whole.mkdir()
        web = write_folder(self.whole / "web", _HOSTS)
        write_folder(self.whole / "more", _MORE)
        write_labels(self.whole)
        (self.whole / "outside.html").write_text(_OUTSIDE, "utf-8")
        (self.whole / "sweep.toml").write_text(_SWEEP, "utf-8")
        store = self.whole / _STORE
        urls = list(build([web], store, base_urls=["http://"], processes=1).store.reading.pages.url)
        np.save(self.whole / "v.npy", np.random.default_rng(1).standard_normal((len(urls), 8)))
        (self.whole / "v.urls").write_text("\n".join(urls), "utf-8")
        built = build([web], store, base_urls=["http://"], vectors=self.whole / "v.npy", processes=1, answers=2)
        divided = self.whole / _DIVIDED
        build([web], divided, base_urls=["http://"], vectors=self.whole / "v.npy", processes=1, answers=2, shards=3)
        _write_weights(self.whole, list(built.store.words)[:20])
        self._spool()
        site, options = write_folder(self.whole / "site", _HOSTS[:1]), SiteOptions(at="body")
        update_site(site, options, index=self.whole / _SITE, inject=True, processes=1)
        self.files, self.site_files = _files_of(store), _files_of(self.whole / _SITE)
        self.divided_files = _files_of(divided)

    def _spool(self) -> None:
        """Batches as a build leaves them that is stopped after reading."""
        place = self.whole / "stopped.kin"
        stopped = patch("pagekin.pipeline.reading.select_pages", side_effect=InterruptedError)
        with stopped, patch("pagekin.pipeline.reading._READ_AGAIN", 0), suppress(Exception):
            build([self.whole / "web", self.whole / "more"], place, base_urls=["http://"], processes=1)
        (place / "unfinished").rename(self.whole / _STORE / "unfinished")
        shutil.rmtree(place)

    def copy(self, divided: bool = False) -> Path:
        """A new copy, of links to files; whoever changes a file replaces it. Returns its store, or that of shards."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.whole, self.work, copy_function=os.link)
        if divided:
            shutil.rmtree(self.work / _STORE)
            (self.work / _DIVIDED).rename(self.work / _STORE)
        return self.work / _STORE


def _files_of(store: Path) -> list[Path]:
    files = sorted(path.relative_to(store) for path in store.rglob("*") if path.is_file())
    return [path for path in files if path.name != "lock"]


def _write_weights(folder: Path, terms: list[str]) -> None:
    matrix = np.random.default_rng(2).standard_normal((len(terms), 4)).astype(np.float32)
    data = Projection(tuple(terms), matrix).as_bytes()
    (folder / f"w.json{SUFFIX}").write_bytes(data)
    weights = {"format": "pagekin weighting", "version": 2, "kind": "linklearn", "link_share": 0.1}
    weights |= {"networks": dict.fromkeys(("tf", "idf", "length"), _NETWORK), "learned_from": {}}
    (folder / "w.json").write_text(json.dumps({**weights, "projection": hashlib.sha256(data).hexdigest()}), "utf-8")


def replace_file(path: Path, data: bytes) -> None:
    """Give a file other bytes, but not the file that it is linked with."""
    path.unlink()
    path.write_bytes(data)


# --- changes -------------------------------------------------------------------------------------


def changed_column(data: bytes, dice: random.Random) -> tuple[str, bytes]:
    """A column in a file with other values, another type or another shape."""
    array, start = np.load(io.BytesIO(data), max_header_size=_LONGEST_HEADER), 10 + int.from_bytes(data[8:10], "little")
    kind = dice.choice(["value"] * 5 + ["values", "order", "type", "shape", "bytes", "cut"])
    if kind == "cut":
        return kind, data[: dice.randrange(len(data))]
    if kind == "bytes":
        at = dice.randrange(len(data))
        return f"byte {at}", data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]
    if kind == "type":
        others = {1: "u1 i1 b1", 2: "u2 i2", 4: "u4 i4 f4", 8: "u8 i8 f8"}[array.dtype.itemsize].split()
        other = dice.choice([*others, "f4", "u8"])
        return f"type {other}", _packed(array.view(other) if other in others else array.astype(other), start)
    if kind == "shape":
        shapes = [array[:-1], array[: len(array) // 2], array[:0], np.concatenate([array, array[:1]])]
        shapes += [array.reshape(-1, 1) if array.ndim == 1 else array.reshape(-1), array[..., :-1]]
        return kind, _packed(np.ascontiguousarray(dice.choice(shapes)), start)
    array = array.copy()
    flat = array.reshape(-1)
    if not len(flat):
        return "empty", data
    if kind == "order":
        return kind, _packed(np.ascontiguousarray(array[::-1]), start)
    count = 1 if kind == "value" else dice.randint(2, 20)
    places = [dice.choice([0, len(flat) - 1, dice.randrange(len(flat))]) for _ in range(count)]
    with np.errstate(all="ignore"):
        for place in places:
            flat[place] = np.array(_value(flat, place, dice)).astype(array.dtype)
    return f"{kind} {flat[places[0]]} at {places[0]}", _packed(array, start)


def _value(flat: Any, place: int, dice: random.Random) -> Any:
    if flat.dtype.kind == "f":
        return dice.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 1e30, -1e30, 2.0])
    if flat.dtype.kind == "b":
        return not flat[place]
    limits = np.iinfo(flat.dtype)
    near = min(max(int(flat[place]) + dice.choice([-1, 1, 7]), limits.min), limits.max)
    return dice.choice([limits.max, limits.max - 1, limits.min, limits.max // 2, near, int(flat.max()), 0])


def _packed(array: Any, start: int = 0) -> bytes:
    """The file of an array, with a header of at least this length."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape or (1,)}
    )
    text = file.getvalue()[10:-1].ljust(start - 11) + b"\n"
    return file.getvalue()[:8] + len(text).to_bytes(2, "little") + text + bytes(array.tobytes())


def changed_shards(root: Path, dice: random.Random) -> str:
    """Remove, exchange or link pieces of a column, or whole shards."""
    shards = sorted(dice.choice([*root.glob("store-*"), *root.glob("index-*")]).glob("shard-*"))
    one, other = dice.sample(shards, 2)
    kind = dice.choice(["remove shard", "file for shard", "exchange shards", "remove", "exchange", "folder", "link"])
    if kind == "exchange shards":
        one.rename(one.parent / "between")
        other.rename(one)
        (one.parent / "between").rename(other)
    elif "shard" in kind:
        shutil.rmtree(one)
        if kind == "file for shard":
            one.write_bytes(b"")
    else:
        piece = dice.choice(sorted(one.iterdir()))
        data = piece.read_bytes()
        piece.unlink()
        if kind == "exchange":
            piece.write_bytes((other / piece.name).read_bytes())
            replace_file(other / piece.name, data)
        elif kind == "folder":
            piece.mkdir()
        elif kind == "link":
            piece.symlink_to(dice.choice([Path(os.devnull), Path("/dev/zero"), piece, one, other / piece.name]))
    return f"{one.relative_to(root)}, {kind}"


def changed_catalog(path: Path, dice: random.Random) -> str:
    """Change a value of a table, or a byte of the file."""
    data = path.read_bytes()
    if dice.random() < 0.3:
        at = dice.choice([dice.randrange(100), dice.randrange(len(data))])
        replace_file(path, data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :])
        return f"byte {at}"
    replace_file(path, data)
    with closing(sqlite3.connect(path)) as catalog:
        catalog.execute("PRAGMA synchronous = OFF")
        table = dice.choice(["nodes", "pages", "aliases", "skips", "redirects", "older"])
        columns = [row[1] for row in catalog.execute(f"PRAGMA table_info({table})")]
        column = dice.choice(columns)
        value = dice.choice(
            [-1, 0, 1, 2**31, 2**63 - 1, -(2**63), 0.5, "", "x", "\0", b"\xff\xfe", "http://a.example/"]
        )
        rows = dice.choice(["1", f"rowid = {dice.randint(0, 9)}"]) if table != "aliases" else "1"
        change = dice.choice([f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {rows}", f"DELETE FROM {table}"])
        with suppress(sqlite3.Error):
            catalog.execute(change, (value,) if "?" in change else ())
            catalog.commit()
    return f"{change} with {value!r}"


def changed_json(value: Any, dice: random.Random) -> tuple[str, Any]:
    """A JSON value with another leaf, or without one."""
    if isinstance(value, dict | list) and value and dice.random() < 0.95:
        key = dice.choice(list(value)) if isinstance(value, dict) else dice.randrange(len(value))
        if isinstance(value, dict) and dice.random() < 0.05:
            return f"without {key}", {each: kept for each, kept in value.items() if each != key}
        what, inner = changed_json(value[key], dice)
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        copy[key] = inner
        return f"{key}: {what}", copy
    other = dice.choice([None, -1, 0, 1, 2**31, 2**64, 1e308, "", "x", "../../etc", [], {}, [1], {"a": 1}, True])
    return repr(other), other


def changed_batch(data: bytes, dice: random.Random) -> tuple[str, bytes]:
    """A batch with another header or other columns, and in most cases the right checksum."""
    line, _, rest = data.partition(b"\n")
    columns, body = rest[:-32], bytearray(rest[:-32])
    what = "body"
    if dice.random() < 0.5:
        what, header = changed_json(json.loads(line), dice)
        line = json.dumps(header).encode().ljust(len(line))
    else:
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(columns) // 4) * 4
            body[at : at + 4] = dice.choice([b"\xff\xff\xff\xff", b"\xfe\xff\xff\xff", b"\0\0\0\x80", b"\0\0\0\0"])
    whole = line + b"\n" + bytes(body)
    digest = hashlib.sha256(whole).digest() if dice.random() < 0.9 else rest[-32:]
    return f"batch {what}", whole + digest


def changed_projection(folder: Path, dice: random.Random) -> str:
    """Change the numbers or the head of a projection; the weights name its checksum."""
    path = folder / f"w.json{SUFFIX}"
    head, _, numbers = path.read_bytes().partition(b"\n")
    what, floats = "numbers", np.frombuffer(numbers, np.float32).copy()
    if dice.random() < 0.5:
        floats[dice.randrange(len(floats))] = dice.choice([np.nan, np.inf, 1e30, -1e6])
    else:
        what, header = changed_json(json.loads(head), dice)
        head = json.dumps(header).encode()
    data = head + b"\n" + floats.tobytes()
    replace_file(path, data)
    weights = json.loads((folder / "w.json").read_text("utf-8"))
    weights["projection"] = hashlib.sha256(data).hexdigest()
    replace_file(folder / "w.json", json.dumps(weights).encode())
    return f"projection {what}"


def seal(root: Path, changed: Path | None, change: Callable[[Any], Any] = lambda facts: facts) -> None:
    """Write the manifest with the checksum of a changed file, another change, and its own checksum."""
    manifest = json.loads((root / "manifest.json").read_text("utf-8"))
    if changed is not None:
        data = (root / changed).read_bytes()
        part = manifest if changed.parts[0].startswith("store-") else manifest["index"]
        part["files"][Path(*changed.parts[1:]).as_posix()] = {
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
    manifest = change(manifest)
    if isinstance(manifest, dict):
        manifest["checksum"] = ""
    text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    replace_file(root / "manifest.json", text.replace('"checksum": ""', f'"checksum": "{digest}"').encode())


def change(scene: Scene, dice: random.Random, file: Path | None = None) -> tuple[str, str]:
    """Change a file of a new copy; (what was changed, "" or the command that this concerns)."""
    divided = file is None and dice.random() < _OF_DIVIDED
    root = scene.copy(divided)
    if divided and dice.random() < 0.3:
        return changed_shards(root, dice), ""
    if file is None and not divided and dice.random() < 0.03:
        return changed_projection(scene.work, dice), "related --weights"
    concerns = ""
    if file is None and not divided and dice.random() < 0.05:
        root, concerns = scene.work / _SITE, "site"
        # The state, or what a run reads that finds it useless.
        path = dice.choice([Path(SITE), *(dice.choice(scene.site_files) for _ in range(2))])
        if path.name == SITE or dice.random() < 0.8:
            what, state = changed_json(json.loads((root / SITE).read_text("utf-8")), dice)
            replace_file(root / SITE, json.dumps(state).encode())
        if path.name == SITE:
            return f"state of a site, {what}", concerns
    else:
        path = file or dice.choice(scene.divided_files if divided else scene.files)
    if path.name == "manifest.json":
        notes: list[str] = []

        def other(facts: Any) -> Any:
            what, facts = changed_json(facts, dice)
            notes.append(what)
            return facts

        seal(root, None, other)
        return f"manifest.json, {notes[0]}", concerns
    place = root / path
    if path.name.startswith("batch-"):
        what, data = changed_batch(place.read_bytes(), dice)
        replace_file(place, data)
        return what, "build, more sources"
    if path.suffix == ".sqlite":
        what = changed_catalog(place, dice)
    else:
        what, data = changed_column(place.read_bytes(), dice)
        replace_file(place, data)
    right = dice.random() < 0.5
    if right:
        seal(root, path)
    return f"{path}, {what}, checksums {'right' if right else 'wrong'}", concerns


# --- a case --------------------------------------------------------------------------------------


def case(scene: Scene, seed: int, number: int) -> tuple[str, str, Outcome]:
    """(what was changed, the command, how it ended)."""
    dice = random.Random(f"{seed} {number}")
    what, concerned = change(scene, dice, file_of(scene, number))
    weights = [weight for weight, _ in COMMANDS.values()]
    command = concerned or dice.choices(list(COMMANDS), weights)[0]
    return what, command, in_a_child(lambda: work(command), scene.work)


def file_of(scene: Scene, number: int) -> Path | None:
    """Two of three cases take the files in turn; None leaves it to chance, also whether it is a file of the store."""
    return scene.files[number * 2 // 3 % len(scene.files)] if number % 3 else None


def work(command: str) -> None:
    """Run a command as the shell does, or ask a server everything."""
    if command == "serve":
        ask_server(Path(_STORE))
    elif command == "mcp":
        ask_tools(Path(_STORE))
    else:
        sys.argv = ["pagekin", *COMMANDS[command][1]]
        run_pagekin()


def ask_server(store: Path) -> None:
    from starlette.testclient import TestClient

    from pagekin.serving.app import make_app
    from pagekin.serving.generations import CurrentGeneration
    from pagekin.serving.settings import ServerSettings

    with TestClient(make_app(CurrentGeneration(store), ServerSettings())) as client:
        for path in _PATHS:
            client.get(path)
        client.post("/api/related", json={"html": _OUTSIDE})


def ask_tools(store: Path) -> None:
    """Call the tools that assistants have."""
    from mcp.server.mcpserver.exceptions import ToolError

    from pagekin.integrations.mcp import CollectionTools, reporting_errors

    tools = CollectionTools(store)
    for tool, given in (
        (tools.find, ("cheese",)),
        (tools.related, (_PAGE,)),
        (tools.show, (_PAGE,)),
        (tools.gaps, ()),
        (tools.duplicates, ()),
    ):
        with suppress(ToolError):
            reporting_errors(tool)(*given)


def in_a_child(work: Callable[[], object], folder: Path) -> Outcome:
    """How some work ends in a child of this process, with little memory and time."""
    said = folder / "said"
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        end_with(work, folder, said)
    waiting = os.pidfd_open(child)
    poll = select.poll()
    poll.register(waiting, select.POLLIN)
    in_time = bool(poll.poll(_PATIENCE))
    if not in_time:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(waiting)
    return judged(code, said.read_text("utf-8", "replace") if said.exists() else "", in_time)


def end_with(work: Callable[[], object], folder: Path, said: Path, shown: Path = Path(os.devnull)) -> NoReturn:
    """In a child: do some work, and end with the exit code of a command that does it."""
    limit(folder, said, shown)
    code = _TRACEBACK
    try:
        work()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    except BaseException as error:
        from pagekin.errors import PagekinError

        code = error.exit_code if isinstance(error, PagekinError) else _TRACEBACK
        print(error if isinstance(error, PagekinError) else traceback.format_exc(), file=sys.stderr)
    finally:
        with suppress(BaseException):
            sys.stderr.flush()
        os._exit(code)


def limit(folder: Path, said: Path, shown: Path = Path(os.devnull)) -> None:
    """In a child: limit time and memory, and write errors and output to files."""
    import resource

    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    for descriptor, path in ((1, shown), (2, said)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(os.dup(k), "r" if k == 0 else "w") for k in range(3))


def judged(code: int, said: str, in_time: bool) -> Outcome:
    if not in_time or code == -signal.SIGXCPU:
        return Outcome("hang", said)
    if code < 0:
        return Outcome("signal", f"{signal.Signals(-code).name} {said}")
    if code == _TRACEBACK or "Traceback (most recent" in said:
        return Outcome("traceback", said)
    if code and not said.strip():
        return Outcome("refused", "a report on the standard output")
    return Outcome("refused" if code else "answered", said)


# --- all cases -----------------------------------------------------------------------------------


@contextmanager
def scene() -> Iterator[Scene]:
    """The store, with everything loaded that a command loads."""
    disk = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=disk) as place:
        made = Scene(Path(place))
        before = Path.cwd()
        load(made)
        os.chdir(before)
        gc.collect()
        gc.freeze()
        yield made


def load(made: Scene) -> None:
    """Run every command once in this process, on the whole store: children then have all modules and kernels."""
    for command in COMMANDS:
        made.copy()
        os.chdir(made.work)
        shown, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), io.StringIO(), io.StringIO()
        code: Any = 0
        try:
            work(command)
        except SystemExit as ended:
            code = ended.code
        finally:
            said = sys.stderr.getvalue()
            sys.stdout, sys.stderr = shown
        if code not in (0, None) and command != "evaluate --see-also":  # the sample web has no such sections
            raise RuntimeError(f"{command} fails on a store that nobody changed: {said}")


def campaign(made: Scene, numbers: Sequence[int], seed: int) -> tuple[Counter[str], Counter[str], list[str]]:
    """(outcomes, commands, findings)."""
    outcomes: Counter[str] = Counter()
    commands: Counter[str] = Counter()
    findings: list[str] = []
    for number in numbers:
        what, command, outcome = case(made, seed, number)
        outcomes[outcome.kind] += 1
        commands[command] += 1
        if outcome.is_finding:
            last = outcome.said.strip().splitlines()
            where = [line.strip() for line in last if line.startswith("  File") and "pagekin" in line][-1:]
            shown = " | ".join([*where, *last[-1:]])
            findings.append(f"case {number}: {what}; {command}: {outcome.kind}: {shown[-600:]}")
            print(findings[-1], flush=True)
    return outcomes, commands, findings


def figures_of(outcomes: Counter[str], commands: Counter[str]) -> list[Figure]:
    bars = [Figure(f"{kind}s", outcomes[kind], at_most=0) for kind in ("signal", "traceback", "hang")]
    told = [Figure("refused with a sentence", outcomes["refused"]), Figure("answered", outcomes["answered"])]
    return [Figure("cases", outcomes.total()), Figure("commands", len(commands)), *told, *bars]


def main(cases: int = CASES, seed: int = 1) -> int:
    """Run the given number of cases; return the number of findings."""
    with scene() as made:
        outcomes, commands, findings = campaign(made, range(cases), seed)
    print("hostile")
    show(figures_of(outcomes, commands))
    return len(findings)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="only this one, with all that it prints")
    given = parser.parse_args()
    with scene() as made:
        if given.case is not None:
            what, command, outcome = case(made, given.seed, given.case)
            print(what, command, outcome.kind, outcome.said, sep="\n")
            sys.exit(outcome.is_finding)
        outcomes, commands, findings = campaign(made, range(given.cases), given.seed)
    figures = figures_of(outcomes, commands)
    print("hostile")
    show(figures)
    result = {"machine": facts(), "figures": kept(figures), "commands": dict(commands), "found": findings}
    keep("hostile", {**result, "seed": given.seed})
    sys.exit(bool(findings))
