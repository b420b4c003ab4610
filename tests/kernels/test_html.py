"""The scanner: HTML -> text, blocks, links and facts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kernels.html_strategies import BATCHES, DENSE, PAGES, SOUPS, dense_batches, soup
from pagekin.kernels.html import scan_pages
from pagekin.kernels.page_output import (
    BASE_URL,
    BLOCKS_END,
    BREAK,
    CANONICAL,
    CELL,
    DROPPED,
    FLAGS,
    FROM_AREA,
    FROM_FRAME,
    HEADING,
    ITEM,
    LANGUAGE,
    LINK_END,
    LINK_FLAGS,
    LINK_HREF,
    LINK_HREF_END,
    LINK_START,
    LINKS_END,
    LIST_END,
    NAVIGATION,
    NOFOLLOW,
    NOINDEX,
    PARAGRAPH,
    REFRESH,
    SEQUENTIAL,
    STATE_SIZE,
    TABLE_END,
    TEXT_END,
    TITLE_TEXT,
    TOO_LONG,
    TRAILING,
    PageOutput,
    allocate_output,
)
from pagekin.reading.markup import markup
from reference import html as reference
from reference.html import Link, Page

NO_LIMIT = 2**40


def scan(pages: list[bytes], max_links: int = NO_LIMIT, max_url: int = NO_LIMIT, at_a_time: int = 100) -> list[Page]:
    """The kernel's answer in the shape of the reference's: places are within each page's text."""
    out, state = allocate_output(sum(map(len, pages)), len(pages)), np.zeros(STATE_SIZE, np.int64)
    for k in range(0, len(pages), at_a_time):
        group = pages[k : k + at_a_time]
        html = np.frombuffer(b"".join(group), np.uint8)
        bounds = np.cumsum([0, *map(len, group)]).astype(np.int64)
        scan_pages(html, bounds, markup(), max_links, max_url, out, state)
    begins = [(0, 0, 0), *out.pages[:, [TEXT_END, BLOCKS_END, LINKS_END]].tolist()]
    return [_page(out, k, *begins[k]) for k in range(len(pages))]


def _page(out: PageOutput, number: int, text: int, block: int, link: int) -> Page:
    row = out.pages[number].tolist()
    values = out.values

    def fact(column: int) -> bytes:
        return values[row[column] : row[column + 1]].tobytes()

    return Page(
        text=out.text[text : row[TEXT_END]].tobytes().decode(),
        blocks=[(start - text, kinds) for start, kinds in out.blocks[block : row[BLOCKS_END]].tolist()],
        links=[
            Link(
                int(entry[LINK_START]) - text,
                int(entry[LINK_END]) - text,
                values[entry[LINK_HREF] : entry[LINK_HREF_END]].tobytes(),
                int(entry[LINK_FLAGS]),
            )
            for entry in out.links[link : row[LINKS_END]]
        ],
        base=fact(BASE_URL),
        canonical=fact(CANONICAL),
        language=fact(LANGUAGE),
        refresh=fact(REFRESH),
        title=fact(TITLE_TEXT),
        flags=row[FLAGS],
        dropped=row[DROPPED],
    )


def read(html: str, max_links: int = NO_LIMIT, max_url: int = NO_LIMIT) -> Page:
    return scan([html.encode()], max_links, max_url)[0]


def text_of(html: str) -> str:
    return read(html).text


def blocks_of(html: str) -> list[tuple[str, int]]:
    """The text of every block, and its kinds."""
    page = read(html)
    return list(zip(page.text.split("\n"), [kinds for _, kinds in page.blocks], strict=True))


def links_of(html: str) -> list[tuple[str, str]]:
    """The text of every link, without white space around it, and its href."""
    page = read(html)
    text = page.text.encode()
    return [(text[link.start : link.end].decode().strip(), link.href.decode()) for link in page.links]


# --- text ----------------------------------------------------------------------------------------


def test_inline_tags_do_not_part_words() -> None:
    assert text_of("w<b>or</b>d<i></i>s, un<a href=x>believ</a>able") == "words, unbelievable"


def test_unknown_tags_do_not_part_words() -> None:
    assert text_of("a<x-y>b</x-y>c<p2>d<aé>e<p\0>f") == "abcdef"


def test_white_space_folds() -> None:
    assert text_of(" \n a \t\r\n b\f\fc ") == "a b c"


def test_white_space_folds_across_tags() -> None:
    assert text_of("a <b> </b> c<i> d </i>e") == "a c d e"


def test_no_white_space_stands_around_a_block() -> None:
    assert text_of("<p> a </p> <p> b </p> ") == "a\nb"


def test_no_break_space_is_white_space() -> None:
    assert text_of("a\u00a0b&nbsp;c&#160;&#xA0; d") == "a b c d"


def test_soft_hyphens_vanish() -> None:
    assert text_of("hy\u00adphen&shy;a&#173;ted") == "hyphenated"


