"""Pictures by keys, and by a wheel."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from pagekin.serving.generations import CurrentGeneration
from serving.browser.conftest import Look
from serving.browser.views import settled

OAK = "http://treeroom.example/oak.html"


@pytest.fixture
def oak(site: str, current: CurrentGeneration) -> str:
    indexed = current.generation.indexed
    return f"{site}/page/{indexed.page(indexed.find(OAK))['id']}"


def box(tree: Locator) -> list[float]:
    """What is seen of a picture: left, top, width, height."""
    return [float(each) for each in (tree.get_attribute("viewBox") or "").split()]


def test_the_tree_is_moved_by_arrows_and_put_back(oak: str, look: Look) -> None:
    page = settled(look(oak))
    tree = page.locator("svg.tree")
    whole = box(tree)
    page.locator(".picture[data-zoom] .scroll").focus()
    for key in ("+", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    left, top, width, _ = box(tree)
    assert width == pytest.approx(whole[2] / 1.25)
    centred = (whole[2] - width) / 2
    assert left == pytest.approx(centred + width / 12) and top > whole[1]
    for key in ("ArrowLeft", "ArrowUp", "-"):
        page.keyboard.press(key)
    assert box(tree) == pytest.approx(whole)
    page.keyboard.press("+")
    page.keyboard.press("0")
    assert box(tree) == whole


def test_the_wheel_zooms_with_ctrl_and_scrolls_without(oak: str, look: Look) -> None:
    page = settled(look(oak))
    tree = page.locator("svg.tree")
    tree.scroll_into_view_if_needed()
    whole, place = box(tree), tree.bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + 50, place["y"] + 50)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    expect(tree).not_to_have_attribute("viewBox", " ".join(f"{each:g}" for each in whole))
    page.keyboard.up("Control")
    near = box(tree)
    assert near[2] == pytest.approx(whole[2] / 1.25)
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, -100)
    page.wait_for_function("before => scrollY < before", arg=before)
    assert box(tree) == near


def test_the_neighbourhood_is_walked_by_keys(oak: str, look: Look) -> None:
    page = settled(look(oak))
    node = page.locator("svg.graph .node:not(.own)").first
    step = node.get_attribute("data-title") or "?"
    node.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#graph figcaption a")).to_have_text(step)
    page.locator(".trail button").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#graph figcaption a")).to_have_text("Oak and its many guests")


def test_filters_are_set_by_keys(oak: str, look: Look) -> None:
    page = look(oak)
    count = page.locator("#related .results > li")
    page.get_by_text("More filters").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Limit")).to_be_focused()
    page.keyboard.type("2")
    expect(count).to_have_count(2)
