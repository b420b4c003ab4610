"""Injected errors: system calls that fail, at every moment of every command.

`python -m benchmarks.injected --cases 500` runs the commands of the campaign of hostile stores on a whole store. In
each case strace lets one call of fsync, write, rename, mmap, openat or pread fail with EIO, ENOSPC, ENOMEM or EMFILE,
or all calls from there on; the place of the call is drawn from all calls of the command. Most commands run in a fork of
this process, in which everything is loaded; some in a new process, whose imports then fail, too. A command must end
with its usual result or with one sentence; a store must be the old or the new one, and the next build must make what it
would have made. A traceback, a signal, a hang, another store or half a file is a finding. Findings are printed with the
number of the case, which `--case NUMBER` repeats; the exit code is 1. Writes `results/injected.json`. It needs strace.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import hostile, kills
from benchmarks.hostile import Outcome, Scene, work
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.cli.main import main as run_pagekin
from pagekin.errors import PagekinError
from pagekin.store.manifest import damaged_files, read_manifest

CASES = 10 if QUICK else 100  # for a look
ERRORS = {
    "fsync": ("EIO", "ENOSPC"),
    "fdatasync": ("EIO", "ENOSPC"),  # SQLite's
    "write": ("EIO", "ENOSPC"),
    "pwrite64": ("EIO", "ENOSPC"),
    "rename": ("EIO", "ENOSPC"),
    "mmap": ("ENOMEM",),
    "openat": ("EMFILE", "EIO", "ENOMEM", "ENOSPC"),
    "pread64": ("EIO", "ENOMEM"),
}
_OUTPUTS = ("out.tsv", "out.csv", "learned.json", "swept")
_SITE = "more"  # a folder that `site` changes
_FIRST = {
    "first build": ("build", "web", "-o", "fresh.kin", "--base-url", "http://", "--processes", "1"),
    "first site": ("site", _SITE, "--inject", "--at", "body", "--index", "fresh.kin", "--processes", "1"),
}
_WRITERS = (*_FIRST, *(name for name in hostile.COMMANDS if "build" in name), "answers")
_IN_PROCESS = ("serve", "mcp")  # these are asked in this process, and would not end by themselves
_TIMES = re.compile(r"[\d.,]+ m?s\b")  # of a report, which differ
# Python 3.11 goes on with wrong objects, or fails without saying why, if it gets no memory for its stack of frames.
_FRAMES = "mmap(NULL, 16384, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)"
_NO_THREAD = "OpenBLAS blas_thread_init"  # says so in four lines, and interrupts the process
_COLD = 0.15  # the share of commands in a new process
_LASTING = 0.3  # the share of errors that stay
_START = """import os, sys
from pagekin.cli.main import main
os.write({ready}, b"r"), os.read({go}, 1)
sys.argv = {arguments}
main()
"""


class Error(NamedTuple):
    """A call that fails; `lasting`: it and all after it."""

    call: str
    error: str
    number: int
    lasting: bool

    def __str__(self) -> str:
        return f"{self.error} from {self.call} number {self.number}{' on' if self.lasting else ''}"

    @property
    def option(self) -> str:
        """As strace wants it."""
        return f"inject={self.call}:error={self.error}:when={self.number}{'+' if self.lasting else ''}"


class Ended(NamedTuple):
    """How a command ended, what it printed, and the calls that strace has seen or let fail."""

    outcome: Outcome
    shown: str
    calls: str


@dataclass
class Usual:
    """What a command does that is not disturbed."""

    calls: dict[bool, Counter[str]]  # by whether it is a new process; of the thread that has most
    shown: str | None  # None if it differs from run to run
    files: dict[str, bytes] = field(default_factory=dict)
    store: dict[str, bytes] = field(default_factory=dict)


def is_there() -> bool:
    """Whether strace can be used; say so if not."""
    if shutil.which("strace") is None:
        print("injected: strace is not installed here, nothing is injected (apt-get install strace)")
        return False
    tried = subprocess.run(["strace", "-qq", "-e", "trace=none", "true"], capture_output=True, text=True)
    if tried.returncode:
        print(f"injected: strace may not trace here, nothing is injected: {tried.stderr.strip()}")
    return not tried.returncode


# --- a command under strace ----------------------------------------------------------------------


def run(scene: Scene, command: str, cold: bool, options: Sequence[str]) -> Ended:
    """Run a command in the scene's copy, traced from its beginning."""
    log, said, shown = (scene.work.parent / name for name in ("calls", "said", "shown"))
    for path in (log, said, shown):
        path.unlink(missing_ok=True)
    (ready, tell), (wait, go) = os.pipe(), os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(ready)
        os.close(go)
        _become(scene, command, cold, said, shown, tell, wait)
    os.close(tell)
    os.close(wait)
    os.read(ready, 1)
    traced = ["strace", "-f", "-y", "-o", str(log), *options, "-p", str(child)]
    with subprocess.Popen(traced, stderr=subprocess.PIPE, text=True) as strace:
        assert strace.stderr is not None
        attached = strace.stderr.readline()
        if "attached" not in attached:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise RuntimeError(f"strace says: {attached}")
        os.write(go, b"g")
        waiting = os.pidfd_open(child)
        poll = select.poll()
        poll.register(waiting, select.POLLIN)
        in_time = bool(poll.poll(hostile._PATIENCE))
        if not in_time:
            os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        strace.stderr.read()
    for descriptor in (ready, go, waiting):
        os.close(descriptor)
    texts = [path.read_text("utf-8", "replace") if path.exists() else "" for path in (said, shown, log)]
    return Ended(hostile.judged(code, texts[0], in_time), texts[1], texts[2])


