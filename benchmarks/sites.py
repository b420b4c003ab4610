"""Static sites: lists go into every page and out again to the byte, and what a run takes.

`python -m benchmarks.sites` prints the figures and writes `results/sites.json`. Manuals are copied, get lists twice and
lose them again; every file is compared with its original. The speed is that of one site of up to 10,000 pages, made of
several manuals: with a new index, with nothing changed, after a generator has written the same bytes again, and with
one page changed. Each run is a process. The targets are on its processor time, the sum over all processors: the seconds
beside it depend on what else the machine does, and are fewer if it does nothing. QUICK=1 takes a tenth of the pages.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fastwarc.warc import ArchiveIterator, WarcRecordType

from benchmarks.agreement import collections
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin import SiteOptions, revert_site, sample_web, update_site
from pagekin.model.files import HTML_SUFFIXES

MOST = 1_000 if QUICK else 10_000
FEW = 1_000
MANUALS = Path(__file__).parents[1] / "build" / "manuals"
# Where pages have neither a main part nor an article.
PLACES = {"cppreference-doc-en-html": "#mw-content-text", "sample web": "body"}
_PAGEKIN = "import sys; sys.argv[0] = 'pagekin'; from pagekin.cli.main import main; main()"


def main() -> None:
    """Measure what is at hand."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        for name, folder in sites(Path(place)):
            print(f"lists in and out of {name}")
            figures += restored(name, folder, Path(place) / name.replace(" ", "-"))
        print("speed")
        figures += speed(Path(place))
    show(figures)
    keep("sites", {"machine": facts(), "figures": kept(figures)})


def sites(place: Path) -> Iterator[tuple[str, Path]]:
    """The folders that get lists: the sample web, and the manuals of Debian that are installed."""
    web = place / "sample"
    with sample_web.copy_to(place).open("rb") as archive:
        for record in ArchiveIterator(archive, record_types=WarcRecordType.response):
            path = web / unquote(urlsplit(record.headers["WARC-Target-URI"]).netloc) / str(record.stream_pos)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".html").write_bytes(record.reader.read())
    yield "sample web", web
    for name, folder in collections().items():
        if folder.is_dir():
            yield name, folder


def content(folder: Path) -> dict[str, bytes]:
    """The digest of every file of a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    return {path.relative_to(folder).as_posix(): sha256(path.read_bytes()).digest() for path in files}


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> int:
    return sum(one.get(name) != other.get(name) for name in one.keys() | other.keys())


def restored(name: str, source: Path, copy: Path) -> Iterator[Figure]:
    """Lists in, in again, out: what differs."""
    shutil.copytree(source, copy, symlinks=True)
    before = content(copy)
    options = SiteOptions(at=PLACES.get(name, ""), include=("*",))
    lists = sum(each.action == "insert" for each in update_site(copy, options, inject=True).changes)
    first = content(copy)
    outside = sum(first[path] != before[path] for path in before if not path.lower().endswith(HTML_SUFFIXES))
    update_site(copy, options, inject=True)
    second = content(copy)
    revert_site(copy)
    yield Figure(f"{name}: files", len(before))
    yield Figure(f"{name}: pages that got a list", lists)
    yield Figure(f"{name}: other files that changed", outside, at_most=0)
    yield Figure(f"{name}: files that a second run changed", differing(first, second), at_most=0)
    yield Figure(f"{name}: files that differ after --revert", differing(before, content(copy)), at_most=0)
    shutil.rmtree(copy)


def write_site(folder: Path, most: int) -> int:
    """A site of pages of manuals, with the marker at their ends; how many there are."""
    written = 0
    roots = [*collections().values(), *sorted(MANUALS.glob("*"))]
    for number, root in enumerate(each for each in roots if each.is_dir()):
        for path in sorted(path for path in root.rglob("*.html") if path.is_file()):
            if written == most:
                return written
            target = folder / f"manual-{number}" / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes().replace(b"</body>", b"<!-- pagekin --></body>"))
            written += 1
    return written


def run(folder: Path) -> tuple[float, float]:
    """Seconds and processor seconds of `pagekin site --inject` in a process of its own."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-c", _PAGEKIN, "site", str(folder), "--inject", "--quiet", "--at", "marker"]
    subprocess.run(command, check=True, cwd=folder.parent)
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def speed(place: Path) -> Iterator[Figure]:
    for most in (FEW, MOST):
        folder = place / f"site-{most}"
        pages = write_site(folder, most)
        print(f"  {pages:,} pages", flush=True)
        name = f"{pages:,} pages"
        large = most == MOST and not QUICK
        yield from timing(f"{name}, a new index", [run(folder)], 60 if large else None)
        yield from timing(f"{name}, nothing changed", [run(folder) for _ in range(3)], 5 if large else 1)
        for path in folder.rglob("*.html"):
            path.touch()
        yield from timing(f"{name}, written again with the same bytes", [run(folder)], 5 if large else None)
        page = next(iter(sorted(folder.rglob("*.html"))))
        page.write_bytes(page.read_bytes().replace(b"<body", b"<body data-changed", 1))
        yield from timing(f"{name}, one page changed", [run(folder)], None)


def timing(what: str, runs: list[tuple[float, float]], most: float | None) -> Iterator[Figure]:
    """The best of some runs."""
    yield Figure(f"{what}: processor time", min(busy for _, busy in runs), "s", at_most=most)
    yield Figure(f"{what}: seconds", min(seconds for seconds, _ in runs), "s")


if __name__ == "__main__":
    main()
