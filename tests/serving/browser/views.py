"""All views, and waiting until one is complete."""

from __future__ import annotations

from playwright.sync_api import Page, expect

VIEWS = {
    "home": "/",
    "search": "/search?q={query}",
    "page": "/page/{id}",
    "clusters": "/page/{id}/clusters",
    "graph": "/page/{id}/graph",
    "compare": "/compare?a={id}&b={other}",
    "collection": "/collection",
    "ask": "/ask",
    "map": "/collection/map",
    "error": "/page/none",
}


def settled(page: Page) -> Page:
    """Scroll to all sections that load when visible, and wait for them."""
    for lazy in page.locator("[data-lazy]").all():
        lazy.scroll_into_view_if_needed()
    expect(page.locator(".waiting")).to_have_count(0)
    expect(page.locator("[aria-busy]")).to_have_count(0)
    return page
