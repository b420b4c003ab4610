"""Wikitext -> HTML: paragraphs, headings, lists and links; no templates, references, formulas or categories.

One pass over the brackets, so that the time is linear for any input. What is not balanced is text.
"""

import html
import re

from pagekin.model.wiki import CATEGORY, FILE, WikiSite

_DEEPEST = 40  # brackets in brackets
# Comments and elements that have no text of the article, or text in another language than wikitext.
_UNSEEN = re.compile(
    r"<(?:(!--)|(ref|math|gallery|timeline|score|graph|imagemap|inputbox|syntaxhighlight|source|templatedata|hiero|chem)\b"
    r"[^<>]*+>)|__[A-Z]{3,30}__",
    re.I,
)
_CLOSING = {
    name: re.compile(f"</{name}\\s*>", re.I)
    for name in (
        "ref math gallery timeline score graph imagemap inputbox syntaxhighlight source templatedata hiero chem".split()
    )
} | {"!--": re.compile("-->")}
# Tags that mean nothing in wikitext, but would in HTML.
_FOREIGN = re.compile(
    r"</?(?:a|base|body|frame|frameset|head|html|iframe|link|meta|noframes|noscript|plaintext|script|style|svg|template"
    r"|textarea|title|xmp|nowiki|noinclude|includeonly|onlyinclude)\b[^<>]*+>",
    re.I,
)
_BRACKETS = re.compile(r"\{\{|\}\}|\[\[|\]\]")
_TRAIL = re.compile(r"[^\W\d_]+")
_EXTERNAL = re.compile(r"\[((?:https?:)?//[^\s\[\]<>\"]{1,2000}+)[ \t]*+([^\[\]\n]*+)\]")
_QUOTES = re.compile(r"'''''|'''|''")
_CELL_ATTRIBUTES = re.compile(r"[^|\[\]<>=]*+=[^|\[\]]*+\|(?!\|)")
_OPTION = re.compile(
    r"\s*(?:thumb\w*|frame\w*|border|left|right|center|none|upright(?:=.*)?|\d*x?\d+px|baseline|middle|sub|super"
    r"|(?:alt|link|class|lang|page|start|end)=.*)\s*",
    re.S,
)


def wikitext_as_html(text: str, title: str, site: WikiSite) -> str:
    r"""An article as HTML.

    >>> site = WikiSite("https://a.example/wiki/")
    >>> wikitext_as_html("An '''oak''' {{note|x}} is a [[tree]]s[[Category:Trees]].", "Oak", site)
    '<title>Oak</title>An oak  is a <a href="https://a.example/wiki/Tree">trees</a>.\n'
    """
    text = _FOREIGN.sub("", _without_unseen(text))
    text = _EXTERNAL.sub(_external, _QUOTES.sub("", _unbracketed(text, site)))
    return f"<title>{html.escape(title)}</title>" + "".join(map(_block, text.split("\n")))


def _without_unseen(text: str) -> str:
    """The text without comments, references, formulas and the like; an element without an end is text."""
    parts: list[str] = []
    unclosed: set[str] = set()
    begin = 0
    for found in _UNSEEN.finditer(text):
        if found.start() < begin:
            continue
        name, end = (found[1] or found[2] or "").lower(), found.end()
        if name and not found[0].endswith("/>"):
            close = None if name in unclosed else _CLOSING[name].search(text, end)
            if close is None:
                unclosed.add(name)
            end = close.end() if close else end
        parts += (text[begin : found.start()], "" if name in ("ref", "!--") else " ")
        begin = end
    return "".join(parts) + text[begin:]


def _unbracketed(text: str, site: WikiSite) -> str:
    """The text without templates, and with HTML in place of links."""
    levels: list[tuple[str, list[str]]] = [("", [])]  # (what opened a level, its text so far)
    begin = 0
    for found in _BRACKETS.finditer(text):
        token, (opened, parts) = found[0], levels[-1]
        parts.append(text[begin : found.start()])
        begin = found.end()
        if token in ("{{", "[[") and len(levels) <= _DEEPEST:
            levels.append((token, []))
        elif token == "]]" and opened == "[[":
            levels.pop()
            trail = _TRAIL.match(text, begin)
            link, with_trail = _link("".join(parts), site, trail[0] if trail else "")
            begin += len(trail[0]) if trail and with_trail else 0
            levels[-1][1].append(link)
        elif token == "}}" and any(each == "{{" for each, _ in levels):
            while levels.pop()[0] != "{{":
                pass
        else:
            parts.append(token)
    levels[-1][1].append(text[begin:])
    return "".join(piece for opened, parts in levels for piece in (opened, *parts))


def _link(inside: str, site: WikiSite, trail: str) -> tuple[str, bool]:
    """The HTML of `[[inside]]trail`, and whether that includes the trail."""
    target, bar, words = inside.partition("|")
    if "\n" in target or "<" in target or not target.strip():
        return f"[[{inside}]]", False
    namespace = site.namespace(target)
    if namespace == FILE:
        return f"<div>{_caption(words)}</div>", False
    if namespace == CATEGORY or namespace is None:
        return "", False
    shown = words.strip() if bar and words.strip() else html.escape(target.strip().removeprefix(":"), quote=False)
    if target.lstrip().startswith("#"):
        return shown + trail, True
    return f'<a href="{html.escape(site.href(html.unescape(target)))}">{shown}{trail}</a>', True


def _caption(words: str) -> str:
    """What is left of the words of a file without its options; links in it may have bars."""
    parts = words.split("|")
    first = next((k for k, part in enumerate(parts) if not _OPTION.fullmatch(part)), len(parts))
    return "|".join(parts[first:])


def _external(found: re.Match[str]) -> str:
    return f'<a href="{html.escape(found[1])}">{found[2]}</a>' if found[2] else ""


def _block(line: str) -> str:
    """A line as HTML: a heading, an item of a list, the cells of a row, or a part of a paragraph."""
    start = line[:1]
    if start == "=":
        heading = line.strip()
        return f"<h2>{heading.strip('= ')}</h2>\n" if heading.endswith("=") else line + "\n"
    if not line.strip():
        return "<p>"
    if start in "*#:;":
        return f"<li>{line.lstrip('*#:; ')}</li>\n"
    if start in "{|!" and (start != "{" or line.startswith("{|")):
        return _cells(line)
    return line + "\n"


def _cells(line: str) -> str:
    """A line of a table: its cells as blocks, without attributes."""
    if line.startswith(("{|", "|-", "|}")):
        return "<p>" if not line.startswith("|}") else "<p>" + line[2:]
    cells = re.split(r"\|\||!!", line.lstrip("|!+"))
    found = ((cell.lstrip(), _CELL_ATTRIBUTES.match(cell.lstrip())) for cell in cells)
    return "".join(f"<p>{cell[attributes.end() if attributes else 0 :]}</p>" for cell, attributes in found) + "\n"
