"""Tables of the reader: which tags separate blocks, hide text, or contain links; character references; letters.

The classes of characters are data (`letters.txt`, written by `tools/letters.py`), so that a page has the same words
under every version of Python and of Unicode.
"""

from functools import cache
from html.entities import html5
from importlib.resources import files

import numpy as np

from pagekin.kernels import html as k
from pagekin.kernels.fnv import fnv_of, make_hash_table
from pagekin.kernels.html import Markup
from pagekin.kernels.page_output import BREAK, CELL, HEADING, ITEM, LIST_END, PARAGRAPH, SPACE, TABLE_END
from pagekin.kernels.tags import word_shapes
from pagekin.model.arrays import Bytes, Int64s

_PARAGRAPHS = (
    "address blockquote body center details dialog fieldset figcaption figure form hgroup hr legend listing noscript p "
    "pre search summary"
)

# Roles, classes and ids of navigation: ARIA's roles, and the names that generators of sites and manuals use.
NAVIGATION = (
    "navigation banner contentinfo "  # ARIA
    "breadcrumb breadcrumbs pagination pager navbar footer "  # common
    "related sphinxsidebar "  # Sphinx
    "navheader navfooter spirit-nav "  # DocBook, Boost
    "navpath nav-path "  # Doxygen
    "topnav bottomnav subnav "  # Javadoc
    "nav-panel "  # Texinfo
)

# name: (action, boundaries of the start tag, boundaries of the end tag)
TAGS: dict[str, tuple[int, int, int]] = {
    **dict.fromkeys(_PARAGRAPHS.split(), (k.NOTHING, PARAGRAPH, PARAGRAPH)),
    **dict.fromkeys("article section".split(), (k.SECTION, PARAGRAPH, PARAGRAPH)),
    "main": (k.MAIN, PARAGRAPH, PARAGRAPH),
    "div": (k.CONTAINER, PARAGRAPH, PARAGRAPH),
    **dict.fromkeys("aside footer header".split(), (k.MARGIN, PARAGRAPH, PARAGRAPH)),
    "nav": (k.NAVIGATION_TAG, PARAGRAPH, PARAGRAPH),
    "h1": (k.HEADLINE, PARAGRAPH | HEADING, PARAGRAPH),
    **dict.fromkeys("h2 h3 h4 h5 h6".split(), (k.NOTHING, PARAGRAPH | HEADING, PARAGRAPH)),
    **dict.fromkeys("ol ul".split(), (k.CONTAINER, PARAGRAPH, LIST_END)),
    **dict.fromkeys("dl menu dir".split(), (k.NOTHING, PARAGRAPH, LIST_END)),
    **dict.fromkeys("li dt dd option optgroup select datalist".split(), (k.NOTHING, ITEM, ITEM)),
    **dict.fromkeys("td th tr caption thead tbody tfoot".split(), (k.CELL_TAG, CELL, CELL)),
    **dict.fromkeys("button rt rp text".split(), (k.NOTHING, SPACE, SPACE)),
    **dict.fromkeys("svg math".split(), (k.FOREIGN_TAG, 0, 0)),
    "table": (k.TABLE, PARAGRAPH, TABLE_END),
    "br": (k.NOTHING, BREAK, BREAK),
    "a": (k.ANCHOR, 0, 0),
    "area": (k.AREA, 0, 0),
    **dict.fromkeys("img image input".split(), (k.IMAGE, 0, 0)),
    "frame": (k.FRAME, 0, 0),
    "base": (k.BASE, 0, 0),
    "link": (k.LINK, 0, 0),
    "meta": (k.META, 0, 0),
    "html": (k.HTML, 0, 0),
    "title": (k.TITLE, 0, 0),
    "template": (k.TEMPLATE, 0, 0),
    "iframe": (k.INLINE_FRAME, PARAGRAPH, PARAGRAPH),
    "textarea": (k.DECODED_TEXT, 0, 0),
    "xmp": (k.PLAIN_TEXT, 0, 0),
    "plaintext": (k.REST_IS_TEXT, 0, 0),
    "script": (k.SCRIPT, 0, 0),
    **dict.fromkeys("style noembed noframes".split(), (k.HIDDEN_TEXT, 0, 0)),
}

ATTRIBUTES = ("href", "src", "alt", "rel", "lang", "name", "content", "http-equiv", "role", "class", "id")

# &#128; to &#159; are controls, but pages that contain them mean characters of Windows-1252.
_WINDOWS = {byte: ord(bytes([byte]).decode("windows-1252", "ignore") or chr(byte)) for byte in range(0x80, 0xA0)}


@cache
def entities() -> Int64s:
    """The character references of HTML 5."""
    named = {fnv_of(name.encode()): tuple(map(ord, text)) for name, text in html5.items()}
    return make_hash_table(named | {number: (point,) for number, point in _WINDOWS.items()})


@cache
def markup() -> Markup:
    """All tables of the scanner."""
    return Markup(
        tags=make_hash_table({fnv_of(name.encode()): row for name, row in TAGS.items()}),
        attributes=make_hash_table({fnv_of(name.encode()): (place,) for place, name in enumerate(ATTRIBUTES)}),
        entities=entities(),
        navigation=make_hash_table({fnv_of(name.encode()): () for name in NAVIGATION.split()}),
        navigation_shapes=word_shapes(NAVIGATION.split()),
    )


@cache
def classes() -> Bytes:
    """The class of every code point: a letter, a combining mark ...; `kernels/words.py` has the classes."""
    table = np.zeros(0x110000, np.uint8)
    for line in files("pagekin.reading").joinpath("letters.txt").read_text("ascii").splitlines():
        if not line.startswith("#"):
            first, last, kind = line.split()
            table[int(first, 16) : int(last, 16) + 1] = int(kind)
    return table
