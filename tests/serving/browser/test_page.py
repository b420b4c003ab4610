"""The view of a page, in a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from model.learned import DRAWN
from pagekin.model.strategy import Strategy
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.serving.generations import CurrentGeneration
from serving.browser.conftest import Look, served
from serving.browser.views import settled
from store.builders import page as row
from store.builders import write_jsonl

OAK = "http://treeroom.example/oak.html"


@pytest.fixture(scope="module")
def indexed(current: CurrentGeneration) -> IndexedStore:
    return current.generation.indexed


@pytest.fixture(scope="module")
def oak(site: str, indexed: IndexedStore) -> str:
    return f"{site}/page/{indexed.page(indexed.find(OAK))['id']}"


def related(page: Page) -> Locator:
    return page.locator("#related .results > li h3 a")


def titles(indexed: IndexedStore, **options: object) -> list[str]:
    return [each.title for each in indexed.related(OAK, RelatedOptions(**options))]  # type: ignore[arg-type]


def slide(page: Page, name: str, value: str) -> None:
    """Move a slider as a user does."""
    page.locator(f"#{name}").evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input', {bubbles: true})); }", value
    )


def test_a_page_shows_its_facts(oak: str, indexed: IndexedStore, look: Look) -> None:
    page = look(oak)
    node = indexed.find_node(OAK)
    expect(page.locator("h1")).to_have_text("Oak and its many guests")
    expect(page.locator("[data-original]")).to_have_attribute("href", OAK)
    expect(page.locator(".cloud li").first).to_have_text(indexed.top_terms(node)[0][0])
    text, count = indexed.anchor_texts(node)[0]
    expect(page.locator(".anchors tr").nth(1)).to_contain_text(text)
    expect(page.locator(".anchors tr").nth(1)).to_contain_text(f"{count} ×")
    degree = indexed.page(indexed.find(OAK))["in_degree"]
    expect(page.locator(".facts")).to_contain_text(f"linked from {degree} pages")


def test_the_list_is_the_answer_of_the_collection_with_its_reasons(oak: str, indexed: IndexedStore, look: Look) -> None:
    page = look(oak)
    found = indexed.related(OAK)
    expect(related(page)).to_have_text([each.title for each in found])
    first = page.locator("#related .results > li").first
    expect(first.locator(".score b")).to_have_text(f"{found[0].similarity:.3f}")
    expect(first.locator(".why b").first).to_have_text(found[0].why.terms[0][0])
    expect(first.locator(".why .share").first).to_have_text(f"{100 * found[0].why.terms[0][1]:.0f} %")
    expect(first.locator(".why")).to_contain_text("Cited together by")
    expect(first.locator(".about")).to_contain_text(indexed.top_terms(indexed.find_node(found[0].url))[0][0])
    expect(first.locator(".where").first).to_contain_text(found[0].url.removeprefix("http://"))


def test_a_higher_similarity_leaves_fewer_pages_without_a_reload(oak: str, indexed: IndexedStore, look: Look) -> None:
    page = look(oak)
    page.evaluate("window.here = true")
    third = indexed.related(OAK)[2].similarity
    slide(page, "least", str(round(third, 2) + 0.01))
    expect(related(page)).to_have_text(titles(indexed, min_similarity=round(third, 2) + 0.01))
    assert page.evaluate("window.here")
    assert "least=" in page.url  # and so it can be sent to somebody
    slide(page, "least", "1")
    expect(page.locator("#related [role=status]")).to_contain_text("No page is that similar")


def test_pages_that_it_links_to_are_marked_or_hidden(oak: str, indexed: IndexedStore, look: Look) -> None:
    page = look(oak)
    linked = indexed.nodes_linked_from([indexed.find_node(OAK)])
    marked = sum(indexed.find_node(each.url) in linked for each in indexed.related(OAK))
    assert marked
    expect(page.locator("#related .linked")).to_have_count(marked)
    page.get_by_text("More filters").click()
    page.get_by_label("hide linked pages").check()
    expect(related(page)).to_have_text(titles(indexed, exclude_linked=True))
    expect(page.locator("#related .linked")).to_have_count(0)


def test_filters_hold_together(oak: str, indexed: IndexedStore, look: Look) -> None:
    page = look(oak)
    page.get_by_text("More filters").click()
    page.get_by_label("other hosts only").check()
    page.get_by_label("Limit").fill("3")
    page.get_by_label("URL does not contain").fill("library")
    expect(related(page)).to_have_text(titles(indexed, exclude_host=True, limit=3, exclude=("library",)))
    page.get_by_label("URL contains", exact=True).fill("example/.")  # a point is a point, not any letter
    expect(related(page)).to_have_count(0)


@pytest.mark.parametrize(
    ("label", "value", "options"),
    [
        ("Measure", "cosine", {"similarity": "cosine"}),
        ("Measure", "okapi", {"similarity": "okapi"}),
        ("Similar by", "both", {"link_share": "auto"}),
        ("Similar by", "links", {"link_share": 1.0}),
    ],
)
def test_the_measure_can_be_changed(
    oak: str, indexed: IndexedStore, look: Look, label: str, value: str, options: dict[str, object]
) -> None:
    page = look(oak)
    page.locator(".filters").get_by_label(label).select_option(value)
    expect(related(page)).to_have_text(titles(indexed, **options))


def test_learned_weights_can_be_asked_by_where_the_index_has_some(tmp_path: Path, look: Look) -> None:
    rows = [row(f"http://a.example/{name}", f"<title>{name}</title><p>bread oven {name} loaf") for name in "abc"]
    strategy = Strategy(weights=DRAWN.as_text())
    build([write_jsonl(tmp_path / "a.jsonl", rows)], tmp_path / "a.kin", strategy=strategy, processes=1)
    current = CurrentGeneration(tmp_path / "a.kin")
    with served(current) as site:
        shown = look(f"{site}/page/{current.generation.indexed.page(0)['id']}?least=0")
        shown.get_by_label("Measure").select_option("LinkLearn")
        found = current.generation.indexed.related(
            "http://a.example/a", RelatedOptions(similarity="linklearn", min_similarity=0.0)
        )
        expect(shown.locator("#related .score b").first).to_have_text(f"{found[0].similarity:.3f}")
        shown.locator(".strategy summary").click()
        expect(shown.locator(".strategy div", has_text="weights").locator("dd")).to_have_text("learned")


def test_the_slider_updates_the_list_and_the_dendrogram(oak: str, current: CurrentGeneration, look: Look) -> None:
    page = settled(look(oak))
    tree = page.locator("svg.tree")
    for alpha in (0.5, 0.06, 0.98):
        if alpha != 0.5:
            slide(page, "alpha", str(alpha))
        expect(tree).to_have_attribute("aria-label", f"Dendrogram of 16 pages at alpha {alpha:.2f}")
        with current.generation.clusters(OAK) as (analysis, clusters):
            order = [node for node, _ in clusters.order(alpha)[:15]]
        names = [each["title"] for each in analysis.named(order)]
        expect(page.locator("#clusters .order .what a")).to_have_text(names)
        expect(tree.locator(".fork")).to_have_count(15)
        assert sorted(
            tree.locator(".leaf:not(.own)").evaluate_all("all => all.map((each) => each.dataset.title)")
        ) == sorted(names)


def test_the_slider_moves_by_keys(oak: str, look: Look) -> None:
    page = settled(look(oak))
    page.locator("#alpha").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("output[data-of=alpha]")).to_have_text("0.52")
    expect(page.locator("svg.tree")).to_have_attribute("aria-label", re.compile(r"0\.52"))
    assert page.evaluate("document.activeElement.id") == "alpha"


def test_the_tree_is_zoomed_dragged_and_put_back(oak: str, look: Look) -> None:
    page = settled(look(oak))
    tree = page.locator("svg.tree")
    tree.scroll_into_view_if_needed()
    whole = tree.get_attribute("viewBox") or ""
    page.get_by_role("button", name="Zoom in").click()
    width = [float(each) for each in (tree.get_attribute("viewBox") or "").split()][2]
    assert width == pytest.approx(float(whole.split()[2]) / 1.25)
    before = tree.get_attribute("viewBox")
    box = tree.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 130, steps=4)
    page.mouse.up()
    left, top = ([float(each) for each in (text or "").split()[:2]] for text in (before, tree.get_attribute("viewBox")))
    assert top[0] < left[0] and top[1] < left[1]
    page.get_by_role("button", name="Reset").click()
    assert [float(each) for each in (tree.get_attribute("viewBox") or "").split()] == [float(e) for e in whole.split()]
    page.locator(".picture[data-zoom] .scroll").focus()
    page.keyboard.press("+")
    assert tree.get_attribute("viewBox") != whole


def test_a_leaf_that_is_pointed_at_shows_its_page(oak: str, look: Look) -> None:
    page = settled(look(oak))
    leaf = page.locator("svg.tree .leaf").first
    leaf.hover()
    card = page.get_by_role("tooltip")
    expect(card.locator("b")).to_have_text(leaf.get_attribute("data-title") or "?")
    expect(card).to_contain_text((leaf.get_attribute("data-terms") or "?").split(",")[0])
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.keyboard.press("Tab")  # a key was the last thing used, so what gets the focus is seen
    leaf.focus()
    expect(card).to_be_visible()


def test_a_page_shows_the_topics_that_it_connects(oak: str, current: CurrentGeneration, look: Look) -> None:
    page = settled(look(oak))
    with current.generation.clusters(OAK) as (analysis, clusters):
        found = clusters.cross_topic(0.5)
    assert found is not None
    ends = [each["title"] for each in analysis.named([found.one, found.other])]
    expect(page.locator(".bridge a").nth(0)).to_have_text(ends[0])
    expect(page.locator(".bridge a").nth(1)).to_have_text(ends[1])


def test_the_neighbourhood_is_walked_by_clicks_and_back(oak: str, indexed: IndexedStore, look: Look) -> None:
    page = settled(look(oak))
    middle = page.locator("#graph figcaption a")
    expect(middle).to_have_text("Oak and its many guests")
    around = page.locator("svg.graph .node:not(.own)")
    expect(around).to_have_count(min(14, len(indexed.related(OAK, RelatedOptions(limit=14, min_similarity=0.03)))))
    step = around.nth(2).get_attribute("data-title") or "?"
    around.nth(2).click()
    expect(middle).to_have_text(step)
    expect(page.locator(".trail li")).to_have_count(2)
    assert page.url == oak
    page.locator(".trail button").first.click()
    expect(middle).to_have_text("Oak and its many guests")
    expect(page.locator(".trail")).to_be_hidden()
    page.get_by_role("radio", name="links").check()
    expect(page.locator("svg.graph")).to_have_attribute("aria-label", re.compile("by links$"))


def test_the_terms_of_two_pages_fit_a_narrow_screen(site: str, look: Look) -> None:
    page = look(f"{site}/compare?a=oak+and+its+many&b=beech+woods", viewport={"width": 390, "height": 800})
    terms = page.locator("table.versus tbody th bdi")
    terms.evaluate_all("all => all.forEach((each) => { each.textContent = 'concurrentmodificationexception'; })")
    fits = "table => table.scrollWidth <= table.closest('.scroll').clientWidth"
    assert page.locator("table.versus").evaluate(fits)
