"""Too little memory: build, related and serve with every limit of addresses.

`python -m benchmarks.memory` runs the three commands on the sample web with `ulimit -v`, from 26 MB, which Python
itself needs, in steps of 4 MB, until 20 limits in a row were enough. A command must end with its result or with one
sentence and exit code 1; the index before a failed build must be whole. A server is asked seven questions, which it
must answer or refuse (503); lines of its log are sentences, too. A traceback or a signal is a finding; findings are
printed, and the exit code is 1. Where systemd can start a command in a memory cgroup (`systemd-run --scope`), build and
related also run with limits of a cgroup, which does not refuse memory but kills the process: then the index must be
whole, and a build without a limit must succeed. Writes `results/memory.json`.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin import sample_web
from pagekin.pipeline import build
from pagekin.store.manifest import damaged_files, read_manifest

_CGROUP_LIMITS = (20, 60) if QUICK else (10, 20, 30, 40, 50, 60, 80, 100, 150, 200, 400)  # MB
_SCOPE = ("systemd-run", "--scope", "--quiet", "-p", "MemorySwapMax=0")
FIRST, STEP, ENOUGH = 26, 60 if QUICK else 4, 2 if QUICK else 20  # MB, MB, limits in a row
_PATIENCE = 600  # seconds
SENTENCE = "pagekin: there is not enough memory; raise the limit, or end other programs\n"
_MAIN = "import sys; sys.argv[0] = 'pagekin'; from pagekin.cli.main import main; main()"
_PAGE = "http://larder.example/"
_PATHS = ("healthz", f"api/related?url={_PAGE}", "", "map", "collection", f"api/cluster?url={_PAGE}", "gaps")
COMMANDS = {
    "build": ("build", "sample_web.warc.gz", "-o", "x.kin", "-q", "--processes", "1", "--strategy", "paper"),
    "related": ("related", "x.kin", _PAGE),
    "serve": ("serve", "x.kin", "--port", "0"),
}


def run(command: str, folder: Path, megabytes: int) -> tuple[bool, str]:
    """(whether it got enough memory, what is wrong)."""
    limit = megabytes << 20
    with subprocess.Popen(
        [sys.executable, "-c", _MAIN, *COMMANDS[command]],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    ) as process:
        statuses = ask(process) if command == "serve" else Counter[int]()
        try:
            _, said = process.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return False, "it does not end"
    if process.returncode < 0 or "Traceback" in said:
        return False, f"exit code {process.returncode}: {said[-1000:]}"
    if process.returncode == 0 and set(statuses) <= {200, 404, 503, 0}:
        return set(statuses) <= {200, 404}, ""
    return False, "" if (process.returncode, said) == (1, SENTENCE) else f"exit code {process.returncode}: {said}"


def ask(process: subprocess.Popen[str]) -> Counter[int]:
    """Ask a server, if it starts; the statuses of its answers, 0 for a connection without one."""
    assert process.stdout is not None
    found = re.search(r"http://\S+/", process.stdout.readline())
    statuses: Counter[int] = Counter()
    if found is None:
        return statuses
    for path in _PATHS:
        try:
            with urllib.request.urlopen(found[0] + path, timeout=_PATIENCE) as answer:
                statuses[answer.status] += 1
        except urllib.error.HTTPError as error:
            statuses[error.code] += 1
        except OSError:
            statuses[0] += 1
    process.terminate()
    return statuses


def has_cgroups() -> bool:
    """Whether a command can be started here in a memory cgroup of its own."""
    if shutil.which(_SCOPE[0]) is None:
        return False
    return subprocess.run([*_SCOPE, "-p", "MemoryMax=100M", "true"], capture_output=True).returncode == 0


def run_in_cgroup(command: str, folder: Path, megabytes: int) -> str:
    """What is wrong after a command that is killed when it needs more memory; "" is nothing."""
    limited = [*_SCOPE, "-p", f"MemoryMax={megabytes}M", sys.executable, "-c", _MAIN, *COMMANDS[command]]
    done = subprocess.run(limited, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE)
    if done.returncode not in (0, -signal.SIGKILL) and (done.returncode, done.stderr) != (1, SENTENCE):
        return f"exit code {done.returncode}: {done.stderr[-1000:]}"
    if damaged_files(folder / "x.kin", read_manifest(folder / "x.kin")):
        return "the index is damaged"
    again = subprocess.run(
        [sys.executable, "-c", _MAIN, *COMMANDS["build"]], cwd=folder, capture_output=True, text=True
    )
    return f"the next build fails: {again.stderr[-1000:]}" if again.returncode else ""


def sweep_cgroups(whole: Path, work: Path) -> list[str]:
    """Findings of build and related with limits of a cgroup."""
    findings = []
    for command in ("build", "related"):
        for megabytes in _CGROUP_LIMITS:
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(whole, work)
            if problem := run_in_cgroup(command, work, megabytes):
                findings.append(f"{command} in a cgroup of {megabytes} MB: {problem}")
                print(findings[-1], flush=True)
    return findings


def sweep(command: str, whole: Path, work: Path) -> tuple[int, int, list[str]]:
    """(limits that were tried, the least limit in MB that was enough, with all above it; findings)."""
    tried, megabytes, enough, findings = 0, FIRST, 0, []
    while enough < ENOUGH:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(whole, work)
        done, problem = run(command, work, megabytes)
        if not problem and damaged_files(work / "x.kin", read_manifest(work / "x.kin")):
            problem = "the index is damaged"
        if problem:
            findings.append(f"{command} with {megabytes} MB: {problem}")
            print(findings[-1], flush=True)
        enough = enough + 1 if done else 0
        tried, megabytes = tried + 1, megabytes + STEP
    return tried, megabytes - ENOUGH * STEP, findings


def main() -> int:
    """Sweep the limit for each command; return the number of findings."""
    figures, findings = [], []
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "whole"
        whole.mkdir()
        build([sample_web.copy_to(whole)], whole / "x.kin", processes=1)
        for command in COMMANDS:
            tried, least, found = sweep(command, whole, Path(place) / "work")
            figures += [Figure(f"{command}: limits", tried), Figure(f"{command}: enough from", least, "MB")]
            figures += [Figure(f"{command}: tracebacks, signals, other sentences, damage", len(found), at_most=0)]
            findings += found
        confined = has_cgroups()
        found = sweep_cgroups(whole, Path(place) / "work") if confined else []
        figures += [Figure("memory cgroups: limits", 2 * len(_CGROUP_LIMITS) if confined else 0)]
        figures += [Figure("memory cgroups: findings", len(found), at_most=0)] if confined else []
        findings += found
    print("memory" if confined else "memory: systemd cannot start a command in a memory cgroup here, none is tried")
    show(figures)
    keep("memory", {"machine": facts(), "figures": kept(figures), "found": findings})
    return len(findings)


if __name__ == "__main__":
    sys.exit(bool(main()))
