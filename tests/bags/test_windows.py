"""How much around an anchor is in its window, and how much each word of it counts."""

from __future__ import annotations

from math import log2
from pathlib import Path
from typing import Any

import pytest

from bags.builders import ONE, TWO, Small
from store.builders import letters

P, T = ONE + "p.html", TWO + "t.html"
OAK = f"<a href={T}>oak</a>"


def around(folder: Path, html: str, **options: Any) -> dict[str, float]:
    """What an anchor on a page with this HTML says of the page that it leads to."""
    return Small.of(folder, {P: html}).bags(**options).around(T)


def words(folder: Path, html: str, **options: Any) -> set[str]:
    return set(around(folder, html, **options))


LEFT = [letters(100 + k) for k in range(40)]  # the nearest to the anchor first
RIGHT = [letters(200 + k) for k in range(40)]
LONG = f"<p>{' '.join(LEFT[::-1])} {OAK} {' '.join(RIGHT)}"


@pytest.mark.parametrize("width", [0, 1, 4, 8, 16, 32, 33])
def test_a_basic_window_holds_as_many_words_to_either_side(tmp_path: Path, width: int) -> None:
    expected = dict.fromkeys(["oak", *LEFT[:width], *RIGHT[:width]], 1)
    assert around(tmp_path, LONG, window_width=width) == expected


def test_a_window_of_any_width_holds_the_page(tmp_path: Path) -> None:
    assert around(tmp_path, LONG, window_width=-1) == dict.fromkeys(["oak", *LEFT, *RIGHT], 1)


@pytest.mark.parametrize("width", [4, 32, 40, -1])
def test_a_word_counts_less_the_farther_it_is_and_never_less_than_nothing(tmp_path: Path, width: int) -> None:
    found = around(tmp_path, LONG, window_width=width, distance_weight=True)
    reach = 4 if width == 4 else 30  # the word at distance 31 counts log2(32/32) = 0
    expected = {"oak": 5.0}
    for side in (LEFT, RIGHT):
        expected |= {word: log2(32 / (1 + k)) for k, word in enumerate(side[:reach], start=1)}
    assert found == pytest.approx(expected)
    assert [found[RIGHT[k]] for k in (0, 2)] == [4, 3]
    assert width == 4 or [found[LEFT[k]] for k in (6, 14)] == [2, 1]


STOPS = f"<p>elm willow the birch of {OAK} and pine the maple was ash"


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (0, {"oak": 5}),
        (1, {"oak": 5, "birch": 4, "pine": 4}),
        (2, {"oak": 5, "birch": 4, "pine": 4, "willow": log2(32 / 3), "maple": log2(32 / 3)}),
        (3, {"oak": 5, "birch": 4, "pine": 4, "willow": log2(32 / 3), "maple": log2(32 / 3), "elm": 3, "ash": 3}),
    ],
)
def test_stop_words_are_neither_kept_nor_counted(tmp_path: Path, width: int, expected: dict[str, float]) -> None:
    found = around(tmp_path, STOPS, window_width=width, distance_weight=True)
    assert found == pytest.approx(expected)


def test_all_words_of_an_anchor_are_at_distance_0_but_stop_words(tmp_path: Path) -> None:
    found = around(tmp_path, f"<p><a href={T}>the oak of elm</a> ash", window_width=1, distance_weight=True)
    assert found == {"oak": 5, "elm": 5, "ash": 4}