def _become(scene: Scene, command: str, cold: bool, said: Path, shown: Path, tell: int, wait: int) -> None:
    """In the child: wait until strace is there, then run the command."""
    arguments = ["pagekin", *arguments_of(command)]
    if cold:
        hostile.limit(scene.work, said, shown)
        for pipe in (tell, wait):
            os.set_inheritable(pipe, True)
        start = _START.format(ready=tell, go=wait, arguments=arguments)
        os.execv(sys.executable, [sys.executable, "-c", start])

    def begin() -> None:
        os.write(tell, b"r"), os.read(wait, 1)
        if command in _FIRST:
            sys.argv = arguments
            run_pagekin()
        else:
            work(command)

    hostile.end_with(begin, scene.work, said, shown)


def arguments_of(command: str) -> tuple[str, ...]:
    """What is typed after `pagekin`."""
    return _FIRST[command] if command in _FIRST else hostile.COMMANDS[command][1]


# --- what it does undisturbed --------------------------------------------------------------------


def usual(scene: Scene, command: str) -> Usual:
    """Run a command without errors, and count its calls."""
    ends, counts = [], {}
    for cold in (False,) if command in _IN_PROCESS else (False, True):
        scene.copy()
        ends.append(run(scene, command, cold, ["-e", f"trace={','.join(ERRORS)}"]))
        threads: dict[str, Counter[str]] = {}
        for thread, call in re.findall(r"^(\d+) +(\w+)\(", ends[-1].calls, re.M):
            threads.setdefault(thread, Counter())[call] += 1
        counts[cold] = Counter({call: max(each[call] for each in threads.values()) for call in ERRORS})
    texts = {_TIMES.sub("", end.shown) for end in ends}
    made = Usual(counts, texts.pop() if len(texts) == 1 and command not in (*_WRITERS, "site") else None)
    made.files = outputs(scene.work)
    if command in _WRITERS:
        made.store = kills.contents(root_of(scene, command))
    return made


def outputs(folder: Path) -> dict[str, bytes]:
    """The files that commands write beside the store, and what they leave of them; but learning can be continued."""
    found = [path for name in _OUTPUTS for path in folder.glob(f"{name}*") if path.suffix != ".unfinished"]
    every = [inner for path in (*found, folder / _SITE) for inner in ([path] if path.is_file() else path.rglob("*"))]
    return {str(path.relative_to(folder)): path.read_bytes() for path in every if path.is_file()}


