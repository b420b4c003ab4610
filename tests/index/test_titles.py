"""The words of titles in an index."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.errors import StoreError
from pagekin.index.titles import open_titles, title_words, write_titles
from pagekin.store.columns import write_columns

TITLES = ["The HashMap", "hash tables", "", "the oak"]


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("ConcurrentHashMap<K, V>", ["concurrent", "hash", "k", "map", "v"]),
        ("std::lower_bound", ["bound", "lower", "std"]),
        ("HTTP/2 and IPv6", ["2", "and", "http", "ipv6"]),
        ("Über die Eiche, über", ["die", "eiche", "über"]),
        ("--", []),
    ],
)
def test_names_in_camel_case_and_snake_case_are_several_words(title: str, words: list[str]) -> None:
    assert title_words(title) == sorted(words)


@given(st.text())
def test_words_of_a_title_are_distinct_and_do_not_depend_on_case_beyond_camel_case(title: str) -> None:
    words = title_words(title)
    assert len(set(words)) == len(words)
    assert set(title_words(" ".join(words))) == set(words)


def test_words_have_the_pages_that_have_them(tmp_path: Path) -> None:
    write_titles(tmp_path, TITLES)
    titles = open_titles(tmp_path, len(TITLES))
    for page, title in enumerate(TITLES):
        assert [titles.words[k] for k in titles.word[titles.row(page)].tolist()] == title_words(title)
    for number, word in enumerate(titles.words):
        pages = titles.pages.page[titles.pages.row(number)].tolist()
        assert pages == [page for page, title in enumerate(TITLES) if word in title_words(title)]
        assert titles.idf[number] == pytest.approx(np.log(4 / len(pages)))


def test_words_of_any_title_are_looked_up(tmp_path: Path) -> None:
    write_titles(tmp_path, TITLES)
    titles = open_titles(tmp_path, len(TITLES))
    assert [titles.words[k] for k in titles.numbers_of("An Oak and its HASH").tolist()] == ["hash", "oak"]
    assert titles.numbers_of("").tolist() == []


@pytest.mark.parametrize("name", ["titles.word", "titles.page"])
def test_numbers_out_of_range_are_refused(tmp_path: Path, name: str) -> None:
    write_titles(tmp_path, TITLES)
    write_columns(tmp_path, {name: np.full(7, 99, np.uint32)})
    with pytest.raises(StoreError, match=rf"{name}.npy is damaged \(it names a (page|word) that is not there"):
        open_titles(tmp_path, len(TITLES))


def test_titles_of_other_pages_are_refused(tmp_path: Path) -> None:
    write_titles(tmp_path, TITLES)
    with pytest.raises(StoreError, match="other pages"):
        open_titles(tmp_path, 5)
