"""The embedded script, on a page of another origin."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Request, Response, expect

from pagekin.search.options import RelatedOptions
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import ServerSettings
from pagekin.serving.views.names import clean_line
from serving.browser.conftest import Look, served
from serving.browser.hostile import LINKS, RAN, TITLES
from serving.processes import running

OAK = "http://treeroom.example/oak.html"
OWN = "<p id=own>Of the blog.</p><script>document.querySelector('#own').dataset.ran = 'own'</script>"


class Blog(ThreadingHTTPServer):
    """A site of somebody else: the same page at every path."""

    body = b""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def embedding(self, server: str, asked: str, more: str = "") -> str:
        """Where its page is, now that it embeds links of a page."""
        place = f'<div data-pagekin-url="{escape(asked)}" {more}>nothing yet</div>'
        script = f'<script src="{server}/embed.js" async></script>'
        self.body = f"<!doctype html><html lang=en><title>A blog</title>{place}{script}{OWN}".encode()
        return f"{self.origin}/"


class Answer(BaseHTTPRequestHandler):
    server: Blog

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def blog() -> Iterator[Blog]:
    with Blog(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def items(page: Page) -> Locator:
    return page.locator("[data-pagekin-url] > ul.pagekin > li")


def is_question(sent: Request | Response) -> bool:
    return "/api/related?" in sent.url


def assert_unharmed(page: Page) -> None:
    """What the blog says and does is there, and nothing else ran."""
    expect(page.locator("#own")).to_have_attribute("data-ran", "own")
    assert page.evaluate("document.documentElement.dataset.ran") is None
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, object, svg, style").count() == 0


def test_a_page_of_another_origin_gets_related_links(blog: Blog, current: CurrentGeneration, look: Look) -> None:
    with running(current.root, "--cors", blog.origin) as server:
        page = look(blog.embedding(server.url.rstrip("/"), OAK, "data-pagekin-limit=3"))
        found = current.generation.indexed.related(OAK, RelatedOptions(limit=3))
        expect(items(page)).to_have_text([each.title for each in found])
    assert items(page).locator("a").evaluate_all("all => all.map((each) => each.href)") == [each.url for each in found]
    assert_unharmed(page)


def test_an_empty_name_is_the_page_itself_without_its_fragment(
    blog: Blog, current: CurrentGeneration, look: Look
) -> None:
    with served(current, ServerSettings(cors=("*",))) as server:
        page = look("about:blank")
        with page.expect_request(is_question) as sent:
            page.goto(blog.embedding(server, "") + "oak.html?a=b&c#d")
    assert parse_qs(urlsplit(sent.value.url).query) == {"url": [f"{blog.origin}/oak.html?a=b&c"], "limit": ["5"]}


def test_titles_of_a_malicious_crawl_are_one_line_of_text(blog: Blog, harm: CurrentGeneration, look: Look) -> None:
    asked = "http://harm.example/hebrew.html"
    with served(harm, ServerSettings(cors=("*",))) as server:
        page = look(blog.embedding(server, asked, "data-pagekin-limit=100"))
        found = harm.generation.indexed.related(asked, RelatedOptions(limit=100))
        expect(items(page)).to_have_text([clean_line(each.title or each.url) for each in found])
    names = {each.url.removeprefix("http://harm.example/").removesuffix(".html") for each in found}
    assert names | {"hebrew", "copy", "copy-again"} == TITLES.keys() | {"copy-again"}
    assert_unharmed(page)


def test_only_web_addresses_become_links(blog: Blog, current: CurrentGeneration, look: Look) -> None:
    """Whoever answers."""
    urls = [*LINKS[:5], "//evil.example/", "", None, "https://good.example/"]
    told = {"related": [{"url": url, "title": f"<img src=x onerror={RAN}>"} for url in urls]}
    allowed = {"Access-Control-Allow-Origin": "*"}
    with served(current) as server:
        page = look("about:blank")
        page.route("**/api/related?*", lambda route: route.fulfill(body=json.dumps(told), headers=allowed))
        page.goto(blog.embedding(server, OAK))
        expect(items(page)).to_have_count(len(urls))
    for each in items(page).all():
        each.click()
    assert [each.get_attribute("href") for each in items(page).locator("a").all()] == ["https://good.example/"]
    assert_unharmed(page)


def test_an_unknown_page_leaves_the_element_unchanged(blog: Blog, current: CurrentGeneration, look: Look) -> None:
    with served(current, ServerSettings(cors=(blog.origin,))) as server:
        page = look("about:blank")
        with page.expect_response(is_question) as answer:
            page.goto(blog.embedding(server, "http://nowhere.example/"))
        assert answer.value.status == 404
        page.evaluate("fetch('/')")  # what came before it has been seen to
    expect(page.locator("[data-pagekin-url]")).to_have_text("nothing yet")
    assert_unharmed(page)


@pytest.mark.parametrize("cors", [(), ("https://other.example",)])
def test_an_origin_that_is_not_allowed_gets_nothing(
    blog: Blog, current: CurrentGeneration, look: Look, cors: tuple[str, ...]
) -> None:
    with served(current, ServerSettings(cors=cors)) as server:
        page = look("about:blank")
        with page.expect_console_message(lambda said: said.text.startswith("pagekin:")):
            page.goto(blog.embedding(server, OAK))
    expect(page.locator("[data-pagekin-url]")).to_have_text("nothing yet")
    assert_unharmed(page)