def root_of(scene: Scene, command: str) -> Path:
    return scene.work / ("fresh.kin" if command in _FIRST else hostile._STORE)


# --- a case --------------------------------------------------------------------------------------


class Campaign:
    """A scene, and what every command does in it."""

    def __init__(self, scene: Scene, seed: int) -> None:
        self.scene, self.seed = scene, seed
        scene.copy()
        self.before, self.files = kills.contents(scene.work / hostile._STORE), outputs(scene.work)
        self._usual: dict[str, Usual] = {}
        self.left_out = 0  # errors that Python and numpy's library do not survive
        readers = [name for name in hostile.COMMANDS if name not in _WRITERS]
        self.commands = [each for pair in zip(readers, _cycled(_WRITERS, len(readers)), strict=True) for each in pair]

    def usual(self, command: str) -> Usual:
        if command not in self._usual:
            self._usual[command] = usual(self.scene, command)
        return self._usual[command]

    def case(self, number: int) -> tuple[str, str, Outcome]:
        """(the error, the command, how it ended); a wrong store or file is an outcome of its own kind."""
        dice = random.Random(f"{self.seed} {number}")
        command = self.commands[number % len(self.commands)]
        expected = self.usual(command)
        while True:
            cold = command not in _IN_PROCESS and dice.random() < _COLD
            error = self._error(expected.calls[cold], dice)
            self.scene.copy()
            ended = run(self.scene, command, cold, ["-e", f"trace={error.call}", "-e", error.option])
            failed = [line for line in ended.calls.splitlines() if "(INJECTED)" in line]
            if any(_FRAMES in line for line in failed) or _NO_THREAD in ended.outcome.said:
                self.left_out += 1
            elif failed or ended.outcome.is_finding:  # threads share their work as it comes
                break
        place = f"{error}{', in a new process' if cold else ''}: {self._failed(ended)}"
        problem = self._problem(command, ended, expected)
        return place, command, ended.outcome if problem is None else Outcome("wrong", problem)

    @staticmethod
    def _error(calls: Counter[str], dice: random.Random) -> Error:
        call = dice.choice([each for each, count in calls.items() if count])
        # The sentence is written, too, and would be lost for ever.
        lasting = call != "write" and dice.random() < _LASTING
        return Error(call, dice.choice(ERRORS[call]), dice.randint(1, calls[call]), lasting)

    def _failed(self, ended: Ended) -> str:
        line = next((line for line in ended.calls.splitlines() if "(INJECTED)" in line), "")
        return line.replace(f"{self.scene.work}/", "")[:150]

    def _problem(self, command: str, ended: Ended, expected: Usual) -> str | None:
        """What is wrong with what a command said, wrote or left; None if nothing is."""
        if ended.outcome.is_finding:
            return None
        code_is_0 = ended.outcome.kind == "answered"
        lines = ended.outcome.said.splitlines()
        unsaid = any("/said>" in line for line in ended.calls.splitlines() if "(INJECTED)" in line)
        begin = "" if command in _IN_PROCESS else "pagekin: "
        one = len(lines) == 1 or (lines and command == "first site")  # which has a sentence for each page
        if not code_is_0 and not unsaid and not (one and all(line.startswith(begin) for line in lines)):
            return f"not one sentence: {ended.outcome.said!r}"
        if code_is_0 and expected.shown is not None and not lines and _TIMES.sub("", ended.shown) != expected.shown:
            return "another answer, and nothing is said"
        files = outputs(self.scene.work)
        known = (expected.files, self.files)
        other = {name for name, data in files.items() if data not in [each.get(name) for each in known]}
        if other or (code_is_0 and not lines and files != expected.files):
            return f"half a result is left: {sorted(other) or sorted(files)}"
        return self._store_problem(command, code_is_0, lines, expected)

    def _store_problem(self, command: str, code_is_0: bool, lines: list[str], expected: Usual) -> str | None:
        root = root_of(self.scene, command)
        now = _contents(root)
        if command not in _WRITERS:
            return None if now == self.before else "the store is not what it was"
        old = None if command in _FIRST else self.before
        if now is not None and damaged_files(root, read_manifest(root)):
            return "the store is damaged"
        if not code_is_0 and now not in (old, expected.store):
            return "the store is neither the old nor the new one"
        if code_is_0 and now != expected.store and not lines:
            return "another store, and nothing is said"
        again = hostile.in_a_child(lambda: _work(command), self.scene.work)
        if again.kind != "answered":
            return f"the next run fails: {again.said}"
        same = _contents(root) == expected.store and outputs(self.scene.work) == expected.files
        return None if same else "the next run does not make the same store or site"


