"""Running `pagekin` in a process of its own, with and without a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PAGEKIN = [sys.executable, "-c", "import sys; sys.argv[0] = 'pagekin'; from pagekin.cli.main import main; main()"]


class Answer(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


def in_a_process(*arguments: str | Path | bytes, **environment: str) -> Answer:
    """Run it with its output in pipes."""
    command = [*PAGEKIN, *(each if isinstance(each, bytes) else str(each) for each in arguments)]
    done = subprocess.run(command, capture_output=True, env={**os.environ, **environment}, timeout=600)
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def in_a_terminal(*arguments: str | Path) -> tuple[int, bytes]:
    """Run it in a pseudo-terminal; how it ended, and every byte that the terminal got."""
    import pty

    ours, theirs = pty.openpty()
    command = [*PAGEKIN, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    return process.wait(600), said
