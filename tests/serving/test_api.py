"""The JSON API: answers, and error messages."""

from __future__ import annotations

import gzip
import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from cli.processes import in_this_process
from pagekin.pipeline import build
from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import RequestLimits, ServerSettings
from serving.conftest import Serve

OAK = "http://treeroom.example/oak.html"


def related(client: TestClient, **params: Any) -> Any:
    response = client.get("/api/related", params={"url": OAK, **params})
    assert response.status_code == 200, response.text
    return response.json()


def problem(response: Any, status: int) -> str:
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    told = response.json()
    assert told["status"] == status
    assert response.headers["cache-control"] == "no-store"
    return str(told["detail"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "command"),
    [
        (f"/api/related?url={OAK}&explain=true", f"related {OAK}"),
        (f"/api/related?url={OAK}", f"related {OAK} --no-explain"),
        (
            f"/api/related?url={OAK}&limit=3&exclude_host=1&links=auto",
            f"related {OAK} --limit 3 --no-explain --exclude-host --links auto",
        ),
        (
            f"/api/related?url={OAK}&similarity=cosine&min_similarity=0.12&exclude_linked=true",
            f"related {OAK} --similarity cosine --min-similarity 0.12 --exclude-linked --no-explain",
        ),
        (
            f"/api/cluster?url={OAK}&alpha=0.3&alpha=0.8&limit=4",
            f"cluster {OAK} --alpha 0.3 --alpha 0.8 --limit 4",
        ),
    ],
)
def test_the_api_answers_as_the_command_line(client: TestClient, served_index: Path, path: str, command: str) -> None:
    name, *options = command.split()
    said = in_this_process(name, str(served_index), *options, "--json", folder=served_index.parent)
    assert client.get(path).json() == json.loads(said.out)


def test_a_page_is_found_by_url_by_title_and_by_its_beginning(client: TestClient) -> None:
    for query in (
        OAK,
        "treeroom.example/oak.html",
        "Oak and its many guests",
        "oak gue",
        "oak.html",
        "treeroom.example/oa",
    ):
        pages = client.get("/api/pages", params={"query": query}).json()["pages"]
        assert pages[0]["url"] == OAK, query
    page = client.get(f"/api/pages/{pages[0]['id']}").json()
    assert (page["url"], page["title"]) == (OAK, "Oak and its many guests")
    assert client.get("/api/pages", params={"query": ""}).json()["pages"] == []
    assert client.get("/api/pages", params={"query": "zzzzz"}).json()["pages"] == []


def test_several_pages_and_unknown_texts_are_queried_with_a_body(client: TestClient) -> None:
    beech = "http://treeroom.example/beech.html"
    both = client.post("/api/related", json={"urls": [OAK, beech]}).json()
    assert both["query"]["pages"] == [OAK, beech]
    assert both == client.get("/api/related", params={"url": [OAK, beech]}).json()
    html = "<title>Oaks</title><p>" + "The oak feeds many guests: jays bury acorns, galls hang from oak leaves. " * 5
    for body in ({"html": html}, {"text": html}):
        assert client.post("/api/related", json={**body, "min_similarity": 0}).json()["related"][0]["url"] == OAK
    pinned = client.post("/api/related", json={"urls": [OAK], "pin": [beech], "limit": 2}).json()["related"]
    assert (pinned[0]["url"], pinned[0]["pinned"]) == (beech, True)
    never = client.post("/api/related", json={"urls": [OAK], "never": [beech], "limit": 100}).json()["related"]
    assert beech not in [each["url"] for each in never]


def test_a_result_list_comes_back_in_groups(client: TestClient) -> None:
    wren, robin = "The wren is small. " * 40, "The robin is red. " * 40
    rows = [{"id": 1, "text": wren}, {"id": 2, "text": robin}, {"id": 3, "text": wren.upper()}]
    for body in (rows, {"hits": {"hits": [{"_id": str(r["id"]), "_index": "i", "_source": r} for r in rows]}}):
        groups = client.post("/api/duplicates", json=body).json()["groups"]
        assert [[int(g["anchor"]["id"]), *(int(m["id"]) for m in g["members"])] for g in groups] == [[1, 3], [2]]
    told = client.post("/api/duplicates?text_field=words", json=[{"id": 1, "words": wren}]).json()
    assert told["uncompared"] == {}
    settings = client.post("/api/duplicates?threshold=0.5&link=complete", json=rows).json()["settings"]
    assert (settings["threshold"], settings["link"]) == (0.5, "complete")


