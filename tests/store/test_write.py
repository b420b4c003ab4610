"""Every column of a store, worked out by hand for a page of a few lines, and the laws that hold on every page."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.kernels.page_output import HEADING, ITEM, LIST_END, PARAGRAPH
from pagekin.model.arrays import Strings, word_of
from pagekin.model.capture import ReadingSettings
from pagekin.model.reading import NO_TARGET, AnchorFlag
from pagekin.pipeline import build
from pagekin.store.store import Store
from pagekin.store.write import words_of
from reference.vocabulary import hash_text
from store.builders import (
    Record,
    assert_same_store,
    generated,
    page,
    reached,
    store_of,
    urls_of,
    write_jsonl,
    write_warc,
)

RIVERS = """<html lang="en-GB"><head><title>Two  Rivers</title></head>
<body><h1>Two rivers</h1>
<p>The Tweed is 97 miles long. It meets the <a href="teviot.html" rel="external nofollow">River <b>Teviot</b></a>,
here!
<ul><li>Trout<li>Salmon &amp; eel</ul>
<p>See <a href="mailto:jo@borders.example">us</a>.
</body></html>
"""
TEXT = """Two rivers
The Tweed is 97 miles long. It meets the River Teviot, here!
Trout
Salmon & eel
See us."""
WORDS = """Two 0 rivers 4
The 11 Tweed 15 is 21 miles 27 long 33 It 39 meets 42 the 48 River 52 Teviot 58 here 66
Trout 72
Salmon 78 eel 87
See 91 us 95""".split()

TEVIOT = """<title>Teviot</title><p>The <a href="/rivers/two.html#top">Two rivers</a> page.
<ul><li>Trout<li>The</ul><a href=two.html>Two</a> <a href="http://far.example/Sea">sea</a> <a href="">here</a>"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return store_of(
        tmp_path_factory.mktemp("rivers"),
        page("http://borders.example/rivers/two.html", RIVERS, 1_262_304_000),
        page("http://borders.example/rivers/teviot.html", TEVIOT, 0, language="EN"),
    )


@pytest.fixture(scope="module")
def two(store: Store) -> int:
    return store.find("http://borders.example/rivers/two.html")


def test_rows_are_ordered_by_host_then_url(tmp_path: Path) -> None:
    urls = ["http://b.example/a", "https://a.example/z", "http://a.example/y", "http://a.example:8080/x"]
    store = store_of(tmp_path, *(page(url, "<p>word") for url in urls))
    assert urls_of(store) == [urls[2], urls[1], urls[3], urls[0]]


def test_the_text_has_all_that_is_visible(store: Store, two: int) -> None:
    assert store.text(two) == TEXT
    assert store.text_bytes(two) == TEXT.encode()


def test_tokens_stand_in_document_order_with_their_places(store: Store, two: int) -> None:
    tokens = store.reading.tokens
    row = tokens.row(two)
    forms = [store.reading.forms[form] for form in tokens.form[row].tolist()]
    assert forms == WORDS[::2]
    places = [int(place) for place in WORDS[1::2]]
    assert tokens.form.dtype == np.uint32
    for begin in range(len(places)):
        for end in range(begin + 1, len(places) + 1):
            assert store.token_places(two, begin, end).tolist() == places[begin:end]


def test_titles_have_their_own_tokens(store: Store, two: int) -> None:
    titles = store.reading.titles
    assert [store.reading.forms[form] for form in titles.form[titles.row(two)].tolist()] == ["Two", "Rivers"]


def test_sentences_end_before_a_token(store: Store, two: int) -> None:
    sentences = store.reading.sentences
    # "long." before It (7), "here!" before Trout (13), and "us." at the end (18 tokens); no stop ends a heading.
    assert sentences.token[sentences.row(two)].tolist() == [7, 13, 18]


def test_blocks_carry_their_boundaries(store: Store, two: int) -> None:
    blocks = store.reading.blocks
    row = blocks.row(two)
    assert blocks.token[row].tolist() == [0, 2, 13, 14, 16]
    assert blocks.place[row].tolist() == [0, 11, 72, 78, 91]
    assert blocks.kinds[row].tolist() == [
        PARAGRAPH | HEADING,
        PARAGRAPH,
        PARAGRAPH | ITEM,
        ITEM,
        LIST_END | PARAGRAPH,
    ]


def test_the_hash_of_a_block_is_that_of_its_text(store: Store, two: int) -> None:
    blocks = store.reading.blocks
    assert blocks.hash[blocks.row(two)].tolist() == [hash_text(line.encode()) for line in TEXT.split("\n")]


