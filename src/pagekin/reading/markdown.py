"""Markdown -> HTML: CommonMark with tables, by cmark, and the wiki links of notes.

`[[Page]]`, `[[Page#Heading]]`, `[[Page|words]]` and `![[Page]]` become links to the name of a page (`note_href`), which
the source of the notes resolves.
"""

import html
import re
import threading
from pathlib import PurePosixPath

from pagekin.model.files import MARKDOWN_SUFFIXES
from pagekin.model.notes import note_href, split_front_matter

LONGEST_MARKDOWN = 2 << 20  # bytes; a byte of markup may become 27 of HTML
# In HTML: code, or a tag with brackets, which stay as they are; or a wiki link.
_WIKI_LINK = re.compile(
    r"<code\b[^>]*+>[^<]*+</code>|<[^<>\[]*+(?:\[(?!\[)[^<>\[]*+)*+\[\[[^<>]*+>"
    r"|(?P<embed>!?)\[\[(?P<page>[^\[\]\n|<>]{1,500})(?:\|(?P<words>[^\[\]\n]{0,500}))?\]\]"
)
_parsing = threading.Lock()  # extensions of cmark are kept in global variables


def markdown_as_html(text: str, title: str = "") -> str:
    r"""A Markdown file as HTML, without its front matter.

    >>> markdown_as_html("---\ntags: [a]\n---\nAn *oak*, see [[Trees|tree]].", "Oak")
    '<title>Oak</title><p>An <em>oak</em>, see <a href="/?note=trees">tree</a>.</p>\n'
    """
    from cmarkgfm import markdown_to_html_with_extensions
    from cmarkgfm.cmark import Options

    _, body = split_front_matter(text.replace("\r\n", "\n"))
    head = f"<title>{html.escape(title)}</title>" if title else ""
    with _parsing:
        rendered = markdown_to_html_with_extensions(body, options=Options.CMARK_OPT_UNSAFE, extensions=["table"])
    return head + (_WIKI_LINK.sub(_link, rendered) if "[[" in rendered else rendered)


def _link(found: re.Match[str]) -> str:
    """A wiki link as a link. What embeds an image or another file is left out."""
    if found["page"] is None:
        return found[0]
    page, _, place = (part.strip() for part in found["page"].partition("#"))
    if found["embed"]:
        suffix = PurePosixPath(page).suffix.lower()
        if suffix not in ("", *MARKDOWN_SUFFIXES) and " " not in suffix:
            return ""
    words = "" if found["embed"] else (found["words"] or "").strip()  # after the bar, an embed has a size
    words = words or " &gt; ".join(part for part in (page, place) if part)
    return f'<a href="{note_href(html.unescape(page))}">{words}</a>' if page else words
