"""The scanner and lexbor, which builds a browser's DOM, read the same words and anchors from a page.

The scanner keeps no stack, so where HTML is broken it does not repair: it reads what is written, in the order in
which it is written. `DIFFERENCES` has a page for each kind of repair that makes lexbor's answer another one, and
`MISTAKES` one for each place where lexbor is right and the scanner wrong.
"""

from __future__ import annotations

import pytest

from reading.lexbor import COLLECTIONS, Anchor, Reading, compare, pages_under, read, scan, total

AGREED = {
    "inline tags do not part words": "<p>un<i>believ</i><b>able</b> H<sub>2</sub>O",
    "blocks, breaks, cells and items do": "<h1>a</h1>b<br>c<ul><li>d<li>e</ul>f<table><tr><td>g<td>h</table>i<hr>j",
    "soft hyphens and break opportunities vanish": "<p>hy&shy;phen hy\u00adphen hy&#173;phen hy<wbr>phen",
    "comments, instructions and doctypes vanish": "<!doctype html>a<!-- <p>b -->c<?d e?>f</ g>h<!>i<!-->j<!--->k",
    "what does not show is no text": "a<script>'<p>b'</script>c<style>d</style>e<template><p>f<a href=g>h</template>i",
    "nor what stands in for a frame": "a<iframe src=b>c</iframe>d<noembed>e</noembed>f<noframes>g</noframes>h",
    "text areas and examples hold no tags": "<textarea>a<b>&amp;c</textarea>d<xmp>e<b>&amp;f</xmp>g",
    "pictures say their alternative": 'a<img alt="b &amp; c">d<input type=image alt=e>f<img>g<area alt=h>i',
    "references": "<p>&eacute;t&eacute; &#233; &#xE9; &copy2 &notit; &bogus; &#128; &#0; &amp &NotEqualTilde; a&nbsp;b",
    "lone signs": "a < b <3 c<>d & e &; f <",
    "marks and joiners": "<p>cafe\u0301 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 हिन्दी \u0301x",
    "scripts without spaces": "<p>木村の家 木 ภาษาไทย abc木村def 1木2",
    "overlong runs are no words": "<p>a " + "x" * 129 + " " + "y" * 128,
    "anchors": '<p>a <a href="b?c=1&amp;d=2">e <b>f</b></a> g <a href=" h ">i</a><a href=j></a><a name=k>l</a>',
    "an anchor may touch a part of a word": "<p>un<a href=x>believ</a>able <a href=y>a</a><a href=z>b</a>",
    "an anchor begins where another has not ended": "<p><a href=x>a <a href=y>b</a> c</a> d <a href=z>e <a>f</a>",
    "an anchor that is never closed ends with its cell": "<table><tr><td><a href=x>a<td>b<tr><td>c</table>d",
    "anchors around blocks": "<a href=x>a<h2>b</h2><p>c</p></a>d",
    "anchors around tables": "<a href=x>a<table><tr><td>b</table>c</a>d",
    "anchors of pictures": "<a href=x><img alt='a b'></a><map><area href=y alt=c><area href=z><area alt=d></map>",
    "of two attributes the first counts": "<a href=x href=y HREF=z>a</a><A\nHREF = 'b>c' >d</A><a href>e<a/href=f/>g",
    "quotes guard": '<p title=\'a>b\'>c<p title="d>e">f<p title=g"h>i<p a=b/c>j',
    "frames": "<frameset><frame src=a><frame src=b><frame></frameset><noframes>c</noframes>",
    "forms": "a<select><option>b<option>c</select>d<form><fieldset><legend>e</legend>f</fieldset></form>g",
    "facts": "<html lang=de><head><title>a\n &amp; b</title><base href=c><base href=d><link rel='x Canonical' href=e>",
    "language in a meta": "<meta http-equiv=Content-Language content=fr><body lang=de>a",
    "unclosed at the end": "a<p>b<a href=x>c<i>d",
    "cut inside a tag": "a<p>b<a href='x",
    "cut inside a script": "a<script>b</scrip",
    "empty": "",
    "an unfinished end tag in a script hides the script's own": '<script>s = "</b"</script>a',
    "a script that a commented script writes": "<script><!-- w('<script>a</script>'); b --></script>c",
    "an attribute without a name": '<p ="a>b">c',
    "an old reference in a title, before a letter": "<title>AT&ampT</title>",
    "the title of a drawing is not the page's": "<svg><title>a</title></svg>b",
    "an empty tag in a drawing has no contents": "<svg><style/></svg>a",
    "character data in a drawing": "<svg><text><![CDATA[a > b]]></text></svg>",
    "listing is a block": "a<listing>b</listing>c",
    "plaintext never ends": "a<plaintext>b<i>c",
    "image is img": "<image alt=a>",
    "datalist ends its options": "<datalist><option>a</datalist>b",
    "buttons and ruby stand apart": "a<button>b</button>c<ruby>木<rt>き</rt></ruby>d",
    "so do the texts of a drawing": "a<svg><text>b</text><text>c</text></svg>d",
}

