"""A server in its own process: starting, refreshing and stopping."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from starlette.routing import Route

from cli.conftest import Pagekin
from cli.conftest import pagekin as pagekin  # the fixture
from cli.processes import PAGEKIN
from pagekin import __version__
from pagekin.cli.serve import token_of
from pagekin.kernels.compile import usable
from pagekin.kernels.signatures import used_by
from pagekin.serving import pages
from pagekin.serving.workers import listen, url_of
from serving.processes import Server, announced, running, started
from serving.test_generations import write

pytestmark = pytest.mark.slow

SECONDS = 600  # far more than anything here takes


def until(there: object, what: str) -> None:
    """Wait until the condition holds."""
    end = time.monotonic() + SECONDS
    while not there():  # type: ignore[operator]
        assert time.monotonic() < end, f"{what} has not come"
        time.sleep(0.02)


def is_closed(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=SECONDS).close()
    except OSError:
        return True
    return False


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("stop", ["SIGTERM", "Ctrl-C"])
def test_a_server_that_stops_answers_running_requests(served_index: Path, workers: str, stop: str) -> None:
    body = json.dumps({"text": "oak and acorns " * 50}).encode()
    head = "POST /api/related HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n"
    with running(served_index, "--workers", workers, "--seconds", "300") as server:
        address = urlsplit(server.url)
        assert address.hostname and address.port
        with socket.create_connection((address.hostname, address.port), timeout=SECONDS) as asking:
            asking.sendall(head.encode())
            assert asking.recv(100).startswith(b"HTTP/1.1 100")  # the handler is at work, and waits for the body
            if stop == "SIGTERM":
                server.process.terminate()
            else:  # a terminal sends it to all
                os.killpg(server.process.pid, signal.SIGINT)
            until(lambda: is_closed(str(address.hostname), address.port or 0), "the end of listening")
            asking.sendall(body)
            answer = b"".join(iter(lambda: asking.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert b'"related":' in answer
        assert server.process.wait(SECONDS) == 0
        assert server.rest() == ""
        until(server.is_gone, "the end of all processes")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_second_interrupt_does_not_wait(served_index: Path, workers: str) -> None:
    head = "POST /api/related HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += "Content-Length: 9\r\nExpect: 100-continue\r\n\r\n"
    with running(served_index, "--workers", workers, "--seconds", "300") as server:
        address = urlsplit(server.url)
        with socket.create_connection(("127.0.0.1", address.port or 0), timeout=SECONDS) as asking:
            asking.sendall(head.encode())
            assert asking.recv(100).startswith(b"HTTP/1.1 100")
            os.killpg(server.process.pid, signal.SIGINT)
            until(lambda: is_closed("127.0.0.1", address.port or 0), "the end of listening")
            os.killpg(server.process.pid, signal.SIGINT)
            assert server.process.wait(SECONDS) == 1
        assert server.rest().endswith("stopped immediately; running requests were not answered\n")
        until(server.is_gone, "the end of all processes")


def test_workers_that_have_just_started_stop_silently(served_index: Path) -> None:
    with announced("serve", str(served_index), "--port", "0", "--workers", "2") as server:
        until(lambda: len(server.children()) == 3, "the workers")
        os.killpg(server.process.pid, signal.SIGINT)
        assert (server.process.wait(SECONDS), server.rest()) == (0, "")
        until(server.is_gone, "the end of all processes")


def test_no_worker_outlives_the_server(served_index: Path) -> None:
    with running(served_index, "--workers", "2") as server:
        server.process.kill()
        until(server.is_gone, "the end of the workers")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_new_generation_fails_no_request(tmp_path: Path, workers: str) -> None:
    store = write(tmp_path, 20)
    stop = threading.Event()

    def ask(url: str, first: int) -> list[int]:
        statuses = []
        with httpx2.Client(base_url=url, timeout=SECONDS) as client:
            while not stop.is_set():
                first = (first + 1) % 20
                statuses.append(
                    client.get(f"/api/related?url=http://birds.example/{first}&limit={first + 1}").status_code
                )
        return statuses

    with running(store, "--workers", workers) as server, ThreadPoolExecutor(3) as threads:
        asking = [threads.submit(ask, server.url, k) for k in range(3)]
        try:
            write(tmp_path, 30)
            until(lambda: health(server.url)["generation"] == 2, "the new generation")
        finally:
            stop.set()
        statuses = [status for task in asking for status in task.result()]
    assert len(statuses) > 20
    assert set(statuses) == {200}


def health(url: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx2.get(f"{url}healthz", timeout=SECONDS).json()
    return found


def failed_requests(url: str) -> dict[str, str]:
    """Ask a request of every kind, in the API and on the web page: those that do not answer."""
    birds, answers = "http://birds.example/3", {}
    with httpx2.Client(base_url=url, timeout=SECONDS, follow_redirects=True) as client:
        page = client.get("/api/pages", params={"query": "Bird 3"}).json()["pages"][0]["id"]
        known = {"url": birds, "id": page, "a": birds, "b": "http://birds.example/4", "query": "robin", "q": "robin"}
        known |= {"action": "query", "list": "search", "srsearch": "morelike:Bird 3", "format": "json"}
        with_body = {
            "/api/related": {"text": "robin wren"},
            "/api/duplicates": [{"id": 1, "text": "a"}, {"id": 2, "text": "a"}],
        }
        paths = client.get("/api/openapi.json").json()["paths"]
        for path, methods in paths.items():
            taken = {each["name"] for each in methods.get("get", {}).get("parameters", ()) if each["in"] == "query"}
            if "get" in methods:
                given = {name: value for name, value in known.items() if name in taken or path == "/w/api.php"}
                answers[path] = client.get(path.replace("{id}", page), params=given)
        for route in pages.routes():
            assert isinstance(route, Route)
            answers[route.path] = client.get(route.path.replace("{id}", page), params=known)
        for path, body in with_body.items():
            answers[f"POST {path}"] = client.post(path, json=body)
    return {path: answer.text for path, answer in answers.items() if answer.status_code != 200}


@pytest.mark.skipif(not usable(), reason="no machine code: python -m tools.machine_code")
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="loaded libraries are listed by Linux")
def test_no_request_loads_a_compiler(tmp_path: Path) -> None:
    with running(write(tmp_path, 20)) as server:
        assert failed_requests(server.url) == {}
        maps = [Path(f"/proc/{pid}/maps").read_text() for pid in (server.process.pid, *server.children())]
        assert any("machine.abi3.so" in each for each in maps)
        assert not any("llvmlite" in each for each in maps)


@contextmanager
def alone(worker: int, server: Server) -> Iterator[None]:
    """Stop the other workers for a while, so that all requests reach this one."""
    others = [each for each in server.children()[1:] if each != worker]
    for each in others:
        os.kill(each, signal.SIGSTOP)
    try:
        yield
    finally:
        for each in others:
            os.kill(each, signal.SIGCONT)


@pytest.mark.skipif(not usable(), reason="no machine code: python -m tools.machine_code")
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="loaded libraries are listed by Linux")
def test_no_request_loads_a_compiler_in_a_new_worker_or_of_a_new_generation(tmp_path: Path) -> None:
    store = write(tmp_path, 20)
    with running(store, "--workers", "2") as server:
        old, first = server.children()[-1], server.children()[1]
        os.kill(old, signal.SIGKILL)
        until(lambda: len(server.children()) == 3 and old not in server.children(), "another worker")
        write(tmp_path, 30)
        (new,) = set(server.children()[1:]) - {first}
        for worker in (first, new):
            with alone(worker, server):
                until(lambda: health(server.url)["generation"] == 2, "the new generation")
                assert failed_requests(server.url) == {}
            assert "machine.abi3.so" in (maps := Path(f"/proc/{worker}/maps").read_text())
            assert "llvmlite" not in maps


# Every generation waits for its turn after it has loaded all that it needs. Python imports this module when it starts.
HELD = """
import pathlib, sys, time
import pagekin.kernels.precompile as precompile

