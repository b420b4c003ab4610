"""Killed builds: the old index still answers, and the next build continues.

`python -m benchmarks.kills --kills 300` kills builds of the sample web with SIGKILL, in each stage in turn, at a moment
of that stage that is drawn at random. After each kill the store that is there must be the old or the new one, whole
and with its answers; and the next build must make the bytes of one that was never killed. In turn with the stages, it
kills `export` and `learn`, which replace older files: these must be the old or the new ones, and those of the next run
the new ones. Prints how many kills were survived, by stage, and writes `results/kills.json`; a kill that was not
survived is told, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from click.testing import CliRunner

from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin import pipeline
from pagekin.cli.main import cli
from pagekin.errors import MisuseError
from pagekin.model.progress import Progress
from pagekin.model.strategy import Strategy
from pagekin.model.weighting import load_weights
from pagekin.search.indexed_store import IndexedStore
from pagekin.store import manifest as manifests
from pagekin.store.store import Store
from tools.sample_web import write_folder, write_warc

KILLS = 12 if QUICK else 40  # for a look
# For a look, a part of the sample web is enough: stages are the same, and a build takes a third of the time.
_HOSTS = ("larder.example", "nightsky.example", "treeroom.example", "mirror.example") if QUICK else ()
_BATCH_PAGES = 8 if QUICK else 40  # so that there are several batches
_AGAIN = 0.3  # the share of killed builds whose next build is killed, too
_OUTPUT_TURNS = 2 if QUICK else 6  # of export and of learn, for each turn of all stages
_OTHERS = 0.05  # the share of builds that read in two processes, of which one is killed
_SHORT = 0.02  # seconds; in a shorter stage a kill by the clock comes too late
_ASKED = ("http://larder.example/", "http://nightsky.example/", "http://treeroom.example/")
# Of these the pipeline does not report that they begin.
_UNREPORTED = {"write_manifest": "putting the manifest in place", "remove_old": "removing the old generation"}


Report = Callable[[str], None]


@dataclass
class Scene:
    """A build to be killed: what is there before it, and what there must be at the end."""

    name: str
    run: Callable[[Path, int, Report], None]
    before: Path | None
    after: Path
    seconds: dict[str, float] = field(default_factory=dict)  # by stage, of a build that nobody kills
    calls: Counter[str] = field(default_factory=Counter)  # of Python functions, by stage
    whole: list[dict[str, Any]] = field(default_factory=list)  # the states that a store may be in

    def prepare(self, scratch: Path) -> None:
        """Build it without a kill: once for the clock, once to count calls, which slows it down."""
        if self.before is not None:
            shutil.copytree(self.before, self.after)
            shutil.copytree(self.before, scratch)
        begins: list[tuple[str, float]] = []
        self.run(self.after, 1, lambda stage: begins.append((stage, time.perf_counter())))
        begins.append(("", time.perf_counter()))
        for (stage, begin), (_, end) in pairwise(begins):
            self.seconds[stage] = self.seconds.get(stage, 0.0) + end - begin
        stages = ["starting"]

        def count(*_: object) -> None:
            self.calls[stages[-1]] += 1

        sys.setprofile(count)
        self.run(scratch, 1, stages.append)
        sys.setprofile(None)
        shutil.rmtree(scratch)
        self.whole = [state(each) for each in (self.before, self.after) if each is not None]


def main(kills: int = KILLS, seed: int = 1) -> int:
    """Kill so many builds; how many kills were not survived."""
    if not hasattr(os, "fork"):
        print("kills: needs a system that can fork")
        return 0
    tried, survived = campaign(kills, seed)
    print("kills")
    show(summed(tried, survived))
    return tried.total() - survived.total()


def campaign(kills: int, seed: int) -> tuple[Counter[str], Counter[str]]:
    """(kills tried, kills survived) by stage."""
    dice = random.Random(seed)
    pipeline._JOB_PAGES, pipeline._READ_AGAIN = _BATCH_PAGES, 0
    tried: Counter[str] = Counter()
    survived: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        builds = [(scene, stage) for scene in scenes(home) for stage in scene.seconds]
        writers = [(output, output.name) for output in outputs(home) for _ in range(_OUTPUT_TURNS)]
        choices: list[tuple[Scene | Output, str]] = [*writers, *builds]
        number = 0
        while tried.total() < kills:
            scene, stage = choices[number % len(choices)]
            number += 1
            if isinstance(scene, Output):
                stages, complaint = output_ordeal(scene, home / "output", dice)
            else:
                stages, complaint = ordeal(scene, stage, home / "test.kin", dice)
            tried.update(stages)
            if complaint is None:
                survived.update(stages)
            else:
                print(f"  {scene.name}, killed while {', then '.join(stages)}: {complaint}")
    return tried, survived


def summed(tried: Counter[str], survived: Counter[str]) -> Iterator[Figure]:
    """Kills tried and survived, in all and by stage."""
    yield Figure("kills tried", tried.total())
    yield Figure("kills survived", survived.total(), at_least=tried.total())
    for stage, count in tried.items():
        yield Figure(f"survived in the stage {stage!r}", survived[stage], at_least=count)


# --- the builds that are killed ------------------------------------------------------------------


def scenes(home: Path) -> list[Scene]:
    """A first build, one with more sources, and one with another strategy."""
    folder, archive = write_folder(home / "web", _HOSTS), write_warc(home / "sample_web.warc.gz", _HOSTS)

    def build(sources: list[Path], **options: Any) -> Callable[[Path, int, Report], None]:
        def run(output: Path, processes: int, report: Report) -> None:
            told: list[str] = []

            def note(progress: Progress) -> None:
                if told[-1:] != [progress.stage]:
                    told.append(progress.stage)
                    report(progress.stage)

            with telling(report):
                pipeline.build(sources, output, base_urls=["http://"], processes=processes, progress=note, **options)

        return run

    first = Scene("a first build", build([folder], answers=3), None, home / "first.kin")
    more = Scene("a build with more sources", build([folder, archive]), first.after, home / "more.kin")
    other = Scene(
        "a build with another strategy", build([folder], strategy=Strategy(seed=7)), first.after, home / "other.kin"
    )
    for scene in (first, more, other):
        scene.run(home / "warm.kin", 1, lambda _: None)  # compiles what is not compiled yet
        scene.prepare(home / "scratch.kin")
    return [first, more, other]


@dataclass
class Output:
    """A command that replaces older files: its arguments, its files before and after, and what people get of them."""

    name: str
    arguments: tuple[str, ...]
    result: Callable[[Path], Any]
    before: dict[str, bytes]
    after: dict[str, bytes] = field(default_factory=dict)
    whole: list[Any] = field(default_factory=list)  # the results that may be there
    calls: int = 0  # of Python functions
    operations: int = 0  # syncs and renames

    def run(self) -> None:
        done = CliRunner().invoke(cli, list(self.arguments))
        if done.exit_code:
            raise RuntimeError(f"{self.name} failed by itself: {done.output}")

    def _note(self) -> None:
        self.operations += 1

    def prepare(self, folder: Path) -> None:
        """Run it without a kill: to load what it needs, to count calls, and to count operations on files."""
        for counting in (False, True):
            reset(folder, self.before)
            self.whole = [self.result(folder)] if self.before else []

            def count(*_: object) -> None:
                self.calls += 1

            sys.setprofile(count if counting else None)
            self.run()
            sys.setprofile(None)
        reset(folder, self.before)
        with counting_operations(self._note):
            self.run()
        self.after = files_in(folder)
        self.whole.append(self.result(folder))


@contextmanager
def counting_operations(note: Callable[[], None]) -> Iterator[None]:
    """Call a function before each sync and each rename."""
    with ExitStack() as patches:
        for name in ("fsync", "replace", "rename"):
            real = getattr(os, name)

            def noted(*arguments: Any, real: Callable[..., Any] = real) -> Any:
                note()
                return real(*arguments)

            patches.enter_context(patch.object(os, name, noted))
        yield


def reset(folder: Path, files: dict[str, bytes]) -> None:
    """Make a folder that holds these files only."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def outputs(home: Path) -> list[Output]:
    """An export, and learning with a projection, over the results of other options."""
    folder, store = home / "output", str(home / "first.kin")
    answers, weights = str(folder / "answers.tsv"), str(folder / "w.json")
    learn = ("learn", store, "-o", weights, "--units", "1,1,1", "--projection", "--steps")
    found = []
    for name, result, old, new in (
        ("export", export_in, ("export", store, "-o", answers, "--limit", "2"), ("export", store, "-o", answers)),
        ("learn", weights_in, (*learn, "10"), (*learn, "20", "--seed", "7")),
    ):
        first = Output(name, old, result, {})
        first.prepare(folder)
        found.append(Output(name, new, result, first.after))
        found[-1].prepare(folder)
        if found[-1].whole[0] == found[-1].whole[1]:
            raise RuntimeError(f"{name} gives the same result with other options")
    return found


