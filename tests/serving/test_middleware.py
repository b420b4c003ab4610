"""Access control, and the headers of every response."""

from __future__ import annotations

import asyncio
import base64
import errno

import pytest
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from pagekin.errors import MisuseError, StoreError
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.metrics import WIDTH, Metrics
from pagekin.serving.middleware import CSP, RequestMiddleware
from pagekin.serving.settings import RequestLimits, ServerSettings
from serving.conftest import Serve


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_every_answer_says_what_a_browser_may_do_with_it(client: TestClient) -> None:
    for path in ("/", "/api", "/api/info", "/healthz", "/nowhere", "/static/api.css", "/embed.js", "/api/related"):
        headers = client.get(path).headers
        assert headers["content-security-policy"] == CSP, path
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer"), path
    assert "unsafe" not in CSP


def test_without_the_token_nothing_is_answered(serve: Serve) -> None:
    client = serve(ServerSettings(token="s3cret"))
    for path in ("/", "/api", "/api/info", "/api/related?url=oak", "/metrics", "/w/api.php", "/api/openapi.json"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["www-authenticate"][:6]) == (401, "Bearer"), path
        for wrong in ("", "s3cre", "s3cret2", "S3CRET", "ß"):
            assert client.get(path, headers=[(b"Authorization", f"Bearer {wrong}".encode())]).status_code == 401
        assert client.get(path, headers=bearer("s3cret")).status_code == 200 or path == "/w/api.php"
    assert client.get("/healthz").status_code == 200


def test_a_browser_sends_the_token_as_a_password(serve: Serve) -> None:
    client = serve(ServerSettings(token="s3cret"))
    for name, status in (("anna:s3cret", 200), (":s3cret", 200), ("s3cret:", 401), ("s3cret", 401)):
        sent = base64.b64encode(name.encode()).decode()
        assert client.get("/api/info", headers={"Authorization": f"Basic {sent}"}).status_code == status, name
    assert client.get("/api/info", headers={"Authorization": "Basic =?"}).status_code == 401


def test_answers_that_need_a_token_are_not_cached_by_proxies(serve: Serve) -> None:
    client = serve(ServerSettings(token="s3cret"))
    assert client.get("/api/info", headers=bearer("s3cret")).headers["cache-control"] == "private, max-age=60"


def test_other_origins_may_call_the_api_only_if_allowed(serve: Serve) -> None:
    asked = {"Origin": "https://blog.example", "Access-Control-Request-Method": "GET"}
    closed, opened = serve(ServerSettings()), serve(ServerSettings(cors=("https://blog.example",), token="t"))
    assert "access-control-allow-origin" not in closed.get("/api/info", headers=asked).headers
    told = opened.get("/api/info", headers={**asked, **bearer("t")}).headers
    assert told["access-control-allow-origin"] == "https://blog.example"
    assert opened.options("/api/info", headers=asked).status_code == 200
    other = opened.get("/api/info", headers={**bearer("t"), "Origin": "https://evil.example"}).headers
    assert "access-control-allow-origin" not in other


def test_a_cache_keeps_answers_to_different_origins_apart(serve: Serve) -> None:
    origins = ("https://blog.example", "https://news.example")
    client = serve(ServerSettings(cors=origins))
    known = {"If-None-Match": client.get("/api/info").headers["etag"]}
    for origin in (*origins, "https://evil.example", ""):
        for path, headers in (("/api/info", {}), ("/api/info", known), ("/api/related?url=nowhere", {})):
            told = client.get(path, headers={**headers, "Origin": origin}).headers
            assert "Origin" in told["vary"]
            assert told.get("access-control-allow-origin") == (origin if origin in origins else None)


def test_an_unknown_host_name_is_refused(serve: Serve) -> None:
    """DNS rebinding: a name of another site that resolves to 127.0.0.1 must not give access."""
    client = serve(ServerSettings(hosts=("localhost", "127.0.0.1", "[::1]")))
    for name, status in (("localhost:80", 200), ("127.0.0.1", 200), ("[::1]:9", 200), ("evil.example", 421), ("", 421)):
        assert client.get("/healthz", headers={"Host": name}).status_code == status, name


@pytest.mark.parametrize(
    "name",
    [
        "[::1].evil.example",
        "localhost:80@evil.example",
        "localhost:80.evil.example",
        "[::1",
        "localhost/a",
        "localhost x",
    ],
)
def test_a_host_header_that_only_begins_with_a_known_name_is_refused(serve: Serve, name: str) -> None:
    client = serve(ServerSettings(hosts=("localhost", "[::1]")))
    assert client.get("/healthz", headers={"Host": name}).status_code == 421


