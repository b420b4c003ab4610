"""No page executes crawled content."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from pagekin.serving.generations import CurrentGeneration
from serving.browser.conftest import Look
from serving.browser.hostile import TITLES
from serving.browser.views import VIEWS, settled

NAMES = ["script", "image", "event", "svg", "template", "turned", "controls", "huge", "empty"]


def id_of(current: CurrentGeneration, name: str) -> str:
    indexed = current.generation.indexed
    return str(indexed.page(indexed.find(f"http://harm.example/{name}.html"))["id"])


def assert_harmless(page: Page) -> None:
    """Nothing ran, and nothing is there that could."""
    assert page.evaluate("document.documentElement.dataset.ran") is None
    assert page.locator("script:not([src^='/static/'])").count() == 0
    assert page.locator("img, iframe, object, embed, style, base, foreignObject, animate").count() == 0
    found = page.evaluate(
        """() => [...document.querySelectorAll("*:not(#card)")].flatMap((each) => [...each.attributes]
           .filter(({name, value}) => /^on|^style$|^srcdoc$/i.test(name)
             || (/href|src|action|data-step/i.test(name) && !/^(\\/|#|https?:)/.test(value)))
           .map(({name, value}) => name + "=" + value))"""
    )
    assert found == []


@pytest.mark.parametrize("view", VIEWS)
def test_no_script_of_a_crawl_runs_on_any_view(harmful: str, harm: CurrentGeneration, look: Look, view: str) -> None:
    one, other = id_of(harm, "script"), id_of(harm, "image")
    page = settled(look(harmful + VIEWS[view].format(id=one, other=other, query="script")))
    for each in page.locator("a:visible, summary:visible").all()[:25]:
        each.focus()
    assert_harmless(page)
    assert view not in ("page", "clusters") or page.locator("svg.tree .leaf").count() > 3


@pytest.mark.parametrize("name", NAMES)
def test_no_title_breaks_out_of_its_page(harmful: str, harm: CurrentGeneration, look: Look, name: str) -> None:
    page = settled(look(f"{harmful}/page/{id_of(harm, name)}"))
    for each in page.locator("[data-card]").all()[:6]:
        each.dispatch_event("pointerover")
    assert_harmless(page)
    assert len(page.locator("h1").inner_text()) <= 140
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_titles_are_shown_as_they_are_written(harmful: str, harm: CurrentGeneration, look: Look) -> None:
    page = look(f"{harmful}/page/{id_of(harm, 'script')}")
    expect(page.locator("h1")).to_have_text(TITLES["script"])
    page.goto(f"{harmful}/page/{id_of(harm, 'template')}")
    expect(page.locator("h1")).to_have_text(TITLES["template"])


def test_suggestions_and_recent_pages_are_text(harmful: str, harm: CurrentGeneration, look: Look) -> None:
    page = look(f"{harmful}/page/{id_of(harm, 'image')}")
    page.goto(f"{harmful}/page/{id_of(harm, 'script')}")
    page.get_by_text("Recent", exact=True).click()
    expect(page.locator("details[data-pages=recent] li").first).to_have_text(TITLES["image"])
    page.locator("#q").press_sequentially("harm.example")
    expect(page.get_by_role("option").first).to_be_visible()
    assert_harmless(page)


def test_direction_characters_do_not_affect_other_elements(harmful: str, harm: CurrentGeneration, look: Look) -> None:
    page = settled(look(f"{harmful}/page/{id_of(harm, 'hebrew')}"))
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x1b\x7f]", page.content())
    outside = page.evaluate(
        """() => [...document.querySelectorAll("#related h3 a")]
           .filter((each) => each.firstChild.nodeName !== "BDI").length"""
    )
    assert outside == 0


def test_a_link_to_the_original_goes_through_the_replay_base(harmful: str, harm: CurrentGeneration, look: Look) -> None:
    page = look(f"{harmful}/page/{id_of(harm, 'hebrew')}")
    original = page.locator("[data-original]")
    expect(original).to_have_attribute("href", "https://replay.example/2007/http://harm.example/hebrew.html")
    expect(original).to_have_attribute("rel", "noreferrer noopener nofollow")


def test_near_duplicates_stand_folded_under_the_best_of_them(harmful: str, harm: CurrentGeneration, look: Look) -> None:
    page = look(f"{harmful}/page/{id_of(harm, 'hebrew')}?limit=100&least=0")
    folded = page.locator("#related .duplicates")
    expect(folded).to_have_count(1)
    copies = folded.locator("li")
    expect(copies).to_have_count(1)
    expect(copies).to_be_hidden()
    folded.locator("summary").click()
    expect(copies).to_be_visible()
    both = {folded.locator("xpath=..").locator("h3 a").inner_text(), copies.locator("a").inner_text()}
    assert both == {TITLES["copy"], TITLES["copy-again"]}


@pytest.mark.parametrize("width", [1200, 390])
def test_no_label_of_a_neighbourhood_is_cut_off(harmful: str, harm: CurrentGeneration, look: Look, width: int) -> None:
    page = look(f"{harmful}/page/{id_of(harm, 'turned')}/graph", viewport={"width": width, "height": 900})
    drawing = page.locator("svg.graph" if width > 1000 else "svg.column")
    expect(drawing).to_be_visible()
    assert drawing.locator("text").count() > 10
    assert any("漢" in text for text in drawing.locator("text").all_text_contents())
    outside = drawing.evaluate(
        """(svg) => [...svg.querySelectorAll("text")].filter((text) => {
             const own = svg.getBoundingClientRect(), box = text.getBoundingClientRect();
             return box.left < own.left || box.right > own.right || box.top < own.top || box.bottom > own.bottom;
           }).map((text) => text.textContent)"""
    )
    assert outside == []
    scale = drawing.evaluate("(svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width")
    assert scale > 0.85  # of 13 pixels: at least 11
    assert drawing.evaluate("(svg) => svg.closest('figure').scrollWidth <= svg.closest('figure').clientWidth")


def test_no_number_is_wider_than_its_card(site: str, look: Look) -> None:
    page = look(f"{site}/collection", viewport={"width": 390, "height": 900})
    page.locator(".tiles dd").evaluate_all("all => all.forEach((each) => { each.textContent = '123,456,789,012'; })")
    for width in (390, 700, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.locator(".tiles dd").evaluate_all("all => all.filter((e) => e.scrollWidth > e.clientWidth).length")
        assert wide == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