def test_info_and_health_describe_what_is_served(client: TestClient, served_index: Path) -> None:
    info = client.get("/api/info").json()
    assert (info["store"], info["generation"], info["counts"]["pages"]) == ("sample_web.kin", 1, 213)
    health = client.get("/healthz").json()
    assert health == {"status": "ok", "generation": 1, "pages": 213, "trouble": False, "reason": ""}


def test_metrics_count_requests_their_time_and_the_generation(current: CurrentGeneration) -> None:
    with TestClient(make_app(current)) as client:
        for _ in range(3):
            related(client)
        client.get("/api/related?url=nowhere")
        client.get("/made/up")
        text = client.get("/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert lines['pagekin_requests_total{path="/api/related",status="2xx"}'] == "3"
    assert lines['pagekin_requests_total{path="/api/related",status="4xx"}'] == "1"
    assert lines['pagekin_requests_total{path="other",status="4xx"}'] == "1"
    assert lines['pagekin_request_seconds_bucket{path="/api/related",le="+Inf"}'] == "4"
    assert lines['pagekin_request_seconds_count{path="/api/related"}'] == "4"
    assert lines["pagekin_kept_answers_total"] == "2"
    assert lines["pagekin_index_generation"] == "1"
    buckets = [int(n) for name, n in lines.items() if name.startswith('pagekin_request_seconds_bucket{path="/api/r')]
    assert buckets == sorted(buckets)


def test_an_answer_has_an_etag_and_is_not_sent_twice(client: TestClient) -> None:
    for path in (f"/api/related?url={OAK}&limit=7", "/api/info", "/api/pages?query=oak"):
        first = client.get(path)
        assert first.headers["cache-control"] == "public, max-age=60"
        again = client.get(path, headers={"If-None-Match": f'"other", {first.headers["etag"]}'})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
        assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    tags = {client.get(path).headers["etag"] for path in ("/api/info", "/api/pages?query=a", "/api/pages?query=b")}
    assert len(tags) == 3


def test_a_client_that_has_the_answer_does_not_make_the_server_compute_it_again(current: CurrentGeneration) -> None:
    with TestClient(make_app(current)) as client, TestClient(make_app(current)) as fresh:
        tag = client.get("/api/info").headers["etag"]
        assert fresh.get("/api/info", headers={"If-None-Match": tag}).status_code == 304


def test_any_answer_is_known_to_a_client_only_if_there_is_one(client: TestClient) -> None:
    for path, status in (("/api/info", 304), ("/api/related?url=nowhere", 404), ("/api/related?limit=x&url=oak", 422)):
        assert client.get(path, headers={"If-None-Match": "*"}).status_code == status, path


def test_a_name_that_is_too_long_means_no_page(client: TestClient) -> None:
    for path in ("/page/" + "a" * 60_000, "/compare?a=" + "a" * 60_000):
        assert client.get(path).status_code in (200, 404), path[:20]
    assert client.get("/search?q=" + "a" * 60_000).status_code == 200


def test_an_answer_is_compressed_if_the_client_accepts_it(client: TestClient) -> None:
    with client.stream("GET", f"/api/related?url={OAK}", headers={"Accept-Encoding": "gzip"}) as packed:
        raw = b"".join(packed.iter_raw())
    assert packed.headers["content-encoding"] == "gzip"
    plain = client.get(f"/api/related?url={OAK}", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert "Accept-Encoding" in plain.headers["vary"]
    assert gzip.decompress(raw) == plain.content


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({}, "url is missing: URL of a page, or its title if no other page has it; several pages form one query."),
        ({"url": ""}, "url is empty."),
        ({"url": OAK, "limit": "0"}, "limit must be from 1 to 100."),
        ({"url": OAK, "limit": "101"}, "limit must be from 1 to 100."),
        ({"url": OAK, "limit": "ten"}, "limit must be a whole number."),
        ({"url": OAK, "min_similarity": "nan"}, "min_similarity must be from 0 to 1."),
        ({"url": OAK, "similarity": "guess"}, "similarity can be jaccard, cosine, okapi, linklearn."),
        ({"url": OAK, "explain": "perhaps"}, "explain must be true or false."),
        ({"url": OAK, "links": "2"}, "links must be from 0 to 1, or auto."),
        ({"url": "x" * 2001}, "url has 2,001 characters; at most 2,000 are allowed."),
        ({"url": [OAK] * 21}, "url has 21 values; at most 20 are allowed."),
        ({"url": OAK, "limit": ["1", "2"]}, "limit is given twice."),
    ],
)
def test_a_wrong_parameter_is_named(client: TestClient, params: dict[str, Any], told: str) -> None:
    assert problem(client.get("/api/related", params=params), 422) == told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("[]", "The body must be an object with urls, html or text."),
        ("{}", "Give exactly one of urls, html and text."),
        ('{"urls": []}', "Give exactly one of urls, html and text."),
        ('{"text": "a", "html": "b"}', "Give exactly one of urls, html and text."),
        ('{"urls": "a"}', "urls must be a list."),
        ('{"text": 7}', "text must be a string."),
        ('{"text": "a", "limit": NaN}', "The body is not valid JSON: NaN is not a number."),
        ('{"text": "a", "limit": true}', "limit must be a whole number."),
        ("[" * 100_000, "The body is not valid JSON: it is nested too deeply."),
    ],
)
def test_a_wrong_body_is_reported(client: TestClient, body: str, told: str) -> None:
    answer = client.post("/api/related", content=body, headers={"Content-Type": "application/json"})
    assert problem(answer, 422) == told


