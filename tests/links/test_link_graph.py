"""Whose links count."""

from __future__ import annotations

import numpy as np
import pytest

from links.builders import found_of, web_of
from pagekin.errors import MisuseError
from pagekin.links.link_graph import LinkGraph, Preparation, prepare

STAR = {(0, 9): [1], (1, 9): [1], (1, 8): [1], (2, 9): [1], (2, 8): [1], (2, 7): [1]}
"""Page 2 links to three pages, 1 to two, 0 to one; 9 has three in-links."""


def in_links(web: LinkGraph, page: int) -> list[int]:
    return [int(web.pairs.citing[link]) for holder, link in zip(web.page, web.in_link, strict=True) if holder == page]


def pairs(web: LinkGraph) -> list[tuple[int, int]]:
    return list(zip(web.pairs.citing.tolist(), web.pairs.cited.tolist(), strict=True))


def test_a_page_links_to_another_once_and_never_to_itself() -> None:
    web = web_of({(1, 0): [3, 7], (0, 0): [1], (0, 1): [2]}, 2)
    assert pairs(web) == [(0, 1), (1, 0)]
    assert web.pairs.place.tolist() == [2, 3, 7]
    assert web.pairs.place_offsets.tolist() == [0, 1, 3]


def test_a_page_keeps_the_in_links_of_those_that_link_most_and_of_equals_the_first() -> None:
    assert in_links(web_of(STAR, 10, Preparation(in_links=2)), 9) == [1, 2]
    assert in_links(web_of(STAR, 10, Preparation(in_links=1)), 9) == [2]
    equal = web_of({(5, 9): [1], (3, 9): [1], (4, 9): [1]}, 10, Preparation(in_links=2))
    assert in_links(equal, 9) == [3, 4]
    assert equal.counts["in_links_dropped"] == 1
    assert len(equal.pairs) == 3  # out-links are all kept


def test_links_of_a_page_with_too_many_do_not_count() -> None:
    web = web_of(STAR, 10, Preparation(out_links=2))
    assert pairs(web) == [(0, 9), (1, 8), (1, 9)]
    assert web.counts["portals"] == 1


def test_a_page_that_links_often_to_the_same_is_no_portal() -> None:
    assert web_of({(0, 1): [1, 2, 3, 4]}, 2, Preparation(out_links=1)).counts["portals"] == 0


def test_urls_of_the_stop_list_neither_cite_nor_are_cited_nor_compared() -> None:
    web = web_of(STAR, 10, Preparation(stop=("h9", "^http://h2[.]")))
    assert pairs(web) == [(1, 8)]
    assert [node for node in range(10) if not web.compared[node]] == [2, 9]
    assert web.counts["stopped"] == 2


def test_a_page_to_which_many_link_counts_less_where_out_links_are_compared() -> None:
    """A tenth of 20 pages is 2: a page with four in-links counts one half."""
    web = web_of({(k, 19): [1] for k in range(4)} | {(0, 18): [1], (1, 18): [1]}, 20, Preparation(popular=0.1))
    assert web.weight[[19, 18, 17]].tolist() == [0.5, 1.0, 1.0]
    assert web.counts["popular"] == 1


def test_pages_of_a_host_can_be_one() -> None:
    urls = ["http://a.example/1", "http://b.example/", "http://a.example/2", "http://c.example/"]
    web = prepare(found_of({(0, 1): [5], (2, 1): [9], (0, 2): [1], (3, 0): [1]}, urls), Preparation(chop_hosts=True))
    assert pairs(web) == [(0, 1), (2, 0)]
    assert web.node_of.tolist() == [0, 1, 0, 2]
    assert web.pairs.place.tolist() == [5, 9, 1]


def test_pages_known_only_from_links_are_compared_on_request() -> None:
    found = found_of({(0, 1): [1]}, ["http://a.example/", "http://b.example/"], pages=1)
    assert prepare(found, Preparation()).compared.tolist() == [True, False]
    assert prepare(found, Preparation(outside=True)).compared.tolist() == [True, True]


def test_a_page_with_few_in_links_shares_those_of_a_url_above_it() -> None:
    urls = ["http://a.example/", "http://a.example/x/", "http://a.example/x/y.html"]
    urls += [f"http://h{k}.example/" for k in range(4)]
    links = {(3, 0): [1], (4, 0): [1], (5, 0): [1], (3, 1): [1], (6, 2): [1], (2, 0): [1]}
    web = prepare(found_of(links, urls), Preparation(back_off=3))
    # x/ has too few itself; the host has 2, 3, 4 and 5, of which 2 is the page itself.
    assert in_links(web, 2) == [3, 4, 5, 6]
    assert in_links(web, 1) == [2, 3, 4, 5]
    assert in_links(web, 0) == [2, 3, 4, 5]
    assert web.counts["backed_off"] == 2
    assert in_links(prepare(found_of(links, urls), Preparation()), 2) == [6]


def test_a_core_set_grows_by_what_links_to_it_and_what_it_links_to() -> None:
    web = web_of({(0, 1): [1], (1, 2): [1], (3, 2): [1], (3, 4): [1], (5, 6): [1]}, 7)
    assert web.expanded(np.array([1]), 0).tolist() == [1]
    assert web.expanded(np.array([1]), 1).tolist() == [0, 1, 2]
    assert web.expanded(np.array([1]), 2).tolist() == [0, 1, 2, 3]
    assert np.flatnonzero(web.around(np.array([1]), 1).compared).tolist() == [1]
    assert np.flatnonzero(web.around(np.array([1]), 2).compared).tolist() == [0, 1, 2]


def test_a_collection_without_links_has_none() -> None:
    web = web_of({}, 3)
    assert (len(web.pairs), len(web.page), len(web)) == (0, 0, 3)
    assert len(web_of({}, 0)) == 0


@pytest.mark.parametrize(
    "wrong", [{"in_links": 0}, {"out_links": 0}, {"back_off": -1}, {"popular": 0.0}, {"popular": 2.0}, {"stop": ("(",)}]
)
def test_settings_that_make_no_sense_are_misuse(wrong: dict[str, object]) -> None:
    with pytest.raises(MisuseError):
        Preparation(**wrong)  # type: ignore[arg-type]
