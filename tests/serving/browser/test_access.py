"""Accessibility: axe-core finds no problem, in light and dark, and nothing is wider than a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pagekin.serving.generations import CurrentGeneration
from serving.browser.conftest import Look
from serving.browser.views import VIEWS, settled

AXE = Path(__file__).parents[3] / ".venv" / "node_modules" / "axe-core" / "axe.min.js"
OAK = "http://treeroom.example/oak.html"


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.exists():
        pytest.fail(f"{AXE} is missing; `sh tests/browser.sh` fetches it", pytrace=False)
    return AXE.read_text("utf-8")


def address(site: str, current: CurrentGeneration, view: str) -> str:
    indexed = current.generation.indexed
    one, other = (indexed.page(indexed.find(url))["id"] for url in (OAK, "http://treeroom.example/"))
    return site + VIEWS[view].format(id=one, other=other, query="oak")


def told(found: dict[str, Any]) -> list[str]:
    return [f"{each['id']}: {node['html'][:200]}" for each in found["violations"] for node in each["nodes"]]


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_accessible(site: str, current: CurrentGeneration, look: Look, axe: str, view: str) -> None:
    page = settled(look(address(site, current, view), color_scheme="light"))
    page.locator("details:visible > summary").evaluate_all("all => all.forEach((e) => { e.parentNode.open = true; })")
    page.evaluate(axe)
    assert told(page.evaluate("axe.run({resultTypes: ['violations']})")) == []
    page.get_by_role("button", name="Use dark colours").click()
    assert told(page.evaluate("axe.run({resultTypes: ['violations'], runOnly: ['color-contrast']})")) == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