def test_an_unknown_page_is_reported_without_the_path_of_the_store(client: TestClient, served_index: Path) -> None:
    told = problem(client.get("/api/related?url=http://treeroom.example/oaks.html"), 404)
    assert told.startswith("no page 'http://treeroom.example/oaks.html' in this collection; did you mean:")
    assert str(served_index.parent) not in told
    assert "several pages" in problem(client.get("/api/related?url=the"), 404)
    problem(client.get("/api/pages/0123456789abcdef"), 404)
    problem(client.get("/api/cluster?url=nowhere"), 404)


def test_requests_over_the_limits_are_refused(serve: Serve) -> None:
    client = serve(ServerSettings(limits=RequestLimits(body_bytes=1000, text_length=100, results=2, query_bytes=200)))
    assert problem(client.post("/api/related", json={"text": "a" * 2000}), 413) == (
        "The body is too large; at most 1,000 bytes are allowed."
    )
    pieces = iter([b'{"text": "', b"a" * 2000, b'"}'])
    streamed = client.post("/api/related", content=pieces, headers={"Content-Type": "application/json"})
    problem(streamed, 413)
    assert problem(client.post("/api/related", json={"text": "a" * 101}), 422).startswith("text has 101 characters")
    assert "There are 3 results" in problem(client.post("/api/duplicates", json=[{"text": "a"}] * 3), 422)
    assert "result 1 is too long" in problem(client.post("/api/duplicates", json=[{"text": "a" * 101}]), 422)
    problem(client.get(f"/api/related?url={'a' * 300}"), 414)
    problem(client.get("/api/pages?" + "&" * 150), 422)


def test_other_methods_types_and_paths_are_refused(client: TestClient) -> None:
    answer = client.put("/api/related")
    problem(answer, 405)
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
    problem(client.post("/api/related", content="url=a"), 415)
    problem(client.get("/api/nothing"), 404)


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> CurrentGeneration:
    folder = tmp_path_factory.mktemp("wiki")
    birds = {
        "Red_kite": "kite soars over hills",
        "Buzzard": "buzzard soars over hills",
        "Barn_owl": "owl hunts at night",
    }
    pages = [
        {"url": f"https://w.example/wiki/{name}", "html": f"<title>{name} - W</title><p>{text}, a bird of prey. " * 9}
        for name, text in birds.items()
    ]
    (folder / "wiki.jsonl").write_text("\n".join(map(json.dumps, pages)), "utf-8")
    build([folder / "wiki.jsonl"], folder / "wiki.kin")
    return CurrentGeneration(folder / "wiki.kin")


