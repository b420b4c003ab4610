"""Missing links in files: CSV for a spreadsheet, JSON for programs, HTML with copy buttons for people."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from pagekin.errors import MisuseError
from pagekin.figures import counted
from pagekin.figures.charts import COPY, document
from pagekin.gaps.page_links import DEAD_END, ONLY_FROM_TEMPLATES, ORPHAN
from pagekin.gaps.results import Gaps, LinkedPage, MissingLink
from pagekin.model.files import csv_line, plain_cell, write_lines
from pagekin.model.jsons import to_json

GAP_FORMATS = ("csv", "json", "html")
MISSING = "missing link"
COLUMNS = (
    "kind,source,target,decision,similarity,likelihood,words,words_from,sentence,in_links,linked_elsewhere,in_template,"
    "evidence,source_title,target_title"
).split(",")
_LISTED = 200  # pages of a table in HTML
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def gap_format(path: Path) -> str:
    """The format of a file by its suffix; raise MisuseError if it cannot be written."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in GAP_FORMATS:
        raise MisuseError(f"{path} has no known suffix; name a file whose suffix is one of {', '.join(GAP_FORMATS)}")
    return kind


def write_gaps(gaps: Gaps, path: Path) -> None:
    """Write missing links and poorly linked pages to a csv, json or html file, completely or not at all."""
    kind = gap_format(path)
    if kind == "csv":
        write_lines(path, _csv(gaps))
    elif kind == "json":
        write_lines(path, [json.dumps(to_json(gaps), ensure_ascii=False, indent=1)])
    else:
        write_lines(path, [gaps_page(gaps).rstrip("\n")])


def _csv(gaps: Gaps) -> Iterator[str]:
    yield csv_line(COLUMNS)
    for gap in gaps:
        elsewhere, evidence = gap.linked_elsewhere or "", "; ".join(gap.why.reasons)
        numbers = (f"{gap.similarity:.6f}", f"{gap.likelihood:.6f}")
        found = (gap.words, gap.words_from, gap.sentence, gap.in_links, elsewhere, "yes" if gap.in_template else "")
        names = (evidence, gap.source.title, gap.target.title)
        yield _line(MISSING, gap.source.url, gap.target.url, "", *numbers, *found, *names)
    for kind, pages in _kinds(gaps):
        for page in pages:
            yield _line(kind, page.url, *[""] * 7, page.in_links, "", "", "", page.title, "")


def _line(*values: object) -> str:
    return csv_line(plain_cell(" ".join(each.split()) if isinstance(each, str) else each) for each in values)


def _kinds(gaps: Gaps) -> Iterable[tuple[str, list[LinkedPage]]]:
    return (ORPHAN, gaps.orphans), (ONLY_FROM_TEMPLATES, gaps.only_from_templates), (DEAD_END, gaps.dead_ends)


def gaps_page(gaps: Gaps) -> str:
    """An HTML page with everything; it needs no other file."""
    lines = [summary(gaps)]
    parts = ["<section><h2>Missing links</h2>", *(_article(gap) for gap in gaps), "</section>"]
    for (kind, pages), (heading, hint) in zip(_kinds(gaps), _HEADINGS.values(), strict=True):
        parts += _table(kind, heading, hint, pages)
    style = files("pagekin.gaps").joinpath("report.css").read_text("utf-8")
    return document("Missing links", lines, parts, style, files("pagekin.figures").joinpath(COPY).read_text("utf-8"))


def summary(gaps: Gaps) -> str:
    """What was found, in a sentence."""
    found = [
        f"{counted(len(gaps), 'missing link')} from {counted(gaps.pages, 'page')}",
        counted(len(gaps.orphans), "orphan"),
        f"{counted(len(gaps.only_from_templates), 'page')} linked from templates only",
        counted(len(gaps.dead_ends), "dead end"),
    ]
    found += [f"{counted(gaps.dismissed, 'link')} dismissed"] if gaps.dismissed else []
    found += [f"{counted(gaps.done, 'link')} done"] if gaps.done else []
    return ", ".join(found)


_HEADINGS = {
    ORPHAN: ("Orphans", "No page links to them."),
    ONLY_FROM_TEMPLATES: ("Linked from templates only", "Menus link to them, but no text does."),
    DEAD_END: ("Dead ends", "Their texts link to no other page of the collection."),
}


def _article(gap: MissingLink) -> str:
    before, words, after = gap.sentence.partition(gap.words) if gap.words else (gap.sentence, "", "")
    quote = f"<blockquote><bdi>{_text(before)}<mark>{_text(words)}</mark>{_text(after)}</bdi></blockquote>"
    facts = [f"words: {gap.words_from}, linked like this on {gap.likelihood:.0%} of the pages that have them"]
    facts = facts if gap.likelihood else [f"words: {gap.words_from}"] if gap.words else ["no words to link"]
    facts += [f"in-links of the target: {gap.in_links:,}"]
    facts += ["a template of the page links to it"] if gap.in_template else []
    facts += [f"these words are linked to {gap.linked_elsewhere} already"] if gap.linked_elsewhere else []
    copied = (("HTML", gap.html), ("Markdown", gap.markdown), ("address", gap.target.url))
    buttons = " ".join(f'<button data-copy="{_text(text)}">Copy {name}</button>' for name, text in copied)
    return (
        f"<article><div><b>{gap.similarity:.3f}</b></div><div><p>{_link(gap.source.url, gap.source.title)} → "
        f"{_link(gap.target.url, gap.target.title)}</p>{quote if gap.sentence else ''}"
        f'<p class="faint">{_text("; ".join(facts))}</p>'
        f'<details class="faint"><summary>Evidence</summary>{_text("; ".join(gap.why.reasons))}</details>'
        f"<p>{buttons}</p></div></article>"
    )


def _table(kind: str, heading: str, hint: str, pages: Sequence[LinkedPage]) -> Iterator[str]:
    yield f"<section><details><summary>{heading}: {len(pages):,}</summary><p>{hint}</p>"
    yield '<div class="scroll"><table><thead><tr><th>page</th><th class="n">in-links</th>'
    yield '<th class="n">from texts</th><th class="n">links in its text</th></tr></thead><tbody>'
    for page in pages[:_LISTED]:
        counts = (page.in_links, page.in_links_from_text, page.out_links)
        numbers = "".join(f'<td class="n">{count:,}</td>' for count in counts)
        yield f"<tr><td>{_link(page.url, page.title)}</td>{numbers}</tr>"
    yield "</tbody></table></div>"
    if len(pages) > _LISTED:
        yield f'<p class="faint">The first {_LISTED:,}; a csv or json file has all of them.</p>'
    yield "</details></section>"


def _link(url: str, title: str) -> str:
    name = f"<bdi>{_text(' '.join(title.split())[:140] or url)}</bdi>"
    is_link = url.startswith(("http://", "https://"))
    return f'<a href="{_text(url)}" title="{_text(url)}">{name}</a>' if is_link else name


def _text(text: str) -> str:
    """Text from a page, escaped; controls and changes of direction become U+FFFD."""
    return escape(_UNSEEN.sub("\ufffd", text))
