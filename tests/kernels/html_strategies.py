"""Nasty HTML, for the tests of the scanner: strategies, and pages that fill an output as fast as they can."""

from __future__ import annotations

from html.entities import html5

from hypothesis import strategies as st

from pagekin.reading.markup import ATTRIBUTES, TAGS

# --- strategies: pieces of a page, as str --------------------------------------------------------

_OLD_NAMES = sorted(name for name in html5 if not name.endswith(";"))
_NUMBERS = st.sampled_from(
    [0, 9, 31, 38, 60, 65, 127, 128, 129, 159, 160, 173, 0x2028, 0xD800, 0xFFFF, 0x110000, 10**30]
)

REFERENCES = st.one_of(
    st.sampled_from(
        ["&nLt;", "&nGt;", "&amp;", "&lt;", "&nbsp;", "&shy;", "&Tab;", "&fjlig;", "&notin;", "&notit;", "&"]
    ),
    st.builds("&{}{}".format, st.sampled_from(_OLD_NAMES), st.sampled_from(["", ";", "=", "x", " "])),
    st.builds("&{}".format, st.sampled_from(sorted(html5))),
    st.builds("&#{}{}".format, _NUMBERS, st.sampled_from(["", ";", "x", "="])),
    st.builds("&#{}{:x}{}".format, st.sampled_from("xX"), _NUMBERS, st.sampled_from(["", ";", "g"])),
    st.sampled_from(["&#", "&#;", "&#x", "&#x;", "&;"]),
)

_CHARACTERS = "aZé木😀 \t\n\r\f\0\x01\x1f\x7f\x85\xa0\xad\u2028\u2029\u200b\ufffd<>&/='\"!-?;,#"
_WORDS = st.sampled_from(["words in a row", "a word and a space ", " eight b", "12345678", "longer   spaces  "])
TEXTS = st.text(st.sampled_from(_CHARACTERS), max_size=6) | st.text(max_size=4) | _WORDS

_ODD_NAMES = "a a a a p td table img title textarea script template plaintext svg math image b x-y aé p\0"
_NAMES = st.sampled_from([*TAGS, *_ODD_NAMES.split(" ")])
_CASED_NAMES = st.builds(lambda name, upper: name.upper() if upper else name, _NAMES, st.booleans())
_KEYS = st.sampled_from([*ATTRIBUTES, "HREF", "Rel", "id", "=", "=href", '"', "'", "href\0", "é", "<b"])
_LISTS = st.sampled_from(
    ["nofollow", "NOFOLLOW, x", "none", "noindex", "robots", "canonical", "refresh", "content-language", "next", "up"]
)
_VALUES = st.lists(_LISTS | REFERENCES | TEXTS | st.sampled_from(["/x?a=1", "#", " ", "</script>"]), max_size=3).map(
    "".join
)
_SPACES = st.sampled_from(["", " ", "\n", "/", " / ", "\f\r"])
_ATTRIBUTES = st.one_of(
    st.builds('{}{}={}"{}"'.format, _KEYS, _SPACES, _SPACES, _VALUES.map(lambda value: value.replace('"', ""))),
    st.builds("{}={}'{}'".format, _KEYS, _SPACES, _VALUES.map(lambda value: value.replace("'", ""))),
    st.builds("{}={}".format, _KEYS, _VALUES),  # unquoted, or a quote that never closes
    _KEYS,
    TEXTS,
)
_TAGS = st.builds(
    "<{}{}{}{}{}".format,
    st.sampled_from(["", "", "", "/", "/", " ", "!", "?"]),
    _CASED_NAMES,
    st.sampled_from([" ", "", "/", "\t"]),
    st.lists(_ATTRIBUTES, max_size=3).map(" ".join),
    st.sampled_from([">", ">", ">", ">", ">", ">", "/>", " ", ""]),
)
_QUOTED = _VALUES.map(lambda value: value.replace('"', ""))
_TELLING_TAGS = st.one_of(
    st.builds('<a href="{}">'.format, _QUOTED),
    st.builds('<a href="{}" rel="{}">'.format, _QUOTED, _LISTS),
    st.builds('<area href="{}" alt="{}" rel="{}">'.format, _QUOTED, _QUOTED, _LISTS),
    st.builds('<{} alt="{}">'.format, st.sampled_from(["img", "input"]), _QUOTED),
    st.builds('<{} src="{}">'.format, st.sampled_from(["frame", "iframe"]), _QUOTED),
    st.builds('<base href="{}">'.format, _QUOTED),
    st.builds('<html lang="{}">'.format, _QUOTED),
    st.builds('<link rel="canonical{}" href="{}">'.format, _SPACES, _QUOTED),
    st.builds('<meta name="robots" content="{}{}{}">'.format, _LISTS, _SPACES, _LISTS),
    st.builds('<meta http-equiv="{}" content="{}">'.format, _LISTS, _QUOTED),
)
_PLAIN_TAGS = st.sampled_from(
    "<p> </p> <br> <li> </ul> <h1> <table> <table> </table> <tr> <td> </td> <template> </template> </a> </a>".split()
)
_COMMENTS = st.lists(
    st.sampled_from(["<!--", "<!", "-", "--", "-->", "--!>", ">", "!", "x", "<"]), min_size=1, max_size=5
).map("".join)
_RAW = st.builds(
    "<{0}>{1}{2}".format,
    st.sampled_from(["script", "STYLE", "title", "textarea", "xmp", "iframe", "noframes", "noembed"]),
    st.lists(
        TEXTS | REFERENCES | st.sampled_from(["</scr", "</script", "</b", "</title<", "<b>", "<!--", "</", "</xmp "]),
        max_size=4,
    ).map("".join),
    st.sampled_from(
        ["</script>", "</STYLE >", "</title/>", "</textarea\n>", "</xmp>", "</iframe>", "</noframes x>", ""]
    ),
)

