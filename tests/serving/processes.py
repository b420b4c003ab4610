"""`pagekin serve` in a process of its own, on a free port."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2

from cli.processes import PAGEKIN
from pagekin.serving.settings import ServerSettings

PATIENCE = 600  # seconds for an answer: far more than one takes, also on a busy machine


def patient(settings: ServerSettings) -> ServerSettings:
    """The same settings with time limits that do not depend on the machine."""
    return replace(settings, limits=replace(settings.limits, seconds=PATIENCE, patience=PATIENCE))


@dataclass(frozen=True)
class Server:
    """A server that runs, and where."""

    process: subprocess.Popen[str]
    url: str

    def children(self) -> list[int]:
        """Processes that it has started, the oldest first; the first serves multiprocessing itself."""
        pid = self.process.pid
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def is_gone(self) -> bool:
        """Whether it and all processes that it has started have ended."""
        self.process.poll()
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def rest(self) -> str:
        """What it says until its end after its address."""
        assert self.process.stdout is not None
        return self.process.stdout.read()


@contextmanager
def running(store: Path, *options: str, **environment: str) -> Iterator[Server]:
    """Serve a store; killed at the end, should it still run. It has answered before anybody gets it."""
    with started("serve", str(store), "--port", "0", "--seconds", str(PATIENCE), *options, **environment) as server:
        yield server


@contextmanager
def started(*arguments: str, **environment: str) -> Iterator[Server]:
    """Run a command that serves, and wait until it does."""
    with announced(*arguments, descriptors=0, **environment) as server:
        httpx2.get(f"{server.url}healthz", timeout=PATIENCE).raise_for_status()
        yield server


@contextmanager
def announced(*arguments: str, descriptors: int = 0, **environment: str) -> Iterator[Server]:
    """Run a command that serves, in a process group of its own, and wait for its address alone."""
    command = [*PAGEKIN, *arguments]
    if descriptors:
        command = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *command]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": True}
    with subprocess.Popen(command, text=True, env={**os.environ, **environment}, **options) as process:  # type: ignore[call-overload]
        try:
            said, found = [], None
            for line in process.stdout:
                said.append(line)
                if found := re.match(r"Serving .* at (http://\S+/)", line):
                    break
            assert found, "".join(said)
            yield Server(process, found[1])
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(600)