def test_nul_vanishes_and_other_controls_part_words() -> None:
    assert text_of("a\0b\x01c\x7fd&#1;e") == "ab c d e"


@pytest.mark.parametrize("point", [*range(0x20, 0x80), 0xA0, 0xA9, 0xAD, 0xC2, 0x2028, 0x2029, 0x3000, 0xFFFD, 0x1F600])
def test_a_character_and_the_reference_to_it_read_the_same(point: int) -> None:
    if chr(point) not in "<&":
        assert text_of(f"a{chr(point)}b") == text_of(f"a&#{point};b")


def test_references_in_text_are_decoded() -> None:
    assert text_of("&lt;b&gt; &eacute;t&eacute &copy2 &nLt;") == "<b> été ©2 \u226a\u20d2"


def test_a_reference_does_not_make_a_tag() -> None:
    assert text_of("a&lt;p>b") == "a<p>b"


def test_a_reference_ends_at_a_tag() -> None:
    assert text_of("&am<b>p;&copy<i>;") == "&amp;©;"


def test_characters_of_every_length_are_kept() -> None:
    assert text_of("aé木😀Â©") == "aé木😀Â©"


@pytest.mark.parametrize("html", ["<", "</", "a < b", "1<2", "<3", "<>", "<<", "a<", "<é", "< p>", "<-", "<\0p"])
def test_a_lone_less_than_sign_is_text(html: str) -> None:
    assert text_of(html) == html.replace("\0", "")


def test_a_less_than_sign_before_a_tag_is_text() -> None:
    assert text_of("a<<b>c") == "a<c"


def test_nothing_gives_nothing() -> None:
    assert scan([]) == []
    assert scan([b"", b" \n", b"<p></p>"]) == [Page("", [], [])] * 3


# --- comments and what is like them --------------------------------------------------------------


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- x -->",
        "<!---->",
        "<!-- > -- > <b> -->",
        "<!-- <!-- -->",
        "<!--x--!>",
        "<!--x--->",
        "<!--x--!-->",
        "<!----!>",
        "<!-->",
        "<!--->",
        "<!--<!-->",
        "<!doctype html>",
        '<!DOCTYPE html PUBLIC "a">',
        "<!>",
        "<!->",
        "<!-x->",
        "<![CDATA[x]]>",
        "<?xml version='1.0'?>",
        "<?>",
        "</>",
        "</ p>",
        "</3>",
        "</!-->",
        "</?x>",
        "</\0>",
    ],
)
def test_comments_vanish(comment: str) -> None:
    assert text_of(f"a{comment}b") == "ab"


@pytest.mark.parametrize(
    "opening", ["<!--", "<!-- ->", "<!--x-- >", "<!--x--!", "<!", "<?", "</ ", "<!--<!->", "<!---!>"]
)
def test_a_comment_without_an_end_hides_the_rest(opening: str) -> None:
    assert text_of(f"a{opening}b") == "a"


def test_a_declaration_ends_at_its_first_bracket() -> None:
    assert text_of('<!DOCTYPE html "a>b">c') == 'b">c'
    assert text_of("<?php echo '>b' ?>c") == "b' ?>c"


# --- tags and attributes -------------------------------------------------------------------------


def test_names_of_tags_and_attributes_have_no_case() -> None:
    assert read("a<BR>b<A HREF=X Rel=NoFollow>c").links == [Link(3, 4, b"X", NOFOLLOW | TRAILING)]
    assert text_of("a<BR>b") == "a\nb"


@pytest.mark.parametrize(
    "tag", ["<br>", "<br/>", "<br />", "<br\n>", "<br x>", "<br/x>", "</br>", "<br x='>'>", '<br x=">">']
)
def test_a_tag_may_be_written_in_many_ways(tag: str) -> None:
    assert blocks_of(f"a{tag}b") == [("a", 0), ("b", BREAK)]


@pytest.mark.parametrize(
    "attributes",
    [
        'href="x"',
        "href='x'",
        "href=x",
        "href = x",
        "href\n=\t'x'",
        "HREF=x",
        "/href=x",
        "id=1/ href=x",
        'id="1"href="x"',
        "id href=x",
        "href=x href=y",
        "id= href href=x",
        "= href=x",
        '=" href=x',
        "a==' href=x",
        "\" href=x '",
        "<b href=x",
        "a='1'=\" href=x",
    ],
)
def test_an_attribute_may_be_written_in_many_ways(attributes: str) -> None:
    assert links_of(f"<a {attributes}>b</a>") == [("b", "x")]


@pytest.mark.parametrize("attributes", ['=">', "a='1'=\">", "a/='>", 'a=b ="c>', "= '>"])
def test_an_equals_sign_may_begin_a_name(attributes: str) -> None:
    assert text_of(f"a<i {attributes}b") == text_of(f"a</i {attributes}b") == "ab"


