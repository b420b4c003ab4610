"""Reading notes, wikis and archives, each compared with a reader that does no more than decode the format.

`python -m benchmarks.formats` prints the figures and writes `results/formats.json`. Both readers take turns over the
same generated input, and the best round of each counts, in time of the processor. Ours also splits the text into words
and resolves the links.
"""

from __future__ import annotations

import bz2
import html
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

from benchmarks.agreement import collections
from benchmarks.generated import vocabulary
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show, timed
from pagekin.model.capture import Capture, ReadingSettings
from pagekin.model.wiki import WikiSite
from pagekin.pipeline import build
from pagekin.reading.batch import read_captures
from pagekin.reading.wikitext import wikitext_as_html
from pagekin.sources.open import open_sources

ROUNDS = 2 if QUICK else 3
SAMPLE = 500 if QUICK else 2000  # pages that are compared
NOTES = 1000 if QUICK else 20_000  # of the vault that is built
_BATCH = 400
_WORDS, _SECTIONS = 50, 5  # of a section, of a page
_TOO_LONG = 60.0  # seconds to build the vault


def main() -> None:
    """Measure every format."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        for measure in (notes, wiki, zim, warc):
            print(measure.__name__)
            measured = measure(Path(place))
            show(measured)
            figures += measured
    keep(
        "formats",
        {
            "machine": facts("markdown-it-py", "mwxml", "mwparserfromhell", "libzim", "fastwarc"),
            "figures": kept(figures),
        },
    )


def notes(place: Path) -> list[Figure]:
    """A vault: CommonMark with front matter and wiki links, compared with rendering by markdown-it-py."""
    from markdown_it import MarkdownIt

    sample, whole = (write_vault(place / name, count) for name, count in (("sample", SAMPLE), ("vault", NOTES)))
    texts = [file.read_text("utf-8") for file in sorted(sample.rglob("*.md"))]
    parser = MarkdownIt("commonmark")
    ours, theirs = compared(lambda: read(sample), lambda: [parser.render(text) for text in texts])
    begin = time.process_time()
    wall = timed(lambda: build([whole], place / "vault.kin"))
    return [
        Figure("notes: size of a note", round(sum(map(len, texts)) / len(texts) / 1000, 1), "KB"),
        Figure("notes: rendered by markdown-it-py", round(SAMPLE / theirs), "notes/s"),
        Figure("notes: read", round(SAMPLE / ours), "notes/s"),
        Figure("notes: reading / rendering, processor time", round(ours / theirs, 2), "x", at_most=2.0),
        Figure(f"notes: build of a vault of {NOTES:,}", round(wall, 1), "s", at_most=_TOO_LONG),
        Figure(f"notes: build of a vault of {NOTES:,}, processor time", round(time.process_time() - begin, 1), "s"),
    ]


def wiki(place: Path) -> list[Figure]:
    """A MediaWiki dump, compared with mwxml and mwparserfromhell, which find the text and the links of each page."""
    import mwparserfromhell
    import mwxml

    pages = [wiki_page(number, sections) for number, sections in enumerate(texts(SAMPLE))]
    groups = ["".join(pages[k : k + 100]) for k in range(0, SAMPLE, 100)]
    plain, packed = place / "wiki.xml", place / "wiki.xml.bz2"
    plain.write_text(_WIKI_HEAD + "".join(pages) + _WIKI_END, "utf-8")
    packed.write_bytes(b"".join(bz2.compress(part.encode()) for part in (_WIKI_HEAD, *groups, _WIKI_END)))

    def parsed() -> list[tuple[str, list[str], list[str]]]:
        """(title, words, links) of every page."""
        found = []
        with plain.open("rb") as file:
            for page in mwxml.Dump.from_file(file):
                code = mwparserfromhell.parse(next(iter(page)).text)
                for reference in code.filter_tags(matches=lambda tag: tag.tag == "ref"):
                    code.remove(reference)
                links = [str(link.title) for link in code.filter_wikilinks(recursive=False)]
                found.append((page.title, code.strip_code().replace("* ", " ").split(), links))
        return found

    ours, theirs = compared(lambda: read(plain), parsed)
    unpacking = min(_processor_time(lambda: bz2.decompress(packed.read_bytes())) for _ in range(ROUNDS))
    from_packed = min(_processor_time(lambda: read(packed)) for _ in range(ROUNDS))
    same = [_words_and_links(page) == (words, links) for page, (_, words, links) in zip(pages, parsed(), strict=True)]
    return [
        Figure("wiki: size of a page", round(plain.stat().st_size / SAMPLE / 1000, 1), "KB"),
        Figure("wiki: parsed by mwxml and mwparserfromhell", round(SAMPLE / theirs), "pages/s"),
        Figure("wiki: read", round(SAMPLE / ours), "pages/s"),
        Figure("wiki: reading / parsing, processor time", round(ours / theirs, 2), "x", at_most=2.0),
        Figure("wiki: unpacking bzip2 / reading from it", round(unpacking / from_packed, 2), "x"),
        Figure("wiki: pages with the same words and links", round(100 * sum(same) / SAMPLE, 1), "%", at_least=100.0),
    ]


def zim(place: Path) -> list[Figure]:
    """A ZIM file, compared with getting every entry from libzim in the order of clusters and of paths."""
    from libzim.reader import Archive

    from pagekin.sources.zim import ZimSource
    from sources.zims import Page, write_zim

    bodies = (" ".join(word for words in sections for word in words) * 4 for sections in texts(NOTES))
    pages = (Page(f"p/{k * 7919 % NOTES}", f"Page {k}", f"<p>{body}") for k, body in enumerate(bodies))
    file = write_zim(place / "pages.zim", pages, cluster_size=2 << 20)

    def decoded(order: list[int]) -> int:
        archive = Archive(file)
        entries = (archive._get_entry_by_id(number) for number in order)
        return sum(len(bytes(entry.get_item().content)) for entry in entries if not entry.is_redirect)

    count = Archive(file).all_entry_count
    by_cluster = ZimSource(file, ReadingSettings())._order(count)
    ours, theirs = compared(lambda: _walked(file), lambda: decoded(by_cluster))
    by_path = min(_processor_time(lambda: decoded(list(range(count)))) for _ in range(2))
    return [
        Figure("zim: pages", NOTES),
        Figure("zim: decoded by libzim, in the order of clusters", round(NOTES / theirs), "pages/s"),
        Figure("zim: decoded by libzim, in the order of paths", round(NOTES / by_path), "pages/s"),
        Figure("zim: captures / decoding in the order of clusters, processor time", round(ours / theirs, 2), "x"),
        Figure(
            "zim: captures / decoding in the order of paths, processor time", round(ours / by_path, 2), "x", at_most=2.0
        ),
    ]


def warc(place: Path) -> list[Figure]:
    """A compressed WARC file of a manual, compared with getting the body of every response from fastwarc."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    from sources.warcs import HTML, gz, response

    folder = collections().get("cppreference-doc-en-html")
    if folder is None:
        return []
    pages = sorted(folder.rglob("*.html"))[:SAMPLE]
    file = place / "pages.warc.gz"
    with file.open("wb") as target:
        for number, page in enumerate(pages):
            target.write(gz(response(f"http://a.example/{number}", page.read_bytes(), HTML)))

    def decoded() -> int:
        with file.open("rb") as stream:
            records = ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True)
            return sum(len(record.reader.read()) for record in records)

    ours, theirs = compared(lambda: _walked(file), decoded)
    return [
        Figure("warc: pages", len(pages)),
        Figure("warc: decoded by fastwarc", round(len(pages) / theirs), "pages/s"),
        Figure("warc: captures / decoding, processor time", round(ours / theirs, 2), "x", at_most=2.0),
    ]


