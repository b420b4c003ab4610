"""`pagekin serve` in a process of its own, on a free port."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from cli.running import PAGEKIN


@dataclass(frozen=True)
class Server:
    """A server that runs, and where."""

    process: subprocess.Popen[str]
    url: str


@contextmanager
def running(store: Path, *options: str, **environment: str) -> Iterator[Server]:
    """Serve a store; killed at the end, should it still run. It has answered before anybody gets it."""
    with started("serve", str(store), "--port", "0", *options, **environment) as server:
        yield server


@contextmanager
def started(*arguments: str, **environment: str) -> Iterator[Server]:
    """Run a command that serves, and wait for its address."""
    command = [*PAGEKIN, *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, env={**os.environ, **environment}, **pipes) as process:  # type: ignore[call-overload]
        try:
            said, found = [], None
            for line in process.stdout:
                said.append(line)
                if found := re.match(r"Serving .* at (http://\S+/)", line):
                    break
            assert found, "".join(said)
            httpx2.get(f"{found[1]}healthz", timeout=120).raise_for_status()
            yield Server(process, found[1])
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(60)