def test_an_unquoted_value_ends_at_a_space_or_the_tag() -> None:
    assert links_of("<a href=a/b/>x</a><a href=c'd\"e f=g>y</a>") == [("x", "a/b/"), ("y", "c'd\"e")]


def test_an_attribute_without_a_value_has_the_empty_one() -> None:
    assert [href for _, href in links_of("<a href>1</a><a href=>2</a><a href=''>3</a><a href id=x>4</a>")] == [""] * 4


def test_a_closing_bracket_in_quotes_does_not_end_a_tag() -> None:
    assert text_of("<b title='a>b'>c</b title=\"d>e\">f") == "cf"
    assert links_of("<a title='a>b' href=\"c>d\">e</a>") == [("e", "c>d")]


@pytest.mark.parametrize(
    "tag", ["<p", "</p", "<p ", "<p a", "<p a=", "<p a='>", '<a href="x>', "<a href=x", "</p x='>"]
)
def test_a_tag_without_an_end_vanishes_with_the_rest(tag: str) -> None:
    assert read(f"a{tag}") == Page("a", [(0, 0)], [])


def test_references_in_attributes_follow_the_rule_of_attributes() -> None:
    assert links_of("<a href='?a=1&copy=2&amp;b&lt;&copy'>x</a>") == [("x", "?a=1&copy=2&b<©")]
    assert text_of("<img alt='&copy2 &copy;2 &copy'>") == "&copy2 ©2 ©"


def test_buttons_and_ruby_part_words_but_not_blocks() -> None:
    assert text_of("a<button>b</button>c <ruby>d<rp>(<rt>e<rp>)</ruby>f") == "a b c d ( e )f"


# --- blocks --------------------------------------------------------------------------------------


def test_block_tags_part_blocks() -> None:
    assert read("<p>ä<p>b</p>c") == Page("ä\nb\nc", [(0, PARAGRAPH), (3, PARAGRAPH), (5, PARAGRAPH)], [])


def test_the_first_block_needs_no_tag() -> None:
    assert read("a") == Page("a", [(0, 0)], [])


def test_a_block_without_text_is_none() -> None:
    assert blocks_of("<p>a<p> <p><img><p>b") == [("a", PARAGRAPH), ("b", PARAGRAPH)]


def test_a_heading_is_a_block_of_its_own() -> None:
    assert blocks_of("<h1>a</h1>b") == [("a", PARAGRAPH | HEADING), ("b", PARAGRAPH)]


def test_items_and_the_end_of_their_list_are_told_apart() -> None:
    assert blocks_of("<ul><li>a<li>b</ul>c") == [("a", PARAGRAPH | ITEM), ("b", ITEM), ("c", LIST_END)]
    assert blocks_of("<dl><dt>a<dd>b</dl>c") == [("a", PARAGRAPH | ITEM), ("b", ITEM), ("c", LIST_END)]


def test_cells_and_the_end_of_their_table_are_told_apart() -> None:
    assert blocks_of("<table><tr><td>a<td>b</table>c") == [("a", PARAGRAPH | CELL), ("b", CELL), ("c", TABLE_END)]


def test_a_block_carries_all_boundaries_before_it() -> None:
    html = "a<table><tr><td></td></tr></table><ul><li></ul> <!-- --> <br><h2>b"
    everything = PARAGRAPH | CELL | ITEM | BREAK | HEADING | LIST_END | TABLE_END
    assert blocks_of(html) == [("a", 0), ("b", everything)]


# --- navigation ----------------------------------------------------------------------------------


def navigation_of(html: str) -> list[str]:
    """The text of every block of navigation."""
    return [text for text, kinds in blocks_of(html) if kinds & NAVIGATION]


@pytest.mark.parametrize(
    "tag",
    [
        "<nav>",
        "<header>",
        "<footer>",
        "<aside>",
        "<div role=navigation>",
        "<div ROLE='Banner'>",
        "<table role=contentinfo>",
        "<div class='wide sphinxsidebar'>",
        "<div class=related>",
        "<DIV class=navheader>",
        "<div id=nav-path class=x>",
        "<ul class='a\nbreadcrumb'>",
        "<ol class=pagination>",
    ],
)
def test_navigation_is_from_a_tag_that_says_so_to_its_end(tag: str) -> None:
    name = tag[1:-1].split()[0]
    html = f"a{tag}b<p>c<{name}>d</{name}>e</{name}>f"
    assert navigation_of(html) == ["b", "c", "d", "e"]


@pytest.mark.parametrize(
    "html",
    [
        "<div>a</div>",
        "<div class=relatedness>a</div>",
        "<div title=related>a</div>",
        "<div class='' id>a</div>",
        "<p class=related>a</p>",
        "<main><header>a</header></main>",
        "<article><footer>a</footer></article>",
        "<section><aside>a</aside></section>",
    ],
)
def test_other_elements_are_not_navigation(html: str) -> None:
    assert navigation_of(html) == []