_MIXED_PAGES = st.builds(
    lambda pieces, cut: "".join(pieces)[:cut].encode(),
    st.lists(
        st.one_of(
            st.just(""),
            _TAGS,
            _TELLING_TAGS,
            _TELLING_TAGS,
            _PLAIN_TAGS,
            _PLAIN_TAGS,
            TEXTS,
            REFERENCES,
            _COMMENTS,
            _RAW,
        ),
        min_size=8,
        max_size=16,
    ),
    st.none() | st.integers(0, 200),
)

# Few tokens in many orders reach states that a page of everything seldom does.
SOUPS = (
    "<!--|<!--|-->|--!>|<!|-|!|>|x|<b>",
    "<a|<p|</p|href|rel|=|'|\"| |/|>|>|x|nofollow",
    "<a |<area |</a |href=y|href='z'|alt=w| = |\"v\"|/| |>|>|x",
    "<title>|</title|</title>|<textarea>|</textarea>|<script>|</script|</script>|<|>|/|x|</b|&ampx",
    "<table>|</table>|<td>|</td>|<a href=y>|<a>|</a>|x|<iframe src=z></iframe>|<img alt=w>",
    "<template>|</template>|x|<p>|<xmp>|</xmp>|<title>|</title>|<a href=y>|</a>|<td>",
    "<a href=y>|</a>|x| |&nbsp;|&shy;|\xad|\0|<p>|<br>|<img alt=w>|<img>|<b>|é",
    "<script>|</script>|<script |</script |<!--|-->|<!|--|-|>|x|<b>",
    "<svg>|<svg/>|<svg a=/>|</svg>|<math>|<p>|<![CDATA[|<![cdata[|]]>|>|<title>|</title>|<style/>|x",
    "<svg>|</svg>|<svg a=/>|<![CDATA[|]]>|<template>|</template>|<p>|x",
    "<nav>|</nav>|<main>|</main>|<h1>|<header>|</header>|<section>|</section>|<a href=y rel=next>|</a>|x|<p>",
    "<div>|</div>|<div class='a related'>|<ul id=Pager>|</ul>|<ul>|<table role=banner>|</table>|<td>|x|<template>",
    "<base href|<html lang|=''>|=y>|=z>|<title>|</title>|x|<link rel=canonical href",
)


def soup(tokens: str) -> st.SearchStrategy[bytes]:
    """Pages of these tokens only. Lists are short unless told otherwise; the empty token lets a failing one shrink."""
    return st.lists(st.sampled_from(["", *tokens.split("|")]), min_size=16, max_size=32).map("".join).map(str.encode)


PAGES = st.one_of(_MIXED_PAGES, *map(soup, SOUPS))
BATCHES = st.lists(PAGES, max_size=4)


# --- pages that fill an output ---------------------------------------------------------------------

# What gives the most text, blocks, links or values for its bytes.
DENSE = (
    b"&nLt;",
    b"&#0",
    b"<p>x",
    b"</p>x",
    b"<p>&nGt;",
    b"<xmp>x",
    b"<textarea>&nLt;",
    b"<a href>",
    b"<a/href>x",
    b"<a href=&nLt;>",
    b"<area href alt=x>",
    b"<img alt=&nLt;>",
    b"<frame src>",
    b"<iframe src>",
    b"<base href=&nLt;>",
    b"<title>&nLt;",
    b"<td>x",
    b"<br>x",
    b"x<",
    b"\xc2",
)


def dense_batches() -> list[list[bytes]]:
    """Batches of pages that are one pattern throughout: none, one or many times, cut anywhere, in one page or many."""
    batches = []
    for pattern in DENSE:
        long = pattern * 200
        batches += [[long], [long] * 3, [b"", pattern, b"", long], [pattern] * 40]
        batches += [[long[:size]] for size in range(1, 2 * len(pattern) + 2)]
    return batches