def test_the_same_block_has_the_same_hash_on_two_pages(store: Store, two: int) -> None:
    blocks = store.reading.blocks
    other = store.find("http://borders.example/rivers/teviot.html")
    shared = set(blocks.hash[blocks.row(two)].tolist()) & set(blocks.hash[blocks.row(other)].tolist())
    assert shared == {hash_text(b"Trout")}


def test_anchors_have_tokens_href_target_and_flags(store: Store, two: int) -> None:
    anchors = store.reading.anchors
    row = anchors.row(two)
    assert list(zip(anchors.start[row].tolist(), anchors.end[row].tolist(), strict=True)) == [(10, 12), (17, 18)]
    assert store.hrefs(two) == ["teviot.html", "mailto:jo@borders.example"]
    target, nowhere = anchors.target[row].tolist()
    assert store.reading.targets[target] == "http://borders.example/rivers/teviot.html"
    assert nowhere == NO_TARGET
    assert anchors.flags[row].tolist() == [AnchorFlag.NOFOLLOW, 0]


def test_targets_are_canonical_urls_each_once(store: Store) -> None:
    assert list(store.reading.targets) == [
        "http://borders.example/rivers/teviot.html",
        "http://borders.example/rivers/two.html",
        "http://far.example/Sea",
    ]


def test_forms_come_with_their_counts_the_commonest_first(store: Store) -> None:
    counted = dict(zip(store.reading.forms, store.form_counts.tolist(), strict=True))
    # Two: a title, a heading, two anchors of the other page. The: once here, twice there. Teviot: a title, an anchor.
    assert counted == {
        **dict.fromkeys("rivers Rivers Tweed is miles long It meets the River Salmon eel See us page sea".split(), 1),
        "Two": 4,
        "The": 3,
        "rivers": 2,
        "Teviot": 2,
        "Trout": 2,
        "here": 2,
    }
    assert list(counted)[:6] == ["Two", "The", "Teviot", "Trout", "here", "rivers"]


def test_words_are_forms_in_lower_case_with_the_sum_of_their_counts(store: Store) -> None:
    words = list(store.words)
    assert {form: words[word] for form, word in zip(store.reading.forms, store.word_of_form.tolist(), strict=True)} == {
        form: form.lower() for form in store.reading.forms
    }
    counts = np.load(store.folder / "words.count.npy").tolist()
    assert dict(zip(words, counts, strict=True))["the"] == 4
    assert words[:3] == ["the", "two", "rivers"]


def test_links_are_sorted_by_target(store: Store, two: int) -> None:
    teviot = store.find("http://borders.example/rivers/teviot.html")
    assert (teviot, two) == (0, 1)
    # Nodes: the two pages, then the sea. Two.html has the anchors 0 and 1 of teviot.html; a link to oneself is none.
    assert store.links.offsets.tolist() == [0, 1, 3, 4]
    assert store.links.page.tolist() == [1, 0, 0, 0]
    assert store.links.anchor.tolist() == [0, 0, 1, 2]
    assert store.node_of_target.tolist() == [0, 1, 2]
    assert store.nodes.tolist() == [0, 1, 2]


def test_the_facts_of_a_page(store: Store, two: int) -> None:
    facts = store.page(two)
    digest = sha256(RIVERS.encode()).hexdigest()[:32]
    assert {key: facts[key] for key in facts if key not in ("id", "node_url", "offset")} == {
        "row": 1,
        "node": 1,
        "url": "http://borders.example/rivers/two.html",
        "full_title": "Two Rivers",
        "title": "Two Rivers",
        "host": "borders.example",
        "language": "en-gb",
        "charset": "utf-8",
        "captured": 1_262_304_000,
        "source": "pages.jsonl",
        "flags": 0,
        "html_bytes": len(RIVERS),
        "text_bytes": 98,
        "tokens": 18,
        "anchors": 2,
        "digest": digest,
        "in_degree": 1,
        "out_degree": 1,
    }
    assert store.reading.pages.digest[two].tobytes().hex() == digest


def test_degrees_count_other_pages_not_anchors(store: Store) -> None:
    degrees = store.catalog.rows("SELECT url, in_degree, out_degree FROM nodes ORDER BY node")
    # teviot.html links to two.html twice, to the sea, and to itself.
    assert [tuple(row) for row in degrees] == [
        ("http://borders.example/rivers/teviot.html", 1, 2),
        ("http://borders.example/rivers/two.html", 1, 1),
        ("http://far.example/Sea", 1, 0),
    ]


