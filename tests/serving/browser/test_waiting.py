"""A view that takes long fills in by itself, in a browser."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import RequestLimits, ServerSettings
from pagekin.serving.views import collection
from pagekin.serving.views.collection import SampleResult
from serving.browser.conftest import Look, served
from serving.processes import PATIENCE


def test_a_page_and_a_part_of_a_page_fill_in_when_they_are_ready(
    served_index: Path, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    def slow(*_: object) -> object:
        gate.wait(PATIENCE)
        return SampleResult(3, [])

    monkeypatch.setattr(collection, "bridges", slow)
    settings = ServerSettings(limits=RequestLimits(patience=0.01))
    with served(CurrentGeneration(served_index), settings, hurried=True) as site:
        whole, part = look(f"{site}/collection/bridges"), look(f"{site}/collection")
        part.locator("#bridges").scroll_into_view_if_needed()
        for page in (whole, part):
            expect(page.locator(".waits progress").last).to_be_visible()
        gate.set()
        for page in (whole, part):
            expect(page.locator("#bridges")).to_have_text("None.")
