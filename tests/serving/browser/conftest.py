"""A browser, and servers of the sample web and of a malicious crawl."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from pagekin.pipeline import build
from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import ServerSettings
from pagekin.serving.workers import listen, url_of
from serving.browser.hostile import harmful_pages
from serving.processes import patient
from store.builders import write_jsonl

PATIENCE = 120_000  # milliseconds; a busy machine is slow
expect.set_options(timeout=PATIENCE)

Look = Callable[..., Page]


@contextmanager
def served(
    current: CurrentGeneration, settings: ServerSettings | None = None, *, hurried: bool = False
) -> Iterator[str]:
    """A server in a thread, on a free port; its address without the last slash. `hurried`: with its own time limits."""
    settings = settings or ServerSettings()
    with listen("127.0.0.1", 0) as listener:
        app = make_app(current, settings if hurried else patient(settings))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield url_of(listener).rstrip("/")
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="package")
def site(current: CurrentGeneration) -> Iterator[str]:
    """The sample web."""
    with served(current) as address:
        yield address


@pytest.fixture(scope="package")
def harm(tmp_path_factory: pytest.TempPathFactory) -> CurrentGeneration:
    """A malicious crawl, as a collection."""
    folder: Path = tmp_path_factory.mktemp("harm")
    build([write_jsonl(folder / "harm.jsonl", harmful_pages())], folder / "<b>harm</b>.kin", processes=1)
    return CurrentGeneration(folder / "<b>harm</b>.kin")


@pytest.fixture(scope="package")
def harmful(harm: CurrentGeneration) -> Iterator[str]:
    """The same, served."""
    with served(harm, ServerSettings(replay="https://replay.example/2007/")) as address:
        yield address


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Debian's browser. Without it these tests fail: `sh tests/browser.sh` installs it."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.fail("there is no chromium; `sh tests/browser.sh` installs it on Debian", pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def look(chromium: Browser) -> Iterator[Look]:
    """Open an address in a new window; at the end there must be no errors in it."""
    windows: list[BrowserContext] = []
    troubles: list[str] = []

    def open_at(address: str, **options: Any) -> Page:
        usual = {"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce"}
        window = chromium.new_context(**{**usual, **options})
        windows.append(window)
        window.set_default_timeout(PATIENCE)
        page = window.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(f"a dialog says {dialog.message}"))
        page.on("console", lambda said: troubles.append(said.text) if "Security Policy" in said.text else None)
        page.goto(address)
        return page

    yield open_at
    for window in windows:
        window.close()
    assert troubles == []
