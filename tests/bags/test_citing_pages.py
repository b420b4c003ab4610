"""Whose word counts: hosts, silent pages, templates, navigation, sequences."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags.builders import ONE, TWO, Small
from pagekin.bags.source import BagSource, sequential_links
from reference.sequences import Link, is_sequential

T = TWO + "t.html"
PAGES = {
    ONE + "a.html": f"<p><a href={T}>oak</a>",
    ONE + "b.html": f"<p><a href={T}>elm</a>",
    TWO + "c.html": "<p><a href=t.html>fir</a>",
    T: "<title>Cedar</title><p>yew",
}


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small.of(tmp_path, PAGES)


def test_all_in_links_count(small: Small) -> None:
    made = small.bags(links=True)
    citing = {ONE + "a.html": 1, ONE + "b.html": 1, TWO + "c.html": 1}
    assert made.around(T) == {"cedar": 1, "oak": 1, "elm": 1, "fir": 1, **citing}


def test_only_links_from_other_hosts_count_but_the_title_stays(small: Small) -> None:
    made = small.bags(links=True, voters="other-hosts")
    assert made.around(T) == {"cedar": 1, "oak": 1, "elm": 1, ONE + "a.html": 1, ONE + "b.html": 1}


def test_links_from_the_host_of_a_page_that_was_not_read_do_not_count_either(tmp_path: Path) -> None:
    pages = {ONE: f"<p><a href={T}>oak</a>", TWO: f"<p><a href={T}>elm</a>"}
    assert Small.of(tmp_path, pages).bags(voters="other-hosts").around(T) == {"oak": 1}


def test_another_port_is_another_host(tmp_path: Path) -> None:
    pages = {"http://two.example:8080/": f"<p><a href={T}>oak</a>", T: "<p>yew"}
    assert Small.of(tmp_path, pages).bags(voters="other-hosts").around(T) == {"oak": 1}


@pytest.mark.parametrize(
    ("silent", "expected"),
    [
        ((), "cedar oak elm fir"),
        ((r"/a\.html$",), "cedar elm fir"),
        ((r"one\.example",), "cedar fir"),
        ((r"/a\.html$", r"^http://two\."), "cedar elm"),
        ((r"a|b",), "cedar"),
        ((r"nowhere",), "cedar oak elm fir"),
        ((r"(?i)/A\.HTML",), "cedar elm fir"),
        ((r"nowhere", r"(?i)/A\.HTML"), "cedar elm fir"),
        ((r"(n)owhere", r"(.)\1p:"), "cedar"),  # a back reference means a group of its own pattern
        ((r"(?P<x>n)owhere", r"(?P<x>a)\.html"), "cedar elm fir"),
    ],
)
def test_pages_whose_url_fits_a_pattern_do_not_vote(small: Small, silent: tuple[str, ...], expected: str) -> None:
    made = small.bags(silent=silent)
    assert set(made.around(T)) == set(expected.split())
    assert made.content(ONE + "a.html") == {"oak": 1}  # they keep their own words


def test_a_silent_page_does_not_cite(small: Small) -> None:
    made = small.bags(links=True, silent=("one",))
    assert made.around(T) == {"cedar": 1, "fir": 1, TWO + "c.html": 1}


# --- templates ------------------------------------------------------------------------------------

TREES = ["oak", "elm", "ash", "yew", "pine", "larch", "birch", "alder"]
BAR = f"<div>ivy <a href={T}>holly</a> fern</div>"


def host(with_bar: int, pages: int, hosts: int = 1) -> dict[str, str]:
    """Pages with one tree each, of which the first have the bar."""
    return {
        f"http://one{k % hosts}.example/{k}.html": f"{BAR if k < with_bar else ''}<p>{TREES[k]}</p>"
        for k in range(pages)
    }


FIRST = "http://one0.example/0.html"


def test_a_block_that_recurs_is_in_contents_and_windows_if_wished(tmp_path: Path) -> None:
    made = Small.of(tmp_path, host(4, 4)).bags(templates=True, window_width=1)
    assert made.content(FIRST) == {"ivy": 1, "holly": 1, "fern": 1, "oak": 1}
    assert made.around(T) == {"ivy": 4, "holly": 4, "fern": 4}


def test_a_block_that_recurs_is_else_out_of_both_but_its_links_count(tmp_path: Path) -> None:
    made = Small.of(tmp_path, host(4, 4)).bags(templates=False, window_width=1, links=True)
    assert made.content(FIRST) == {"oak": 1}
    citing = {f"http://one0.example/{k}.html": 1 for k in range(4)}
    # The words of the anchor say what the link is; of the words around it those of the template are passed over.
    assert made.around(T) == {"holly": 4, **dict.fromkeys(TREES[:4], 1), **citing}


def test_the_links_of_a_block_that_recurs_need_not_count(tmp_path: Path) -> None:
    made = Small.of(tmp_path, host(4, 4)).bags(templates=False, template_links=False, window_width=1, links=True)
    assert (made.content(FIRST), made.around(T)) == ({"oak": 1}, {})


def test_the_links_of_a_block_need_not_count_where_its_words_do(tmp_path: Path) -> None:
    made = Small.of(tmp_path, host(4, 4)).bags(templates=True, template_links=False, window_width=1)
    assert made.content(FIRST) == {"ivy": 1, "holly": 1, "fern": 1, "oak": 1}
    assert made.around(T) == {}


def test_links_outside_of_templates_count_in_any_case(tmp_path: Path) -> None:
    pages = {url: html + f"<p>see <a href={T}>willow</a>" for url, html in host(4, 4).items()}
    pages[FIRST] += " maple"
    made = Small.of(tmp_path, pages).bags(templates=False, template_links=False)
    assert "willow" in made.content(FIRST)
    assert made.around(T) == {"willow": 4}  # three pages have the same block, but three are too few for a template


def test_a_window_passes_over_a_template_and_does_not_count_it(tmp_path: Path) -> None:
    pages = {
        f"{ONE}{k}.html": f"<p>{TREES[k]} <a href={T}{k}>willow</a></p><div>ivy fern</div><p>maple {TREES[k]}"
        for k in range(4)
    }
    small = Small.of(tmp_path, pages)
    out = small.bags(templates=False, window_width=1, distance_weight=True)
    assert out.around(T + "0") == {"oak": 4, "willow": 5, "maple": 4}
    assert small.bags(window_width=1, distance_weight=True).around(T + "0") == {"oak": 4, "willow": 5, "ivy": 4}


@pytest.mark.parametrize(
    ("with_bar", "pages", "hosts", "share", "template"),
    [
        (3, 3, 1, 0.2, False),  # on fewer than four pages nothing is a template
        (4, 4, 1, 0.2, True),
        (4, 8, 1, 0.5, False),  # on more than the share, not on the share
        (4, 8, 1, 0.49, True),
        (4, 4, 1, 1.0, False),
        (5, 5, 2, 0.2, False),  # three pages of one host and two of the other
        (7, 7, 2, 0.2, True),  # four of one host and three of the other
    ],
)
def test_a_template_is_on_more_than_a_share_of_the_pages_of_its_host(
    tmp_path: Path, with_bar: int, pages: int, hosts: int, share: float, template: bool
) -> None:
    made = Small.of(tmp_path, host(with_bar, pages, hosts)).bags(templates=False, template_share=share)
    assert made.content(FIRST) == ({"oak": 1} if template else {"ivy": 1, "holly": 1, "fern": 1, "oak": 1})
    if hosts == 2:  # the other host has no template of its own
        assert "ivy" in made.content("http://one1.example/1.html")


def test_a_block_that_a_page_repeats_counts_once_for_that_page(tmp_path: Path) -> None:
    made = Small.of(tmp_path, {ONE: "<p>oak fir</p>" * 4 + "<p>elm"}).bags(templates=False)
    assert made.content(ONE) == {"oak": 4, "fir": 4, "elm": 1}


def test_a_link_without_words_at_the_end_of_a_template_is_a_link_of_the_template(tmp_path: Path) -> None:
    bar = f"<div>ivy <a href={T}><img src=x.png></a></div>"
    pages = {f"{ONE}{k}.html": f"{bar}<p>{TREES[k]}</p>" for k in range(4)}
    made = Small.of(tmp_path, pages).bags(templates=False, template_links=False, links=True)
    assert made.around(T) == {}


@pytest.mark.parametrize("templates", [True, False])
@pytest.mark.parametrize("page", ["http://a.example/", "http://z.example/"])
def test_a_page_that_is_only_an_image_votes(tmp_path: Path, templates: bool, page: str) -> None:
    """Its link has no block that could be a template, be the page the first or the last."""
    pages = {page: f"<a href={T}><img src=x.png></a>", **host(4, 4)}
    made = Small.of(tmp_path, pages).bags(templates=templates, template_links=False, links=True)
    assert made.around(T).get(page) == 1


def test_templates_of_chopped_hosts_are_those_of_their_pages(tmp_path: Path) -> None:
    made = Small.of(tmp_path, host(4, 4), chop_host=True).bags(templates=False)
    assert made.content("http://one0.example/") == dict.fromkeys(TREES[:4], 1)


# --- navigation -----------------------------------------------------------------------------------

CHAPTERS = [f"{ONE}{k}.html" for k in range(3)]


@pytest.fixture
def manual(tmp_path: Path) -> Small:
    """Pages with one tree each, and a link to the next page by the tree of that page."""
    related = "<div class=related>ivy <a href={}.html>{}</a></div>"
    pages = {url: f"<p>{TREES[k]}{related.format(k + 1, TREES[k + 1])}" for k, url in enumerate(CHAPTERS)}
    return Small.of(tmp_path, pages)


def test_navigation_adds_neither_words_nor_windows_nor_links(manual: Small) -> None:
    made = manual.bags(window_width=4, links=True, navigation=False)
    assert [made.content(url) for url in CHAPTERS] == [{"oak": 1}, {"elm": 1}, {"ash": 1}]
    assert [made.around(url) for url in CHAPTERS] == [{}, {}, {}]


def test_navigation_counts_by_default(manual: Small) -> None:
    made = manual.bags(links=True)
    assert made.content(CHAPTERS[0]) == {"oak": 1, "ivy": 1, "elm": 1}
    assert made.around(CHAPTERS[1]) == {"elm": 1, CHAPTERS[0]: 1}


def test_windows_of_other_links_pass_over_navigation(tmp_path: Path) -> None:
    html = f"<p><a href={T}>willow</a></p><nav>ivy</nav><p>fern</p>"
    made = Small.of(tmp_path, {CHAPTERS[0]: html}).bags(window_width=1, navigation=False)
    assert made.around(T) == {"willow": 1, "fern": 1}


@pytest.mark.parametrize("link", ["<a href=1.html rel=next>elm</a>", "<a href=1.html rel=next><img></a>"])
def test_a_link_to_the_next_page_does_not_count(tmp_path: Path, link: str) -> None:
    small = Small.of(tmp_path, {CHAPTERS[0]: f"<p>oak</p><p>{link}</p><p>ivy</p>", CHAPTERS[1]: "yew"})
    assert small.bags(window_width=4, navigation=False).around(CHAPTERS[1]) == {}
    assert small.bags(window_width=4).around(CHAPTERS[1]) != {}


def test_the_navigation_of_a_page_that_has_nothing_else_counts(tmp_path: Path) -> None:
    pages = {url: f"{BAR}<p>{TREES[k]}" for k, url in enumerate(CHAPTERS)}
    pages[ONE + "menu.html"] = f"{BAR}<nav><a href=0.html>fir</a></nav>"
    made = Small.of(tmp_path, pages).bags(templates=False, template_links=False, navigation=False)
    assert made.content(ONE + "menu.html") == made.around(CHAPTERS[0]) == {"fir": 1}


def test_links_in_navigation_are_still_links_of_the_store(manual: Small) -> None:
    assert manual.store.links.lengths()[:3].tolist() == [0, 1, 1]


# --- sequences ------------------------------------------------------------------------------------


def sequence(page: str, *, home: str = "") -> dict[str, str]:
    """Four pages; `page` has their text with {tree}, and a bar of links to the previous and the next page."""
    pages = {}
    for k in range(4):
        near = [f"<li><a href={other}.html>{TREES[other]}</a>" for other in (k - 1, k + 1) if 0 <= other < 4]
        pages[f"{ONE}{k}.html"] = page.format(tree=TREES[k], bar=f"<ul>{''.join(near)}</ul>")
    return {**pages, ONE: home} if home else pages


def test_links_to_the_previous_and_the_next_page_do_not_count_without_sequences(tmp_path: Path) -> None:
    small = Small.of(tmp_path, sequence("<h1>{tree}</h1><nav>{bar}</nav>"))
    made = small.bags(window_width=4, links=True, sequences=False)
    assert [made.content(f"{ONE}{k}.html") for k in range(4)] == [{tree: 1} for tree in TREES[:4]]
    assert [made.around(f"{ONE}{k}.html") for k in range(4)] == [{}, {}, {}, {}]
    assert small.bags().around(f"{ONE}1.html") == {TREES[1]: 2}


def test_the_path_of_chapters_counts_beside_them(tmp_path: Path) -> None:
    page = "<h1>{tree}</h1><nav><ul><li><a href=/>ivy</a></ul>{bar}</nav>"
    made = Small.of(tmp_path, sequence(page, home="<p>fern</p>")).bags(links=True, sequences=False)
    assert made.content(f"{ONE}1.html") == {TREES[1]: 1, "ivy": 1}
    assert made.around(ONE) == {"ivy": 4} | {f"{ONE}{k}.html": 1 for k in range(4)}


def test_a_menu_of_many_pages_counts(tmp_path: Path) -> None:
    menu = "".join(f"<li><a href={k}.html>{TREES[k]}</a>" for k in range(4))
    made = Small.of(tmp_path, sequence(f"<h1>{{tree}}</h1><nav><ul>{menu}</ul></nav>")).bags(sequences=False)
    assert [made.around(f"{ONE}{k}.html") for k in range(4)] == [{tree: 3} for tree in TREES[:4]]


def test_rel_tells_a_link_to_the_next_page_from_a_menu(tmp_path: Path) -> None:
    menu = "".join(f"<li><a href={k}.html>{TREES[k]}</a>" for k in range(4))
    pages = sequence(f"<h1>{{tree}}</h1><nav><ul>{menu}</ul></nav>")
    pages[f"{ONE}1.html"] += "<p><a href=2.html rel=next>ivy</a>"
    pages[f"{ONE}2.html"] += "<p><a href=1.html rel=prev>fern</a>"
    made = Small.of(tmp_path, pages).bags(sequences=False)
    assert made.around(f"{ONE}1.html") == {TREES[1]: 3}
    assert made.around(f"{ONE}2.html") == {TREES[2]: 3}
    assert "ivy" not in made.content(f"{ONE}1.html")


def test_pages_of_the_main_text_that_link_to_each_other_are_no_sequence(tmp_path: Path) -> None:
    made = Small.of(tmp_path, sequence("<h1>{tree}</h1><main>{bar}</main>")).bags(sequences=False)
    assert made.around(f"{ONE}1.html") == {TREES[1]: 2}


def test_a_link_that_the_next_page_does_not_return_counts(manual: Small) -> None:
    assert manual.bags(sequences=False).around(CHAPTERS[1]) == {"elm": 1}


BLOCKS = {
    "text": "<p><a href={}.html>elm</a></p>",
    "menu": "<nav><p><a href={}.html>elm</a></p></nav>",
    "rel": "<p><a href={}.html rel=next>elm</a></p>",
}
_PAGES = st.integers(0, 5)


@given(st.lists(st.tuples(_PAGES, _PAGES, st.sampled_from(sorted(BLOCKS))), max_size=24))
def test_sequences_are_those_of_the_definition(links: list[Link]) -> None:
    of_page = [[link for link in links if link[0] == page] for page in range(6)]
    pages = {
        f"{ONE}{page}.html": "<h1>oak</h1>" + "".join(BLOCKS[kind].format(other) for _, other, kind in found)
        for page, found in enumerate(of_page)
    }
    with TemporaryDirectory() as folder, closing(Small.of(Path(folder), pages).store) as store:
        sequential, _ = sequential_links(BagSource.of(store))
        places = zip(store.links.page.tolist(), store.links.anchor.tolist(), strict=True)
        expected = [is_sequential(of_page[page][anchor], links) for page, anchor in places]
        assert sequential.tolist() == expected