# name: (page, the scanner's words and anchors, lexbor's words and anchors)
Parts = tuple[str, list[tuple[str, str]]]
DIFFERENCES: dict[str, tuple[str, Parts, Parts]] = {
    "text between the cells of a table stands before the table (foster parenting)": (
        "<table><tr><td>cell</td>lost</tr></table>end",
        ("cell lost end", []),
        ("lost cell end", []),
    ),
    "an anchor left open is opened again in each block that follows": (
        "<ul><li><a href=x>a<li>b</ul>c",
        ("a b c", [("x", "a b c")]),
        ("a b c", [("x", "a"), ("x", "b"), ("x", "c")]),
    ),
    "an anchor and a tag that cross make two anchors": (
        "<b>a <a href=x>b</b> c</a>",
        ("a b c", [("x", "b c")]),
        ("a b c", [("x", "b"), ("x", "c")]),
    ),
    "a table inside an anchor may hold anchors of its own": (
        "<a href=x>a<table><tr><td><a href=y>b</a> c</table>d</a>",
        ("a b c d", [("x", "a"), ("y", "b")]),
        ("a b c d", [("x", "a b c d"), ("y", "b")]),
    ),
    "a block's tag that fits nowhere is dropped and parts nothing": (
        "<p>a</div>b <td>c</td>d</body>e",
        ("a b c d e", []),
        ("ab cde", []),
    ),
    "a form inside a form is dropped and parts nothing": (
        "<form>a<form>b</form></form>",
        ("a b", []),
        ("ab", []),
    ),
    "a frame outside a frameset is dropped": (
        "<p>a <frame src=x>b",
        ("a b", [("x", "")]),
        ("a b", []),
    ),
    "text inside a frameset is dropped": (
        "<frameset><frame src=x>a</frameset>",
        ("a", [("x", "")]),
        ("", [("x", "")]),
    ),
    "a tag in the style of a drawing ends the drawing": (
        "<svg><style>a<b>b</b></style></svg>",
        ("", []),
        ("b", []),
    ),
}


def parts(reading: Reading) -> Parts:
    return " ".join(reading.words), [(anchor.href, " ".join(anchor.words)) for anchor in reading.anchors]


@pytest.mark.parametrize("name", AGREED)
def test_scanner_and_lexbor_read_the_same(name: str) -> None:
    page = AGREED[name].encode()
    assert scan([page]) == [read(page)]


def test_pages_are_read_as_if_alone() -> None:
    pages = [page.encode() for page in AGREED.values()]
    assert scan(pages) == [scan([page])[0] for page in pages]


@pytest.mark.parametrize("name", DIFFERENCES)
def test_scanner_reads_what_is_written_where_lexbor_repairs(name: str) -> None:
    page, ours, theirs = DIFFERENCES[name]
    assert (parts(scan([page.encode()])[0]), parts(read(page.encode()))) == (ours, theirs)


def test_scanner_passes_over_an_empty_title() -> None:
    page = b"<title></title><title>a</title>"
    assert (scan([page])[0].title, read(page).title) == ("a", "")


def test_scanner_takes_the_language_that_stands_first_and_lexbor_the_tag_before_the_meta() -> None:
    page = b"<meta http-equiv=content-language content=de><body>a<html lang=fr>"
    assert (scan([page])[0].lang, read(page).lang) == ("de", "fr")


def test_empty_fact_does_not_depend_on_the_pages_before() -> None:
    page = b"<base href=''><base href=x>"
    assert scan([b"<title>a</title>", page])[1] == scan([page])[0]


@pytest.mark.slow
@pytest.mark.parametrize("package", COLLECTIONS)
def test_nothing_is_lost_or_invented_on_real_pages(package: str) -> None:
    """Every word and anchor of lexbor's is ours and ours its; at most one in ten thousand stands elsewhere."""
    if not COLLECTIONS[package].is_dir():
        pytest.skip(f"Debian's {package} is not installed ({COLLECTIONS[package]})")
    counts = total(counts for _, counts in compare(pages_under(COLLECTIONS[package])[::8]))
    assert counts.pages > 50 and counts.tokens_theirs > 100_000 and counts.anchors_theirs > 10_000
    assert (counts.tokens_in_one, counts.anchors_in_one, counts.facts_that_differ) == (0, 0, 0)
    assert counts.tokens_elsewhere <= counts.tokens_theirs / 10_000
    assert counts.anchors_elsewhere <= counts.anchors_theirs / 10_000


def test_agreement_is_not_empty() -> None:
    """What `scan` and `read` give has something in it: one page, read by hand."""
    page = "<html lang=en><title>T</title><p>One <a href=x>small</a> step 木村"
    by_hand = Reading(["One", "small", "step", "木村"], [Anchor("x", ("small",))], "T", "", "", "en")
    assert (scan([page.encode()])[0], read(page.encode())) == (by_hand, by_hand)
