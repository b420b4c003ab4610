"""A server under load, with slow clients and new generations.

`python -m benchmarks.load --seconds 600` asks a server mixed questions on 64 connections, of 16 clients behind a proxy.
Ten generations are swapped in meanwhile, and slow clients hold more connections than one address may have: some send
nothing, some a line of their head or a part of their body every second, some do not read their answers. Every answer
other than 200 and every broken connection of the 64 is a failure, and so is a /healthz, asked on a new connection every
second, that is not answered. A view that is still computed (202) is asked for again after a second, as a browser does.
Writes `results/load.json` and its table in docs/robustness.md; the exit code is 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from benchmarks.machine import QUICK, Figure, facts, keep, kept, number, show
from benchmarks.serving import ask, built, put_in_place, served
from pagekin.store.manifest import read_manifest
from pagekin.urls import page_id

PAGE = Path(__file__).parent.parent / "docs" / "robustness.md"
SECONDS = 15 if QUICK else 60
PAGES = 500 if QUICK else 2_000
CONNECTIONS, CLIENTS, SLOW, SWAPS = 64, 16, 480, 10
_FIRST = 60.0  # seconds after which memory is measured first; in a short run a quarter of it
_PATIENCE = 60  # times that a view is asked for which is still computed
_TOLD = 20  # failures that are told in detail
Question = tuple[str, str, str]  # method, path, body


def main(seconds: int = SECONDS) -> int:
    """Load a server for the given time; return the number of missed targets."""
    print(f"load: {seconds} seconds")
    with tempfile.TemporaryDirectory() as place, (Path(place) / "log").open("w+") as log:
        store, generations, urls = built(Path(place), PAGES)
        with served(store, log) as (url, process):
            memory = Memory(process)
            swapping = threading.Thread(target=_swap, args=(url, store, generations, seconds))
            command = [sys.executable, "-m", "benchmarks.load", "--client", url, "--seconds", str(seconds)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
                swapping.start()
                memory.start(seconds)
                said, _ = client.communicate(json.dumps(questions(urls)))
                swapping.join()
            tally = json.loads(said)
        log.seek(0)
        told = log.read()
    figures = list(_figures(tally, memory, len(told)))
    show(figures)
    for failure in tally["failures"]:
        print(f"  {failure}")
    print(told, end="")
    result = {"machine": facts("starlette", "uvicorn"), "figures": kept(figures), "seconds": seconds}
    keep("load", result)
    if not QUICK:
        page = PAGE.read_text("utf-8")
        PAGE.write_text(re.sub(r"\| [\d,]+ seconds \|.*?(?=\n\n)", lambda _: table(result), page, flags=re.S), "utf-8")
    return sum(each.verdict == "missed" for each in figures)


def _figures(tally: dict[str, Any], memory: Memory, log_bytes: int) -> list[Figure]:
    first, last = memory.medians()
    return [
        Figure("requests on 64 connections", tally["asked"]),
        Figure("failed requests", tally["failed"], at_most=0),
        Figure("views that were still computed, and asked for again", tally["late"]),
        Figure("slowest request", round(tally["slowest"], 2), "s"),
        Figure("/healthz on new connections", tally["probed"]),
        Figure("/healthz without an answer", tally["unprobed"], at_most=0),
        Figure("slowest /healthz", round(tally["slowest_probe"], 2), "s"),
        Figure("generations swapped in", SWAPS, at_least=SWAPS),
        Figure("slow connections opened", tally["slow"]),
        Figure("slow connections closed by the server", tally["closed"]),
        Figure("memory after the first minute", round(first), "MB"),
        Figure("memory at the end", round(last), "MB"),
        Figure("memory at the end / after the first minute", round(last / first, 3), at_most=1.2),
        Figure("log", log_bytes, "bytes", at_most=10_000),
    ]


def table(result: dict[str, Any]) -> str:
    """The table of docs/robustness.md."""
    rows = [f"| {result['seconds']:,} seconds | measured | target | |", "|---|---:|---|---|"]
    for each in (Figure(**row) for row in result["figures"]):
        measured = f"{number(each.measured)} {each.unit}".rstrip()
        rows.append(f"| {each.what} | {measured} | {each.bar} | {each.verdict} |")
    return "\n".join(rows)


def questions(urls: list[str]) -> list[Question]:
    """Mixed questions, the same in every run."""
    some = random.Random(19).sample(urls, min(len(urls), 300))
    mixed: list[Question] = [("GET", "/", ""), ("GET", "/collection", ""), ("GET", "/api/info", "")]
    for position, url in enumerate(some):
        name = quote(url, safe="")
        words = f"{url.rpartition('/')[2]} of the topic"
        mixed += [
            ("GET", f"/api/related?url={name}", ""),
            ("GET", f"/api/related?url={name}&limit={position % 50 + 1}&explain=true", ""),
            ("GET", f"/api/pages?query={name[:40]}", ""),
            ("GET", f"/api/pages/{page_id(url)}", ""),
            ("GET", f"/page/{page_id(url)}", ""),
            ("GET", f"/search?q={quote(words)}", ""),
            ("POST", "/api/related", json.dumps({"urls": some[position : position + 3]})),
            ("POST", "/api/related", json.dumps({"text": words * 20})),
            ("POST", "/api/duplicates", json.dumps([{"url": each, "text": words * 30} for each in some[:20]])),
        ]
    mixed += [("GET", f"/api/cluster?url={quote(url, safe='')}", "") for url in some[:5]]
    return mixed


def _swap(url: str, store: Path, generations: list[Path], seconds: int) -> None:
    """Swap generations in, at equal distances; each is served before the next comes."""
    begin = time.monotonic()
    for count in range(SWAPS):
        time.sleep(max(0.0, begin + (count + 0.5) * seconds / SWAPS - time.monotonic()))
        new = generations[count % 2]
        put_in_place(new, store)
        while json.loads(ask(f"{url}healthz"))["generation"] != read_manifest(new).generation:
            time.sleep(0.2)


class Memory:
    """The memory of a server and its workers; a page that several of them share counts once."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._seconds, self._end = 0.0, 0.0
        self._samples: list[tuple[float, float]] = []  # seconds since the start, megabytes

    def start(self, seconds: float) -> None:
        """Start a thread that measures for the given time."""
        self._seconds = seconds
        threading.Thread(target=self._measure, args=(time.monotonic(),), daemon=True).start()

    def _measure(self, begin: float) -> None:
        while (now := time.monotonic() - begin) < self._seconds:
            with suppress(OSError):  # a worker has ended
                children = Path(f"/proc/{self._process}/task/{self._process}/children").read_text().split()
                self._samples.append((now, sum(map(_megabytes, [str(self._process), *children]))))
            time.sleep(1.0)

    def medians(self) -> tuple[float, float]:
        """After the first minute and at the end, each over the time of a generation: memory rises and falls in it."""
        first, time = min(_FIRST, self._seconds / 4), self._seconds / SWAPS
        early = [megabytes for seconds, megabytes in self._samples if first <= seconds < first + time]
        late = [megabytes for seconds, megabytes in self._samples if seconds >= self._seconds - time]
        return statistics.median(early), statistics.median(late)