def _work(command: str) -> None:
    sys.argv = ["pagekin", *arguments_of(command)]
    run_pagekin()


def _contents(root: Path) -> dict[str, bytes] | None:
    """All files that the manifest of a store names; None if there is none.

    Where even the manifest cannot be opened again, `answers` leaves the files that it has written: nothing names them.
    """
    if not (root / "manifest.json").exists():
        return None
    try:
        manifest = read_manifest(root)
        named = {f"store/{name}" for name in manifest.files}
        named |= {f"index/{name}" for name in (manifest.index or {"files": ()})["files"]}
        return {name: data for name, data in kills.contents(root).items() if name in named}
    except (PagekinError, OSError) as error:
        return {"error": str(error).encode()}


def _cycled(names: Sequence[str], length: int) -> list[str]:
    return [names[k % len(names)] for k in range(length)]


# --- all cases -----------------------------------------------------------------------------------


@dataclass
class Tally:
    """Cases by call and by outcome, and what was found."""

    calls: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    left_out: int = 0


def campaign(scene: Scene, numbers: Sequence[int], seed: int) -> Tally:
    tally, all_of_it = Tally(), Campaign(scene, seed)
    for number in numbers:
        place, command, outcome = all_of_it.case(number)
        tally.calls[place.split()[2]] += 1
        tally.outcomes[outcome.kind] += 1
        tally.commands[command] += 1
        if outcome.is_finding:
            last = outcome.said.strip().splitlines()
            where = [line.strip() for line in last if line.startswith("  File") and "pagekin" in line][-1:]
            tally.findings.append(
                f"case {number}: {command}, {place}: {outcome.kind}: {' | '.join([*where, *last[-1:]])}"
            )
            print(tally.findings[-1], flush=True)
    tally.left_out = all_of_it.left_out
    return tally


def figures_of(tally: Tally) -> list[Figure]:
    told = [Figure(f"of {call}", count) for call, count in sorted(tally.calls.items())]
    told += [Figure("ended with one sentence", tally.outcomes["refused"])]
    told += [Figure("ended with their usual result", tally.outcomes["answered"])]
    kinds = {"wrong": "bad stores, files, answers or sentences", "traceback": "tracebacks"}
    kinds |= {"signal": "signals", "hang": "hangs"}
    bars = [Figure(name, tally.outcomes[kind], at_most=0) for kind, name in kinds.items()]
    cases = Figure("errors injected", tally.outcomes.total(), at_least=500)
    left_out = Figure("left out: no memory for frames of Python or threads of OpenBLAS", tally.left_out)
    return [cases, Figure("commands", len(tally.commands)), *told, left_out, *bars]


def main(cases: int = CASES, seed: int = 1) -> int:
    """Run the given number of cases; return the number of findings."""
    return len(_run(cases, seed).findings)


def _run(cases: int, seed: int) -> Tally:
    if not is_there():
        return Tally()
    with hostile.scene() as scene:
        tally = campaign(scene, range(cases), seed)
    print("injected")
    show(figures_of(tally))
    return tally


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="only this one, with all that it prints")
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    if given.case is not None:
        with hostile.scene() as scene:
            place, command, outcome = Campaign(scene, given.seed).case(given.case)
        print(place, command, outcome.kind, outcome.said, sep="\n")
        sys.exit(outcome.is_finding)
    tally = _run(given.cases, given.seed)
    if tally.outcomes:
        result = {"machine": facts(), "figures": kept(figures_of(tally)), "found": tally.findings, "seed": given.seed}
        keep("injected", result)
    sys.exit(bool(tally.findings))
