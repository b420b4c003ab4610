"""The HTML of the sample web: readable, linked, and as varied as a real web."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree

import pytest

from tools.sample_web import Host, Page, captures, hosts, pages, render
from tools.sample_web.prose import Emphasis, Link, Piece, Words
from tools.sample_web.render import content_type

from .dom import all_links, bodies, links, page_of, plain, text, tree

WRITTEN = [(host, page) for host in hosts() for page in host.pages if not page.file]
OUTSIDE = {"http://www.example.org/webring", "http://watches.example.net/cheap"}


def raw(name: str) -> str:
    return bodies()[f"http://oldweb.example/{name}"].decode("latin-1")


def words_of(piece: Piece) -> str:
    match piece:
        case Words(words) | Emphasis(words):
            return words
        case Link(inside, _):
            return words_of(inside)
    return ""


@pytest.mark.parametrize(("host", "page"), WRITTEN, ids=lambda value: getattr(value, "url", ""))
def test_what_the_source_says_is_what_the_reader_sees(host: Host, page: Page) -> None:
    shown = re.sub(r"\s", "", text(render(host, page), page.charset))
    for block in page.blocks:
        for row in block.rows:
            for cell in row:
                said = plain("".join(words_of(piece) for piece in cell))
                assert re.sub(r"\s", "", said) in shown


@pytest.mark.parametrize(("host", "page"), WRITTEN, ids=lambda value: getattr(value, "url", ""))
def test_every_page_has_title_language_navigation_and_footer(host: Host, page: Page) -> None:
    html = render(host, page)
    dom = tree(html, page.charset)
    title, root = dom.css_first("title"), dom.css_first("html")
    assert title and plain(title.text()) == plain(page.title)
    assert root and root.attributes["lang"] == page.lang
    assert plain(host.about) in text(html, page.charset)
    assert {urljoin(page.url, path) for path, _ in host.nav} <= set(links(page.url, html, page.charset))


def test_every_style_is_used_and_a_host_keeps_to_its_own() -> None:
    assert {host.style for host in hosts()} == {"list", "table", "old", "xhtml", "html5", "raw"}
    for host in hosts():
        if host.style != "raw":
            starts = {render(host, page)[:15] for page in host.pages}
            assert len(starts) == 1


def test_each_way_of_naming_a_charset_occurs_among_pages_that_need_it() -> None:
    places = {}
    for host, page in WRITTEN:
        if page.charset != "utf-8":
            in_header = page.charset in content_type(host, page)
            in_html = f"charset={page.charset}".encode() in render(host, page)
            places[page.charset] = (in_header, in_html)
    assert places == {
        "iso-8859-2": (True, True),
        "koi8-r": (True, False),
        "shift_jis": (False, True),
        "windows-1252": (False, False),
    }


def test_xhtml_is_well_formed() -> None:
    for host, page in WRITTEN:
        if host.style == "xhtml":
            root = ElementTree.fromstring(render(host, page))
            assert root.tag == "{http://www.w3.org/1999/xhtml}html"


def test_the_old_style_is_ascii_in_capitals_without_quotes() -> None:
    for host, page in WRITTEN:
        if host.style == "old":
            html = render(host, page).decode("ascii")
            assert not re.search(r"</?[a-z]", html)
            assert "</P>" not in html
            assert re.search(r"<A HREF=http:[^\">]+>", html)


def test_the_sample_web_uses_entities_comments_scripts_and_styles() -> None:
    everything = b"".join(bodies().values())
    for mark in (b"&amp;", b"&eacute;", b"&nbsp;", b"&#8217;", b"&#176;", b"<!-- ", b"<script", b"<style", b"<br />"):
        assert mark in everything


def test_every_link_leads_to_a_page_a_redirect_or_on_purpose_elsewhere() -> None:
    answered = {capture.url: capture.status for capture in captures()}
    dead = set()
    for targets in all_links().values():
        for target in targets:
            if urlsplit(target).netloc.endswith(".example"):
                assert target in answered, target
                dead |= {target} if answered[target] == 404 else set()
            else:
                assert target in OUTSIDE
    assert dead == {"http://oldweb.example/comet-photo.html"}


def test_redirected_urls_are_linked() -> None:
    targets = {target for found in all_links().values() for target in found}
    assert {"http://birdnotes.example/redbreast.html", "http://slowoven.example/leaven.html"} <= targets
    assert "http://oldweb.example/ring/next.html" in targets


def test_some_pages_are_famous_and_some_are_unknown() -> None:
    in_links = Counter(to for url, targets in all_links().items() for to in set(targets) if to != url)
    across = Counter(
        to
        for url, targets in all_links().items()
        for to in set(targets)
        if urlsplit(to).netloc != urlsplit(url).netloc and to in bodies()
    )
    assert max(across.values()) >= 10
    assert sum(not in_links[page.url] for page in pages()) >= 3


def test_links_cross_the_topics() -> None:
    tops = {page.url: {label.split("/")[0] for label in page.labels} for page in pages()}
    crossing = [
        (url, to)
        for url, targets in all_links().items()
        for to in targets
        if tops[url] and tops.get(to) and not tops[url] & tops[to]
    ]
    assert len(crossing) >= 50


def test_hub_pages_list_links_under_headings() -> None:
    hubs = [page for page in pages() if page.host == "villagelibrary.example" and page.path != "/"]
    assert len(hubs) >= 12
    for page in hubs:
        assert sum(block.kind == "heading" for block in page.blocks) >= 3
        assert len(links(page.url, bodies()[page.url])) >= 9


def test_images_are_links_with_alternative_text() -> None:
    images = [image for body in bodies().values() for image in tree(body, "latin-1").css("a img[alt]")]
    assert len(images) >= 3
    assert all(image.attributes["alt"] for image in images)


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("", "<frame src="),
        ("contents.html", "<AREA SHAPE=RECT"),
        ("contents.html", "</FONT></B>"),
        ("larks.html", "<b>almost <i>straight</b>, singing</i>"),
        ("larks.html", "<h1>Larks over the common</h2>"),
        ("A%2528b%2529.htm", "&hurdles;"),
        ("A%2528b%2529.htm", "&#150;"),
        ("WAX.HTM", 'HREF="contents.html" HREF='),
        ("gansey.html", '.html"><table border=1>'),
        ("kitchen/damson.html", "<base href="),
        ("kitchen/damson-card.html", 'rel="canonical"'),
        ("guestbook.html", 'content="noindex'),
        ("guestbook.html", "rel=nofollow"),
        ("modem.html", 'http-equiv="refresh" content="60'),
    ],
)
def test_the_old_web_is_broken_in_every_way_we_know(name: str, mark: str) -> None:
    assert mark in raw(name)


def test_a_comment_may_never_end() -> None:
    assert raw("WAX.HTM").rindex("<!--") > raw("WAX.HTM").rindex("-->")


def test_hand_written_files_are_the_titles_that_the_source_promises() -> None:
    for page in pages():
        if page.file:
            title = tree(bodies()[page.url], page.charset).css_first("title")
            assert title and title.text().lower() == page.title.lower()


def test_the_base_of_a_page_moves_its_links() -> None:
    url = "http://oldweb.example/kitchen/damson.html"
    assert "http://oldweb.example/kitchen/damson-card.html" in links(url, bodies()[url])
    assert page_of("http://oldweb.example/kitchen/damson-card.html").labels == page_of(url).labels