def test_an_internal_error_reveals_no_details(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("the inner parts")

    monkeypatch.setattr("pagekin.collection.collection.Collection.search", broken)
    answer = serve(ServerSettings()).get("/api/pages?query=a")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "inner" not in answer.text
    assert answer.headers["content-security-policy"] == CSP


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (MemoryError(), "no-memory", "there is not enough memory"),
        (RuntimeError("can't start new thread"), "no-memory", "there is not enough memory"),
        (OSError(errno.EMFILE, "Too many open files"), "index-unreadable", "[Errno 24] Too many open files"),
    ],
)
def test_what_the_system_refuses_is_told_in_one_line_and_may_be_tried_again(
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    kind: str,
    said: str,
) -> None:
    def refused(*_: object) -> None:
        raise error

    monkeypatch.setattr("pagekin.collection.collection.Collection.search", refused)
    answer = serve(ServerSettings()).get("/api/pages?query=a")
    assert (answer.status_code, answer.json()["type"]) == (503, f"urn:pagekin:{kind}")
    assert int(answer.headers["retry-after"]) > 0
    assert [(record.getMessage(), record.exc_info) for record in caplog.records] == [
        (f"GET /api/pages failed: {said}", None)
    ]


def test_an_unreadable_index_is_reported_as_such(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(*_: object) -> None:
        raise StoreError("/srv/index is damaged")

    monkeypatch.setattr("pagekin.collection.collection.Collection.search", damaged)
    answer = serve(ServerSettings()).get("/api/pages?query=a")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert "/srv" not in answer.text


def test_a_request_that_is_cancelled_by_a_shutdown_gets_an_answer(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancelled(*_: object) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr("pagekin.collection.collection.Collection.search", cancelled)
    answer = serve(ServerSettings()).get("/api/pages?query=a")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert "stopping" in answer.json()["detail"]


def test_the_open_requests_of_one_client_are_limited_but_not_those_for_its_health() -> None:
    gate, statuses = asyncio.Event(), []

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/healthz":
            await gate.wait()
        await Response()(scope, receive, send)

    async def ask(app: RequestMiddleware, client: str, path: str) -> None:
        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        scope = {"type": "http", "method": "GET", "path": path, "headers": [], "client": (client, 1)}
        await app(scope, receive, send)

    async def test() -> None:
        app = RequestMiddleware(wait, ServerSettings(limits=RequestLimits(at_once=2)), Metrics())
        waiting = [asyncio.create_task(ask(app, client, "/")) for client in ("1.1.1.1", "1.1.1.1", "2.2.2.2")]
        await asyncio.sleep(0)
        await ask(app, "1.1.1.1", "/")
        await ask(app, "1.1.1.1", "/healthz")
        assert statuses == [429, 200]
        gate.set()
        await asyncio.gather(*waiting)
        await ask(app, "1.1.1.1", "/")
        assert statuses[2:] == [200] * 4

    asyncio.run(test())


def test_metrics_are_exact_and_summed_over_workers(current: CurrentGeneration) -> None:
    counts = [0.0] * (2 * WIDTH)
    workers = [Metrics(counts, 0), Metrics(counts, 1)]
    counts[1] = 1_234_566  # answers to / with a status of 2xx
    workers[1].count_request("/", 200, 0.001)
    workers[0].count_request("/page/x", 404, 11.0)
    lines = list(workers[0].lines(current))
    assert 'pagekin_requests_total{path="/",status="2xx"} 1234567' in lines
    assert 'pagekin_request_seconds_bucket{path="/",le="0.0005"} 0' in lines
    assert 'pagekin_request_seconds_bucket{path="/",le="0.001"} 1' in lines
    assert 'pagekin_request_seconds_bucket{path="other",le="10.0"} 0' in lines
    assert 'pagekin_request_seconds_bucket{path="other",le="+Inf"} 1' in lines
    assert 'pagekin_request_seconds_sum{path="other"} 11.000000' in lines


def test_invalid_settings_are_refused() -> None:
    for wrong in ({"replay": "javascript:alert(1)"}, {"cors": ("blog.example",)}, {"cors": ("https://a.example/b",)}):
        with pytest.raises(MisuseError):
            ServerSettings(**wrong)
    with pytest.raises(MisuseError, match="limit"):
        RequestLimits(limit=0)


def test_a_token_is_not_shown(current: CurrentGeneration) -> None:
    assert "s3cret" not in repr(ServerSettings(token="s3cret"))
