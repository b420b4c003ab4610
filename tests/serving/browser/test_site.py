"""The lists of a static site in a browser: those in its pages, and those that `embed.js` takes from its JSON files."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import expect

import pagekin
from serving.browser.conftest import Look
from static_site.conftest import html, write_site

PHONE = {"viewport": {"width": 360, "height": 640}, "is_mobile": True, "has_touch": True}
SPARROW = "Sparrows eat seeds in gardens, feed insects to their young, and sing in flocks all winter."
DOCS = (Path(__file__).parents[3] / "docs" / "embedding.md").read_text("utf-8")
PLACE, SCRIPT = re.findall(r"^```html\n(.*?)\n```", DOCS, re.M | re.S)[:2]
EMBEDDED = PLACE.replace('"5"', '"3"') + SCRIPT.replace('"/pagekin', '"/blog/pagekin') + "</main>"
LISTED = {"The wren", "The finch", "The tit"}  # on the page of the robin, among others


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A web server with the site in a folder; its address, and the folder of the site."""
    folder = tmp_path_factory.mktemp("host")
    site = write_site(folder / "blog")
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8").replace("<head>", "<head><meta name=viewport content='width=device-width'>")
        page.write_text(text, "utf-8")
    (site / "sparrow").mkdir()
    (site / "sparrow" / "index.html").write_text(html("The sparrow", SPARROW).replace("</main>", EMBEDDED), "utf-8")
    pagekin.update_site(site, inject=True, processes=1)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/blog/", site
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("window", [{}, PHONE], ids=["desktop", "phone"])
def test_an_injected_list_is_seen_and_leads_to_pages(
    host: tuple[str, Path], look: Look, window: dict[str, object]
) -> None:
    page = look(host[0] + "birds/robin.html", **window)
    related = page.get_by_role("navigation", name="Related pages")
    expect(related).to_be_visible()
    expect(related.get_by_role("heading")).to_have_text("Related pages")
    assert set(related.get_by_role("link").all_inner_texts()) >= LISTED
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    box = related.bounding_box()
    assert box is not None and box["x"] >= 0 and box["width"] > 200
    assert page.evaluate("getComputedStyle(document.querySelector('.pagekin-related')).borderTopStyle") == "solid"
    related.get_by_role("link", name="The wren").click()
    expect(page).to_have_title("The wren")
    expect(page.get_by_role("navigation", name="Related pages")).to_be_visible()


def test_an_injected_list_works_in_a_file(host: tuple[str, Path], look: Look) -> None:
    page = look((host[1] / "trees" / "oak.html").as_uri())
    page.get_by_role("navigation", name="Related pages").get_by_role("link", name="The élm").click()
    expect(page).to_have_title("The élm")


@pytest.mark.parametrize("address", ["sparrow/", "sparrow/index.html", "sparrow/?a=b#c"])
def test_the_script_takes_links_from_the_files_of_a_site(host: tuple[str, Path], look: Look, address: str) -> None:
    page = look(host[0] + address)
    expect(page.locator("[data-pagekin-url] > ul.pagekin > li")).to_have_count(3)
    told = json.loads((host[1] / "pagekin" / "pages" / "sparrow" / "index.html.json").read_bytes())["related"][:3]
    found = page.locator("ul.pagekin a").evaluate_all("all => all.map((each) => [each.textContent, each.href])")
    assert found == [[each["title"], host[0] + each["url"].removeprefix("/")] for each in told]


def test_the_script_finds_a_page_at_an_address_without_suffix(host: tuple[str, Path], look: Look) -> None:
    page = look(host[0] + "404.html")
    asked = {f"{host[0]}sparrow": 3, f"{host[0]}birds/wren": 3, f"{host[0]}nosuch": 0, "http://other.example/": 0}
    places = "".join(f"<div data-pagekin-url='{url}' data-pagekin-limit=3>none</div>" for url in asked)
    page.set_content(f"{places}<script src='{host[0]}pagekin/embed.js' data-static></script>")
    for place, count in zip(page.locator("[data-pagekin-url]").all(), asked.values(), strict=True):
        expect(place.locator("li")).to_have_count(count)
        assert count or place.inner_text() == "none"