def test_the_place_of_a_record_leads_back_to_it(tmp_path: Path) -> None:
    rows = [page(f"http://a.example/{k}", f"<p>number {k}") for k in range(3)]
    store = store_of(tmp_path, *rows)
    lines = (tmp_path / "pages.jsonl").read_bytes()
    for row, offset in enumerate(store.reading.pages.offset.tolist()):
        assert lines[offset:].startswith(b'{"url": "' + store.reading.pages.url.raw(row) + b'"')
    source = store.reading.sources
    assert (list(source.name), source.size.tolist()) == (["pages.jsonl"], [len(lines)])


def test_the_manifest_counts(store: Store) -> None:
    assert store.manifest.counts == {
        "pages": 2,
        "hosts": 1,
        "nodes": 3,
        "outside": 1,
        "aliases": 0,
        "tokens": 18 + 9,
        "forms": 21,
        "words": 19,
        "anchors": 6,
        "links": 4,
        "blocks": 5 + 4,
        "html_bytes": len(RIVERS) + len(TEVIOT),
        "text_bytes": len(TEXT) + len("The Two rivers page.\nTrout\nThe\nTwo sea here"),
    }
    assert store.manifest.skipped == {}


# --- settings ------------------------------------------------------------------------------------

NOFOLLOWING = [
    page("http://a.example/one", '<p><a href=two rel="nofollow">two</a> <a href=three>three</a>'),
    page("http://a.example/two", '<meta name="robots" content="nofollow"><p><a href=three>three</a>'),
    page("http://a.example/three", '<meta name="robots" content="NOINDEX"><p>three'),
]


def test_nofollow_is_noted_and_not_obeyed_unless_asked(tmp_path: Path) -> None:
    store = store_of(tmp_path, *NOFOLLOWING)
    assert urls_of(store) == ["http://a.example/one", "http://a.example/three", "http://a.example/two"]
    assert store.links.lengths().tolist() == [0, 2, 1]
    assert store.reading.pages.flags.tolist() == [0, 1, 2]


def test_nofollow_is_obeyed_when_asked(tmp_path: Path) -> None:
    store = store_of(tmp_path, *NOFOLLOWING, settings=ReadingSettings(obey_nofollow=True))
    assert store.links.lengths().tolist() == [0, 1, 0]
    assert store.links.anchor.tolist() == [1]
    assert [store.page(row)["in_degree"] for row in range(3)] == [0, 1, 0]
    assert [store.page(row)["out_degree"] for row in range(3)] == [1, 0, 0]
    assert store.reading.anchors.lengths().tolist() == [2, 0, 1], "anchors are kept for their words"


def test_noindex_is_obeyed_when_asked_and_counted(tmp_path: Path) -> None:
    store = store_of(tmp_path, *NOFOLLOWING, settings=ReadingSettings(obey_noindex=True))
    assert urls_of(store) == ["http://a.example/one", "http://a.example/two"]
    assert store.manifest.skipped == {"noindex": 1}
    assert reached(store, "http://a.example/two") == ["http://a.example/three"], "known only from links"


def test_robots_may_speak_in_a_header(tmp_path: Path) -> None:
    archive = write_warc(
        tmp_path / "a.warc.gz",
        [
            Record("http://a.example/one", "2020-01-01T00:00:00Z", "<p><a href=two>two</a>", robots="nofollow"),
            Record("http://a.example/two", "2020-01-01T00:00:00Z", "<p>two"),
            Record("http://a.example/three", "2020-01-01T00:00:00Z", "<p>three", robots="none"),
        ],
    )
    kept = build([archive], tmp_path / "kept.kin", processes=1).store
    assert len(kept) == 3
    assert kept.links.page.tolist() == [0]
    settings = ReadingSettings(obey_noindex=True, obey_nofollow=True)
    obeyed = build([archive], tmp_path / "obeyed.kin", processes=1, settings=settings).store
    assert "http://a.example/three" not in urls_of(obeyed)
    assert len(obeyed.links.page) == 0


def test_bounds_cost_what_the_store_says(tmp_path: Path) -> None:
    long_word, long_url = "x" * 200, "y" * 50
    html = f"<p>{long_word} <a href=a>a</a> <a href={long_url}>b</a> <a href=c>c</a> <a href=d>d</a>"
    settings = ReadingSettings(max_links=3, max_url_bytes=40, max_page_bytes=1000)
    store = store_of(
        tmp_path,
        page("http://a.example/1", html),
        page("http://a.example/2", "<p>" + "z " * 600),
        page("http://a.example/3", " \n "),
        settings=settings,
    )
    assert urls_of(store) == ["http://a.example/1"]
    assert store.manifest.skipped == {
        "link beyond the limit of a page": 1,
        "URL too long": 1,
        "word too long": 1,
        "page too large": 1,
        "empty page": 1,
    }
    assert reached(store, "http://a.example/1") == ["http://a.example/a", "http://a.example/c"]
    assert store.settings == settings