def test_a_basic_window_heeds_no_boundary(tmp_path: Path) -> None:
    html = f"<h1>elm</h1><table><tr><td>ash</table><ul><li>{OAK}</ul><p>fir. <h2>yew</h2>"
    assert words(tmp_path, html, window_width=2) == {"elm", "ash", "oak", "fir", "yew"}


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<p>elm<p>birch {OAK} pine<p>fir", "birch oak pine"),
        (f"elm<div>birch {OAK} pine</div>fir", "birch oak pine"),
        (f"<table><tr><td>elm<td>birch {OAK} pine<td>fir</table>", "birch oak pine"),
        (f"<table><tr><td>elm<tr><td>birch {OAK} pine<tr><td>fir</table>", "birch oak pine"),
        (f"<ul><li>elm<li>birch {OAK} pine<li>fir</ul>", "birch oak pine"),
        (f"<p>elm.<br>birch {OAK} pine!<br>fir", "birch oak pine"),
        (f"<p>elm<br>birch {OAK} pine,<br>fir", "elm birch oak pine fir"),
        (f"<p>elm.<br>birch {OAK} pine<br>fir", "birch oak pine fir"),
        (f"<p>elm<br>birch {OAK} pine.<br>fir", "elm birch oak pine"),
        (f"<p>elm. Birch {OAK} pine. Fir", "elm birch oak pine fir"),
        (f"<p>elm <b>birch</b> <span>{OAK}</span> <i>pine</i> fir", "elm birch oak pine fir"),
        (f"<p>elm<p>{OAK}<p>fir", "oak"),
    ],
)
def test_a_syntactic_window_ends_with_its_paragraph_cell_or_item_or_where_a_break_follows_a_sentence(
    tmp_path: Path, html: str, expected: str
) -> None:
    assert words(tmp_path, html, window="syntactic", window_width=-1) == set(expected.split())


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<p>elm<h2>birch</h2><p>ash<p>{OAK}<p>pine<h3>fir</h3>yew", "birch ash oak pine"),
        (f"<p>elm<h2>birch</h2><ul><li>ash<li>{OAK}<li>pine</ul>fir", "birch ash oak pine"),
        (f"<ul><li>elm</ul>birch<p>{OAK}<p>pine<ol><li>ash</ol>fir", "birch oak pine ash"),
        (f"<table><tr><td>elm</table>birch {OAK} pine<table><tr><td>ash</table>fir", "birch oak pine ash"),
        (f"<table><tr><td>elm<td>birch {OAK}<tr><td>pine</table>fir", "elm birch oak pine"),
        (f"<p>elm.<br>birch<p>{OAK}<p>pine.<br>fir", "elm birch oak pine fir"),
        (f"<h1>elm</h1><h2>{OAK}</h2>ash<h2>fir</h2>", "oak ash"),
    ],
)
def test_a_topical_window_ends_where_a_heading_begins_or_a_list_or_table_ends(
    tmp_path: Path, html: str, expected: str
) -> None:
    assert words(tmp_path, html, window="topical", window_width=-1) == set(expected.split())


@pytest.mark.parametrize("window", ["syntactic", "topical"])
def test_a_window_may_be_bounded_and_narrow(tmp_path: Path, window: str) -> None:
    html = f"<h2>elm</h2><h2>ash birch {OAK} pine fir</h2><h2>yew</h2>"
    assert words(tmp_path, html, window=window, window_width=1) == {"birch", "oak", "pine"}
    found = around(tmp_path, html, window=window, window_width=-1, distance_weight=True)
    assert found == pytest.approx({"oak": 5, "birch": 4, "pine": 4, "ash": log2(32 / 3), "fir": log2(32 / 3)})


IMAGE = f"<a href={T}><img src=x.png></a>"


@pytest.mark.parametrize("window", ["basic", "syntactic", "topical"])
@pytest.mark.parametrize("html", [f"<p>{IMAGE} birch pine", f"<p>birch {IMAGE} pine", f"<p>birch pine {IMAGE}"])
def test_an_anchor_without_words_has_a_window(tmp_path: Path, window: str, html: str) -> None:
    assert words(tmp_path, html, window=window, window_width=2) == {"birch", "pine"}


def test_an_anchor_without_words_at_the_end_of_a_paragraph_belongs_to_that_paragraph(tmp_path: Path) -> None:
    html = f"<p>birch {IMAGE}</p><p>fir</p>"
    assert words(tmp_path, html, window="syntactic", window_width=-1) == {"birch"}


def test_the_text_of_an_image_is_the_text_of_its_anchor(tmp_path: Path) -> None:
    html = f"<p>birch <a href={T}><img alt=oak></a> pine"
    assert around(tmp_path, html, window_width=1, distance_weight=True) == {"oak": 5, "birch": 4, "pine": 4}


def test_an_anchor_across_paragraphs_has_the_windows_of_both_ends(tmp_path: Path) -> None:
    html = f"<p>elm<p>birch <a href={T}>oak<p>ash</a> pine<p>fir"
    found = words(tmp_path, html, window="syntactic", window_width=-1)
    assert found >= {"birch", "oak"}
    assert not found & {"elm", "fir"}