def test_footer_after_the_main_text_is_navigation() -> None:
    assert navigation_of("<main><section>a</section></section></main>b<footer>c</footer>") == ["c"]


@pytest.mark.parametrize("tag", ["h1", "main"])
def test_main_text_ends_navigation(tag: str) -> None:
    assert navigation_of(f"<div class=related>a<{tag}>b</{tag}>c</div>d") == ["a"]


def test_navigation_without_an_end_is_none() -> None:
    assert navigation_of("<nav>a</nav><div class=related>b<div>c</div>d") == ["a"]


def test_navigation_ends_with_its_page() -> None:
    pages = scan([b"<nav>a", b"b", b"<section>", b"<footer>c</footer>"])
    assert [[kinds & NAVIGATION for _, kinds in page.blocks] for page in pages] == [[0], [0], [], [NAVIGATION]]


@pytest.mark.parametrize("rel", ["next", "prev", "previous", "up", "'nofollow Next'"])
def test_a_block_with_a_link_to_the_next_page_is_navigation(rel: str) -> None:
    html = f"<p>a<p>b <a href=x rel={rel}>c</a> d<p>e"
    assert navigation_of(html) == ["b c d"]
    assert [bool(link.flags & SEQUENTIAL) for link in read(html).links] == [True]


@pytest.mark.parametrize("html", ["<p>a <a href=x rel=next></a>b", "<a href=x rel=nextdoor>a</a>", "<a rel=next>a</a>"])
def test_a_link_that_shows_no_next_page_marks_no_block(html: str) -> None:
    assert navigation_of(html) == []


# --- elements without markup inside --------------------------------------------------------------


@pytest.mark.parametrize("name", ["script", "style", "noembed", "noframes"])
def test_scripts_and_styles_are_not_text(name: str) -> None:
    assert text_of(f"a<{name}>x <b>y</b> <!-- &lt; </{name.upper()} >b") == "ab"


@pytest.mark.parametrize(
    "inside", ["<p>", "</p>", "'</scrip>'", "</scriptx>", "</script", "<!--", "</script<b>", "</", "< /script>"]
)
def test_only_its_own_end_tag_ends_a_script(inside: str) -> None:
    assert text_of(f"a<script>{inside} </script>b") == "ab"


@pytest.mark.parametrize("inside", ["</b", "</script", "</b</i", "<", "</", "</script</b", "</scr\0"])
def test_an_end_tag_is_seen_right_behind_a_broken_one(inside: str) -> None:
    assert text_of(f"a<script>{inside}</script>b") == "ab"
    assert read(f"<title>{inside}</title>b").title == inside.encode()


@pytest.mark.parametrize(
    "end", ["</script>", "</SCRIPT>", "</script >", "</script/>", "</script x='>'>", "</script\n>"]
)
def test_an_end_tag_may_be_written_in_many_ways(end: str) -> None:
    assert text_of(f"a<script>x{end}b") == "ab"


@pytest.mark.parametrize("name", ["script", "style", "textarea", "title", "xmp", "iframe", "noframes", "noembed"])
def test_an_element_without_an_end_holds_the_rest(name: str) -> None:
    page = read(f"a<{name}>b</{name}x><p>&amp;<a href=x></{name}")
    assert page.links == []
    assert len(page.blocks) == (2 if name in ("textarea", "xmp") else 1)


def test_a_self_closing_script_is_not_closed() -> None:
    assert text_of("a<script/>b</script>c") == "ac"


def test_a_textarea_shows_its_text_but_no_tags() -> None:
    assert blocks_of("a<textarea>b <i>c</i> &lt;&copy2</textarea>d") == [
        ("a", 0),
        ("b <i>c</i> <©2", PARAGRAPH),
        ("d", PARAGRAPH),
    ]


def test_an_xmp_shows_its_text_as_it_is() -> None:
    assert blocks_of("a<xmp>b <i>c</i> &lt;</xmp>d") == [("a", 0), ("b <i>c</i> &lt;", PARAGRAPH), ("d", PARAGRAPH)]


def test_what_stands_in_an_inline_frame_is_not_text() -> None:
    assert blocks_of("a<iframe>x<p>y</iframe>b") == [("a", 0), ("b", PARAGRAPH)]


def test_noscript_is_read() -> None:
    assert text_of("a<noscript>b</noscript>c") == "a\nb\nc"


def test_after_plaintext_all_is_text() -> None:
    assert blocks_of("a<plaintext>b<p>&lt;</plaintext>") == [("a", 0), ("b<p>&lt;</plaintext>", PARAGRAPH)]


@pytest.mark.parametrize(
    "script",
    [
        "<!--<script></script>-->",
        "<!-- <SCRIPT x> <b> </script > -->",
        "<!--<script></script>",
        "<!--<script></script><script></script>-->",
        "<!--<script>--></scrip>",
        "<!--<script-->",
        "<!--<scripts>",
        "<!--><script>",
        "<!---><script>",
        "<script>",
        "<!-<script>",
    ],
)
def test_a_script_may_quote_a_script_in_a_comment(script: str) -> None:
    assert text_of(f"a<script>{script}</script>b") == "ab"


