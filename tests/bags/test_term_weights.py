"""What the frequency of a term makes of its weight."""

from __future__ import annotations

from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import pytest

from bags.builders import Small
from pagekin.model.term_weights import nmdf_shape

A, B, C, D = (f"http://{name}.example/" for name in "abcd")
# In how many bags: oak in 4, fir in 2, elm in 1.
PAGES = {A: "<p>oak oak oak elm fir", B: "<p>oak", C: "<p>oak", D: "<p>oak fir"}


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small.of(tmp_path, PAGES)


def normal(weights: dict[str, float]) -> dict[str, float]:
    return {word: weight / sum(weights.values()) for word, weight in weights.items()}


def test_frequencies_are_counted_over_bags(small: Small) -> None:
    made = small.bags()
    frequency = dict(zip(made.terms.name, made.terms.frequency.tolist(), strict=False))
    assert frequency == {"oak": 4, "fir": 2, "elm": 1}


def test_a_bag_that_has_a_word_only_from_a_link_or_title_counts_too(tmp_path: Path) -> None:
    pages = {A: f"<title>Yew</title><p>oak <a href={B}>fir</a>", C: "<p>yew"}
    made = Small.of(tmp_path, pages).bags(links=True)
    frequency = made.terms.frequency.tolist()
    assert dict(zip(made.terms.name, frequency, strict=False)) == {"oak": 1, "fir": 2, "yew": 2}
    assert made.urls == [A, C, B]
    assert frequency[3:] == [1, 0, 0]  # A cites one page, the others none


def test_frequencies_of_parts_that_do_not_count_do_not_count(tmp_path: Path) -> None:
    pages = {A: f"<title>Yew</title><p>oak <a href={B}>fir</a>", B: "<p>yew"}
    made = Small.of(tmp_path, pages).bags(anchors=False)
    assert dict(zip(made.terms.name, made.terms.frequency.tolist(), strict=False)) == {"oak": 1, "fir": 1, "yew": 1}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"frequency_weight": "none"}, {"oak": 3, "elm": 1, "fir": 1}),
        # 1 + log2 of 4, 1 and 2 are 3, 1 and 2
        ({"frequency_weight": "log"}, {"oak": 1, "elm": 1, "fir": 1 / 2}),
        ({"frequency_weight": "sqrt"}, {"oak": 3 / 2, "elm": 1, "fir": 1 / sqrt(2)}),
        # ln of 4, 1 and 2 less the default centre, ln 2, are ln 2, -ln 2 and 0
        (
            {"frequency_weight": "nmdf", "nmdf_width": 1.0},
            {"oak": 3 * exp(-(log(2) ** 2) / 2), "elm": exp(-(log(2) ** 2) / 2), "fir": 1},
        ),
        (
            {"frequency_weight": "nmdf", "nmdf_center": 0.0, "nmdf_width": 2.0},
            {"oak": 3 * exp(-((log(4) / 2) ** 2) / 2), "elm": 1, "fir": exp(-((log(2) / 2) ** 2) / 2)},
        ),
    ],
)
def test_each_weight_by_hand(small: Small, options: dict[str, Any], expected: dict[str, float]) -> None:
    made = small.bags(**options)
    assert made.weight(A) == pytest.approx(normal(expected))
    assert made.content(A) == {"oak": 3, "elm": 1, "fir": 1}  # as counted, whatever the weight


def test_citing_pages_are_weighted_by_how_many_pages_they_cite(tmp_path: Path) -> None:
    pages = {A: f"<p>oak <a href={C}>fir</a> <a href={D}>elm</a>", B: f"<p>yew <a href={C}>fir</a>"}
    made = Small.of(tmp_path, pages).bags(content=False, anchors=False, links=True, frequency_weight="log")
    assert made.weight(C) == pytest.approx({A: 1 / 3, B: 2 / 3})  # A is in two bags: 1/2; B in one: 1


def test_weights_of_parts_are_shared_after_they_are_weighted(tmp_path: Path) -> None:
    # df: oak 2 (contents of A, title of B), elm 1, yew 1.
    pages = {A: "<p>oak elm", B: "<title>Oak</title><p>yew"}
    made = Small.of(tmp_path, pages).bags(mix="shares", anchor_share=0.25, frequency_weight="log")
    assert made.weight(B) == pytest.approx({"oak": 0.25, "yew": 0.75})
    assert made.weight(A) == pytest.approx({"oak": 1 / 3, "elm": 2 / 3})


def test_the_centre_grows_with_the_collection_unless_it_is_given() -> None:
    assert [nmdf_shape(bags)[0] for bags in (4, 100, 10_000)] == pytest.approx([log(2), log(10), log(100)])
    assert nmdf_shape(10_000, 3.0, 0.5) == (3.0, 0.5)
    for bags in (0, 1, 2, 10**9):
        center, width = nmdf_shape(bags)
        assert center >= 0
        assert width > 0


@pytest.mark.parametrize(("center", "width"), [(30.0, 0.05), (30.0, 30.0), (0.0, 0.05)])
def test_a_bag_sums_to_one_however_far_from_the_centre_its_terms_are(small: Small, center: float, width: float) -> None:
    made = small.bags(frequency_weight="nmdf", nmdf_center=center, nmdf_width=width)
    assert sum(made.weight(B).values()) == pytest.approx(1)
