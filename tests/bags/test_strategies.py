"""Every option goes with every other."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bags.builders import ONE, TWO, Small, collection_of, make_bags, plain
from model.test_strategy import SETTINGS, can_weigh
from pagekin.model.bags import Bags
from pagekin.model.capture import ReadingSettings
from pagekin.model.strategy import PRESETS, Strategy
from store.builders import generated, page, store_of

# What has no meaning at its ends: parts without a share, weights so narrow that nothing counts.
NARROWED: dict[str, st.SearchStrategy[float]] = {
    "anchor_share": st.floats(0.1, 0.4),
    "link_share": st.floats(0.1, 0.4),
    "nmdf_center": st.floats(0, 6),
    "nmdf_width": st.floats(0.5, 5),
}
STRATEGIES = (
    st.fixed_dictionaries({**SETTINGS, **NARROWED, "silent": st.just(("host3", r"page1\d"))})
    .filter(lambda chosen: (chosen["content"] or chosen["anchors"] or chosen["links"]) and can_weigh(chosen))
    .map(lambda chosen: Strategy(**chosen))
)


@pytest.fixture(scope="module", params=[False, True], ids=["pages", "hosts"])
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Small:
    others = [
        page("http://ja.example/", "<html lang=ja><p>日本語 <a href=http://host1.example/page1.html>日本</a>"),
        page("http://de.example/", "<html lang=de><p>Häuser <a href=http://host1.example/page1.html>Haus</a>"),
        page("http://none.example/", "<p>1 2 3"),
    ]
    folder = tmp_path_factory.mktemp("combining")
    return Small(store_of(folder, *generated(40), *others, settings=ReadingSettings(chop_host=request.param)))


def assert_equal(one: Bags, other: Bags) -> None:
    for each in dataclasses.fields(Bags):
        assert np.array_equal(getattr(one, each.name), getattr(other, each.name)), each.name


@settings(max_examples=60, deadline=None)
@given(strategy=STRATEGIES)
def test_whatever_the_strategy_bags_are_heaviest_first_and_sum_to_one(small: Small, strategy: Strategy) -> None:
    collection = collection_of(small.store)
    bags, terms = make_bags(collection, strategy)
    assert len(bags) == len(collection.node_hosts())
    assert np.all(bags.weight >= 0)
    assert np.all(bags.content >= 0)
    assert np.all(bags.around >= 0)
    assert np.all(bags.content + bags.around > 0)  # no term without a reason
    for node in range(len(bags)):
        row = bags.row(node)
        assert len(set(bags.term[row].tolist())) == row.stop - row.start
        places = list(zip((-bags.weight[row]).tolist(), bags.term[row].tolist(), strict=True))
        assert places == sorted(places)
        assert row.start == row.stop or bags.weight[row].sum() == pytest.approx(1, abs=1e-5)
    assert np.array_equal(terms.frequency, np.bincount(bags.term, minlength=len(terms.frequency)))
    assert len(terms.frequency) == len(terms.name) + len(bags)
    assert len(terms.shown) == len(terms.name) == len(set(terms.name))


@pytest.mark.parametrize("strategy", [PRESETS["default"], PRESETS["paper"], plain(links=True, window_width=-1)])
def test_bags_do_not_depend_on_how_many_are_folded_at_once(
    small: Small, strategy: Strategy, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = small.bags(strategy)
    assert len(whole.bags.term) > len(whole.terms.frequency)  # so that not all fit at once
    monkeypatch.setattr("pagekin.bags.build._PIECE", 1)  # then there is room for one largest bag at a time
    assert_equal(small.bags(strategy).bags, whole.bags)


def test_each_occurrence_is_counted_once(small: Small) -> None:
    """All contents together are all words of the store that are no stop words."""
    made = small.bags(anchors=False)
    words = dict(
        zip(
            small.store.words,
            np.bincount(small.store.word_of_form[small.store.reading.tokens.form]).tolist(),
            strict=False,
        )
    )
    total: dict[str, float] = {}
    for term, content in zip(made.bags.term.tolist(), made.bags.content.tolist(), strict=True):
        total[made.terms.name[term]] = total.get(made.terms.name[term], 0) + content
    assert {word: words[word] for word in total} == total
    assert {"every", "this", "is"}.isdisjoint(total)


# Two bags, so the centre of nmdf is ln(2)/2: terms of one bag and terms of both are equally far from it.
# Two speak of TWO, a page and its title, so that windows and links have 2 / (2 + 8) of their shares of .2 and .05.
# Of its contents fir comes after one other word, and counts 50/51 of oak.
# Windows: the anchor and the title count 5, willows and birches at distance 1 count 4.
PAGES = {
    ONE: f"<p>The willows and <a href={TWO}>oaks</a> of birches",
    TWO: "<title>Cedar</title><p>An oak, a fir",
}
BY_HAND = {
    "paper": {"oak": 6 / 20, "fir": 1 / 20, "cedar": 5 / 20, "willow": 4 / 20, "birch": 4 / 20},
    "default": {
        "oak": 0.95 * 51 / 101,
        "fir": 0.95 * 50 / 101,
        ONE: 0.01,
        "cedar": 1 / 25 * 5 / 18,
        "oaks": 1 / 25 * 5 / 18,
        "willows": 1 / 25 * 4 / 18,
        "birches": 1 / 25 * 4 / 18,
    },
}


@pytest.mark.parametrize("name", BY_HAND)
def test_the_presets_by_hand(tmp_path: Path, name: str) -> None:
    pages = [page(url, html) for url, html in PAGES.items()]
    assert Small(store_of(tmp_path, *pages)).bags(PRESETS[name]).weight(TWO) == pytest.approx(BY_HAND[name])