@pytest.mark.parametrize(
    "script", ["<!--<script>", "<!--<script></scripts>", "<!--<!--><!--<script>", "--><!--<script/>"]
)
def test_a_quoted_script_without_an_end_hides_the_end_tag(script: str) -> None:
    assert text_of(f"a<script>{script}</script>b") == "a"
    assert text_of(f"a<script>{script}</script>b</script>c") == "ac"


# --- pictures and formulas -----------------------------------------------------------------------


def test_the_title_of_a_picture_is_not_that_of_the_page() -> None:
    assert read("<svg><title>a</title></svg><title>b</title>").title == b"b"


def test_text_of_a_picture_is_read() -> None:
    assert text_of("a<svg><text>b</text><text>c</text></svg>d") == "a b c d"


@pytest.mark.parametrize("name", ["svg", "math", "SVG"])
def test_a_section_is_text_in_pictures_and_formulas(name: str) -> None:
    assert text_of(f"a<{name}><![CDATA[b<p>&lt;]]]>c</{name}><![CDATA[d]]>e") == "ab<p>&lt;]ce"


def test_a_section_without_an_end_is_all_of_the_rest() -> None:
    assert text_of("a<svg><![CDATA[b<p>]]") == "ab<p>]]"


@pytest.mark.parametrize("opening", ["<![cdata[", "<![CDATA ", "<![xxxxx[", "<!-[CDATA[", "<![CDATA"])
def test_other_declarations_are_no_sections(opening: str) -> None:
    assert text_of(f"a<svg>{opening}b>c") == "ac"


def test_a_section_is_read_as_such_even_in_a_template() -> None:
    assert text_of("a<template><svg><![CDATA[></template>]]></svg></template>b") == "ab"


@pytest.mark.parametrize(
    "html", ["<svg/>", "<svg></svg>", "<svg><p>", "<svg><svg><p>", "<svg></svg></svg>", "</svg>", "<svg x/>"]
)
def test_after_a_picture_a_section_is_a_comment(html: str) -> None:
    assert text_of(f"a{html}<![CDATA[b]]>") == "a"


@pytest.mark.parametrize(
    "html", ["<svg>", "<svg><svg></svg>", "<svg><g/>", "<svg / >", "<svg x=/>", "<svg x='/'>", "<svg x=1/>"]
)
def test_a_slash_closes_a_picture_only_at_the_very_end_of_its_tag(html: str) -> None:
    assert text_of(f"a{html}<![CDATA[b]]>") == "ab"


@pytest.mark.parametrize("name", ["style", "script", "title", "textarea"])
def test_a_slash_closes_an_element_in_pictures_only(name: str) -> None:
    assert read(f"a<svg><{name}/><a href=x>b</svg>c").links != []
    assert read(f"a<svg></svg><{name}/><a href=x>b").links == []


# --- templates -----------------------------------------------------------------------------------


def test_templates_are_hidden() -> None:
    hidden = "<p>x<a href=x>y</a><img alt=z><title>t</title><base href=b>"
    hidden += "<textarea>u</textarea><meta name=robots content=none>"
    assert read(f"a<template>{hidden}</template>b") == Page("ab", [(0, 0)], [])


def test_templates_nest() -> None:
    assert text_of("a<template>x<template>y</template>z</template>b</template>c") == "abc"


def test_a_template_without_an_end_hides_the_rest() -> None:
    assert text_of("a<template>x<p>y") == "a"


def test_a_script_in_a_template_does_not_end_the_template() -> None:
    assert text_of("a<template><script></template>x</script>y</template>b") == "ab"


# --- images --------------------------------------------------------------------------------------


def test_the_text_of_an_image_is_read_apart_from_its_neighbours() -> None:
    assert text_of("a<img alt='b  c'>d<input alt=e>f") == "a b c d e f"


def test_an_image_without_text_parts_words() -> None:
    assert text_of("a<img src=x>b<img alt=''>c") == "a b c"


def test_no_tags_are_read_in_the_text_of_an_image() -> None:
    assert text_of("<img alt='a<b>c'>") == "a<b>c"


# --- links ---------------------------------------------------------------------------------------


def test_a_link_covers_its_text() -> None:
    assert read("é<a href=x>b<i>c</i></a>d").links == [Link(2, 4, b"x", TRAILING)]


def test_a_link_begins_where_the_text_before_it_ends() -> None:
    assert read("a <a href=x> b </a> c").links == [Link(1, 3, b"x", TRAILING)]
    assert read("<p>a<p><a href=x>b</a>").links == [Link(1, 3, b"x")]


