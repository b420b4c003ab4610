"""Which terms are in a bag: contents, windows of anchors, links, and how they are mixed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bags.builders import ONE, PLAIN, TWO, Small, plain
from pagekin.model.strategy import PRESETS, Strategy

P, T = ONE + "p.html", TWO + "t.html"
PAGES = {
    P: f"<p>willow birch <a href={T}>oak fir</a> pine maple",
    T: "<title>Cedar</title><p>fir fir yew",
}


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small.of(tmp_path, PAGES)


def test_a_content_word_counts_one_an_occurrence(small: Small) -> None:
    made = small.bags()
    assert made.content(T) == {"fir": 2, "yew": 1}
    assert made.content(P) == {"willow": 1, "birch": 1, "oak": 1, "fir": 1, "pine": 1, "maple": 1}


def test_the_title_of_a_page_is_in_its_anchor_bag_beside_the_anchors(small: Small) -> None:
    assert small.bags().around(T) == {"cedar": 1, "oak": 1, "fir": 1}
    assert small.bags(distance_weight=True).around(T) == {"cedar": 5, "oak": 5, "fir": 5}


def test_links_put_the_citing_page_in_the_bag(small: Small) -> None:
    assert small.bags(links=True).around(T) == {"cedar": 1, "oak": 1, "fir": 1, P: 1}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ("content", {"fir": 2 / 3, "yew": 1 / 3}),
        ("anchors", {"cedar": 1 / 3, "oak": 1 / 3, "fir": 1 / 3}),
        ("links", {P: 1}),
        ("content anchors", {"fir": 3 / 6, "yew": 1 / 6, "cedar": 1 / 6, "oak": 1 / 6}),
        ("content links", {"fir": 2 / 4, "yew": 1 / 4, P: 1 / 4}),
        ("anchors links", {"cedar": 1 / 4, "oak": 1 / 4, "fir": 1 / 4, P: 1 / 4}),
        ("content anchors links", {"fir": 3 / 7, "yew": 1 / 7, "cedar": 1 / 7, "oak": 1 / 7, P: 1 / 7}),
    ],
)
def test_any_parts_may_be_summed(small: Small, parts: str, expected: dict[str, float]) -> None:
    chosen: dict[str, Any] = {part: part in parts.split() for part in ("content", "anchors", "links")}
    assert small.bags(mix="sum", **chosen).weight(T) == pytest.approx(expected)


def test_shares_are_shares_of_the_bag(small: Small) -> None:
    made = small.bags(mix="shares", anchor_share=0.2)
    expected = {"fir": 0.8 * 2 / 3 + 0.2 / 3, "yew": 0.8 / 3, "cedar": 0.2 / 3, "oak": 0.2 / 3}
    assert made.weight(T) == pytest.approx(expected)


def test_the_share_of_windows_grows_with_those_who_speak(tmp_path: Path) -> None:
    """Of T: two pages, one of them twice, and its title; of U: nobody. Windows earn half their share with 3 voices."""
    u = TWO + "u.html"
    pages = {
        P: f"<p><a href={T}>oak</a> <a href={T}>oak</a>",
        ONE: f"<p><a href={T}>oak</a>",
        T: "<title>Oak</title><p>yew",
        u: "<p>yew",
    }
    made = Small.of(tmp_path, pages).bags(mix="shares", anchor_share=0.4, evidence=3.0)
    assert made.weight(T) == pytest.approx({"oak": 0.2, "yew": 0.8})
    assert made.weight(u) == {"yew": 1}


def test_a_title_counts_as_an_anchor(tmp_path: Path) -> None:
    made = Small.of(tmp_path, {T: "<title>Oak</title><p>yew"})
    weight = made.bags(mix="shares", anchor_share=0.4, evidence=3.0).weight(T)
    assert weight == pytest.approx({"oak": 0.1, "yew": 0.9})


def test_all_three_parts_have_their_shares(small: Small) -> None:
    made = small.bags(mix="shares", anchor_share=0.3, link_share=0.1, links=True)
    expected = {"fir": 0.6 * 2 / 3 + 0.1, "yew": 0.6 / 3, "cedar": 0.1, "oak": 0.1, P: 0.1}
    assert made.weight(T) == pytest.approx(expected)


def test_a_share_is_kept_without_contents(small: Small) -> None:
    made = small.bags(mix="shares", content=False, links=True, link_share=0.1)
    assert made.weight(T) == pytest.approx({"fir": 0.3, "cedar": 0.3, "oak": 0.3, P: 0.1})


def test_a_share_is_kept_without_anchors(small: Small) -> None:
    made = small.bags(mix="shares", anchors=False, links=True, link_share=0.1)
    assert made.weight(T) == pytest.approx({"fir": 0.6, "yew": 0.3, P: 0.1})


def test_a_part_that_is_empty_leaves_its_share_to_the_others(small: Small) -> None:
    made = small.bags(mix="shares", anchor_share=0.2)
    assert made.weight(P) == pytest.approx(dict.fromkeys(["willow", "birch", "oak", "fir", "pine", "maple"], 1 / 6))


def test_a_page_known_only_from_links_has_a_bag(tmp_path: Path) -> None:
    made = Small.of(tmp_path, {P: PAGES[P]}).bags(mix="shares", links=True, window_width=1)
    assert (made.content(T), made.around(T)) == ({}, {"birch": 1, "oak": 1, "fir": 1, "pine": 1, P: 1})
    assert sum(made.weight(T).values()) == pytest.approx(1)


def test_every_anchor_that_leads_to_a_page_adds_its_window(tmp_path: Path) -> None:
    other = TWO + "other.html"
    pages = {P: f"<p><a href={T}>oak</a> elm <a href={T}>oak</a>", other: f"<p><a href={T}>ash</a>", T: "<p>yew"}
    made = Small.of(tmp_path, pages).bags(links=True, window_width=1)
    # The first anchor has elm to its right, the second has it to its left; the page that cites twice is one term.
    assert made.around(T) == {"oak": 2, "elm": 2, "ash": 1, P: 1, other: 1}


def test_the_neighbouring_anchor_is_part_of_a_window(tmp_path: Path) -> None:
    pages = {P: f"<p><a href={T}>oak</a> <a href={TWO}>elm</a> ash", T: "<p>yew", TWO: "<p>fir"}
    made = Small.of(tmp_path, pages).bags(window_width=1)
    assert (made.around(T), made.around(TWO)) == ({"oak": 1, "elm": 1}, {"oak": 1, "elm": 1, "ash": 1})


@pytest.mark.parametrize(("anchor_share", "link_share"), [(0.2, 0.1), (1.0, 0.0), (0.0, 0.0), (0.5, 0.5)])
def test_weights_of_a_bag_sum_to_one_whatever_the_shares(small: Small, anchor_share: float, link_share: float) -> None:
    made = small.bags(mix="shares", links=True, anchor_share=anchor_share, link_share=link_share)
    assert sum(made.weight(T).values()) == pytest.approx(1)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_page_with_one_part_only_has_a_bag_even_if_all_shares_go_to_another(tmp_path: Path, share: float) -> None:
    """A page known from links only has no contents; one without title and in-links has nothing else."""
    made = Small.of(tmp_path, {P: PAGES[P]}).bags(mix="shares", anchor_share=share)
    assert [sum(made.weight(url).values()) for url in (P, T)] == pytest.approx([1, 1])


@pytest.mark.parametrize(
    "strategy", [PRESETS["default"], PRESETS["paper"], PLAIN, plain(links=True, frequency_weight="log")]
)
def test_weights_of_every_bag_sum_to_one_and_raw_frequencies_stay(small: Small, strategy: Strategy) -> None:
    made = small.bags(strategy)
    assert [sum(made.weight(url).values()) for url in (P, T)] == pytest.approx([1, 1])
    assert made.content(T) == {"fir": 2, "yew": 1}
    assert made.around(T)["cedar"] == (5 if strategy.distance_weight else 1)


@pytest.mark.parametrize("strategy", PRESETS.values(), ids=PRESETS)
def test_two_runs_give_equal_arrays(small: Small, strategy: Strategy) -> None:
    one, other = small.bags(strategy), small.bags(strategy)
    for column in ("offsets", "term", "weight", "content", "around"):
        assert np.array_equal(getattr(one.bags, column), getattr(other.bags, column))
    assert np.array_equal(one.terms.frequency, other.terms.frequency)
    assert (list(one.terms.name), list(one.terms.shown)) == (list(other.terms.name), list(other.terms.shown))


def test_bags_are_sorted_by_term(small: Small) -> None:
    made = small.bags(links=True)
    for node in range(len(made.bags)):
        assert np.all(np.diff(made.bags.term[made.bags.row(node)].astype(np.int64)) > 0)


def test_a_page_without_words_has_an_empty_bag(tmp_path: Path) -> None:
    made = Small.of(tmp_path, {P: "<p>1 + 1 = 2", T: "<p>the and of"}).bags(Strategy())
    assert (made.weight(P), made.weight(T)) == ({}, {})


def test_with_chopped_hosts_the_pages_of_a_host_are_one_bag(tmp_path: Path) -> None:
    pages = {
        ONE + "a.html": f"<title>Ash</title><p>oak <a href=b.html>elm</a> <a href={TWO}t.html>fir</a>",
        ONE + "b.html": f"<title>Birch</title><p>oak yew <a href={TWO}u.html>pine</a>",
        TWO + "t.html": "<p>cedar <a href=http://three.example/x/y.html>larch</a>",
    }
    three = "http://three.example/"
    made = Small.of(tmp_path, pages, chop_host=True).bags(links=True)
    assert made.urls == [ONE, TWO, three]
    assert made.content(ONE) == {"oak": 2, "elm": 1, "fir": 1, "yew": 1, "pine": 1}
    assert made.around(ONE) == {"ash": 1, "birch": 1}
    assert made.around(TWO) == {"fir": 1, "pine": 1, ONE: 1}
    assert (made.content(three), made.around(three)) == ({}, {"larch": 1, TWO: 1})
    others = Small.of(tmp_path, pages, chop_host=True).bags(links=True, voters="other-hosts")
    assert others.around(TWO) == {"fir": 1, "pine": 1, ONE: 1}
