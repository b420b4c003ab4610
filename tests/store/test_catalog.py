"""What people look up: the catalogue is plain SQLite, and titles can be searched."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pagekin.errors import StoreError
from pagekin.store.catalog import Catalog, write_catalog
from pagekin.store.store import Store
from store.builders import page, store_of


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    titles = ["Bread", "Bread and butter", "Rye bread at home", "Ein Brötchen", "木村の家", "Breadth first", ""]
    rows = [page(f"http://a.example/{k}", f"<title>{title}</title><p>{k}") for k, title in enumerate(titles)]
    return store_of(tmp_path_factory.mktemp("titles"), *rows)


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("bread", {0, 1, 2, 5}),
        ("breadt", {5}),
        ("bread butter", {1}),
        ("butter BREAD", {1}),
        ("bread home rye", {2}),
        ("brotchen", {3}),
        ("木村", {4}),
        ("read", set()),
        ("", set()),
        ("()*\"'", set()),
        ("bread NOT butter", set()),
    ],
)
def test_titles_are_searched_for_all_words_the_last_may_be_a_beginning(
    store: Store, words: str, rows: set[int]
) -> None:
    assert set(store.catalog.titled(words, 10)) == rows


def test_a_shorter_title_is_a_better_answer_and_the_limit_holds(store: Store) -> None:
    assert store.catalog.titled("bread", 10)[0] == 0
    assert len(store.catalog.titled("bread", 2)) == 2


TITLES = [
    "Antarctica", "Antelope", "Ant", "The  ant\tcolony", "Anteater", "Antwerp", "Antenna", "C", "C++", "Straße",
    "Ünder  The\nOak", "Twin", "twin", "Twin towers", "Twinkle", "_", "Oak (tree)", "Oak tree", "The oak",
    "The kings of old", "Kingsley",
]  # fmt: skip


@pytest.fixture(scope="module")
def animals(tmp_path_factory: pytest.TempPathFactory) -> Store:
    rows = [{"url": f"http://a.example/{k:02}", "text": str(k), "title": title} for k, title in enumerate(TITLES)]
    return store_of(tmp_path_factory.mktemp("animals"), *rows)


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("Ant", ["Ant"]),
        ("  aNT\n", ["Ant"]),
        ("the ANT  colony", ["The  ant\tcolony"]),
        ("ünder the oak", ["Ünder  The\nOak"]),
        ("STRASSE", []),  # the search knows ß and ss as two words
        ("straße", ["Straße"]),
        ("c++", ["C++"]),
        ("c", ["C"]),
        ("oak tree", ["Oak tree"]),
        ("oak (TREE)", ["Oak (tree)"]),
        ("twin", ["Twin", "twin"]),
        ("tree", []),
        ("colony", []),
        ("Antarctic", []),
        ("", []),
        ("*", []),
        ("\0", []),
    ],
)
def test_a_very_title_is_found_in_any_case_and_with_any_white_space(
    animals: Store, name: str, titles: list[str]
) -> None:
    assert [_flat(animals.page(row)["title"]) for row in animals.catalog.exactly_titled(name)] == list(
        map(_flat, titles)
    )


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Ant", "Ant"),  # and not Antarctica
        ("kings", "The kings of old"),  # and not Kingsley
        ("ant the", "The  ant\tcolony"),
        ("colon", "The  ant\tcolony"),  # a beginning, when nothing else has it
        ("antar", "Antarctica"),
        ("c++", "C++"),
        ("c", "C"),
        ("Oak tree", "Oak tree"),
        ("the oak", "The oak"),
    ],
)
def test_a_very_title_comes_before_whole_words_and_those_before_a_beginning(
    animals: Store, name: str, title: str
) -> None:
    assert [_flat(animals.page(row)["title"]) for row in animals.catalog.matching_title(name, 6)] == [_flat(title)]


def test_when_it_is_not_clear_the_nearest_titles_are_listed_first_and_each_once(animals: Store) -> None:
    found = [animals.page(row)["title"] for row in animals.catalog.matching_title("twin", 6)]
    assert found[:3] == ["Twin", "twin", "Twin towers"]
    assert found[3:] == ["Twinkle"]
    assert len(animals.catalog.matching_title("twin", 2)) == 2
    assert len(animals.catalog.matching_title("an", 4)) == 4


def _flat(title: str) -> str:
    return " ".join(title.split())


def test_the_catalogue_is_sqlite_that_anyone_can_read(store: Store) -> None:
    connection = sqlite3.connect(store.folder / "catalog.sqlite")
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM pages").fetchone() == (7,)
        connection.execute("INSERT INTO titles (titles) VALUES ('integrity-check')")
        connection.rollback()
    finally:
        connection.close()


def test_urls_with_the_longest_shared_beginning_are_similar(store: Store) -> None:
    assert store.catalog.similar_urls("http://a.example/3x", 5) == [3]
    assert store.catalog.similar_urls("a.example/zzz", 3) == [0, 1, 2]
    assert store.catalog.similar_urls("ftp", 3) == []


def test_a_missing_catalogue_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"catalog\.sqlite is missing"):
        Catalog(tmp_path)


def test_a_damaged_catalogue_is_told(tmp_path: Path) -> None:
    (tmp_path / "catalog.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="damaged"):
        Catalog(tmp_path).page_at("http://a.example/")


def test_a_catalogue_that_cannot_be_opened_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    folder = store.catalog.path.parent
    monkeypatch.setattr(sqlite3, "connect", fail)
    with pytest.raises(StoreError, match=r"catalog.sqlite cannot be opened: unable to open"):
        Catalog(folder)
    with pytest.raises(StoreError, match=r"catalog.sqlite cannot be written: unable to open"):
        write_catalog(folder, {})
