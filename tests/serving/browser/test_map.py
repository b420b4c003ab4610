"""The map, in a browser."""

from __future__ import annotations

import re

from playwright.sync_api import Position, expect

from serving.browser.conftest import Look


def test_a_map_is_zoomed_to_titles_and_a_click_opens_a_page(site: str, look: Look) -> None:
    page = look(f"{site}/collection/map")
    count, canvas = page.locator("[data-in-view-count]"), page.locator(".map canvas")
    expect(count).to_have_text(re.compile(r"30 of \d+"))
    everything = count.inner_text()
    expect(page.locator(".legend li:visible")).to_have_count(9)
    before = canvas.screenshot()
    canvas.focus()
    for _ in range(5):
        page.keyboard.press("+")
    expect(count).not_to_have_text(everything)
    assert canvas.screenshot() != before
    page.get_by_role("button", name="Reset").click()
    expect(count).to_have_text(everything)
    box = canvas.bounding_box()
    assert box is not None
    points = page.evaluate("fetch('/collection/map/points').then((answer) => answer.json())")
    side = min(box["width"], box["height"]) * 0.92
    x, y = (points[axis][0] / points["side"] - 0.5 for axis in "xy")
    position: Position = {"x": x * side + box["width"] / 2, "y": y * side + box["height"] / 2}
    canvas.hover(position=position)
    expect(page.locator("body > .card").last).to_have_text(re.compile(".+"))
    canvas.click(position=position)
    page.wait_for_url(re.compile(r"/page/[0-9a-f]{16}$"))


def test_the_pages_in_view_are_exported(site: str, look: Look) -> None:
    page = look(f"{site}/collection/map")
    count, link = page.locator("[data-in-view-count]"), page.get_by_role("link", name="JSON", exact=True)
    expect(count).to_have_text(re.compile(r"30 of \d+"))
    everything = count.inner_text()
    page.get_by_role("button", name="Zoom in").dblclick()
    expect(count).not_to_have_text(everything)
    expect(link).to_have_attribute("href", re.compile("left="))
    titles = [each["title"] for each in page.request.get(link.get_attribute("href") or "").json()]
    assert count.inner_text().split()[-1] == str(len(titles))
    assert page.locator("[data-in-view] li").all_inner_texts() == titles[:30]
