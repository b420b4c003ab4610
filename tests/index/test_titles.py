"""The words of titles in an index."""

from math import hypot, log
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
        ("ConcurrentHashMap<K, V>", ["concurrenthashmap", "concurrent", "hash", "map", "k", "v"]),
        ("std::lower_bound", ["std", "lower_bound", "lower", "bound"]),
        ("HTTP/2 and IPv6", ["http", "2", "and", "ipv6"]),
        ("Über die Eiche, über", ["über", "die", "eiche"]),
        ("-- __", []),
    ],
)
def test_names_are_followed_by_their_parts(title: str, words: list[str]) -> None:
    assert title_words(title) == words


@given(st.text())
def test_words_of_a_title_are_distinct_and_are_words_of_themselves(title: str) -> None:
    words = title_words(title)
    assert len(set(words)) == len(words)
    # Without its capital letters, 0A_ has one part more: 0a.
    assert set(words) <= set(title_words(" ".join(words)))


def test_rare_words_and_first_words_count_more(tmp_path: Path) -> None:
    """The weights of a title are 4 / (4 + place) * ln(N / df) ** 1.5, over their norm."""
    write_titles(tmp_path, TITLES)
    titles = open_titles(tmp_path, len(TITLES))
    row = titles.row(1)  # hash tables; two titles have `hash`, one has `tables`
    first, second = log(4 / 2) ** 1.5, 4 / 5 * log(4 / 1) ** 1.5
    norm = hypot(first, second)
    assert [titles.words[word] for word in titles.word[row].tolist()] == ["hash", "tables"]
    assert titles.weight[row].tolist() == pytest.approx([first / norm, second / norm], rel=1e-6)


def test_words_have_the_pages_that_have_them(tmp_path: Path) -> None:
    write_titles(tmp_path, TITLES)
    titles = open_titles(tmp_path, len(TITLES))
    for page, title in enumerate(TITLES):
        assert [titles.words[k] for k in titles.word[titles.row(page)].tolist()] == sorted(title_words(title))
    for number, word in enumerate(titles.words):
        pages = titles.pages.page[titles.pages.row(number)].tolist()
        assert pages == [page for page, title in enumerate(TITLES) if word in title_words(title)]


def test_words_that_are_stopped_do_not_count(tmp_path: Path) -> None:
    write_titles(tmp_path, TITLES, {"the"})
    titles = open_titles(tmp_path, len(TITLES))
    assert "the" not in list(titles.words)
    assert titles.weight[titles.row(3)].tolist() == [1.0]  # of `the oak`, `oak` is left
    assert [titles.words[word] for word in titles.weighted("the oak")[0].tolist()] == ["oak"]


def test_words_of_any_title_are_looked_up(tmp_path: Path) -> None:
    write_titles(tmp_path, TITLES)
    titles = open_titles(tmp_path, len(TITLES))
    words, weights = titles.weighted("hash tables")
    own = titles.row(1)
    assert words.tolist() == titles.word[own].tolist()
    assert weights.tolist() == pytest.approx(titles.weight[own].tolist(), rel=1e-6)
    assert [titles.words[word] for word in titles.weighted("An Oak and its HASH")[0].tolist()] == ["hash", "oak"]
    assert titles.weighted("")[0].tolist() == []


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0, 2.0])
def test_a_weight_that_cannot_be_is_refused(tmp_path: Path, weight: float) -> None:
    write_titles(tmp_path, TITLES)
    titles = open_titles(tmp_path, len(TITLES))
    write_columns(tmp_path, {"titles.weight": np.full(len(titles.word), weight, np.float32)})
    with pytest.raises(StoreError, match=r"titles.weight.npy is damaged \(its numbers are out of range"):
        open_titles(tmp_path, len(TITLES))


@pytest.mark.parametrize("name", ["titles.word", "titles.page"])
def test_numbers_out_of_range_are_refused(tmp_path: Path, name: str) -> None:
    write_titles(tmp_path, TITLES)
    write_columns(tmp_path, {name: np.full(8, 99, np.uint32)})
    with pytest.raises(StoreError, match=rf"{name}.npy is damaged \(a number is not below"):
        open_titles(tmp_path, len(TITLES))


def test_titles_of_other_pages_are_refused(tmp_path: Path) -> None:
    write_titles(tmp_path, TITLES)
    with pytest.raises(StoreError, match="other pages"):
        open_titles(tmp_path, 5)