def test_an_anchor_without_href_is_no_link() -> None:
    assert links_of("<a name=x>a</a><a hrefs=x>b</a><a>c</a>") == []


def test_a_link_ends_where_the_next_anchor_begins() -> None:
    assert links_of("<a href=1>a<a href=2>b<a name=x>c</a>d") == [("a", "1"), ("b", "2")]


def test_a_link_without_an_end_covers_the_rest() -> None:
    assert links_of("<a href=1>a<p>b") == [("a\nb", "1")]
    assert links_of("<a href=1>a<p>b<p") == [("a\nb", "1")]


def test_a_link_without_text_covers_nothing() -> None:
    assert read("a<a href=x> <img></a>b").links == [Link(1, 1, b"x", TRAILING)]


def test_a_link_covers_the_text_of_its_image() -> None:
    assert links_of("<a href=x><img alt='to x'></a>") == [("to x", "x")]


def test_an_area_is_a_link_that_covers_its_own_text() -> None:
    assert read("a<area href=x alt=bc>d").links == [Link(1, 4, b"x", FROM_AREA | TRAILING)]
    assert text_of("a<area alt=bc>d") == "a bc d"


def test_frames_are_links() -> None:
    page = read("<frameset><frame src=a rel=nofollow><frame><iframe src=b>c</iframe></frameset>")
    assert page.links == [Link(0, 0, b"a", FROM_FRAME | NOFOLLOW), Link(0, 0, b"b", FROM_FRAME)]


def test_a_frame_or_an_area_inside_a_link_does_not_end_it() -> None:
    assert links_of("<a href=1>a<iframe src=2></iframe><area href=3 alt=b>c</a>") == [
        ("a\nb c", "1"),
        ("", "2"),
        ("b", "3"),
    ]


@pytest.mark.parametrize(
    "rel", ["nofollow", "NOFOLLOW", "ugc nofollow", "'noopener nofollow'", "'nofollow,ugc'", '"a\nnofollow"']
)
def test_nofollow_is_a_word_of_rel(rel: str) -> None:
    quoted = rel if rel[0] in "'\"" else f"'{rel}'"
    assert [link.flags for link in read(f"<a href=x rel={quoted}>a</a>").links] == [NOFOLLOW]


@pytest.mark.parametrize("rel", ["", "follow", "nofollows", "no follow", "no-follow"])
def test_other_words_of_rel_are_not_nofollow(rel: str) -> None:
    assert [link.flags for link in read(f"<a href=x rel='{rel}'>a</a>").links] == [0]


@pytest.mark.parametrize(
    ("html", "trailing"),
    [
        ("<p>a <a href=x></a></p><p>b", True),
        ("<p>a</p><p><a href=x></a>b", False),
        ("<p>a</p><a href=x></a><p>b", False),
        ("<a href=x></a>a", False),
        ("a<b><a href=x></a></b>", True),
        ("a<br><a href=x></a>", False),
        ("a<img><area href=x>", True),
        ("a<iframe src=x></iframe>", False),  # a frame is a paragraph of its own
    ],
)
def test_a_link_trails_if_text_of_its_block_stands_before_it(html: str, trailing: bool) -> None:
    assert [bool(link.flags & TRAILING) for link in read(html).links] == [trailing]


def test_pages_can_be_scanned_in_several_goes() -> None:
    pages = [b"<title>a</title>b<a href=x>c", b"", b"d<p>e", b"<a href=y>f</a><base href=z>"]
    assert scan(pages, at_a_time=1) == scan(pages, at_a_time=3) == scan(pages)


def test_the_first_link_of_a_page_does_not_trail_the_page_before() -> None:
    assert [page.links[0].flags for page in scan([b"a<a href=x>", b"<a href=x>"])] == [TRAILING, 0]


def test_links_beyond_the_limit_are_counted_instead_of_kept() -> None:
    page = read("<a href=1>a</a><a>b</a><area href=2><a href=3>c</a><iframe src=4></iframe>d", max_links=2)
    assert [link.href for link in page.links] == [b"1", b"2"]
    assert page.dropped == 2


def test_a_link_beyond_the_limit_still_ends_the_one_before() -> None:
    page = read("<a href=1>a<a href=2>b", max_links=1)
    assert (page.links, page.dropped) == ([Link(0, 1, b"1")], 1)


def test_the_limit_on_links_is_of_every_page() -> None:
    pages = scan([b"<a href=1>a<a href=2>b"] * 2, max_links=1)
    assert [page.dropped for page in pages] == [1, 1]


def test_a_link_whose_href_is_too_long_stays_without_it() -> None:
    page = read("<a href=123>a</a><a href=1234 rel=nofollow>b</a>", max_url=3)
    assert page.links == [Link(0, 1, b"123"), Link(1, 2, b"", TOO_LONG | NOFOLLOW | TRAILING)]
    assert page.dropped == 0


# --- links in tables -----------------------------------------------------------------------------


