"""Load on a local server: with wrk if it is installed, otherwise with a client of our own.

`python -m benchmarks.loading URL SECONDS < PATHS` is that client.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

CONNECTIONS = 8
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_SCRIPT = """
local paths, n = {}, 0
for line in io.lines("%s") do paths[#paths + 1] = line end
request = function()
  n = n %% #paths + 1
  return wrk.format("GET", paths[n])
end
"""


@dataclass(frozen=True)
class Load:
    """What a server bore."""

    requests: int
    failed: int
    a_second: float
    p50: float  # seconds
    p99: float


def tool() -> str:
    """What loads are made with."""
    return "wrk" if shutil.which("wrk") else "benchmarks.loading"


def load(url: str, paths: list[str], seconds: float) -> Load:
    """Ask for these paths in turns, on several connections, for so long."""
    if tool() == "wrk":
        return _wrk(url, paths, seconds)
    command = [sys.executable, "-m", "benchmarks.loading", url, str(seconds)]
    done = subprocess.run(command, input="\n".join(paths), capture_output=True, text=True, check=True)
    return Load(**json.loads(done.stdout))


def _wrk(url: str, paths: list[str], seconds: float) -> Load:
    with tempfile.TemporaryDirectory() as place:
        listed, script = Path(place) / "paths", Path(place) / "paths.lua"
        listed.write_text("\n".join(paths), "utf-8")
        script.write_text(_SCRIPT % listed, "utf-8")
        command = [
            "wrk",
            "-t1",
            f"-c{CONNECTIONS}",
            f"-d{seconds:.0f}",
            "--timeout",
            "30",
            "--latency",
            "-s",
            str(script),
        ]
        said = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout
    return of_wrk(said)


def of_wrk(said: str) -> Load:
    r"""What wrk says.

    >>> of_wrk("50% 1.50ms\n99% 3.00ms\n40 requests in 2s\nNon-2xx or 3xx responses: 2\nRequests/sec: 20.0")
    Load(requests=40, failed=2, a_second=20.0, p50=0.0015, p99=0.003)
    """
    told = re.findall(r"\b(50|99)%\s+([\d.]+)(us|ms|s|m)\b", said)
    shares = {share: float(n) * _UNITS[unit] for share, n, unit in told}
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", said)
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    failed = sum(map(int, errors.groups())) if errors else 0
    counted, rate = re.search(r"(\d+) requests in", said), re.search(r"Requests/sec:\s+([\d.]+)", said)
    assert counted, said
    assert rate, said
    failed += int(wrong[1]) if wrong else 0
    return Load(int(counted[1]), failed, float(rate[1]), shares["50"], shares["99"])


async def _asked(url: str, paths: list[str], seconds: float) -> Load:
    address, end, place, times, failed = urlsplit(url), time.perf_counter() + seconds, 0, [], 0

    async def connection() -> None:
        nonlocal place, failed
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        while (begin := time.perf_counter()) < end:
            path, place = paths[place % len(paths)], place + 1
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
            times.append(time.perf_counter() - begin)
            failed += not head.startswith(b"HTTP/1.1 2")
        writer.close()

    await asyncio.gather(*(connection() for _ in range(CONNECTIONS)))
    times.sort()
    shares = [times[min(len(times) - 1, int(share * len(times)))] for share in (0.5, 0.99)]
    return Load(len(times), failed, len(times) / seconds, *shares)


if __name__ == "__main__":
    asked = asyncio.run(_asked(sys.argv[1], sys.stdin.read().split("\n"), float(sys.argv[2])))
    print(json.dumps(asdict(asked)))
