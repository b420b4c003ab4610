"""Search, navigation, comparison and the view of the collection, in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.serving.generations import CurrentGeneration
from serving.browser.conftest import Look
from serving.browser.views import settled

OAK = "http://treeroom.example/oak.html"
PAGE = re.compile(r"/page/[0-9a-f]{16}$")


@pytest.fixture(scope="module")
def indexed(current: CurrentGeneration) -> IndexedStore:
    return current.generation.indexed


def id_of(indexed: IndexedStore, url: str) -> str:
    return str(indexed.page(indexed.find(url))["id"])


@pytest.mark.parametrize("typed", ["many gue", "treeroom.example/oak", "oom.example/oak"])
def test_pages_are_suggested_while_typing(site: str, look: Look, typed: str) -> None:
    page = look(site)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type(typed)
    expect(page.get_by_role("option").first).to_contain_text("Oak and its many guests")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Oak and its many guests")


def test_suggestions_go_away_and_a_whole_search_remains(site: str, look: Look) -> None:
    page = look(site)
    page.locator("#q").press_sequentially("oak")
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.locator("main .plainlist a").first).to_be_visible()
    assert "/search?q=oak" in page.url


def test_a_random_page_is_a_page_and_not_always_the_same(site: str, look: Look) -> None:
    page = look(site)
    seen = set()
    for _ in range(6):  # of 213 pages six times the same: once in 10^11 runs
        page.get_by_role("link", name="Random", exact=True).click()
        page.wait_for_url(PAGE)
        seen.add(page.url)
        page.goto(site)
    assert len(seen) > 1


def test_a_bookmark_stays_until_it_is_taken_away(site: str, indexed: IndexedStore, look: Look) -> None:
    page = look(f"{site}/page/{id_of(indexed, OAK)}")
    page.get_by_role("button", name="Bookmark").click()
    expect(page.get_by_role("button", name="Bookmarked")).to_have_attribute("aria-pressed", "true")
    page.goto(site)
    page.get_by_text("Bookmarks", exact=True).first.click()
    expect(page.locator("details[data-pages=bookmarks] a")).to_have_text("Oak and its many guests")
    page.locator("section[data-pages=bookmarks] a").click()
    page.get_by_role("button", name="Bookmarked").click()
    expect(page.locator("details[data-pages=bookmarks]")).to_be_hidden()


def test_pages_that_were_viewed_are_remembered_until_they_are_forgotten(
    site: str, indexed: IndexedStore, look: Look
) -> None:
    page = look(f"{site}/page/{id_of(indexed, OAK)}")
    expect(page.locator("details[data-pages=recent]")).to_be_hidden()
    page.goto(f"{site}/page/{id_of(indexed, 'http://treeroom.example/')}")
    page.goto(site)
    expect(page.locator("section[data-pages=recent] a")).to_have_count(2)
    expect(page.locator("section[data-pages=recent] a").nth(1)).to_have_text("Oak and its many guests")
    page.locator("section[data-pages=recent] a").nth(1).click()
    expect(page.locator("h1")).to_have_text("Oak and its many guests")
    page.goto(site)
    page.get_by_role("button", name="Clear the list").click()
    page.reload()
    expect(page.locator("section[data-pages=recent]")).to_be_hidden()


def test_the_theme_follows_the_system_until_it_is_switched_and_stays(site: str, look: Look) -> None:
    page = look(site, color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    night = page.evaluate(colour)
    page.get_by_role("button", name="Use light colours").click()
    day = page.evaluate(colour)
    assert day != night
    page.reload()
    assert page.evaluate(colour) == day
    page.emulate_media(color_scheme="light")
    page.get_by_role("button", name="Use dark colours").click()
    assert page.evaluate(colour) == night


def test_the_first_tab_stop_skips_the_header(site: str, look: Look) -> None:
    page = look(site)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_two_pages_are_compared_by_what_they_share(site: str, indexed: IndexedStore, look: Look) -> None:
    other = indexed.related(OAK)[0]
    page = look(f"{site}/page/{id_of(indexed, OAK)}")
    page.get_by_role("link", name=f"Compare with {other.title}").first.click()
    expect(page.locator(".side h2")).to_have_text(["Oak and its many guests", other.title])
    by_text = indexed.related(OAK, RelatedOptions(limit=50, similarity="jaccard"))
    (jaccard,) = (each.similarity for each in by_text if each.url == other.url)
    expect(page.locator(".tiles dd").first).to_have_text(f"{jaccard:.3f}")
    expect(page.locator(".versus tbody th").first).to_have_text(other.why.terms[0][0])
    for node, side in ((indexed.find_node(OAK), 0), (indexed.find_node(other.url), 1)):
        only = page.locator("section:has(> h2.only)").nth(side).locator(".words bdi").all_inner_texts()
        mine, theirs = (
            set(dict(indexed.top_terms(each, 10_000))) for each in (node, indexed.find_node((other.url, OAK)[side]))
        )
        assert only and set(only) <= mine - theirs
    one, two = (indexed.index.signatures[indexed.find_node(url)] for url in (OAK, other.url))
    agree = sum(a == b for a, b in zip(one.tolist(), two.tolist(), strict=True))
    expect(page.locator("main")).to_contain_text(f"agree in {agree} of 80 positions")


def test_pages_to_compare_are_named_by_typing(site: str, look: Look) -> None:
    page = look(f"{site}/compare")
    titles = ["Oak and its many guests", "Keeping a sourdough starter"]
    typed = {"First page": "many guests", "Second page": "Keeping a sourdough"}
    for (label, words), title in zip(typed.items(), titles, strict=True):
        page.get_by_label(label).fill(words)
        expect(page.get_by_role("option").first).to_contain_text(title)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.get_by_label(label)).to_have_value(re.compile("^http://"))
    page.locator("main").get_by_role("button", name="Compare").click()
    expect(page.locator(".side h2")).to_have_text(titles)
    page.get_by_label("Second page").fill("no such page at all")
    page.locator("main").get_by_role("button", name="Compare").click()
    expect(page.get_by_role("alert")).to_contain_text("no page 'no such page at all' in this collection")


@pytest.fixture
def report(served_index: Path) -> Iterator[None]:
    """A report of `pagekin evaluate` in the collection, and a file that is none."""
    value = {"value": 0.5, "low": 0.4, "high": 0.6}
    system = {
        "system": "the index",
        "sources": 9,
        "P@10": value,
        "nDCG@10": value,
        "regions": {"all": {"gamma": value}},
    }
    facts = {"hierarchy": "<i>labels</i>.tsv", "pages": 10, "classes": 3, "systems": [system]}
    folder = served_index / "reports"
    folder.mkdir()
    (folder / "first.json").write_text(json.dumps(facts))
    (folder / "second.json").write_text("[]")
    yield
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


@pytest.mark.usefixtures("report")
def test_the_view_of_the_collection_is_complete(site: str, indexed: IndexedStore, look: Look) -> None:
    page = settled(look(f"{site}/collection"))
    counts = dict(
        zip(page.locator(".counts dt").all_inner_texts(), page.locator(".counts dd").all_inner_texts(), strict=True)
    )
    assert counts["pages"] == f"{len(indexed):,}" and counts["links"] == f"{indexed.manifest.counts['links']:,}"
    expect(page.locator("main")).to_contain_text("HTTP status 404")
    for title in ("In-links", "Out-links", "Similarity to the nearest page"):
        expect(page.get_by_role("img", name=re.compile(f"^{title}")).locator("text").first).to_be_visible()
    expect(page.locator("#gaps .pairs > li").first).to_be_visible()
    expect(page.locator("#bridges .bridges > li").first).to_be_visible()
    expect(page.locator("#duplicates")).to_contain_text("No two pages are near-duplicates")
    expect(page.locator(".report").first).to_contain_text("0.500 (0.400 to 0.600)")
    expect(page.locator(".report").first).to_contain_text("<i>labels</i>.tsv")
    expect(page.locator(".report").nth(1)).to_contain_text("is not a report of")


def test_a_missing_link_is_copied_by_its_button(site: str, look: Look) -> None:
    page = settled(look(f"{site}/collection/gaps", permissions=["clipboard-read", "clipboard-write"]))
    button = page.get_by_role("button", name="Copy HTML").first
    expected = button.get_attribute("data-copy")
    button.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == expected


def test_the_largest_groups_of_near_duplicates_are_listed(harmful: str, look: Look) -> None:
    page = settled(look(f"{harmful}/collection"))
    expect(page.locator("#duplicates .groups > li")).to_have_count(1)
    expect(page.locator("#duplicates summary")).to_have_text("1 near-duplicate")


def test_an_unknown_page_is_reported_with_links(site: str, look: Look) -> None:
    page = look(f"{site}/page/0123456789abcdef")
    expect(page.get_by_role("alert")).to_contain_text("no page has the id")
    page.get_by_role("link", name="Go to the start page").click()
    expect(page.locator("h1")).to_contain_text("Related pages in")


def test_all_of_it_works_without_scripts(site: str, indexed: IndexedStore, look: Look) -> None:
    page = look(site, java_script_enabled=False)
    page.locator("#q").fill("many guests")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Oak and its many guests").click()
    page.get_by_text("More filters").click()
    page.get_by_label("Limit").fill("2")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#related .results > li")).to_have_count(2)
    related = page.url
    page.get_by_role("link", name="Cluster the pages around this one by links").click()
    expect(page.locator("svg.tree .leaf")).to_have_count(16)
    page.get_by_role("button", name="Cluster", exact=True).click()
    expect(page).to_have_url(re.compile("alpha=0.5"))
    page.goto(related)
    page.get_by_role("link", name="Draw the neighbourhood").click()
    page.locator("svg.graph .node:not(.own)").first.click()
    expect(page.locator("h1")).not_to_have_text("Oak and its many guests")
    page.goto(f"{site}/collection")
    page.locator("#bridges").get_by_role("link").click()
    expect(page.locator(".bridges > li").first).to_be_visible()
