"""The main text of a page, and the pages that are linked by more than templates."""

from __future__ import annotations

from pathlib import Path

import pytest

import pagekin
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.views.collection import most_linked
from store.builders import page, write_jsonl

TOP = (
    "<noscript><div>JavaScript is disabled on your browser.</div></noscript>"
    '<div><a href="#skip">Skip navigation links</a></div><p><a href="/help">Help</a>'
)
NAMES = ("List", "Map", "Set", "Queue", "Deque")


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> pagekin.Collection:
    folder: Path = tmp_path_factory.mktemp("main")
    rows = [
        page(
            f"http://a.example/{name}",
            f"<title>{name}</title>{TOP}<p>The {name} keeps. <a href=/Map>See map</a> {name}",
        )
        for name in NAMES
    ]
    rows.append(page("http://a.example/help", f"<title>Help</title>{TOP}"))
    rows.append(page("http://b.example/", f"<title>Other</title>{TOP}<nav>Menu</nav><p>Another host."))
    return pagekin.build(write_jsonl(folder / "a.jsonl", rows), folder / "a.kin", processes=1)


def test_an_excerpt_begins_with_the_text_of_the_page(collection: pagekin.Collection) -> None:
    for name in NAMES:
        assert collection.page(f"http://a.example/{name}").excerpt.startswith(f"The {name} keeps.")
    whole = collection.page("http://a.example/List", text=True).text
    assert whole is not None and whole.startswith("JavaScript is disabled")


def test_a_page_with_nothing_else_has_its_whole_text(collection: pagekin.Collection) -> None:
    assert collection.page("http://a.example/help").excerpt.startswith("JavaScript is disabled")


def test_pages_of_other_hosts_do_not_count_and_navigation_is_left_out(collection: pagekin.Collection) -> None:
    excerpt = collection.page("http://b.example/").excerpt
    assert excerpt.startswith("JavaScript is disabled") and excerpt.endswith("Another host.")
    assert "Menu" not in excerpt


def test_pages_that_templates_link_to_are_not_most_linked(collection: pagekin.Collection) -> None:
    indexed = IndexedStore.open(collection.path)
    assert [(page.title, degree) for page, degree in most_linked(indexed, 3)] == [("Map", 4)]
    assert collection.page("http://a.example/help").in_degree >= 5
