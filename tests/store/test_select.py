"""Which captures become pages, and that every anchor reaches the page that carries the text."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from pagekin.pipeline import build
from pagekin.store.store import Store
from store.builders import (
    Record,
    Row,
    aliases_of,
    assert_same_store,
    canonical,
    page,
    reached,
    refresh,
    store_of,
    urls_of,
    write_jsonl,
    write_warc,
)

A, B, C, D = (f"http://a.example/{name}" for name in "abcd")
OLD, NEW = "2019-01-01T00:00:00Z", "2020-01-01T00:00:00Z"
WORDS = "the larks of the high moor sing before the sun has risen"


def links_to(*hrefs: str) -> Row:
    """A page that links to others."""
    return page("http://links.example/", "<p>" + "".join(f"<a href='{href}'>{href}</a> " for href in hrefs))


def warc_store(folder: Path, *records: Record) -> list[tuple[str, str]]:
    """(URL, text) of the pages that an archive becomes."""
    store = build([write_warc(folder / "a.warc.gz", records)], folder / "a.kin", processes=1).store
    return [(url, store.text(row)) for row, url in enumerate(urls_of(store))]


# --- the newest capture --------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_newest_capture_wins_in_whatever_order_they_come(tmp_path: Path, order: tuple[int, ...]) -> None:
    captures = [page(A, "<p>first", 100), page(A, "<p>second", 200), page(A, "<p>third", 300)]
    store = store_of(tmp_path, *(captures[k] for k in order))
    assert (len(store), store.text(0)) == (1, "third")
    assert store.manifest.skipped == {"older capture": 2}


def test_spellings_of_one_url_are_one_page(tmp_path: Path) -> None:
    spellings = ["http://A.example:80/x/../a#top", "http://a.example/%61?utm_source=y", "http://a.example/a"]
    store = store_of(tmp_path, *(page(url, f"<p>{url}", k) for k, url in enumerate(spellings)))
    assert urls_of(store) == [A]


def test_of_two_captures_at_the_same_second_the_later_file_wins(tmp_path: Path) -> None:
    one = write_jsonl(tmp_path / "one.jsonl", [page(A, "<p>from one", 100)])
    two = write_jsonl(tmp_path / "two.jsonl", [page(A, "<p>from two", 100)])
    stores = [
        build([one, two], tmp_path / "x.kin", processes=1).store,
        build([two, one], tmp_path / "y.kin", processes=1).store,
    ]
    build([two], tmp_path / "z.kin", processes=1)
    stores.append(build([one, two], tmp_path / "z.kin", processes=1).store)
    for store in stores:
        assert store.text(0) == "from two"
        assert_same_store(store, stores[0])


def test_of_two_captures_in_one_file_at_the_same_second_the_later_record_wins(tmp_path: Path) -> None:
    store = store_of(tmp_path, page(A, "<p>first", 100), page(A, "<p>second", 100))
    assert store.text(0) == "second"


# --- redirects -----------------------------------------------------------------------------------


def test_a_chain_of_redirects_ends_at_the_page_with_the_text(tmp_path: Path) -> None:
    archive = write_warc(
        tmp_path / "a.warc.gz",
        [
            Record(A, OLD, location="/b"),
            Record(B, OLD, location="c#part"),
            Record(C, OLD, location=D),
            Record(D, OLD, "<p>the text"),
        ],
    )
    pages = write_jsonl(tmp_path / "links.jsonl", [links_to(A, B, C, D)])
    store = build([archive, pages], tmp_path / "a.kin", processes=1).store
    assert aliases_of(store) == dict.fromkeys((A, B, C), (D, "redirect"))
    assert reached(store, "http://links.example/") == [D]
    assert store.page(store.find(D))["in_degree"] == 1
    assert [store.find(url) for url in (A, B, C)] == [store.find(D)] * 3
    node = store.page(store.find(D))["node"]
    assert [count for _, count in store.anchor_texts(node)] == [1, 1, 1, 1]


def test_a_chain_may_have_twenty_hops_and_no_more(tmp_path: Path) -> None:
    def chain(hops: int) -> list[Row]:
        hop = [page(f"http://{hops}.example/{k}", refresh(f"/{k - 1}")) for k in range(hops, 0, -1)]
        return [*hop, page(f"http://{hops}.example/0", "<p>here")]

    aliases = aliases_of(store_of(tmp_path, *chain(20), *chain(21)))
    assert aliases["http://20.example/20"] == ("http://20.example/0", "redirect")
    assert aliases["http://21.example/20"] == ("http://21.example/0", "redirect")
    assert "http://21.example/21" not in aliases


def test_a_loop_of_redirects_makes_no_alias_and_loses_no_page(tmp_path: Path) -> None:
    found = warc_store(
        tmp_path,
        Record(A, NEW, location="/b"),
        Record(B, NEW, location="/a"),
        Record(C, NEW, location="/c"),
        Record(D, NEW, location="/a"),
        Record(B, OLD, "<p>b as it was"),
        Record(C, OLD, "<p>c as it was"),
    )
    assert found == [(B, "b as it was"), (C, "c as it was")]


def test_a_page_gives_way_to_a_redirect_that_is_newer(tmp_path: Path) -> None:
    records = [Record(A, OLD, "<p>the old place"), Record(A, NEW, location="/b"), Record(B, OLD, "<p>the new place")]
    store = build([write_warc(tmp_path / "a.warc", records)], tmp_path / "a.kin", processes=1).store
    assert urls_of(store) == [B]
    assert aliases_of(store) == {A: (B, "redirect")}
    assert store.manifest.skipped == {"redirects to another page": 1}


def test_a_page_that_is_newer_than_a_redirect_stays(tmp_path: Path) -> None:
    records = [Record(A, OLD, location="/b"), Record(A, NEW, "<p>back again"), Record(B, OLD, "<p>the other place")]
    store = build([write_warc(tmp_path / "a.warc", records)], tmp_path / "a.kin", processes=1).store
    assert urls_of(store) == [A, B]
    assert aliases_of(store) == {}


def test_a_page_newer_than_a_redirect_ends_the_chain_that_leads_to_it(tmp_path: Path) -> None:
    records = [
        Record(A, NEW, location="/b"),
        Record(B, OLD, location="/c"),
        Record(B, NEW, "<p>b is back"),
        Record(C, OLD, "<p>c"),
    ]
    store = build([write_warc(tmp_path / "a.warc", records)], tmp_path / "a.kin", processes=1).store
    assert aliases_of(store) == {A: (B, "redirect")}


def test_of_two_redirects_the_newer_counts(tmp_path: Path) -> None:
    records = [
        Record(A, NEW, location="/c"),
        Record(A, OLD, location="/b"),
        Record(B, OLD, "<p>b"),
        Record(C, OLD, "<p>c"),
    ]
    store = build([write_warc(tmp_path / "a.warc", records)], tmp_path / "a.kin", processes=1).store
    assert aliases_of(store) == {A: (C, "redirect")}


def test_a_redirect_out_of_the_collection_makes_no_alias_and_loses_no_page(tmp_path: Path) -> None:
    found = warc_store(
        tmp_path, Record(A, NEW, location="http://far.example/"), Record(A, OLD, "<p>a as it was"), Record(B, OLD, "b")
    )
    assert found == [(A, "a as it was"), (B, "b")]


def test_a_page_that_only_refreshes_is_a_redirect(tmp_path: Path) -> None:
    store = store_of(tmp_path, page(A, refresh("b") + "<p>We have moved."), page(B, "<p>here"), links_to(A))
    assert urls_of(store) == [B, "http://links.example/"]
    assert aliases_of(store) == {A: (B, "redirect")}
    assert reached(store, "http://links.example/") == [B]


def test_a_page_that_says_much_or_waits_long_is_no_redirect(tmp_path: Path) -> None:
    talker = refresh("/c") + "<p>" + "word " * 50
    patient = '<meta http-equiv="refresh" content="30; url=/c">'
    itself = '<meta http-equiv="refresh" content="0; url=/d">'
    store = store_of(tmp_path, page(A, talker), page(B, patient), page(C, "<p>c"), page(D, itself))
    assert urls_of(store) == [A, B, C, D]
    assert aliases_of(store) == {}


def test_a_refresh_of_forty_nine_words_is_a_redirect(tmp_path: Path) -> None:
    store = store_of(tmp_path, page(A, refresh("/c") + "<p>" + "word " * 49), page(C, "<p>c"))
    assert urls_of(store) == [C]


@pytest.mark.parametrize(("target", "served"), [("/dir/", "dir/index.html"), ("/dir", "dir/"), ("/x", "x.html")])
def test_a_redirect_reaches_a_page_by_the_habits_of_servers(tmp_path: Path, target: str, served: str) -> None:
    there = "http://a.example/" + served
    store = store_of(tmp_path, page(A, refresh(target)), page(there, "<p>the text"), links_to(A))
    assert reached(store, "http://links.example/") == [there]
    assert urls_of(store) == [there, "http://links.example/"]


def test_a_redirect_to_https_reaches_a_page_that_was_captured_over_http(tmp_path: Path) -> None:
    archive = write_warc(
        tmp_path / "a.warc.gz",
        [Record(A, OLD, location="https://a.example/b"), Record(B, OLD, "<p>the text")],
    )
    links = write_jsonl(tmp_path / "links.jsonl", [links_to(A)])
    store = build([archive, links], tmp_path / "a.kin", processes=1).store
    assert reached(store, "http://links.example/") == [B]


# --- canonical links -----------------------------------------------------------------------------


def test_a_copy_becomes_an_alias_of_its_canonical_page(tmp_path: Path) -> None:
    store = store_of(tmp_path, page(A, canonical("/b", WORDS)), page(B, f"<p>{WORDS}"), links_to(A))
    assert urls_of(store) == [B, "http://links.example/"]
    assert aliases_of(store) == {A: (B, "canonical")}
    assert reached(store, "http://links.example/") == [B]
    assert store.manifest.skipped == {"copy of its canonical page": 1}


def test_half_of_its_words_make_a_copy(tmp_path: Path) -> None:
    both = page(D, "<p>one two three four and more that is only here")
    store = store_of(tmp_path, page(A, canonical("/d", "one two five six")), both)
    assert urls_of(store) == [D]
    store = store_of(tmp_path, page(A, canonical("/d", "one two five six seven")), both)
    assert urls_of(store) == [A, D]


def test_a_word_counts_as_often_as_it_stands_on_the_canonical_page(tmp_path: Path) -> None:
    store = store_of(tmp_path, page(A, canonical("/b", "echo echo echo echo")), page(B, "<p>echo and silence"))
    assert urls_of(store) == [A, B], "one of four words is there, not four"


def test_a_canonical_link_to_a_page_with_other_words_is_refused_and_counted(tmp_path: Path) -> None:
    store = store_of(tmp_path, page(A, canonical("/b", "quite different words")), page(B, f"<p>{WORDS}"))
    assert urls_of(store) == [A, B]
    assert aliases_of(store) == {}
    assert store.manifest.skipped == {"canonical link to a page with other words (kept)": 1}
    assert [(skip.source, skip.where) for skip in store.catalog.skips()] == [("pages.jsonl", A)]


def test_a_canonical_url_that_is_not_here_is_an_alias(tmp_path: Path) -> None:
    store = store_of(
        tmp_path, page(A, canonical("http://a.example/proper", WORDS)), links_to("http://a.example/proper")
    )
    assert urls_of(store)[0] == A
    assert aliases_of(store) == {"http://a.example/proper": (A, "canonical")}
    assert reached(store, "http://links.example/") == [A]


def test_two_pages_that_call_each_other_canonical_both_stay(tmp_path: Path) -> None:
    store = store_of(tmp_path, page(A, canonical("/b", WORDS)), page(B, canonical("/a", WORDS)))
    assert urls_of(store) == [A, B]
    assert sum(store.manifest.skipped.values()) == 2


def test_a_chain_of_canonical_links_loses_no_text(tmp_path: Path) -> None:
    store = store_of(
        tmp_path,
        page(A, canonical("/b", WORDS)),
        page(B, canonical("/c", WORDS)),
        page(C, f"<p>{WORDS}"),
        links_to(A, B),
    )
    assert C in urls_of(store)
    for url, (target, _) in aliases_of(store).items():
        assert url not in urls_of(store)
        assert target in urls_of(store)
    assert set(reached(store, "http://links.example/")) <= set(urls_of(store))


def test_a_redirect_to_a_copy_reaches_the_canonical_page(tmp_path: Path) -> None:
    store = store_of(
        tmp_path, page(A, refresh("/b")), page(B, canonical("/c", WORDS)), page(C, f"<p>{WORDS}"), links_to(A, B)
    )
    assert aliases_of(store) == {A: (C, "redirect"), B: (C, "canonical")}
    assert reached(store, "http://links.example/") == [C]


def test_a_canonical_link_through_a_redirect_is_followed(tmp_path: Path) -> None:
    store = store_of(tmp_path, page(A, canonical("/b", WORDS)), page(B, refresh("/c")), page(C, f"<p>{WORDS}"))
    assert aliases_of(store) == {A: (C, "canonical"), B: (C, "redirect")}


def test_a_redirect_back_to_the_page_that_names_it_canonical_loses_nothing(tmp_path: Path) -> None:
    store = store_of(tmp_path, page(A, canonical("/b", WORDS)), page(B, refresh("/a")))
    assert urls_of(store) == [A]
    assert aliases_of(store) == {B: (A, "redirect")}


def test_a_site_that_calls_every_page_its_home_page_loses_nothing(tmp_path: Path) -> None:
    rows = [page(f"http://a.example/{name}", canonical("/", f"{name} {name}s own words")) for name in "bcdef"]
    store = store_of(tmp_path, page("http://a.example/", canonical("/", "welcome home")), *rows)
    assert len(store) == 6


def test_a_canonical_link_cannot_take_the_url_of_a_page_that_is_served_there(tmp_path: Path) -> None:
    """/dir/ is a URL of /dir/index.html by the habits of servers; a claim of another page must be weighed, too."""
    index = "http://a.example/dir/index.html"
    other = page("http://a.example/dir/about.html", canonical("/dir/", "quite different words"))
    store = store_of(tmp_path, other, page(index, f"<p>{WORDS}"), links_to("http://a.example/dir/"))
    assert reached(store, "http://links.example/") == [index]


def test_a_copy_gives_way_to_a_canonical_page_that_is_served_there(tmp_path: Path) -> None:
    index = "http://a.example/dir/index.html"
    copy = page("http://a.example/dir/print.html", canonical("https://a.example/dir/", WORDS))
    store = store_of(tmp_path, copy, page(index, f"<p>{WORDS}"), links_to("http://a.example/dir/print.html"))
    assert reached(store, "http://links.example/") == [index]


# --- habits of servers ---------------------------------------------------------------------------

SPELLINGS = ["http://a.example/dir", "http://a.example/dir/", "http://a.example/dir/index.html"]
ALL = [*SPELLINGS, *(url.replace("http:", "https:") for url in SPELLINGS)]


@pytest.mark.parametrize("served", ALL)
def test_links_to_a_folder_and_to_its_index_meet(tmp_path: Path, served: str) -> None:
    store = store_of(tmp_path, page(served, "<p>the text"), links_to(*ALL))
    assert reached(store, "http://links.example/") == [served]
    assert store.page(store.find(served))["in_degree"] == 1
    assert store.manifest.counts["outside"] == 0
    assert [store.find(url) for url in ALL] == [store.find(served)] * 6


def test_links_to_the_home_page_and_to_its_index_meet(tmp_path: Path) -> None:
    spellings = ["http://a.example", "http://a.example/index.html", "https://a.example/", "http://a.example/index.htm"]
    store = store_of(tmp_path, page("http://a.example/index.html", "<p>home"), links_to(*spellings[:3]))
    assert reached(store, "http://links.example/") == ["http://a.example/index.html"]
    store = store_of(tmp_path, page("http://a.example/", "<p>home"), links_to(*spellings))
    assert reached(store, "http://links.example/") == ["http://a.example/"]


def test_a_page_that_is_here_under_its_very_url_comes_first(tmp_path: Path) -> None:
    pages = [page(url, f"<p>{url}") for url in ALL]
    store = store_of(tmp_path, *pages, links_to(*ALL))
    assert reached(store, "http://links.example/") == ALL


def test_links_with_other_queries_do_not_meet(tmp_path: Path) -> None:
    store = store_of(tmp_path, page("http://a.example/dir?a=1", "<p>one"), links_to("http://a.example/dir?a=2"))
    assert reached(store, "http://links.example/") == ["http://a.example/dir?a=2"]
    assert store.manifest.counts["outside"] == 1


def test_an_alias_leads_to_a_page_in_every_store_of_the_sample_web(sample_index: Path) -> None:
    store = Store.open(sample_index)
    pages = set(urls_of(store))
    aliases = aliases_of(store)
    assert all(page in pages and url not in pages for url, (page, _) in aliases.items())
    # tools/sample_web/responses.tsv, and damson-card.html, which calls damson.html canonical
    assert aliases["http://birdnotes.example/redbreast.html"] == ("http://birdnotes.example/robin.html", "redirect")
    assert aliases["http://slowoven.example/leaven.html"] == ("http://slowoven.example/starter.html", "redirect")
    assert aliases["http://slowoven.example/mother.html"] == ("http://slowoven.example/starter.html", "redirect")
    assert {url for url in aliases if "/ring/" in url} == set()
    assert store.manifest.skipped["older capture"] == 5
    assert store.manifest.skipped["HTTP status 404"] == 1
