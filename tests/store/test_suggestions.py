"""A name that is not quite the name of a page: parts of names, misspelt words, and files that redirect."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekin.collection.info import search_pages
from pagekin.errors import NoPageError
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.store import Store
from pagekin.store.suggestions import corrected, with_parts
from store.builders import page, refresh, store_of

TITLES = {
    "util/map.html": "ConcurrentHashMap (Java SE 17)",
    "util/set.html": "HashSet (Java SE 17)",
    "util/navigable.html": "ConcurrentSkipListMap (Java SE 17)",
    "io/http.html": "HTTPServer2",
    "str/split.html": "string_to_array",
    "guide/maps.html": "A guide to hash tables: concurrent hash and map",
    "guide/trees.html": "Beech woods",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    rows = [page(f"http://d.example/{name}", f"<title>{title}</title><p>{name}") for name, title in TITLES.items()]
    moved = [
        page(f"http://d.example/{old}", refresh(f"http://d.example/{new}"))
        for old, new in {"XREFset.html": "util/set.html", "a/old name.html": "io/http.html"}.items()
    ]
    both = [page(f"http://d.example/{k}/twice.html", refresh(f"/{new}")) for k, new in enumerate(list(TITLES)[:2])]
    return store_of(tmp_path_factory.mktemp("names"), *rows, *moved, *both)


def found(store: Store, name: str) -> str:
    return store.reading.pages.url[store.find(name)].removeprefix("http://d.example/")


@pytest.mark.parametrize(
    ("words", "url"),
    [
        ("skip list", "util/navigable.html"),
        ("Concurrent SKIP", "util/navigable.html"),
        ("list map", "util/navigable.html"),
        ("hash set", "util/set.html"),
        ("http server", "io/http.html"),
        ("server 2", "io/http.html"),
        ("to array", "str/split.html"),
        ("string_to", "str/split.html"),
    ],
)
def test_words_may_be_consecutive_parts_of_a_name(store: Store, words: str, url: str) -> None:
    assert found(store, words) == url
    assert search_pages(IndexedStore.open(store.root), words).pages[0].url == f"http://d.example/{url}"


@pytest.mark.parametrize("words", ["kip list", "concurrent list", "list skip", "ashset", ""])
def test_words_that_are_no_consecutive_parts_find_no_name(store: Store, words: str) -> None:
    assert with_parts(store.catalog, words, 5) == []


def test_names_with_fewer_parts_come_first(store: Store) -> None:
    rows = with_parts(store.catalog, "hash", 5)
    assert [store.page(row)["title"].split()[0] for row in rows[-2:]] == ["HashSet", "ConcurrentHashMap"]


def test_a_page_is_found_by_a_file_that_redirects_to_it(store: Store) -> None:
    assert found(store, "XREFset.html") == "util/set.html"
    assert found(store, "./a/old name.html") == "io/http.html"
    with pytest.raises(NoPageError, match="several pages"):
        store.find("twice.html")
    assert found(store, "0/twice.html") == "util/map.html"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Beach wods", "Beech woods"),
        ("http://d.example/guide/beeech.html", "Beech woods"),
        ("ConcurentHashMap", "ConcurrentHashMap"),
        ("hashset2", "HashSet"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_page_that_may_be_meant(store: Store, name: str, title: str) -> None:
    with pytest.raises(NoPageError) as told:
        store.find(name)
    first, second, *_ = str(told.value).splitlines()
    assert first == f"no page {name!r} in {store.root}; did you mean:"
    assert title in second


def test_only_words_that_no_title_has_are_corrected(store: Store) -> None:
    assert corrected(store.catalog, "Beach woods, zzzzzzz hash") == "beech woods zzzzzzz hash"


def test_a_store_that_may_not_be_written_still_suggests(store: Store) -> None:
    before = {path: path.stat().st_mtime_ns for path in Path(store.root).rglob("*")}
    with pytest.raises(NoPageError, match="Beech woods"):
        Store.open(store.root).find("beecch")
    assert {path: path.stat().st_mtime_ns for path in Path(store.root).rglob("*")} == before
