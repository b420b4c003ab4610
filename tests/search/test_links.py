"""Evidence from links: proximity, coupling, and the pages that a page links to."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.search.evidence import Evidence, evidences
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.links import LinkPositions, find_citing_pages
from pagekin.search.options import RelatedOptions
from pagekin.search.query import Bag, Query, query_of_nodes
from store.builders import page, store_of

NAMES = ("proximity", "cocitation", "coupling", "link")
OUTSIDE = Query((), Bag(np.empty(0, np.uint32), np.empty(0, np.float32)), np.empty(0, np.uint32))
EVERYTHING = RelatedOptions(blend={"text": 1.0, **dict.fromkeys(NAMES, 1.0)}, min_similarity=0.0)


def url(name: str) -> str:
    return f"http://{name}.example/"


def linking(*names: str) -> str:
    links = " then ".join(f'<a href="{url(name)}">{name}</a>' for name in names)
    return f"<title>Page of {len(names)}</title><p>Words and {links}."


@pytest.fixture
def store(tmp_path: Path) -> IndexedStore:
    """Three pages that link to others, which have neither links nor titles."""
    rows = {
        "a": linking("x", "y", "x", "elsewhere"),
        "b": linking("x", "z"),
        "c": linking("z"),
        **{name: f"<p>{name}" for name in "xyz"},
    }
    return IndexedStore.open(store_of(tmp_path, *(page(url(name), html) for name, html in rows.items())).root)


def named(store: IndexedStore, name: str) -> Evidence:
    (evidence,) = evidences(store, RelatedOptions(), {name: 1.0})
    return evidence


def query(store: IndexedStore, *names: str) -> Query:
    return query_of_nodes(store.index, [store.find_node(url(name)) for name in names])


def related(store: IndexedStore, evidence: str, *names: str, most: int = 10) -> list[str]:
    nodes = named(store, evidence).candidates(query(store, *names), most)
    return [store.node_url(node)[len("http://")] for node in nodes.tolist()]


def test_candidates_are_the_pages_with_the_best_scores(store: IndexedStore) -> None:
    """Beside x are y, which only a cites, and z, which c cites as well. a and c share a link with b; a has more."""
    assert sorted(related(store, "proximity", "x")) == ["y", "z"]
    assert related(store, "proximity", "x", most=1) == ["y"]
    assert sorted(related(store, "cocitation", "x")) == ["y", "z"]
    assert related(store, "cocitation", "x", most=1) == ["y"]
    assert sorted(related(store, "coupling", "b")) == ["a", "c"]
    assert related(store, "coupling", "b", most=1) == ["c"]
    assert sorted(related(store, "link", "a")) == ["x", "y"]
    assert related(store, "link", "x") == []


def test_no_more_candidates_than_wanted_and_none_that_are_excluded(store: IndexedStore) -> None:
    evidence = named(store, "proximity")
    assert len(evidence.candidates(query(store, "x"), 1)) == 1
    assert related(store, "proximity", "x", "y") == ["z"]


@pytest.mark.parametrize("name", NAMES)
def test_scores_of_all_pairs_are_those_of_queries(store: IndexedStore, name: str) -> None:
    evidence, nodes = named(store, name), np.array([3, -1, 0, 1, 2, 4, 5])
    pairs = evidence.pair_scores(nodes, lambda node: query_of_nodes(store.index, [node]))
    rows = pairs.scores(np.arange(len(nodes)))
    assert (rows > 0).any()
    for node, row in zip(nodes.tolist(), rows, strict=True):
        if node >= 0:
            scores = evidence.scores(query_of_nodes(store.index, [node]), nodes[nodes >= 0])
            assert row[nodes >= 0].tolist() == scores.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_the_score_for_several_pages_is_the_mean(store: IndexedStore, name: str) -> None:
    nodes = np.arange(6)
    for pair in (("a", "b"), ("x", "y")):
        one, other = (named(store, name).scores(query(store, each), nodes) for each in pair)
        assert named(store, name).scores(query(store, *pair), nodes) == pytest.approx((one + other) / 2)


@pytest.mark.parametrize("name", NAMES)
def test_text_from_outside_and_pages_that_are_not_in_the_collection_have_no_links(
    store: IndexedStore, name: str
) -> None:
    evidence, away = named(store, name), query(store, "elsewhere")
    assert away.nodes[0] >= 6
    for outside in (OUTSIDE, away):
        assert evidence.candidates(outside, 10).tolist() == []
        assert evidence.scores(outside, np.arange(7)).tolist() == [0.0] * 7
        assert len(evidence.explain(outside, np.arange(7))) == 7
    assert evidence.scores(query(store, "a"), np.array(away.nodes)).tolist() == [0.0]


def test_pages_are_popular_by_the_number_of_pages_that_link_to_them(store: IndexedStore) -> None:
    """Two pages link to x and to z, one to y; the page that is not in the collection counts as without links."""
    popularity = store.popularity / store.index.strategy.popularity
    found = {store.node_url(node)[len("http://") :][0]: score for node, score in enumerate(popularity.tolist())}
    assert found == pytest.approx({"a": 0, "b": 0, "c": 0, "x": 2 / 12, "y": 1 / 11, "z": 2 / 12, "e": 0})


def test_proximity_is_explained_by_the_pages_that_cite_both(store: IndexedStore) -> None:
    nodes = np.array([store.find_node(url("y")), store.find_node(url("c"))])
    reasons = named(store, "proximity").explain(query(store, "x"), nodes)
    assert reasons == [{"cited_by": [url("a")], "apart": [2]}, {"cited_by": [], "apart": []}]
    assert reasons == named(store, "links").explain(query(store, "x"), nodes)


def test_coupling_is_explained_by_the_rarest_pages_that_both_link_to(store: IndexedStore) -> None:
    """x and z have no title, so that they are named by their URLs."""
    found = {each.url: each.why.details for each in store.related(url("b"), EVERYTHING)}
    assert found[url("a")]["coupling"] == {"shared_links": [url("x")]}
    assert found[url("c")]["coupling"] == {"shared_links": [url("z")]}
    assert "coupling" not in found[url("x")]


def test_a_link_is_explained_by_the_number_of_links_and_their_share(store: IndexedStore) -> None:
    found = {each.url: each for each in store.related(url("a"), EVERYTHING)}
    (share,) = (part.similarity for part in found[url("x")].why.parts if part.name == "link")
    assert found[url("x")].why.details["link"] == {"links": 2, "share": round(share, 4)}
    assert found[url("y")].why.details["link"]["links"] == 1
    assert "link" not in found[url("b")].why.details


PLACES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40)), max_size=12)


def packed(*nodes: list[tuple[int, int]]) -> LinkPositions:
    rows = [row for row, places in enumerate(nodes) for _ in places]
    places = [citing << 32 | word for places in nodes for citing, word in places]
    return LinkPositions(np.array(rows, np.int64), np.array(places, np.int64))


@given(PLACES, st.lists(PLACES, max_size=4), st.integers(1, 6))
def test_citing_pages_come_with_the_least_distance_closest_first(
    one: list[tuple[int, int]], others: list[list[tuple[int, int]]], most: int
) -> None:
    expected = []
    for other in others:
        closest: dict[int, int] = {}
        for citing, word in one:
            for same, there in other:
                if citing == same:
                    closest[citing] = min(closest.get(citing, 99), abs(word - there))
        expected.append(sorted(closest.items(), key=lambda item: (item[1], item[0]))[:most])
    assert find_citing_pages(packed(one), packed(*others), len(others), most) == expected


def test_the_end_of_a_page_is_not_close_to_the_beginning_of_the_next() -> None:
    assert find_citing_pages(packed([(1, 2**32 - 1)]), packed([(2, 0)]), 1, 5) == [[]]