ASKED = "action=query&format=json&generator=search&gsrnamespace=0&gsrqiprofile=classic_noboostlinks&uselang=content"


def test_a_wiki_gets_the_answers_of_a_mediawiki(wiki: CurrentGeneration) -> None:
    with TestClient(make_app(wiki)) as client:
        for path in ("/api/related", "/w/api.php"):
            asked = f"{path}?{ASKED}&gsrsearch=morelike:Red kite&gsrlimit=1"
            newer = client.get(f"{asked}&formatversion=2").json()
            page = {"pageid": newer["query"]["pages"][0]["pageid"], "ns": 0, "title": "Buzzard", "index": 1}
            assert newer == {"batchcomplete": True, "query": {"pages": [page]}}
            assert client.get(asked).json() == {"batchcomplete": "", "query": {"pages": {str(page["pageid"]): page}}}
        told = client.get(f"{asked}&formatversion=2&prop=info&inprop=url").json()["query"]["pages"][0]
        assert told["fullurl"] == "https://w.example/wiki/Buzzard"
        assert client.get(f"/w/api.php?{ASKED}&gsrsearch=morelike:Nothing").json() == {"batchcomplete": ""}
        assert client.get(f"/w/api.php?{ASKED}&gsrsearch=Red kite").json()["error"]["code"] == "missingparam"
        assert client.get("/w/api.php?action=edit").json()["error"]["code"] == "unknown_action"


def test_the_docs_are_one_page_that_loads_nothing_from_other_servers(client: TestClient) -> None:
    page = client.get("/api").text
    for each in ("/api/related", "/api/pages/{id}", "min_similarity", "required"):
        assert each in page
    assert {link[0] for link in re.findall(r'(?:src|href)="([^"]+)"', page)} == {"/", "#"}
    assert "//" not in "".join(re.findall(r'(?:src|href)="([^"]+)"', page))
    assert "<script" not in page
    assert client.get("/static/api.css").status_code == 200


def test_the_embedded_script_inserts_text_only(client: TestClient) -> None:
    script = client.get("/embed.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "innerHTML" not in script.text
    assert "data-pagekin-url" in script.text


def test_no_request_makes_the_server_fetch_anything(client: TestClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.setblocking(False)
        url = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/"
        html = f"<base href={url}><link rel=stylesheet href={url}><img src={url}><a href={url}>a</a><p>oak"
        for path in ("/api/related", "/api/cluster", "/page/x", "/w/api.php"):
            client.get(path, params={"url": url, "gsrsearch": f"morelike:{url}"})
        for path, name in (("/api/pages", "query"), ("/search", "q"), ("/compare", "a")):
            client.get(path, params={name: url})
        for body in ({"urls": [url]}, {"html": html}, {"text": html}):
            client.post("/api/related", json=body)
        client.post("/api/duplicates", json=[{"id": url, "url": url, "html": html}] * 2)
        with pytest.raises(BlockingIOError):
            elsewhere.accept()


def test_no_path_reads_a_file(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("<p>secret words")
    secret = tmp_path / "secret.html"
    for name in (str(secret), secret.as_uri(), "/etc/passwd", "../../../../etc/passwd", "-"):
        problem(client.get("/api/related", params={"url": name}), 404)
        problem(client.post("/api/related", json={"urls": [name]}), 404)
    answer = client.post("/api/duplicates", json=[{"id": str(secret), "path": str(secret)}]).json()
    assert answer["uncompared"] == {"no text": 1}
    for path in (
        "/static/../middleware.py",
        "/static/%2e%2e/middleware.py",
        "/static//etc/passwd",
        "/static/..%2fmiddleware.py",
    ):
        problem(client.get(path), 404)