folder, load = pathlib.Path({folder!r}), precompile.load

def held(command):
    load(command)
    (folder / "loading").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)

precompile.load = held
"""


def test_no_health_is_reported_before_a_worker_has_loaded_what_it_needs(tmp_path: Path) -> None:
    store = write(tmp_path, 20)
    (tmp_path / "sitecustomize.py").write_text(HELD.format(folder=str(tmp_path)))
    loading, go = tmp_path / "loading", tmp_path / "go"
    with listen("127.0.0.1", 0) as free:
        url = url_of(free)
    command = [*PAGEKIN, "serve", str(store), "--port", str(urlsplit(url).port)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            until(loading.exists, "a worker that loads")
            with pytest.raises(httpx2.TimeoutException):
                httpx2.get(f"{url}healthz", timeout=0.5)
            assert process.stdout and not select.select([process.stdout], [], [], 0)[0]
            go.touch()
            assert process.stdout.readline().startswith("Serving ")
            assert health(url)["generation"] == 1
            go.unlink()
            loading.unlink()
            write(tmp_path, 30)
            until(loading.exists, "a generation that is loaded")
            assert health(url)["generation"] == 1
            go.touch()
            until(lambda: health(url)["generation"] == 2, "the new generation")
        finally:
            process.terminate()


def test_without_machine_code_all_kernels_that_requests_need_are_loaded_before(tmp_path: Path) -> None:
    recorded = tmp_path / "kernels.tsv"
    environment = {"NUMBA_DISABLE_JIT": "1", "PAGEKIN_RECORD_KERNELS": str(recorded), "PYTHONWARNINGS": "ignore"}
    with running(write(tmp_path, 20), **environment) as server:
        assert failed_requests(server.url) == {}
    called = {line.split("\t")[0] for line in recorded.read_text().splitlines()}
    assert called and called - used_by("serve") == set()


def test_a_body_that_does_not_arrive_is_a_timeout(served_index: Path) -> None:
    head = (
        "POST /api/related HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
    )
    with running(served_index, "--seconds", "0.1") as server:
        address = urlsplit(server.url)
        assert address.port
        with socket.create_connection(("127.0.0.1", address.port), timeout=SECONDS) as asking:
            asking.sendall(head.encode())
            assert asking.recv(100).startswith(b"HTTP/1.1 408")


def test_a_url_that_is_far_too_long_is_answered(served_index: Path) -> None:
    """If the connection were closed, a client that is still writing would never see the reason."""
    with running(served_index) as server:
        host, port = urlsplit(server.url).netloc.split(":")
        with socket.create_connection((host, int(port)), timeout=SECONDS) as client:
            client.sendall(b"GET /api/related?url=" + b"a" * 900_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 414 ")


def test_a_browser_in_the_terminal_is_answered_while_it_runs(served_index: Path, tmp_path: Path) -> None:
    """Such a browser does not end before it has been answered."""
    browser = tmp_path / "browser.py"
    browser.write_text(
        "import sys, urllib.request\n"
        f"answer = urllib.request.urlopen(sys.argv[1], timeout={SECONDS})\n"
        f"open({str(tmp_path / 'got')!r}, 'w').write(f'{{sys.argv[1]}} {{answer.status}}')\n"
    )
    with running(served_index, "--open", BROWSER=f"{sys.executable} {browser} %s") as server:
        until(lambda: (tmp_path / "got").exists() and (tmp_path / "got").read_text(), "the browser")
        assert (tmp_path / "got").read_text() == f"{server.url} 200"
        server.process.terminate()
        assert (server.process.wait(SECONDS), server.rest()) == (0, "")


def test_without_a_browser_the_address_is_printed(served_index: Path) -> None:
    with running(served_index, "--open", BROWSER=f"{sys.executable} -c raise(SystemExit(1))", PATH="") as server:
        line = server.process.stdout and server.process.stdout.readline()
        assert line == f"No browser could be opened; go to {server.url}.\n"


def test_the_demo_ends_on_the_page(tmp_path: Path) -> None:
    with started("demo", "--output", str(tmp_path / "demo"), "--serve") as server:
        assert httpx2.get(server.url).status_code == 200
        assert httpx2.get(f"{server.url}api/info").json()["counts"]["pages"] == 213
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(SECONDS) == 0


def test_in_a_terminal_the_demo_serves_until_ctrl_c(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    its_own = (
        "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
    )
    command = [sys.executable, "-c", its_own, *PAGEKIN, "demo", "--output", str(tmp_path / "demo")]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as process:
        os.close(theirs)
        said = b""
        while not (found := re.search(rb"at (http://\S+/) \(Ctrl-C stops it\)\r\n$", said)):
            said += os.read(ours, 65536)
        assert httpx2.get(found[1].decode(), timeout=SECONDS).status_code == 200
        os.write(ours, b"\x03")
        assert process.wait(SECONDS) == 0
        assert os.read(ours, 65536) == b"^C\r\n"
    os.close(ours)


@pytest.mark.parametrize(
    ("number", "told"), [(signal.SIGKILL, "was killed by signal 9"), (signal.SIGTERM, "was told to stop")]
)
def test_a_worker_that_ends_is_replaced_with_a_message(served_index: Path, number: int, told: str) -> None:
    with running(served_index, "--workers", "2") as server:
        before = server.children()
        os.kill(before[-1], number)
        until(lambda: len(server.children()) == 3 and server.children() != before, "another worker")
        for _ in range(20):  # each on a connection of its own, which any worker may take
            assert httpx2.get(f"{server.url}api/info").status_code == 200
        text = httpx2.get(f"{server.url}metrics").text
        server.process.terminate()
        assert server.process.wait(SECONDS) == 0
        assert server.rest() == f"worker 2 (process {before[-1]}) {told}; a new one replaces it\n"
    assert 'pagekin_requests_total{path="/api/info",status="2xx"} 20\n' in text  # of both together


def test_a_token_is_read_from_a_file(served_index: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    with running(served_index, "--token-file", str(tmp_path / "token")) as server:
        assert httpx2.get(f"{server.url}api/info").status_code == 401
        sent = {"Authorization": "Bearer s3cret"}
        assert httpx2.get(f"{server.url}api/info", headers=sent).json()["counts"]["pages"] == 213
        schema = httpx2.get(f"{server.url}api/openapi.json", headers=sent).json()
        assert (schema["info"]["version"], schema["security"]) == (__version__, [{"token": []}])


def test_a_token_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert token_of(None) == ""
    monkeypatch.setenv("PAGEKIN_TOKEN", "s3cret")
    assert token_of(None) == "s3cret"


def test_by_default_only_this_machine_is_served_and_only_by_its_names(served_index: Path) -> None:
    with running(served_index, "--allow-host", "kin.example") as server:
        assert urlsplit(server.url).hostname == "127.0.0.1"
        for name, status in (("localhost", 200), ("kin.example", 200), ("evil.example", 421)):
            assert httpx2.get(f"{server.url}healthz", headers={"Host": name}).status_code == status


def test_a_port_in_use_is_reported(pagekin: Pagekin, served_index: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = urlsplit(url_of(taken)).port
        answer = pagekin("serve", served_index, "--port", str(port))
    assert answer.code == 1
    assert answer.err.startswith(f"pagekin: cannot listen on port {port} of 127.0.0.1: Address already in use")
    assert pagekin("serve", served_index, "--host", "no.such.host.invalid").code == 1


def test_what_cannot_be_served_is_reported(pagekin: Pagekin, served_index: Path, tmp_path: Path) -> None:
    assert pagekin("serve", tmp_path / "none.kin").code == 2
    (tmp_path / "empty").write_text("\n")
    for option in (["--token-file", tmp_path / "empty"], ["--token-file", tmp_path / "none"], ["--replay", "ftp://a"]):
        answer = pagekin("serve", served_index, *option)
        assert (answer.code, answer.out) == (2, "")


def test_without_the_extra_it_says_what_to_install(
    pagekin: Pagekin, served_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    answer = pagekin("serve", served_index)
    assert answer.code == 2
    assert answer.err.startswith("pagekin: serving needs uvicorn (")
    assert answer.err.endswith("; pip install 'pagekin[serve]'\n")


def test_an_address_can_be_opened_wherever_the_server_listens() -> None:
    with listen("0.0.0.0", 0) as everywhere:
        assert urlsplit(url_of(everywhere)).hostname == "127.0.0.1"
    if socket.has_ipv6:
        with listen("::1", 0) as six:
            assert url_of(six).startswith("http://[::1]:")


_FREEING = """
import ctypes, sys
from pagekin.serving.server import return_freed_memory

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096

library = ctypes.CDLL(None)
library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
if sys.argv[1] == "returning":
    return_freed_memory()
size = 24 << 20
library.free(library.malloc(size))  # from now on glibc would keep memory of this size
blocks, after = [], []
for _ in range(4):
    blocks.append(library.malloc(size))
    ctypes.memset(blocks[-1], 1, size)
    after.append(library.malloc(1 << 20))  # lies behind it
used = resident()
for block in blocks:
    library.free(block)
print((used - resident()) // size)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mallopt is a function of glibc")
@pytest.mark.parametrize(("kind", "returned"), [("returning", 4), ("keeping", 0)])
def test_freed_arrays_are_returned_to_the_system(kind: str, returned: int) -> None:
    done = subprocess.run([sys.executable, "-c", _FREEING, kind], capture_output=True, text=True, check=True)
    assert int(done.stdout) == returned
