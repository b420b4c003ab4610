"""Reading notes, wikis and archives, each compared with a reader that does no more than decode the format.

`python -m benchmarks.formats` prints the figures and writes `results/formats.json`. Both readers take turns over the
same generated input, and the best round of each counts, in time of the processor. Ours also splits the text into words
and resolves the links.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.generated import vocabulary
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show, timed
from pagekin.model.capture import Capture, ReadingSettings
from pagekin.pipeline import build
from pagekin.reading.batch import read_captures
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
        for measure in (notes,):
            print(measure.__name__)
            measured = measure(Path(place))
            show(measured)
            figures += measured
    keep("formats", {"machine": facts("markdown-it-py"), "figures": kept(figures)})


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