# --- chopped hosts -------------------------------------------------------------------------------

CHOPPED = [
    page(
        "http://b.example/one", '<title>B one</title><p><a href="/two">inside</a> <a href="http://a.example/x">out</a>'
    ),
    page("https://b.example/two", '<p>two <a href="http://a.example/y">out</a> <a href="http://z.example/q?">far</a>'),
    page("http://a.example/x", '<title>A</title><p>x <a href="http://b.example/nowhere">back</a>'),
    page("http://a.example/y", '<p>y <a href="x">x</a>'),
    page("http://z.example:81/", "<p>another port is another host"),
]


@pytest.fixture(scope="module")
def chopped(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return store_of(tmp_path_factory.mktemp("chopped"), *CHOPPED, settings=ReadingSettings(chop_host=True))


def test_a_chopped_host_is_one_node(chopped: Store) -> None:
    nodes = chopped.catalog.rows("SELECT url, host, title, first_row, rows FROM nodes ORDER BY node")
    assert [tuple(row) for row in nodes] == [
        ("http://a.example/", "a.example", "A", 0, 2),
        ("http://b.example/", "b.example", "B one", 2, 2),
        ("http://z.example:81/", "z.example:81", "", 4, 1),
        ("http://z.example/", "z.example", "", None, 0),
    ]
    assert chopped.nodes.tolist() == [0, 2, 4, 5]


def test_links_inside_a_chopped_host_vanish(chopped: Store) -> None:
    found = [
        (node, chopped.reading.pages.url[int(link)])
        for node in range(4)
        for link in chopped.links.page[chopped.links.row(node)]
    ]
    assert found == [
        (0, "http://b.example/one"),
        (0, "https://b.example/two"),
        (1, "http://a.example/x"),
        (3, "https://b.example/two"),
    ]
    degrees = chopped.catalog.rows("SELECT in_degree, out_degree FROM nodes ORDER BY node")
    assert [tuple(row) for row in degrees] == [(1, 1), (1, 2), (0, 0), (1, 0)]


def test_the_tokens_of_a_chopped_host_are_one_run(chopped: Store) -> None:
    tokens = chopped.reading.tokens
    begin, end = (int(tokens.offsets[row]) for row in chopped.nodes[1:3])
    said = [chopped.reading.forms[form] for form in tokens.form[begin:end].tolist()]
    assert said == ["inside", "out", "two", "out", "far"]


def test_without_chopping_every_page_is_a_node(tmp_path: Path) -> None:
    store = store_of(tmp_path, *CHOPPED)
    assert store.nodes.tolist() == [0, 1, 2, 3, 4, 5]
    assert reached(store, "http://b.example/one") == ["https://b.example/two", "http://a.example/x"]


# --- laws ----------------------------------------------------------------------------------------


def test_a_page_may_be_without_words_links_and_title(tmp_path: Path) -> None:
    store = store_of(tmp_path, page("http://a.example/", "<p>42!"), page("http://b.example/", "<!-- -->"))
    assert [store.text(row) for row in range(2)] == ["42!", ""]
    assert store.reading.tokens.offsets.tolist() == [0, 0, 0]
    assert store.hrefs(0) == []


def test_it_does_not_matter_in_how_many_pieces_pages_are_read_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_jsonl(tmp_path / "pages.jsonl", generated(200))
    whole = build([source], tmp_path / "whole.kin", processes=1).store
    monkeypatch.setattr("pagekin.store.merge._PIECE", 10)
    monkeypatch.setattr("pagekin.pipeline._JOB_PAGES", 7)
    assert_same_store(build([source], tmp_path / "pieces.kin", processes=1).store, whole)


# What depends on its neighbours in a text: a final sigma, what may stand before or after it, and marks that compose.
LETTERS = st.sampled_from(
    ["a", "B", "Σ", "σ", "É", "E", "\u0301", "\u0308", "İ", "ʼ", "·", "'", "한", "\u1100", "\u1161", "ẞ", "ǅ"]
)


@given(st.lists(st.text(LETTERS | st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=6)))
def test_forms_become_words_as_if_each_were_alone(forms: list[str]) -> None:
    assert list(words_of(Strings.of(forms))) == list(map(word_of, forms))