def _walked(file: Path) -> int:
    """The number of items of a source; each is forgotten when the next one comes."""
    return sum(1 for _ in open_sources([file], (), ReadingSettings()).items(lambda _: False))


_WIKI = "https://wiki.example/wiki/"
_WIKI_HEAD = f"<mediawiki>\n  <siteinfo>\n    <base>{_WIKI}Main_Page</base>\n  </siteinfo>\n"
_WIKI_END = "</mediawiki>\n"


def wiki_page(number: int, sections: list[list[str]]) -> str:
    """A page of a dump: an infobox, sections with references, links, lists and tables, and categories."""
    name = "{{" + f"Infobox tree|name=[[Page {number}]]|genus={{{{lang|la|{sections[0][0]}}}}}|size=3" + "}}\n"
    body = "".join(
        f"== {' '.join(words[:3])} ==\n'''{words[3]}''' {' '.join(words[4:20])} [[Page {(number * 7 + k) % SAMPLE}]]"
        f" and [[Page {(number * 3 + k) % SAMPLE}|{words[20]}]]<ref>{{{{cite web|url=https://a.example/{k}}}}}</ref>.\n\n"
        f"* {' '.join(words[21:30])}\n* ''{words[30]}'' <!-- {words[31]} --> {' '.join(words[32:])}\n"
        for k, words in enumerate(sections)
    )
    text = html.escape(f"{name}{body}\n{{{{Navbox|[[Page {number + 1}]]}}}}\n", quote=False)
    return (
        f"  <page>\n    <title>Page {number}</title>\n    <ns>0</ns>\n    <id>{number + 1}</id>\n    <revision>\n"
        f"      <id>{number}</id>\n      <timestamp>2024-05-01T00:00:00Z</timestamp>\n      <model>wikitext</model>\n"
        f'      <format>text/x-wiki</format>\n      <text bytes="{len(text)}" xml:space="preserve">{text}</text>\n'
        "    </revision>\n  </page>\n"
    )


