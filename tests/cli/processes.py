"""Running `pagekin`: in this process, or in one of its own with and without a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from pagekin.cli.main import main

PAGEKIN = [sys.executable, "-c", "import sys; sys.argv[0] = 'pagekin'; from pagekin.cli.main import main; main()"]


class Answer(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


def in_this_process(*arguments: str, folder: Path) -> Answer:
    """Run it here: much faster, because numba is loaded. An exception other than an exit fails the test."""
    out, err = StringIO(), StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err), mock.patch("sys.argv", ["pagekin", *arguments]):
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = end.code
    return Answer(code if isinstance(code, int) else 0 if code is None else 1, out.getvalue(), err.getvalue())


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
