"""A server of WebHDFS over a folder, which records what is opened, and by which process.

Answers have no type of content: Hadoop 3.5 in Spark 4.3 checks it with a class of Jersey that its jars do not have.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

_PREFIX = "/webhdfs/v1"
_ERRORS = {403: "org.apache.hadoop.security.AccessControlException", 404: "java.io.FileNotFoundException"}


class Opened(NamedTuple):
    """A request for the bytes of a file, and the commands of the process that made it and of its ancestors."""

    name: str
    offset: int
    processes: list[tuple[int, str]]


class WebHdfs(ThreadingHTTPServer):
    """The name node and its only data node. `before_bytes` gets each request of bytes, and may give an error."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.opened: list[Opened] = []
        self.before_bytes: Callable[[Opened], int | None] = lambda _: None

    def uri(self, name: str) -> str:
        return f"webhdfs://127.0.0.1:{self.server_port}/{name}"

    def handle_error(self, *_: Any) -> None:
        """A client closes the connection when it has the bytes of its range."""


@contextmanager
def serving(folder: Path) -> Iterator[WebHdfs]:
    with WebHdfs(folder) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: WebHdfs

    def do_GET(self) -> None:
        url = urlsplit(self.path.encode("latin-1").decode())
        given = {name.lower(): values[0] for name, values in parse_qs(url.query).items()}
        path = self.server.folder / unquote(url.path.removeprefix(_PREFIX)).strip("/")
        if not path.exists():
            self._refuse(404, f"File does not exist: {path.name}")
        elif given["op"] == "GETFILESTATUS":
            self._answer({"FileStatus": _status(path, "")})
        elif given["op"] == "LISTSTATUS":
            found = (
                [_status(each, each.name) for each in sorted(path.iterdir())] if path.is_dir() else [_status(path, "")]
            )
            self._answer({"FileStatuses": {"FileStatus": found}})
        elif given["op"] in ("GETFILEBLOCKLOCATIONS", "GET_BLOCK_LOCATIONS"):
            self._answer({"BlockLocations": {"BlockLocation": []}})
        elif given["op"] == "OPEN" and "datanode" not in given:
            self.send_response(307)
            there = f"127.0.0.1:{self.server.server_port}{quote(unquote(url.path))}"
            self.send_header("Location", f"http://{there}?{urlencode(given | {'datanode': '1'})}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif given["op"] == "OPEN":
            self._send_bytes(path, given)
        else:
            self._refuse(400, f"Invalid operation {given['op']}")

    def _send_bytes(self, path: Path, given: dict[str, str]) -> None:
        processes = _processes_of(self.client_address[1], self.server.server_port)
        opened = Opened(path.name, int(given.get("offset", 0)), processes)
        self.server.opened.append(opened)
        refused = self.server.before_bytes(opened)
        if refused is not None:
            self._refuse(refused, f"Permission denied: user=bird, inode=/{path.name}")
            return
        data = path.read_bytes()[opened.offset :]
        data = data[: int(given["length"])] if "length" in given else data
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _answer(self, value: Any, code: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _refuse(self, code: int, message: str) -> None:
        name = _ERRORS.get(code, "java.io.IOException")
        error = {"exception": name.rpartition(".")[2], "javaClassName": name, "message": message}
        self._answer({"RemoteException": error}, code)

    def log_message(self, *_: Any) -> None:
        pass


def _status(path: Path, name: str) -> dict[str, Any]:
    facts, folder = path.stat(), path.is_dir()
    return {
        "pathSuffix": name,
        "type": "DIRECTORY" if folder else "FILE",
        "length": 0 if folder else facts.st_size,
        "modificationTime": facts.st_mtime_ns // 10**6,
        "accessTime": 0,
        "owner": "bird",
        "group": "birds",
        "permission": "755",
        "replication": 1,
        "blockSize": 1 << 27,
        "fileId": facts.st_ino,
        "childrenNum": 0,
        "storagePolicy": 0,
    }


def _processes_of(client: int, server: int) -> list[tuple[int, str]]:
    """The process with a connection between these ports, its parent, and so on, with their commands; Linux only.

    Connections to other servers may come from the same port.
    """
    sockets = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:] if Path("/proc/net").exists() else []:
            words = line.split()
            if [int(address.rpartition(":")[2], 16) for address in words[1:3]] == [client, server]:
                sockets.add(f"socket:[{words[9]}]")
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if any(str(link.readlink()) in sockets for link in (each / "fd").iterdir()):
                return list(_ancestors(int(each.name)))
        except OSError:
            continue  # it has ended, or is not ours
    return []


def _ancestors(process: int) -> Iterator[tuple[int, str]]:
    while process > 1:
        yield process, Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