def _megabytes(process: str) -> float:
    found = re.search(r"^Pss: +(\d+) kB", Path(f"/proc/{process}/smaps_rollup").read_text(), re.M)
    return int(found[1]) / 1e3 if found else 0.0


# --- in the process of the clients ---------------------------------------------------------------


class Clients:
    """All clients of a server, in one event loop."""

    def __init__(self, url: str, seconds: float, mixed: list[Question], probe_seconds: float = 1.0) -> None:
        address = urlsplit(url)
        self._host, self._port = address.hostname or "", address.port or 0
        self._end = time.monotonic() + seconds
        self._mixed, self._next, self._pause = mixed, 0, probe_seconds
        self._probe_from: tuple[str, int] | None = None
        self.tally: Counter[str] = Counter()
        self.slowest: Counter[str] = Counter()
        self.failures: list[str] = []

    async def run(self) -> dict[str, Any]:
        kinds: list[Callable[..., Any]] = [self._idle, self._slow_head, self._slow_body, self._slow_reader]
        slow = [asyncio.create_task(self._again(kinds[k % len(kinds)], k)) for k in range(SLOW)]
        await asyncio.gather(self._probe(), *(self._connection(k) for k in range(CONNECTIONS)))
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        names = ("asked", "failed", "late", "probed", "unprobed", "slow", "closed")
        times = {"slowest": self.slowest["asked"], "slowest_probe": self.slowest["probed"]}
        return {**{name: self.tally[name] for name in names}, **times, "failures": self.failures[:_TOLD]}

    async def _connection(self, number: int) -> None:
        while time.monotonic() < self._end:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(self._host, self._port, limit=1 << 24)
                while time.monotonic() < self._end and not writer.is_closing():
                    question = self._mixed[self._next % len(self._mixed)]
                    self._next += 1
                    if not await self._answered(reader, writer, question, number, "asked", "failed"):
                        break
                writer.close()

    async def _probe(self) -> None:
        while time.monotonic() < self._end:
            try:
                reader, writer = await asyncio.open_connection(self._host, self._port, local_addr=self._probe_from)
                await self._answered(reader, writer, ("GET", "/healthz", ""), 0, "probed", "unprobed")
                writer.close()
            except OSError:
                self.tally["unprobed"] += 1
            await asyncio.sleep(self._pause)

    async def _answered(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        question: Question,
        client: int,
        counted: str,
        failed: str,
    ) -> bool:
        """Ask one question; whether the answer is complete and has status 200."""
        method, path, body = question
        begin, problem = time.monotonic(), ""
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: localhost:{self._port}",
            f"X-Forwarded-For: 10.0.0.{client % CLIENTS}",
        ]
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        try:
            for _ in range(_PATIENCE):
                writer.write("\r\n".join([*lines, "", body]).encode("ascii"))
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", head)
                text = await reader.readexactly(int(length[1]) if length else 0)
                if not head.startswith(b"HTTP/1.1 202 "):
                    break
                self.tally["late"] += 1
                await asyncio.sleep(1.0)
            if not head.startswith(b"HTTP/1.1 200 "):
                problem = f"{head[:30]!r} {text[:300]!r}"
        except (OSError, asyncio.IncompleteReadError) as error:
            problem = repr(error)
        self.tally[counted] += 1
        self.slowest[counted] = max(self.slowest[counted], time.monotonic() - begin)  # type: ignore[assignment]
        if problem:
            self.tally[failed] += 1
            self.failures.append(f"{method} {path[:100]}: {problem[:200]}")
        return not problem

    async def _again(self, behave: Callable[..., Any], number: int, count: int = SLOW) -> None:
        """A slow client, which connects again when the server has closed its connection."""
        await asyncio.sleep(number / count)
        while True:
            writer = None
            try:
                raw = socket.socket()
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                raw.setblocking(False)
                await asyncio.get_running_loop().sock_connect(raw, (self._host, self._port))
                reader, writer = await asyncio.open_connection(sock=raw, limit=4096)
                self.tally["slow"] += 1
                await behave(reader, writer)
            except OSError:
                pass
            finally:
                if writer is not None:
                    writer.transport.abort()
            self.tally["closed"] += 1
            await asyncio.sleep(1.0)

    async def _idle(self, reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async def _slow_head(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._trickle(reader, writer, b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X-a: b\r\n")

    async def _slow_body(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = b"POST /api/related HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        await self._trickle(reader, writer, head + b"Content-Length: 8000000\r\n\r\n" + b" " * 60_000, b" " * 1000)

    async def _slow_reader(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Ask for more than the buffers of a connection hold, and read a little every second."""
        large = b"GET /static/page.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
        await self._trickle(reader, writer, large * 30, b"")

    async def _trickle(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes, then: bytes
    ) -> None:
        writer.write(first)
        while not (writer.is_closing() or reader.at_eof()):
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await reader.read(100)
                    await asyncio.sleep(1.0)
            writer.write(then)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--client", metavar="URL", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    if given.client:
        asked = [(method, path, body) for method, path, body in json.load(sys.stdin)]
        print(json.dumps(asyncio.run(Clients(given.client, given.seconds, asked).run())))
    else:
        sys.exit(bool(main(given.seconds)))