def test_a_link_without_an_end_ends_with_its_cell() -> None:
    cells = "<table><tr><td><a href=1>a<td>b</table>c"
    assert links_of(cells) == links_of(cells.replace("a<td>", "a</td><td>")) == [("a", "1")]
    assert links_of("<table><tr><td><a href=1>a</table>b") == [("a", "1")]


def test_a_table_inside_a_link_does_not_end_it() -> None:
    assert links_of("<a href=1>a<table><tr><td>b<td>c</table>d</a>e") == [("a\nb\nc\nd", "1")]


def test_an_inner_table_does_not_end_a_link_of_the_outer_cell() -> None:
    html = "<table><tr><td><a href=1>a<table><tr><td>b</td></tr></table>c<td>d</table>"
    assert links_of(html) == [("a\nb\nc", "1")]


def test_ends_of_tables_that_never_began_do_not_count() -> None:
    assert links_of("</table></table><table><tr><td><a href=1>a<td>b</table>") == [("a", "1")]


# --- facts ---------------------------------------------------------------------------------------


def test_a_page_tells_its_title() -> None:
    page = read("<title>A &amp; <b>\n</title>text")
    assert (page.title, page.text) == (b"A & <b>\n", "text")


def test_references_in_a_title_follow_the_rule_of_text() -> None:
    assert read("<title>AT&ampT &copy2024 &notit;</title>").title == "AT&T ©2024 ¬it;".encode()


def test_the_first_title_that_says_something_counts() -> None:
    assert read("<title></title><title>a</title><title>b</title>").title == b"a"


def test_a_title_in_the_body_is_not_text() -> None:
    assert text_of("a<svg><title>b</title></svg>c") == "ac"


def test_the_first_base_counts() -> None:
    assert read("<base target=x><base href='/a?b&amp;c'><base href=/d>").base == b"/a?b&c"


def test_a_page_tells_its_canonical_address() -> None:
    assert read("<link rel=icon href=i><link rel='x CANONICAL' href=c><link rel=canonical href=d>").canonical == b"c"


def test_a_canonical_address_behind_the_first_text_is_not_believed() -> None:
    assert read("<title>t</title><p>a<link rel=canonical href=c>").canonical == b""
    assert read("<title>t</title><p><link rel=canonical href=c>a").canonical == b"c"


def test_a_page_tells_its_language() -> None:
    assert read("<html lang=de><meta http-equiv=content-language content=en>").language == b"de"
    assert read("<html><meta http-equiv='Content-Language' content=en><html lang=de>").language == b"en"


def test_a_page_tells_where_it_sends_its_visitors() -> None:
    assert read("a<meta http-equiv=Refresh content='0; url=b'>").refresh == b"0; url=b"
    assert read("<meta http-equiv=refresh><meta name=refresh content=1>").refresh == b""


@pytest.mark.parametrize(
    ("content", "flags"),
    [
        ("noindex", NOINDEX),
        ("NoFollow", NOFOLLOW),
        ("noindex,nofollow", NOINDEX | NOFOLLOW),
        ("noarchive, noindex", NOINDEX),
        ("none", NOINDEX | NOFOLLOW),
        ("index, follow", 0),
        ("all", 0),
        ("", 0),
    ],
)
def test_robots_are_told_what_not_to_do(content: str, flags: int) -> None:
    assert read(f'<meta content="{content}" name=ROBOTS>').flags == flags


def test_robots_listen_only_before_the_first_text() -> None:
    assert read("a<meta name=robots content=none>").flags == 0


def test_robots_add_up() -> None:
    assert read("<meta name=robots content=noindex><meta name=robots content=nofollow>").flags == NOINDEX | NOFOLLOW


@pytest.mark.parametrize(
    ("html", "fact"),
    [
        ("<base href=''><base href=x>", "base"),
        ("<link rel=canonical href><link rel=canonical href=x>", "canonical"),
        ("<html lang=''><html lang=x>", "language"),
        ("<meta http-equiv=refresh content=''><meta http-equiv=refresh content=x>", "refresh"),
    ],
)
def test_the_first_fact_counts_even_if_it_is_empty(html: str, fact: str) -> None:
    assert getattr(read(html), fact) == b""
    assert getattr(read(f"<a href=1></a>{html}"), fact) == b""


# --- many pages ----------------------------------------------------------------------------------


def test_nothing_is_carried_from_page_to_page() -> None:
    last = b"a<td>b<a href=x>c</a>"
    alone = scan([last])[0]
    for before in (
        b"<template>",
        b"<a href=y>",
        b"<table>",
        b"x<p> ",
        b"<script>",
        b"<!--",
        b"<p a='",
        b"<title>t",
        b"&am",
    ):
        assert scan([before, last])[1] == alone


@given(BATCHES, PAGES)
@example([b"<a href=x>"], b"<base href=''><base href=x>")
def test_a_page_does_not_depend_on_the_pages_before_it(before: list[bytes], page: bytes) -> None:
    assert scan([*before, page])[-1] == scan([page])[0]