def _words_and_links(page: str) -> tuple[list[str], list[str]]:
    """The words and links that reading a page finds."""
    text = html.unescape(page.partition('preserve">')[2].partition("</text>")[0])
    found = wikitext_as_html(text, "", WikiSite(_WIKI))
    links = [unquote(href).replace("_", " ") for href in re.findall(f'href="{_WIKI}([^"]*)"', found)]
    return html.unescape(re.sub("<[^>]*>", "", found.replace("<li>", "* "))).replace("* ", " ").split(), links


def compared(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """The processor time of both, in turns: the best round of each."""
    ours()  # kernels are loaded
    times: list[tuple[float, float]] = [(_processor_time(ours), _processor_time(theirs)) for _ in range(ROUNDS)]
    first, second = map(min, zip(*times, strict=True))
    return first, second


def read(source: Path) -> int:
    """Read a source as a build does, without writing a store; return the number of pages."""
    settings, pages = ReadingSettings(), 0
    batch: list[Capture] = []
    for item in open_sources([source], (), settings).items(lambda _: False):
        if isinstance(item, Capture):
            batch.append(item)
        if len(batch) == _BATCH:
            pages += len(read_captures(batch, settings))
            batch = []
    return pages + (len(read_captures(batch, settings)) if batch else 0)


def write_vault(folder: Path, count: int) -> Path:
    """A vault of generated notes in folders of a hundred."""
    folder.mkdir()
    for number, sections in enumerate(texts(count)):
        name = folder / f"topic {number // 100}" / f"Note {number}.md"
        name.parent.mkdir(exist_ok=True)
        head = f"---\ntitle: Note {number}\ntags: [topic/t{number // 100}]\naliases: [N{number}]\n---\n"
        linked = [(number * 7 + 31 * k) % count for k in range(2 * _SECTIONS)]
        body = "\n".join(
            f"## {' '.join(words[:3])}\n\n{' '.join(words[3:30])} [[Note {a}]], *{words[30]}*, [[Note {b}|that]].\n\n"
            f"- {' '.join(words[32:40])}\n- **{words[40]}** `{words[41]}` {' '.join(words[42:])}\n"
            for words, a, b in zip(sections, linked[::2], linked[1::2], strict=True)
        )
        name.write_text(head + body, "utf-8")
    return folder


def texts(count: int) -> Iterator[list[list[str]]]:
    """For every page, the words of its sections; neighbours share some."""
    words = vocabulary()[:50_000]
    for page in range(count):
        yield [
            [
                words[(page // 20 * 37 + (page * 131 + place * place * 17) % 400 * 7) % len(words)]
                for place in range(k, k + _WORDS)
            ]
            for k in range(0, _SECTIONS * _WORDS, _WORDS)
        ]


def _processor_time(function: Callable[[], object]) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
