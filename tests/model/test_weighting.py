"""The weightings: Okapi and learned ones, as formulas and as files."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.errors import FailureError, MisuseError
from pagekin.model.arrays import Floats, Numbers
from pagekin.model.weighting import (
    MOST_BYTES,
    Learned,
    Network,
    Okapi,
    Size,
    Weighting,
    learned,
    load_weights,
    looked_up,
    save_weights,
    stopped,
)

SMALL = st.floats(-3, 3)
NETWORKS = st.integers(0, 4).flatmap(
    lambda k: st.builds(
        Network,
        st.floats(-5, 50),
        st.floats(0.01, 2),
        *[st.tuples(*[SMALL] * k) for _ in range(3)],
        SMALL,
    )
)
LEARNED = st.builds(Learned, NETWORKS, NETWORKS, NETWORKS, link_share=st.floats(0.0, 1.0))
FLAT = Network(0.0, 1.0, (), (), (), 0.0)  # ln 2 everywhere


def plain(network: Network, x: float) -> float:
    """The perceptron as the paper writes it."""
    scaled = (x - network.shift) * network.scale
    units = zip(network.inner, network.bias, network.outer, strict=True)
    return math.log(1.0 + math.exp(sum(v * math.tanh(w * scaled + b) for w, b, v in units) + network.last))


def weight_of(kind: Weighting, count: int, frequency: int, length: int, size: Size) -> float:
    one = np.array([1])
    return float(kind.weigh(count * one, frequency * one, length * one, size)[0])


def test_okapi_is_the_formula_of_the_paper() -> None:
    """By hand: ndl 2, so K (.4 + .6 * 2) = 2.4; 2.5 * 3 * ln(100 / 4) / (2.4 + 3)."""
    assert weight_of(Okapi(), 3, 4, 200, Size(100, 100.0)) == pytest.approx(7.5 * math.log(25) / 5.4)


def test_okapi_without_k_counts_presence_alone() -> None:
    assert weight_of(Okapi(k=0), 7, 5, 30, Size(10, 20.0)) == pytest.approx(math.log(2))
    assert weight_of(Okapi(k=0), 0, 5, 30, Size(10, 20.0)) == 0.0


def test_a_term_on_every_page_weighs_nothing_in_okapi() -> None:
    assert weight_of(Okapi(), 3, 8, 20, Size(8, 20.0)) == 0.0


def test_lengths_do_not_matter_to_okapi_where_b_is_zero() -> None:
    assert weight_of(Okapi(b=0), 3, 4, 10, Size(9, 7.0)) == weight_of(Okapi(b=0), 3, 4, 999, Size(9, 7.0))


@pytest.mark.parametrize(("k", "b"), [(-1, 0.5), (1, 1.5), (math.nan, 0.5), (1, math.inf)])
def test_k_and_b_have_bounds(k: float, b: float) -> None:
    with pytest.raises(MisuseError, match=r"of Okapi is .*; it must be from 0 to"):
        Okapi(k, b)


def test_a_network_of_no_units_is_flat() -> None:
    assert FLAT(np.array([0.0, 5.0])).tolist() == pytest.approx([math.log(2)] * 2)


def test_a_network_is_a_sum_of_tanh_under_a_soft_plus() -> None:
    """By hand: x = 3 is scaled to 1; tanh(2 * 1 - 2) = 0, tanh(1 * 1 + 0) = .761594; softplus(5 * .761594 - 1)."""
    network = Network(1.0, 0.5, (2.0, 1.0), (-2.0, 0.0), (7.0, 5.0), -1.0)
    assert network(np.array([3.0]))[0] == pytest.approx(math.log(1 + math.exp(5 * math.tanh(1) - 1)))


@given(LEARNED, st.integers(1, 60), st.integers(1, 50), st.integers(1, 10_000))
def test_a_learned_weight_is_the_product_of_three_functions(
    kind: Learned, count: int, frequency: int, length: int
) -> None:
    expected = plain(kind.tf, count) * plain(kind.idf, math.log(50 / frequency)) * plain(kind.length, length)
    assert weight_of(kind, count, frequency, length, Size(50, 1.0)) == pytest.approx(expected)


def test_a_term_that_is_not_on_the_page_weighs_nothing() -> None:
    assert weight_of(Learned(FLAT, FLAT, FLAT), 0, 1, 5, Size(9, 5.0)) == 0.0


@given(st.lists(st.integers(0, 2000), max_size=30))
def test_looking_up_is_evaluating(numbers: list[int]) -> None:
    asked: list[int] = []

    def function(distinct: Numbers) -> Floats:
        asked.extend(distinct.tolist())
        return np.asarray(np.sqrt(distinct))

    assert looked_up(function, np.array(numbers, np.int64)).tolist() == [math.sqrt(x) for x in numbers]
    assert sorted(asked) == sorted(set(numbers))  # each once


def test_large_numbers_are_looked_up_as_well() -> None:
    assert looked_up(np.sqrt, np.array([1 << 40, 4, 1 << 40])).tolist() == [2.0**20, 2.0, 2.0**20]


def test_terms_of_many_pages_are_stopped_as_in_the_paper() -> None:
    assert stopped(np.array([10_000, 10_001]), 150_625).tolist() == [False, True]


def test_a_small_collection_stops_no_term_of_ten_pages() -> None:
    assert stopped(np.array([10, 11]), 12).tolist() == [False, True]


@given(LEARNED)
def test_a_weighting_comes_back_from_its_text(kind: Learned) -> None:
    assert learned(kind.as_text()) == kind


def test_weights_of_version_1_are_read_and_give_links_no_share() -> None:
    facts = json.loads(Learned(FLAT, FLAT, FLAT, {}, 0.25).as_text())
    del facts["link_share"]
    assert learned(json.dumps({**facts, "version": 1})) == Learned(FLAT, FLAT, FLAT)


def test_a_weighting_comes_back_from_its_file(tmp_path: Path) -> None:
    kind = Learned(FLAT, FLAT, Network(10.0, 0.1, (1.0,), (0.0,), (-1.0,), 0.5), {"pages": 7})
    save_weights(tmp_path / "w.json", kind)
    back = load_weights(tmp_path / "w.json")
    assert (back, back.learned_from) == (kind, {"pages": 7})
    assert [path.name for path in tmp_path.iterdir()] == ["w.json"]


def test_a_file_that_cannot_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "w.json").mkdir()
    with pytest.raises(FailureError, match=r"w\.json cannot be written"):
        save_weights(tmp_path / "w.json", Learned(FLAT, FLAT, FLAT))
    assert [path.name for path in tmp_path.iterdir()] == ["w.json"]


def changed(*path: str, value: Any) -> str:
    facts = json.loads(Learned(FLAT, FLAT, FLAT).as_text())
    place = facts
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return json.dumps(facts)


BROKEN = {
    "nothing": ("", "it is not JSON"),
    "no JSON": ("{", "it is not JSON"),
    "deep": ("[" * 100_000, "it is not JSON"),
    "a list": ("[]", "holds no weights"),
    "another file": ('{"format": "pagekin store"}', "holds no weights"),
    "a later version": (changed("version", value=3), "version 3; this pagekin reads 'linklearn', versions 1 and 2"),
    "another kind": (changed("kind", value="lsa"), "of kind 'lsa'"),
    "no networks": (changed("networks", value=3), "networks should be a table"),
    "a network too few": (changed("networks", value={"tf": {}}), "networks should be a table"),
    "no network": (changed("networks", "tf", value=3), "tf should be a table of shift, scale"),
    "NaN": (changed("networks", "idf", "last", value=math.nan), "idf: last is nan; it must be finite"),
    "infinity": (changed("networks", "idf", "scale", value=math.inf), "idf: scale is inf"),
    "NaN in a list": (changed("networks", "tf", "inner", value=[math.nan]), "inner is [nan]; it must be finite"),
    "a huge number": (changed("networks", "tf", "shift", value=10**400), "tf: "),
    "a word": (changed("networks", "tf", "shift", value="1"), "shift should be a number"),
    "a truth": (changed("networks", "tf", "outer", value=[True]), "outer should be numbers"),
    "lists of other lengths": (changed("networks", "length", "bias", value=[1, 2]), "have 0, 2 and 0 numbers"),
    "no share of links": (changed("link_share", value=None), "link_share should be a number"),
    "a truth for a share": (changed("link_share", value=True), "link_share should be a number"),
    "NaN for a share": (changed("link_share", value=math.nan), "link_share is nan; it must be from 0 to 1"),
    "a share too large": (changed("link_share", value=1.01), "link_share is 1.01; it must be from 0 to 1"),
    "a share too small": (changed("link_share", value=-0.1), "link_share is -0.1"),
    "a huge share": (changed("link_share", value=10**400), "w.json: "),
    "no source": (changed("learned_from", value=3), "learned_from"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_weights_are_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    text, reason = BROKEN[name]
    (tmp_path / "w.json").write_text(text, "utf-8")
    with pytest.raises(MisuseError, match=r"w\.json") as refusal:
        load_weights(tmp_path / "w.json")
    assert reason in str(refusal.value)


def test_units_that_are_not_finite_are_refused() -> None:
    with pytest.raises(MisuseError, match=r"bias is .*; it must be finite"):
        Network(0.0, 1.0, (1.0,), (math.inf,), (1.0,), 0.0)


def test_a_file_of_another_sort_is_refused(tmp_path: Path) -> None:
    for name, data, reason in (
        ("huge.json", b" " * (MOST_BYTES + 1), "more than 1,048,576 bytes"),
        ("latin.json", b"\xff", "not JSON"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(MisuseError, match=reason):
            load_weights(tmp_path / name)
    with pytest.raises(MisuseError, match="cannot be read"):
        load_weights(tmp_path / "missing.json")
    with pytest.raises(MisuseError, match="cannot be read"):
        load_weights(tmp_path)