# --- the reference ------------------------------------------------------------------------------------


@given(PAGES)
def test_a_page_reads_as_its_reference(page: bytes) -> None:
    assert scan([page]) == [reference.scan(page, NO_LIMIT, NO_LIMIT)]


@pytest.mark.parametrize("tokens", SOUPS)
@given(data=st.data())
def test_a_soup_of_few_tokens_reads_as_its_reference(tokens: str, data: st.DataObject) -> None:
    page = data.draw(soup(tokens))
    assert scan([page]) == [reference.scan(page, NO_LIMIT, NO_LIMIT)]


@given(st.text().map(str.encode))
def test_any_text_reads_as_its_reference(page: bytes) -> None:
    assert scan([page]) == [reference.scan(page, NO_LIMIT, NO_LIMIT)]


@given(BATCHES, st.integers(0, 3), st.integers(0, 8))
def test_pages_with_small_limits_read_as_in_the_reference(pages: list[bytes], max_links: int, max_url: int) -> None:
    assert scan(pages, max_links, max_url) == [reference.scan(page, max_links, max_url) for page in pages]


@pytest.mark.parametrize("pattern", DENSE[:-1])
def test_dense_pages_read_as_in_the_reference(pattern: bytes) -> None:
    pages = [pattern * 30, b"", pattern]
    assert scan(pages) == [reference.scan(page, NO_LIMIT, NO_LIMIT) for page in pages]


# --- room and time -------------------------------------------------------------------------------

MARGIN = 64


def fits(pages: list[bytes]) -> bool:
    """Whether a scan writes nothing outside its output, and counts no more than the output has room for."""
    html = np.frombuffer(b"".join(pages), np.uint8)
    bounds = np.cumsum([0, *map(len, pages)]).astype(np.int64)
    out = allocate_output(len(html), len(pages))
    wide = [np.full((len(part) + 2 * MARGIN, *part.shape[1:]), 77, part.dtype) for part in out]
    inner = PageOutput(*(part[MARGIN:-MARGIN] for part in wide))
    inner.pages[:] = 0
    n_values = scan_pages(html, bounds, markup(), NO_LIMIT, NO_LIMIT, inner, np.zeros(STATE_SIZE, np.int64))
    n_text, n_blocks, n_links = inner.pages[:, [TEXT_END, BLOCKS_END, LINKS_END]].max(axis=0, initial=0).tolist()
    counted = n_text <= len(inner.text) and n_values <= len(inner.values)
    counted = counted and n_blocks <= len(inner.blocks) and n_links <= len(inner.links)
    return counted and all((part[:MARGIN] == 77).all() and (part[-MARGIN:] == 77).all() for part in wide)


@given(BATCHES)
def test_a_scan_stays_in_its_output(pages: list[bytes]) -> None:
    assert fits(pages)


def test_a_scan_of_dense_pages_stays_in_its_output() -> None:
    assert all(fits(pages) for pages in dense_batches())


ENDLESS = 5_000_000  # bytes; what takes the square of its time does not come back within a day


@pytest.mark.parametrize(
    "pattern",
    [
        b"<!--", b"<!---", b"<!-->", b"<!", b"<?", b"</", b"</>", b"</p ", b"</a>", b"</table>", b"<table><td>",
        b"<a ", b"<a href='", b"<a href=", b"<p a=\"'", b"<p>", b"<img>", b"<template>", b"<textarea", b"<script>",
        b"<script></scrip", b"<title></", b"<title></titl", b"&nbsp;", b"&#9;", b"&#1", b"\0", b"\x01", b"\xc2\xad",
    ],
)  # fmt: skip
def test_a_huge_page_without_text_is_read_to_its_end(pattern: bytes) -> None:
    page = scan([pattern * (ENDLESS // len(pattern))])[0]
    assert (page.text, page.links) == ("", [])


@pytest.mark.parametrize(
    "pattern", ["<", "&", "&#", "&a", "&#x", "-->", "x", "é", "Â", ">", "&CounterClockwiseContourIntegra", "<3"]
)
def test_a_huge_page_of_text_is_read_to_its_end(pattern: str) -> None:
    html = pattern * (ENDLESS // len(pattern.encode()))
    assert text_of(html) == html


def test_a_huge_page_of_links_is_read_to_its_end() -> None:
    page = scan([b"<a href>" * (ENDLESS // 8)], max_links=10)[0]
    assert (len(page.links), page.dropped) == (10, ENDLESS // 8 - 10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "text"), [("<p>x", "\nx"), ("&nLt;", "\u226a\u20d2"), ("&amp;", "&"), (" x", " x")]
)
def test_a_huge_page_of_blocks_and_references_is_read_to_its_end(pattern: str, text: str) -> None:
    times = ENDLESS // len(pattern)
    assert text_of(pattern * times) == (text * times).strip()
