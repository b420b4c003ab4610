"""Places in the bytes of pages."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from pagekin.errors import MisuseError
from pagekin.site.markup import page_text, parse_selector, place_of_list, text_to_read, with_list, without_list

LIST = '<link rel="stylesheet" href="a.css" /><nav class="pagekin-related"><ul><li>x</li></ul></nav>'
CODECS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "shift_jis", "gb18030", "big5", "euc_jp", "iso2022_jp", "cp1251")
PIECES = (
    *("<main>", "</main>", "<MAIN\n class=x>", "<article>", "</article >", "</article", "<div role=main>", "</div>"),
    *("<!-- pagekin -->", "<!--pagekin-->", "<!-- </main> -->", "<!-->", "<!--", "-->", "<script>", "</script>", "<"),
    *(
        '<a title="</main>">',
        "<a title='<main>' b=c>",
        "<a b'c>",
        '<p x="',
        "text > 'more'",
        "<?xml <main> ?>",
        "<title>",
    ),
    *(
        "</title>",
        "<textarea></main>",
        "</textarea>",
        "<nav class='a pagekin-related'>",
        "</nav>",
        "<base href=/>",
        "é",
    ),
)


def place(html: str, at: str = "") -> str | None:
    """What follows the place of the list, or None."""
    found = place_of_list(page_text(html.encode()), at)
    return html.encode()[found:].decode() if isinstance(found, int) else None


@pytest.mark.parametrize(
    ("html", "rest"),
    [
        ("<main>a</main>b", "</main>b"),
        ("<p>a<!-- pagekin --> b<main>c</main>", " b<main>c</main>"),
        ("<main><article>a</article>b</main>", "</article>b</main>"),
        ("<main><article>a</article><article>b</article></main>", "</main>"),
        ("<article>a<article>reply</article></article>", "</article>"),
        ("<div><div role='main'>a<div>b</div></div></div>", "</div></div>"),
        ("<main>a<!-- </main> --><script>'</main>'</script><a title='</main>'></a>b</main>c", "</main>c"),
        ("<MAIN>a</Main>", "</Main>"),
        ("<script>'<!-- pagekin -->'</script><main>a</main>", "</main>"),
        ("<article>a</article><article>b</article>", None),
        ("<p>a", None),
        ("<main>a", None),
        ("<!-- pagekin --><!-- pagekin -->", None),
        ("<base href='/x/'><main>a</main>", None),
        ("<main>a<nav class=pagekin-related></nav></main>", None),
    ],
)
def test_the_list_goes_to_the_marker_or_the_end_of_the_main_part(html: str, rest: str | None) -> None:
    assert place(html) == rest


@pytest.mark.parametrize(
    ("selector", "rest"),
    [
        ("#b", "</div></div>"),
        (".wide", "</div>"),
        ("div.wide", "</div>"),
        ("div[id=b]", "</div></div>"),
        ("[data-x]", "</p>"),
        ("section", None),
        ("marker", None),
    ],
)
def test_a_selector_names_another_place(selector: str, rest: str | None) -> None:
    found = place("<div class='a wide'><p data-x>c</p><div id=b>d</div></div>", selector)
    assert (found or "").startswith(rest or "") and (found is None) == (rest is None)


@pytest.mark.parametrize("selector", ["", "a b", "a > b", "a:hover", "#", "[", "a,b"])
def test_a_selector_of_more_than_one_element_is_refused(selector: str) -> None:
    with pytest.raises(MisuseError, match="selector of one element"):
        parse_selector(selector)


@pytest.mark.parametrize("codec", CODECS)
def test_a_list_goes_into_a_page_of_any_encoding_and_out_again(codec: str) -> None:
    word = "жук" if codec == "cp1251" else "日本語"
    data = f"<title>{word}</title><main>{word}</main>{word}".encode(codec)
    if codec == "utf-16-be":
        data = b"\xfe\xff" + data
    page = page_text(data)
    found = place_of_list(page, "")
    assert isinstance(found, int)
    new = with_list(page, found, LIST)
    assert new.decode(codec if codec != "utf-16-be" else "utf-16").startswith(f"<title>{word}</title><main>{word}<!-- ")
    assert LIST in new.decode(codec if codec != "utf-16-be" else "utf-16")
    assert without_list(page_text(new)).data == data


def test_bytes_of_no_encoding_stay() -> None:
    data = b"\xff\x00\x80<main>\xc3</main>\xed\xa0\x80\r\n"
    page = page_text(data)
    assert without_list(page_text(with_list(page, data.index(b"</main>"), LIST))).data == data


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.sampled_from(["utf-8", "utf-16"]))
@example("<main></main>", "utf-16")
def test_only_bytes_at_the_place_are_inserted(html: str, codec: str) -> None:
    data = html.encode(codec)
    page = page_text(data)
    found = place_of_list(page, "")
    if isinstance(found, int):
        new = with_list(page, found, LIST)
        at = page.width * found
        assert new[:at] == data[:at] and new[len(new) - len(data) + at :] == data[at:]
        assert without_list(page_text(new)).data == data
        assert isinstance(place_of_list(page_text(new), ""), str)  # it has a list


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_a_main_part_is_one_of_an_independent_parser(html: str) -> None:
    """Where a page has one main element, a list at its place is in it for lexbor, too."""
    html = f"<body><main>{html}</main>"
    page = page_text(html.encode())
    found = place_of_list(page, "main")
    if isinstance(found, int) and not any(
        each in html for each in ("<script>", "<textarea>", "<title>", "<!--", '"', "'")
    ):
        parsed = LexborHTMLParser(with_list(page, found, LIST).decode())
        lists = parsed.css("main nav.pagekin-related > ul")
        assert lists


def test_what_is_read_is_the_main_part_without_lists() -> None:
    head = "<head><title>A</title></head>"
    nav = "<nav class='pagekin-related'><a href=b>B</a></nav>"
    read = text_to_read(page_text(f"{head}<p>menu<main>a{nav}b</main>end".encode()), main_text=True)
    assert read == b"<head><title>A</title><main>ab</main>"
    assert text_to_read(page_text(f"{head}<p>a{nav}b".encode()), main_text=True) == f"{head}<p>ab".encode()
    body = f"{head}<main>a<p data-pagekin-body>b</p><i data-pagekin-body>c</i></main>"
    assert text_to_read(page_text(body.encode()), main_text=True).endswith(
        b"A</title><p data-pagekin-body>b</p><i data-pagekin-body>c</i>"
    )
    whole = b"a<main>b</main>"
    assert text_to_read(page_text(whole), main_text=False) == whole


@pytest.mark.parametrize(
    "piece", ["<a ", "<!--", "<a b='", '="', "<main>", "<script>", "</", "<nav class=pagekin-related>"]
)
def test_long_pages_of_one_piece_are_no_trouble(piece: str) -> None:
    """An unclosed piece ends with the page; a search from each of them would take hours."""
    page = page_text(piece.encode() * 200_000)
    place_of_list(page, "#a")
    text_to_read(page, main_text=True)
