"""Slow clients: a server with few descriptors, and more connections than it can have.

`python -m benchmarks.slow_clients --seconds 30` starts a server that may open 1,024 files, for each kind of attack:
1,000 connections that send nothing, a line of their head or a part of their body every second, or do not read their
answers; then the same by slowhttptest, where it is installed. All come from one address, and connect again when they
are closed. Meanwhile /healthz is asked on a new connection four times a second, from another address, and must be
answered every time. Prints the figures and writes `results/slow_clients.json`; the exit code is 1 if a target is
missed.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from benchmarks.load import Clients
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from benchmarks.serving import built, served

SECONDS = 5 if QUICK else 30
CONNECTIONS = 1000
DESCRIPTORS = 1024
_PAUSE = 0.25  # seconds between two probes
KINDS = ("nothing", "slow head", "slow body", "slow reading")
# Slow heads, slow bodies, slow reading; 24 bytes every second, 500 new connections a second.
_COMMON = ("slowhttptest", "-c", str(CONNECTIONS), "-r", "500", "-i", "1", "-x", "24", "-p", "600")
TOOL = {
    "slowhttptest: slow head": ("-H", "-t", "GET"),
    "slowhttptest: slow body": ("-B", "-t", "POST", "-s", "8192"),
    "slowhttptest: slow reading": ("-X", "-k", "5", "-w", "10", "-y", "20", "-n", "5", "-z", "32"),
}
_PATHS = {"slowhttptest: slow body": "api/related", "slowhttptest: slow reading": "static/page.css"}


class Attack(Clients):
    """Slow clients of one kind, or of a tool, and a client that asks for the health of the server."""

    def __init__(self, url: str, seconds: float) -> None:
        super().__init__(url, seconds, [], probe_seconds=_PAUSE)
        self._url, self._duration, self._probe_from = url, int(seconds), ("127.0.0.2", 0)

    async def by(self, kind: str) -> None:
        """Attack, and probe until the time is over."""
        if kind in TOOL:
            options = [*_COMMON, *TOOL[kind], "-l", str(self._duration), "-u", self._url + _PATHS.get(kind, "")]
            with subprocess.Popen(options, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tool:
                await self._probe()
                tool.terminate()
        else:
            slow = dict(zip(KINDS, (self._idle, self._slow_head, self._slow_body, self._slow_reader), strict=True))
            tasks = [asyncio.create_task(self._again(slow[kind], each, CONNECTIONS)) for each in range(CONNECTIONS)]
            await self._probe()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def attacked(store: Path, kind: str, seconds: float) -> list[Figure]:
    """The figures of one kind of attack on a new server."""
    with tempfile.TemporaryFile("w+") as log:
        with served(store, log, descriptors=DESCRIPTORS) as (url, _):
            attack = Attack(url, seconds)
            asyncio.run(attack.by(kind))
        log.seek(0)
        told = log.read()
    own = [Figure(f"{kind}: connections opened", attack.tally["slow"])] if kind in KINDS else []
    return [
        *own,
        Figure(f"{kind}: /healthz asked", attack.tally["probed"]),
        Figure(f"{kind}: /healthz without an answer", attack.tally["unprobed"], at_most=0),
        Figure(f"{kind}: slowest /healthz", round(attack.slowest["probed"], 3), "s"),
        Figure(f"{kind}: log", len(told), "bytes", at_most=10_000),
    ]


def main(seconds: float = SECONDS) -> int:
    """Attack in all ways; return the number of missed targets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError):  # for the sockets of the clients
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4 * CONNECTIONS), hard))
    tools = tuple(TOOL) if shutil.which("slowhttptest") else ()
    print(f"slow_clients: {seconds:g} seconds each" + ("" if tools else "; slowhttptest is not installed here"))
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        store, _, _ = built(Path(place), 500)
        for kind in (*KINDS, *tools):
            figures += attacked(store, kind, seconds)
    show(figures)
    result = {"machine": facts("starlette", "uvicorn"), "figures": kept(figures), "seconds": seconds}
    keep("slow_clients", result)
    return sum(each.verdict == "missed" for each in figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=SECONDS)
    sys.exit(bool(main(parser.parse_args().seconds)))
