"""Captures -> readings: laws that hold whatever a page holds, and pages worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

import numpy as np
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pagekin.model.capture import Capture, Origin, PageFlags, ReadingSettings
from pagekin.model.reading import NO_TARGET, AnchorFlag, Blobs, Reading
from pagekin.reading.batch import LONGEST_WORD, read_captures, word_places

HERE = "http://a.example/dir/page.html"


def capture(html: str | bytes, url: str = HERE, **facts: object) -> Capture:
    body = html.encode("utf-8", "replace") if isinstance(html, str) else html
    return Capture(url, Origin("a.jsonl", 0, len(body), 1), body=body, **facts)  # type: ignore[arg-type]


def read(*pages: str, bounds: ReadingSettings | None = None) -> Reading:
    """The reading of pages 0.html, 1.html ... of a folder."""
    captures = [capture(html, f"http://a.example/dir/{k}.html") for k, html in enumerate(pages)]
    return read_captures(captures, bounds or ReadingSettings())


def unpack(blobs: Blobs, row: int) -> bytes:
    return zstandard.ZstdDecompressor().decompress(blobs.data[blobs.row(row)].tobytes())


def targets(reading: Reading, row: int = 0) -> list[str | None]:
    numbers = reading.anchors.target[reading.anchors.row(row)].tolist()
    return [None if number == NO_TARGET else reading.targets[number] for number in numbers]


def words(reading: Reading, row: int = 0) -> list[str]:
    return [reading.forms[form] for form in reading.tokens.form[reading.tokens.row(row)].tolist()]


def anchors(reading: Reading, row: int = 0) -> list[list[str]]:
    said = words(reading, row)
    stretch = reading.anchors.row(row)
    spans = zip(reading.anchors.start[stretch].tolist(), reading.anchors.end[stretch].tolist(), strict=True)
    return [said[start:end] for start, end in spans]


# --- laws ----------------------------------------------------------------------------------------

TAGS = """<p> </p> <br> <ul> <li> </ul> <table> <tr> <td> </table> <h1> </h1> <b> </b> <a> </a> <a/href> <a/href=x.html>
<a/href=#top> <a/href=mailto:x/rel=nofollow> <a/href="x.html"rel="nofollow"> <img/alt="a_picture"> <area/href=y/alt="z">
<iframe/src=f></iframe> <script>x</script> <!--c--> <title>t</title> <template> </template> < > &""".split()
SIGNS = ["&amp;", "&eacute;", "&shy;", "&nbsp;", "&#0;", "é", "e\u0301", "\u00ad", "\u200d", "😀", " ", "\n", ".", "42"]
RUNS = ["word", "Two words. ", "Stop! ", "木村の家。", "ไทย", "x" * LONGEST_WORD, "y" * (LONGEST_WORD + 1)]
FRAGMENTS = st.sampled_from([*TAGS, *SIGNS, *RUNS])
PAGES = st.lists(st.lists(FRAGMENTS, max_size=25).map("".join) | st.text(max_size=30), min_size=1, max_size=4)


@pytest.mark.slow
@given(PAGES)
@example(["<p>un<a href=x>believ</a>able", "", "<a href=x></a>"])
def test_every_page_obeys_the_laws(pages: Sequence[str]) -> None:
    reading = read(*pages)
    forms = reading.forms.all_raw()
    assert len(set(forms)) == len(forms)
    assert len(reading) + len(reading.skips) == len(pages)
    for row in range(len(reading)):
        text = unpack(reading.text, row)
        text.decode("utf-8")
        tokens, blocks, sentences = (
            reading.tokens.row(row),
            reading.blocks.row(row),
            reading.sentences.row(row),
        )
        form, place = reading.tokens.form[tokens].tolist(), word_places(text).tolist()
        for number, at in zip(form, place, strict=True):
            assert text[at : at + len(forms[number])] == forms[number]
            assert 0 < len(forms[number]) <= LONGEST_WORD
        assert place == sorted(place)
        starts = reading.blocks.place[blocks].tolist()
        assert starts == sorted(set(starts))
        assert [text[at - 1 : at] for at in starts] == [b"", *[b"\n"] * (len(starts) - 1)][: len(starts)]
        assert text.count(b"\n") == max(0, len(starts) - 1)
        first = reading.blocks.token[blocks].tolist()
        assert first == [sum(at < start for at in place) for start in starts]
        ends = reading.sentences.token[sentences].tolist()
        assert ends == sorted(set(ends))
        assert all(0 < end <= len(form) for end in ends)
        stretch = reading.anchors.row(row)
        start, end = reading.anchors.start[stretch], reading.anchors.end[stretch]
        assert (start <= end).all() and (end <= len(form)).all()
        assert unpack(reading.hrefs, row).count(b"\n") == len(start)
        assert reading.pages.text_bytes[row] == len(text)


def parts(reading: Reading, row: int) -> tuple[object, ...]:
    """All that a reading says of a page, free of the numbers of the batch."""
    blocks, stretch = reading.blocks.row(row), reading.anchors.row(row)
    return (
        unpack(reading.text, row),
        unpack(reading.hrefs, row),
        words(reading, row),
        anchors(reading, row),
        targets(reading, row),
        reading.anchors.flags[stretch].tolist(),
        reading.sentences.token[reading.sentences.row(row)].tolist(),
        [column[blocks].tolist() for column in (reading.blocks.token, reading.blocks.place, reading.blocks.kinds)],
        reading.blocks.hash[blocks].tolist(),
        reading.pages.title[row],
        reading.pages.digest[row].tobytes(),
    )


@given(PAGES)
@settings(deadline=None)
@example(["<a href=x>a</a>", "<a href=#x>a</a><a href=x>b</a>"])
def test_a_page_says_the_same_in_whatever_company_it_is_read(pages: Sequence[str]) -> None:
    captures = [capture(html, f"http://a.example/dir/{k}.html") for k, html in enumerate(pages) if html.strip()]
    together = read_captures(captures, ReadingSettings())
    for row, each in enumerate(captures[: len(together)]):
        alone = read_captures([each], ReadingSettings())
        if len(alone) and len(together) == len(captures):
            assert parts(together, row) == parts(alone, 0)


def test_no_captures_give_an_empty_reading() -> None:
    reading = read_captures([], ReadingSettings())
    assert (len(reading), reading.skips, len(reading.forms)) == (0, [], 0)
    assert reading.tokens.offsets.tolist() == [0]


# --- words and anchors ---------------------------------------------------------------------------


def test_text_keeps_digits_and_punctuation_tokens_do_not() -> None:
    reading = read("<p>In 1999, 3.5 million (!) people — B2B.")
    assert unpack(reading.text, 0).decode() == "In 1999, 3.5 million (!) people — B2B."
    assert words(reading) == ["In", "million", "people", "B", "B"]


def test_forms_keep_their_spelling() -> None:
    assert words(read("<p>Polish polish POLISH naïve cafe\u0301")) == [
        "Polish",
        "polish",
        "POLISH",
        "naïve",
        "cafe\u0301",
    ]


def test_an_anchor_holds_the_words_that_its_text_overlaps() -> None:
    html = "<p>un<a href=1>believ</a>able <a href=2>two words</a><a href=3></a> <a href=4>42</a> <a href=5>a</a>b"
    assert anchors(read(html)) == [["unbelievable"], ["two", "words"], [], [], ["ab"]]


def test_the_same_href_means_something_else_in_each_folder() -> None:
    html = "<a href=x.html>x</a> <a href=#top>top</a> <a href=?q>q</a> <a href=''>none</a>"
    captures = [capture(html, f"http://a.example/{page}") for page in ("p", "d/p", "d/q")]
    reading = read_captures(captures, ReadingSettings())
    for row, (folder, page) in enumerate([("", "p"), ("d/", "p"), ("d/", "q")]):
        here = f"http://a.example/{folder}{page}"
        assert targets(reading, row) == [f"http://a.example/{folder}x.html", here, here + "?q", here]


@pytest.mark.parametrize("href", ["http:#top", "http:", "\x01#top", "\x0c", " \n"])
def test_an_href_that_names_no_path_means_the_page_itself(href: str) -> None:
    assert targets(read(f'<a href="{href}">a</a>')) == ["http://a.example/dir/0.html"]


def test_an_href_that_names_only_a_query_means_the_page_itself() -> None:
    assert targets(read("<a href='http:?q'>a</a> <a href=?q>a</a>")) == ["http://a.example/dir/0.html?q"] * 2


def test_links_are_resolved_against_the_base_of_the_page() -> None:
    html = "<base href='http://b.example/deep/er/'><a href=x>x</a> <a href=/y>y</a> <a href=#z>z</a>"
    assert targets(read(html)) == [
        "http://b.example/deep/er/x",
        "http://b.example/y",
        "http://b.example/deep/er/",
    ]
    assert targets(read("<base href='sub/'><a href=x>x</a>")) == ["http://a.example/dir/sub/x"]
    assert targets(read("<base href='javascript:0'><a href=x>x</a>")) == ["http://a.example/dir/x"]


def test_flags_of_anchors() -> None:
    html = (
        "<a href=1 rel='noopener NoFollow'>a</a><a href=2 rel=nofollowing>b</a>"
        "<map><area href=3 alt=c></map><iframe src=4></iframe><a href=" + "x" * 50 + ">d</a>"
    )
    reading = read(html, bounds=ReadingSettings(max_url_bytes=40))
    assert reading.anchors.flags.tolist() == [
        AnchorFlag.NOFOLLOW,
        0,
        AnchorFlag.AREA,
        AnchorFlag.FRAME,
        AnchorFlag.TOO_LONG,
    ]
    assert targets(reading)[-1] is None
    assert reading.pages.urls_dropped.tolist() == [1]


@pytest.mark.parametrize(
    ("html", "trailing"),
    [
        ("<p>a <a href=x></a></p><p>b", True),
        ("<p>a <a href=x>[1]</a></p><p>b", True),
        ("<p>a <a href=x>c</a></p><p>b", False),  # it has a word
        ("<p>a</p><p><a href=x>[1]</a></p><p>b", False),
        ("<p>a</p><p>1. <a href=x></a> b", False),  # the word before stands in another block
        ("<p>1. <a href=x></a> b", False),
    ],
)
def test_an_anchor_without_words_trails_the_word_before_it_in_its_block(html: str, trailing: bool) -> None:
    reading = read("<p>z", html)
    assert reading.anchors.flags.tolist() == [AnchorFlag.TRAILING * trailing]


def test_links_beyond_the_limit_are_counted_page_by_page() -> None:
    many = "".join(f"<a href={k}>{k}</a> " for k in range(7))
    reading = read(many, "<a href=x>x</a>", many, bounds=ReadingSettings(max_links=4))
    assert reading.anchors.lengths().tolist() == [4, 1, 4]
    assert reading.pages.links_dropped.tolist() == [3, 0, 3]


# --- the facts of a page -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "language"),
    {
        "<html lang=en>": "en",
        "<html lang='EN_us'>": "en-us",
        "<html lang='zh-Hant-TW '>": "zh-hant-tw",
        "<html lang='en-GB, fr'>": "en-gb",
        "<meta http-equiv=content-language content=fr>": "fr",
        "<html lang=''><meta http-equiv=content-language content=fr>": "",  # the standard: explicitly unknown
        "<html lang=english>": "",
        "<html lang=x>": "",
        "<html>": "",
    }.items(),
)
def test_the_language_is_what_the_page_says_if_that_is_one(html: str, language: str) -> None:
    assert list(read(html + "<p>word").pages.language) == [language]


def test_the_page_knows_its_language_better_than_the_transport() -> None:
    pages = [capture("<html lang=de><p>Wort", language="en"), capture("<p>word", language="EN-gb, fr")]
    assert list(read_captures(pages, ReadingSettings()).pages.language) == ["de", "en-gb"]


def test_titles_are_one_line_and_have_an_end() -> None:
    titles = ["<title> a\n b &amp; \t c </title>", "<title></title>", "<title>" + "x" * 2000 + "</title>", "<p>none"]
    assert list(read(*(title + "<p>word" for title in titles)).pages.title) == ["a b & c", "", "x" * 1000, ""]
    named = capture("<p>word", title="from the source")
    assert list(read_captures([named], ReadingSettings()).pages.title) == ["from the source"]


@pytest.mark.parametrize(
    ("content", "target"),
    {
        "0; url=/b": "http://a.example/b",
        "0;URL='/b'": "http://a.example/b",
        '0; url="/b"': "http://a.example/b",
        "5; /b": "http://a.example/b",
        "0, url = b.html": "http://a.example/dir/b.html",
        "1.5;url=b": "http://a.example/dir/b",
        "; url=b": "http://a.example/dir/b",
        "6; url=b": "",
        "99999; url=b": "",
        "0": "",
        "": "",
        "0; url=mailto:x@y": "",
        "1.2.3; url=b": "",
        "soon; url=b": "",
    }.items(),
)
def test_a_refresh_leads_on_if_it_is_soon(content: str, target: str) -> None:
    quote = "'" if '"' in content else '"'
    reading = read(f"<meta http-equiv=refresh content={quote}{content}{quote}><p>moved")
    assert list(reading.pages.refresh) == [target]


def test_the_canonical_url_is_resolved_and_stands_in_the_head() -> None:
    pages = [
        "<link rel=canonical href='/b?utm_source=x#c'><p>word",
        "<base href=http://b.example/x/><link rel='alternate canonical' href=y><p>word",
        "<link rel=canonical href='mailto:a'><p>word",
        "<link rel=stylesheet href=b><p>word",
        "<p>word<link rel=canonical href=spam>",
    ]
    assert list(read(*pages).pages.canonical) == ["http://a.example/b", "http://b.example/x/y", "", "", ""]


def test_flags_of_the_transport_and_of_the_page_add_up() -> None:
    meta = "<meta name=robots content='{}'><p>word"
    pages = [
        capture(meta.format("noindex"), flags=PageFlags.NOFOLLOW),
        capture(meta.format("none")),
        capture(meta.format("index, nofollow")),
        capture("<p>word <meta name=robots content=noindex>"),
        capture(meta.format("noindexing")),
    ]
    assert read_captures(pages, ReadingSettings()).pages.flags.tolist() == [3, 3, 2, 0, 0]


def test_sources_are_listed_once_each() -> None:
    origins = [
        Origin("a.warc", 0, 9, 1),
        Origin("b.html", 0, 5, 2),
        Origin("a.warc", 7, 9, 1),
        Origin("a.warc", 0, 9, 3),
    ]
    captures = [Capture(f"http://a.example/{k}", origin, body=b"<p>x") for k, origin in enumerate(origins)]
    reading = read_captures(captures, ReadingSettings())
    assert list(reading.sources.name) == ["a.warc", "b.html", "a.warc"]
    assert reading.sources.modified.tolist() == [1, 2, 3]
    assert reading.pages.source.tolist() == [0, 1, 0, 2]
    assert reading.pages.offset.tolist() == [0, 0, 7, 0]


def test_what_cannot_be_read_is_told_and_the_rest_is_read() -> None:
    reading = read("<p>one", " ", "<p>" + "x " * 600, "<p>four", bounds=ReadingSettings(max_page_bytes=1000))
    assert list(reading.pages.url) == ["http://a.example/dir/0.html", "http://a.example/dir/3.html"]
    assert [(skip.reason, skip.where) for skip in reading.skips] == [
        ("empty page", "http://a.example/dir/1.html"),
        ("page too large", "http://a.example/dir/2.html"),
    ]


def test_a_large_page_is_read_in_time_that_grows_with_its_size() -> None:
    def seconds(copies: int) -> float:
        html = "<p>word <a href=x.html>link</a> &amp; <b>bold</b> <table><tr><td>cell" * copies
        begun = process_time()  # other programs do not count
        assert len(words(read(html))) == 4 * copies
        return process_time() - begun

    seconds(1000)
    assert seconds(40_000) < 40 * max(seconds(4_000), 0.01)


def test_numbers_have_the_types_of_the_format() -> None:
    reading = read("<p>one <a href=x>two</a>.")
    assert {name: getattr(reading.blocks, name).dtype for name in ("token", "place", "kinds", "hash")} == {
        "token": np.uint32,
        "place": np.uint32,
        "kinds": np.uint8,
        "hash": np.uint64,
    }
    assert reading.anchors.target.dtype == reading.anchors.start.dtype == np.uint32