def export_in(folder: Path) -> bytes:
    return (folder / "answers.tsv").read_bytes()


def weights_in(folder: Path) -> tuple[str, bytes]:
    found = load_weights(folder / "w.json")
    return found.as_text(), b"" if found.projection is None else found.projection.as_bytes()


def output_ordeal(output: Output, folder: Path, dice: random.Random) -> tuple[list[str], str | None]:
    """Kill a command at a call, or before a sync or rename; ([where it was killed], what is wrong then)."""
    reset(folder, output.before)
    by_operation = dice.random() < 0.7
    left = [dice.randint(1, output.operations if by_operation else output.calls)]

    def count(*_: object) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if not by_operation:
                sys.setprofile(count)
            with counting_operations(count if by_operation else lambda: None):
                output.run()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError(f"{output.name} failed by itself")
    complaint = None
    try:
        if output.result(folder) not in output.whole:
            complaint = "the result is neither the old nor the new one"
    except (OSError, MisuseError) as error:
        complaint = f"there is no result: {error}"
    output.run()
    if complaint is None and files_in(folder) != output.after:
        complaint = f"the next run leaves other files: {sorted(files_in(folder))}"
    return [] if os.WIFEXITED(status) else [output.name], complaint


class telling:  # noqa: N801, it reads as a statement
    """Report also the stages that the pipeline does not report."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._before = {name: getattr(manifests, name) for name in _UNREPORTED}

    def __enter__(self) -> None:
        for name, stage in _UNREPORTED.items():
            setattr(manifests, name, self._announced(self._before[name], stage))

    def _announced(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def announced(*arguments: Any) -> Any:
            self._report(stage)
            return function(*arguments)

        return announced

    def __exit__(self, *_: object) -> None:
        for name, function in self._before.items():
            setattr(manifests, name, function)


# --- killing them --------------------------------------------------------------------------------


def ordeal(scene: Scene, stage: str, root: Path, dice: random.Random) -> tuple[list[str], str | None]:
    """Kill a build in a stage, perhaps the next one, too; (the stages it was killed in, what is wrong then)."""
    shutil.rmtree(root, ignore_errors=True)
    if scene.before is not None:
        shutil.copytree(scene.before, root)
    died = []
    while True:
        processes = 2 if dice.random() < _OTHERS else 1
        share = dice.random()
        by_clock = scene.seconds[stage] > _SHORT and dice.random() < 0.5
        moment = Moment(share * scene.seconds[stage]) if by_clock else Moment(0.0, 1 + int(share * scene.calls[stage]))
        died.append(kill_in(scene, stage, root, processes, moment))
        complaint = found_after_kill(scene, root)
        if complaint is not None or dice.random() >= _AGAIN:
            break
        stage = dice.choice(list(scene.seconds))
    stages = [each for each in died if each]
    if complaint is None:
        scene.run(root, 1, lambda _: None)
        complaint = found_at_end(scene, root)
    return stages, complaint


@dataclass(frozen=True)
class Moment:
    """When a stage is broken off: so many seconds or so many calls of functions after its beginning."""

    seconds: float
    calls: int = 0


def kill_in(scene: Scene, stage: str, root: Path, processes: int, moment: Moment) -> str:
    """Start a build and kill it at a moment of a stage; the stage it died in, "" if it was done before."""
    ours, theirs = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(ours)
        code = 1
        try:
            scene.run(root, processes, partial(_tell, theirs, stage, moment.calls))
            code = 0
        finally:
            os._exit(code)
    os.close(theirs)
    told = b""
    with os.fdopen(ours, "rb", buffering=0) as pipe:
        while f"{stage}\n".encode() not in told and (piece := pipe.read(4096)):
            told += piece
        if not moment.calls:
            time.sleep(moment.seconds)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        while select.select([pipe], [], [], 0)[0] and (piece := pipe.read(4096)):
            told += piece
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError(f"{scene.name} failed by itself")
    return "" if os.WIFEXITED(status) else told.decode().splitlines()[-1]


def _tell(pipe: int, wanted: str, calls: int, stage: str) -> None:
    """In the build: tell which stage begins; from the wanted one on, count calls and end with the last one."""
    os.write(pipe, f"{stage}\n".encode())
    if calls and stage == wanted:
        left = [calls]

        def count(*_: object) -> None:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)


# --- what they leave -----------------------------------------------------------------------------


def found_after_kill(scene: Scene, root: Path) -> str | None:
    """What is wrong with the store that a killed build left: it must be the old one or the new one."""
    try:
        now = state(root)
    except MisuseError:  # no store yet
        return None if scene.before is None else "the old store is gone"
    if now["check"] != 0:
        return "`pagekin check` finds damage"
    return None if now in scene.whole else "the store is neither the old nor the new one"


def found_at_end(scene: Scene, root: Path) -> str | None:
    """What is wrong with the store that the next build made."""
    if state(root) != scene.whole[-1]:
        return "the answers are not those of a build that was never killed"
    if contents(root) != contents(scene.after):
        return "the bytes are not those of a build that was never killed"
    left = {path.name.partition("-")[0] for path in root.iterdir()}
    if left != {"index", "lock", "manifest.json", "store"} or len(list(root.iterdir())) != len(left):
        return f"something is left over: {sorted(path.name for path in root.iterdir())}"
    return None


def state(root: Path) -> dict[str, Any]:
    """What people see of a store: whether it is sound, and what it answers."""
    indexed = IndexedStore.open(root)
    try:
        answers = [(each.url, each.similarity) for name in _ASKED for each in indexed.related(name)]
        return {"check": CliRunner().invoke(cli, ["check", str(root)]).exit_code, "answers": answers}
    finally:
        indexed.close()


def contents(root: Path) -> dict[str, bytes]:
    """Every file of a store and its index, without the numbers of their generations."""
    manifest = Store.open(root).manifest
    return {
        f"{path.parent.name.partition('-')[0]}/{path.name}": path.read_bytes()
        for folder in (manifest.folder, manifest.index_folder)
        for path in sorted((root / folder).iterdir())
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    tried, survived = campaign(given.kills, given.seed)
    figures = list(summed(tried, survived))
    print("kills")
    show(figures)
    keep("kills", {"machine": facts(), "figures": kept(figures), "seed": given.seed})
    sys.exit(tried != survived)
