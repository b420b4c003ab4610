"""The preparation of links."""

from __future__ import annotations

import numpy as np
import pytest

from links.builders import link_graph_of, stored_links_of
from pagekin.errors import MisuseError
from pagekin.links.link_graph import LinkGraph, prepare
from pagekin.links.settings import Preparation

STAR = {(0, 9): [1], (1, 9): [1], (1, 8): [1], (2, 9): [1], (2, 8): [1], (2, 7): [1]}
"""Page 2 links to three pages, 1 to two, 0 to one; 9 has three in-links."""


def in_links(graph: LinkGraph, page: int) -> list[int]:
    return [
        int(graph.pairs.citing[link]) for holder, link in zip(graph.page, graph.in_link, strict=True) if holder == page
    ]


def pairs(graph: LinkGraph) -> list[tuple[int, int]]:
    return list(zip(graph.pairs.citing.tolist(), graph.pairs.cited.tolist(), strict=True))


def test_a_page_links_to_another_once_and_never_to_itself() -> None:
    graph = link_graph_of({(1, 0): [3, 7], (0, 0): [1], (0, 1): [2]}, 2)
    assert pairs(graph) == [(0, 1), (1, 0)]
    assert graph.pairs.position.tolist() == [2, 3, 7]
    assert graph.pairs.position_offsets.tolist() == [0, 1, 3]


def test_a_page_keeps_the_in_links_from_pages_with_most_out_links_ties_by_number() -> None:
    assert in_links(link_graph_of(STAR, 10, Preparation(in_links=2)), 9) == [1, 2]
    assert in_links(link_graph_of(STAR, 10, Preparation(in_links=1)), 9) == [2]
    equal = link_graph_of({(5, 9): [1], (3, 9): [1], (4, 9): [1]}, 10, Preparation(in_links=2))
    assert in_links(equal, 9) == [3, 4]
    assert equal.counts["in_links_dropped"] == 1
    assert len(equal.pairs) == 3  # out-links are all kept


def test_links_of_a_portal_do_not_count() -> None:
    graph = link_graph_of(STAR, 10, Preparation(out_links=2))
    assert pairs(graph) == [(0, 9), (1, 8), (1, 9)]
    assert graph.counts["portals"] == 1


def test_repeated_links_to_one_page_do_not_make_a_portal() -> None:
    assert link_graph_of({(0, 1): [1, 2, 3, 4]}, 2, Preparation(out_links=1)).counts["portals"] == 0


def test_stopped_urls_are_neither_citing_nor_cited_nor_compared() -> None:
    graph = link_graph_of(STAR, 10, Preparation(stop=("h9", "^http://h2[.]")))
    assert pairs(graph) == [(1, 8)]
    assert [node for node in range(10) if not graph.compared[node]] == [2, 9]
    assert graph.counts["stopped"] == 2


def test_a_popular_page_has_less_weight_as_a_common_out_link() -> None:
    """A tenth of 20 pages is 2: a page with four in-links counts one half."""
    graph = link_graph_of({(k, 19): [1] for k in range(4)} | {(0, 18): [1], (1, 18): [1]}, 20, Preparation(popular=0.1))
    assert graph.weight[[19, 18, 17]].tolist() == [0.5, 1.0, 1.0]
    assert graph.counts["popular"] == 1


def test_the_pages_of_a_host_can_be_treated_as_one() -> None:
    urls = ["http://a.example/1", "http://b.example/", "http://a.example/2", "http://c.example/"]
    graph = prepare(
        stored_links_of({(0, 1): [5], (2, 1): [9], (0, 2): [1], (3, 0): [1]}, urls), Preparation(chop_hosts=True)
    )
    assert pairs(graph) == [(0, 1), (2, 0)]
    assert graph.node_of.tolist() == [0, 1, 0, 2]
    assert graph.pairs.position.tolist() == [5, 9, 1]


def test_pages_known_only_from_links_are_compared_on_request() -> None:
    found = stored_links_of({(0, 1): [1]}, ["http://a.example/", "http://b.example/"], pages=1)
    assert prepare(found, Preparation()).compared.tolist() == [True, False]
    assert prepare(found, Preparation(outside=True)).compared.tolist() == [True, True]


def test_a_page_with_few_in_links_shares_those_of_a_url_above_it() -> None:
    urls = ["http://a.example/", "http://a.example/x/", "http://a.example/x/y.html"]
    urls += [f"http://h{k}.example/" for k in range(4)]
    links = {(3, 0): [1], (4, 0): [1], (5, 0): [1], (3, 1): [1], (6, 2): [1], (2, 0): [1]}
    graph = prepare(stored_links_of(links, urls), Preparation(back_off=3))
    # x/ has too few itself; the host has 2, 3, 4 and 5, of which 2 is the page itself.
    assert in_links(graph, 2) == [3, 4, 5, 6]
    assert in_links(graph, 1) == [2, 3, 4, 5]
    assert in_links(graph, 0) == [2, 3, 4, 5]
    assert graph.counts["backed_off"] == 2
    assert in_links(prepare(stored_links_of(links, urls), Preparation()), 2) == [6]


def test_a_core_set_is_expanded_by_its_in_links_and_out_links() -> None:
    graph = link_graph_of({(0, 1): [1], (1, 2): [1], (3, 2): [1], (3, 4): [1], (5, 6): [1]}, 7)
    assert graph.expand(np.array([1]), 0).tolist() == [1]
    assert graph.expand(np.array([1]), 1).tolist() == [0, 1, 2]
    assert graph.expand(np.array([1]), 2).tolist() == [0, 1, 2, 3]
    assert np.flatnonzero(graph.restrict_to(np.array([1]), 1).compared).tolist() == [1]
    assert np.flatnonzero(graph.restrict_to(np.array([1]), 2).compared).tolist() == [0, 1, 2]


def test_a_collection_without_links_has_none() -> None:
    graph = link_graph_of({}, 3)
    assert (len(graph.pairs), len(graph.page), len(graph)) == (0, 0, 3)
    assert len(link_graph_of({}, 0)) == 0


@pytest.mark.parametrize(
    "wrong", [{"in_links": 0}, {"out_links": 0}, {"back_off": -1}, {"popular": 0.0}, {"popular": 2.0}, {"stop": ("(",)}]
)
def test_invalid_settings_are_misuse(wrong: dict[str, object]) -> None:
    with pytest.raises(MisuseError):
        Preparation(**wrong)  # type: ignore[arg-type]
