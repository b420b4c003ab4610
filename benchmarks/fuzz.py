"""Fuzzing: archives, pages, notes, wikis, vectors, crawls, result lists, URLs, HTTP bodies and index files, mutated.

`python -m benchmarks.fuzz --seconds 60` gives every target so many seconds, in a process of its own with little
memory, prints how many inputs it tried, and writes `results/fuzz.json`. The fuzzer sees which code runs, and goes on
from inputs that run other code. An input may be refused with an error of ours. Anything else is a finding: another
exception, a process that dies, an input that takes too long or too much memory. Findings are told with the input, and
the exit code is 1. It needs atheris (libFuzzer), which not every Python has.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.machine import QUICK, Figure, facts, keep, kept, show

SECONDS = 1 if QUICK else 10
BAR = 1_000_000  # inputs in all
TOO_LONG = 20  # seconds for one input; they are small, so all that takes seconds grows too fast
MEMORY = 4 << 30  # bytes of addresses; numba alone takes one
LONGEST = 1 << 16  # bytes of an input
_SAVED_EVERY = 0.2  # seconds


@dataclass
class Tally:
    """What became of a target's inputs."""

    inputs: int = 0
    refused: int = 0  # with an error of ours
    slowest: float = 0.0  # seconds
    findings: dict[str, str] = field(default_factory=dict)  # what is wrong -> an input, in hexadecimal

    def save(self, file: Path) -> None:
        """Write it down: a process that dies takes all else with it."""
        file.with_suffix(".new").write_text(json.dumps(asdict(self)), "utf-8")
        file.with_suffix(".new").replace(file)


def main(seconds: int = SECONDS) -> int:
    """Fuzz every target for so many seconds; how many findings there are."""
    return len(campaign(seconds)[1])


def campaign(seconds: int) -> tuple[list[Figure], list[str]]:
    """(inputs tried and findings by target, what was found)."""
    if find_spec("atheris") is None:
        print("fuzz: atheris is not installed here, nothing is fuzzed (pip install atheris)")
        return [], []
    print("fuzz")
    figures: list[Figure] = []
    found: list[str] = []
    inputs = 0
    for name in TARGETS:
        tally = fuzz(name, seconds)
        some = [
            Figure(f"{name}: inputs tried", tally.inputs),
            Figure(f"{name}: inputs refused with a sentence", tally.refused),
            Figure(f"{name}: slowest input", round(tally.slowest, 3), "s", at_most=TOO_LONG),
            Figure(f"{name}: findings", len(tally.findings), at_most=0),
        ]
        show(some)
        for number, (what, data) in enumerate(tally.findings.items()):
            file = Path(tempfile.gettempdir()) / f"pagekin-fuzz-{name}-{number}"
            file.write_bytes(bytes.fromhex(data))
            print(f"  {name}: {what}\n    the input is in {file}")
        figures += some
        found += [f"{name}: {what}" for what in tally.findings]
        inputs += tally.inputs
    figures += [Figure("inputs in all", inputs, at_least=BAR), Figure("findings in all", len(found), at_most=0)]
    show(figures[-2:])
    return figures, found


def fuzz(name: str, seconds: int) -> Tally:
    """Fuzz one target in another process."""
    with tempfile.TemporaryDirectory(dir=_quick_disk()) as place:
        home = Path(place)
        (home / "corpus").mkdir()
        command = [sys.executable, "-X", "faulthandler", "-m", "benchmarks.fuzz", "--target", name, "--home", place]
        options = [f"-max_total_time={seconds}", f"-timeout={TOO_LONG}", "-rss_limit_mb=3000", f"-max_len={LONGEST}"]
        options += [f"-artifact_prefix={place}/", "-print_final_stats=1", "-close_fd_mask=1", "-seed=1"]
        done = subprocess.run(
            [*command, "--", *options, str(home / "corpus")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        tally = Tally()
        with suppress(FileNotFoundError):
            tally = Tally(**json.loads((home / "tally.json").read_text("utf-8")))
        if done.returncode:
            kept_input = [file.read_bytes().hex() for file in home.glob("*-*") if file.is_file()]
            last = [kept_input[0] if kept_input else _last_input(home)]
            tally.findings[f"died with {done.returncode}: {done.stderr[-1500:]}"] = last[0]
        return tally


def _last_input(home: Path) -> str:
    file = home / "input"
    return file.read_bytes().hex() if file.exists() else ""


def _quick_disk() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


# --- in the process of a target ------------------------------------------------------------------


def run(name: str, home: Path, options: list[str]) -> None:
    """Hand over to libFuzzer, which never comes back."""
    import resource

    atheris = import_module("atheris")
    for module in pkgutil.iter_modules(import_module("pagekin.kernels").__path__, "pagekin.kernels."):
        import_module(module.name)  # before: numba could not compile what atheris has put its marks into
    with atheris.instrument_imports(include=["pagekin"]):
        from pagekin.errors import PagekinError

        seeds, target = TARGETS[name](home)
        target(seeds[0])  # compiles the kernels
    for number, seed in enumerate(seeds):
        (home / "corpus" / f"seed-{number}").write_bytes(seed)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    tally = Tally()
    saved = [0.0]

    def one(data: bytes) -> None:
        (home / "input").write_bytes(data)
        begin = time.perf_counter()
        try:
            target(data)
        except PagekinError:
            tally.refused += 1
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}: {error}"[:300]
            tally.findings.setdefault(what, data.hex())
        tally.slowest = max(tally.slowest, time.perf_counter() - begin)
        tally.inputs += 1
        if time.perf_counter() > saved[0] + _SAVED_EVERY:
            saved[0] = time.perf_counter()
            tally.save(home / "tally.json")

    atheris.Setup([sys.argv[0], *options], one)
    atheris.Fuzz()


Target = tuple[list[bytes], Callable[[bytes], None]]


def _read(file: Path, data: bytes) -> None:
    """Read a source as a build does, without writing a store."""
    from pagekin.model.capture import Capture, ReadingSettings
    from pagekin.reading.batch import read_captures
    from pagekin.sources.open import open_sources

    file.write_bytes(data)
    settings = ReadingSettings()
    items = open_sources([file], (), settings).items(lambda _: False)
    read_captures([item for item in items if isinstance(item, Capture)], settings)


def _members() -> list[bytes]:
    """A few records of the sample web, each its own gzip member."""
    from tools.sample_web.captures import captures
    from tools.sample_web.warc import archive

    data = archive(captures()[:6])[0]
    return [data]


def warc(home: Path) -> Target:
    """WARC: the first byte says whether the rest is the archive, or must still be packed."""
    packed = _members()[0]
    plain = gzip.decompress(packed)

    def target(data: bytes) -> None:
        if data[:1] < b"\x55":
            _read(home / "a.warc", data[1:])
        elif data[:1] < b"\xaa":
            _read(home / "a.warc.gz", data[1:])
        else:
            _read(home / "a.warc.gz", gzip.compress(data[1:], 1))

    return [b"\x00" + plain, b"\x80" + packed, b"\xff" + plain], target


def wacz(home: Path) -> Target:
    """WACZ: the first byte says whether the rest is the package, or an archive to be packed into one."""
    packed = _members()[0]

    def package(name: str, data: bytes) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as package:
            package.writestr(name, data)
            package.writestr("datapackage.json", "{}")
        return file.getvalue()

    def target(data: bytes) -> None:
        if data[:1] < b"\x80":
            _read(home / "a.wacz", data[1:])
        else:
            _read(home / "a.wacz", package("archive/a.warc.gz", data[1:]))

    whole = package("archive/a.warc.gz", packed)
    return [b"\x00" + whole, b"\xff" + packed, b"\x00" + package("archive/a.warc", gzip.decompress(packed))], target


def html(_: Path) -> Target:
    """HTML: the first byte chooses a charset of the transport."""
    from pagekin.model.capture import Capture, Origin, ReadingSettings
    from pagekin.reading.batch import read_captures
    from tools.sample_web import captures

    charsets = ("", "utf-8", "windows-1252", "utf-16le", "shift_jis", "gb18030", "iso-2022-jp", "no such thing")
    settings = ReadingSettings(max_links=50, max_url_bytes=200)

    def target(data: bytes) -> None:
        charset = charsets[data[0] % len(charsets)] if data else ""
        capture = Capture("http://a.example/b/c.html", Origin("x", 0, len(data), 0), body=data[1:], charset=charset)
        reading = read_captures([capture], settings)
        if len(reading.skips) + len(reading) != 1:
            raise AssertionError("a page is neither read nor told to be skipped")

    return [b"\x00" + capture.body for capture in captures()[:40:4]], target


def urls(_: Path) -> Target:
    """URLs: a base and a reference on two lines; what comes out is canonical, so that it comes out again."""
    from pagekin.urls import canonical_url, host_of, page_id, resolve_url, variants

    def target(data: bytes) -> None:
        first, _, second = data.decode("utf-8", "surrogateescape").partition("\n")
        base = canonical_url(first)
        found = [base, resolve_url(base, second) if base else None, canonical_url(second)]
        for url in found:
            if url is not None:
                host_of(url), page_id(url), list(variants(url))
                if canonical_url(url) != url:
                    raise AssertionError("a canonical URL has another canonical URL")

    lines = ("http://a.example/b/c?d=e#f\n../g;h?i", "https://[::1]:8080/%7e\n//x@y:80/./..", "http://ä.example\n?q")
    return [line.encode() for line in lines], target


def jsonl(home: Path) -> Target:
    """JSON lines."""
    rows = [
        {"url": "http://a.example/1", "html": "<p>words <a href=2>link</a>", "captured": 1_600_000_000},
        {"url": "http://a.example/2", "text": "plain words", "title": "Two", "language": "en"},
        {"url": "http://a.example/3", "html": "\u00e4\ud83d\ude00", "captured": "2020-01-01T00:00:00Z"},
    ]
    seed = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return [seed, seed.splitlines()[0]], lambda data: _read(home / "a.jsonl", data)


def notes(home: Path) -> Target:
    """Markdown with front matter."""
    seeds = (
        "---\ntitle: 'A: b'\ntags: [a/b, \"c\"]\naliases:\n  - d\ndate: 2024-05-01\n---\n"
        "# H\n\n[[A#b|c]] ![[d.png]] `[[e]]`\n",
        "+++\ntitle = 'T'\ndraft = false\n+++\n|a|b|\n|-|-|\n|[[c\\|d]]|<b>e|\n\n> - 1. [f](g.md) #tag/h\n",
    )
    return [seed.encode() for seed in seeds], lambda data: _read(home / "a.md", data)


def wiki(home: Path) -> Target:
    """MediaWiki dumps: the first byte says whether the rest is packed, the dump, or the text of a page."""
    import bz2

    from pagekin.model.wiki import WikiSite
    from pagekin.reading.wikitext import wikitext_as_html

    text = "{{a|[[b]]}} ''c'' [[d|e]]f [[File:g|thumb|h [[i]]]]\n== j ==\n{|\n| k=l | m || n\n|}\n<ref>o</ref>[//p q]"
    head = "<mediawiki><siteinfo><base>https://a.example/wiki/M</base></siteinfo>"
    page = "<page><title>A</title><ns>0</ns><id>1</id><revision><text>words</text></revision></page>"
    dump = f"{head}{page}</mediawiki>".encode()
    site = WikiSite("https://a.example/wiki/")

    def target(data: bytes) -> None:
        if data[:1] < b"\x55":
            _read(home / "a.xml.bz2", data[1:])
        elif data[:1] < b"\xaa":
            _read(home / "a.xml", data[1:])
        else:
            wikitext_as_html(data[1:].decode("utf-8", "replace"), "A", site)

    streams = b"".join(bz2.compress(part.encode()) for part in (head, page, page, "</mediawiki>"))
    return [b"\xff" + text.encode(), b"\x80" + dump, b"\x00" + streams, b"\x00" + bz2.compress(dump)], target


def crawls(home: Path) -> Target:
    """ARC, CDXJ and Parquet: the first byte says which."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>words"
    version = b"1 0 A\nURL IP-address Archive-date Content-type Archive-length\n"
    arc = b"filedesc://a.arc 0.0.0.0 20240501000000 text/plain %d\n%s\n" % (len(version), version)
    arc += b"http://a.example/ 127.0.0.1 20240501000000 text/html %d\n%s\n" % (len(http), http)
    (home / "a.warc.gz").write_bytes(_members()[0])
    place = {"url": "http://a.example/", "filename": "a.warc.gz", "offset": "0", "length": "900", "mime": "text/html"}
    index = f"example,a)/ 20240501000000 {json.dumps(place)}\n".encode()
    pq.write_table(pa.table({"url": ["http://a.example/"], "html": ["<p>words"]}), home / "a.parquet")
    names = ("a.arc", "a.cdxj", "a.parquet")
    seeds = [bytes([k]) + data for k, data in enumerate((arc, index, (home / "a.parquet").read_bytes()))]
    return seeds, lambda data: _read(home / names[(data or b"a")[0] % len(names)], data[1:])


def zim(home: Path) -> Target:
    """ZIM files, which libzim reads."""
    from sources.zims import Page, write_zim

    with suppress(FileNotFoundError):
        (home / "seed.zim").unlink()
    pages = (Page(f"p/{k}", f"Page {k}", f"<p>{k} words") for k in range(5))
    seed = write_zim(home / "seed.zim", pages).read_bytes()
    return [seed], lambda data: _read(home / "a.zim", data)


def crawler(home: Path) -> Target:
    """What a crawled site answers, as the spider of a crawl reads it: the first byte chooses the kind of answer."""
    from scrapy.exceptions import CloseSpider
    from scrapy.http import HtmlResponse, Request, Response, TextResponse

    from pagekin.sources.spider import SiteSpider

    job = {"url": "http://a.example/", "part": str(home / "part"), "max_depth": 5, "max_pages": 9, "max_mebibytes": 1}
    root, robots, sitemap = job["url"], "http://a.example/robots.txt", "http://a.example/sitemap.xml"

    def target(data: bytes) -> None:
        kind, body = (data or b"a")[0] % 4, data[1:]
        spider = SiteSpider(job, [])
        meta = {"pagekin_depth": 1}
        with suppress(CloseSpider):
            if kind == 0:
                page = HtmlResponse(root, body=body, request=Request(root, meta=meta))
                list(spider.parse(page))
            elif kind == 1:
                status, _, location = body.partition(b"\n")
                headers = {"Location": location.replace(b"\r", b"").replace(b"\n", b"")}
                code = 300 + len(status) % 100
                page = HtmlResponse(root, code, headers, request=Request(root, meta=meta))
                list(spider.parse(page))
            elif kind == 2:
                list(spider.parse_robots(TextResponse(robots, body=body)))
            else:
                list(spider.parse_sitemap(Response(sitemap, body=body)))
        spider.file.close()
        Path(str(job["part"])).unlink()

    index = b"<sitemapindex><sitemap><loc>http://a.example/s.xml</loc></sitemap></sitemapindex>"
    pages = b"<?xml version='1.0'?><urlset><url><loc>http://a.example/b?sid=1</loc></url></urlset>"
    html_page = b"<base href=/c/><a href='b?phpsessid=1&d=2'>b</a><area href=//x/y><link rel=next href=2>"
    lines = [b"\x00" + html_page, b"\x01xx\n/b/b/b", b"\x02User-agent: *\nSitemap: /s.xml\n"]
    return [*lines, b"\x03" + index, b"\x03" + pages, b"\x03" + gzip.compress(pages)], target


def vectors(home: Path) -> Target:
    """Files of vectors: the first byte says whether the rest is an array, the names of its rows, or Parquet."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from pagekin.latent.given import open_vector_file

    array, names, table = home / "v.npy", home / "v.urls", home / "v.parquet"
    np.save(array, np.arange(12, dtype=np.float32).reshape(3, 4))
    names.write_bytes(b"http://a.example/1\nhttp://a.example/2\nhttp://a.example/3")
    pq.write_table(pa.table({"url": ["http://a.example/1"], "vector": [[1.0, 2.0]]}), table)
    files = (array, names, table)
    whole = [file.read_bytes() for file in files]

    def target(data: bytes) -> None:
        kind = (data or b"a")[0] % len(files)
        files[kind].write_bytes(data[1:])
        try:
            opened = open_vector_file(table if kind == 2 else array)
            if sum(len(found) for found, _ in opened.batches()) != opened.rows:
                raise AssertionError("rows are lost")
        finally:
            files[kind].write_bytes(whole[kind])

    return [bytes([kind]) + data for kind, data in enumerate(whole)], target


def site(home: Path) -> Target:
    """Pages that get a list, which is taken out again, and the state of a site: the first byte says which."""
    from pagekin.site.markup import is_redirect, page_text, place_of_list, text_to_read, with_list, without_list
    from pagekin.site.state import SiteState, load_state, save_state

    places = ("", "marker", "#a", "main", "div.b[c=d]")
    block = '<nav class="pagekin-related"><ul><li>a</li></ul></nav>'
    save_state(home, SiteState())
    state = (home / "site.json").read_bytes()

    def target(data: bytes) -> None:
        kind = (data or b"a")[0] % (len(places) + 1)
        if kind == len(places):
            (home / "site.json").write_bytes(data[1:])
            load_state(home)
            return
        page = without_list(page_text(data[1:]))
        is_redirect(page), text_to_read(page, main_text=True)
        place = place_of_list(page, places[kind])
        if isinstance(place, int) and without_list(page_text(with_list(page, place, block))).data != page.data:
            raise AssertionError("a list does not leave the bytes as they were")

    pages = [
        "<main><p>a</main>",
        "a<!-- pagekin -->b",
        "<p id=a>b</p>",
        "<article>a</article>",
        "<div class=b c=d></div>",
    ]
    seeds = [bytes([kind]) + each.encode() for kind, each in enumerate(pages)]
    wide = b"\x03" + "<article>é</article>".encode("utf-16")
    return [*seeds, wide, b"\x02\x1b$B<main>\x1b(B<p id=a></p>", bytes([len(places)]) + state], target


def tools(home: Path) -> Target:
    """Questions of assistants: the first byte chooses the tool."""
    from mcp.server.mcpserver.exceptions import ToolError

    from pagekin import sample_web
    from pagekin.integrations.mcp import CollectionTools, reporting_errors
    from pagekin.pipeline import build

    build([sample_web.copy_to(home)], home / "sample.kin", processes=1)
    tools = CollectionTools(home / "sample.kin")
    calls = [reporting_errors(each) for each in (tools.find, tools.related, tools.show)]

    def target(data: bytes) -> None:
        text = data[1:2000].decode("utf-8", "replace")
        with suppress(ToolError):
            json.dumps(calls[(data or b"a")[0] % len(calls)](text or "a"))

    return [b'\x00cheese "stars"', b"\x01http://larder.example/", b"\x02Cold smoking"], target


def _lists() -> list[bytes]:
    """Result lists in the formats of search engines."""
    rows = [{"id": str(k), "url": f"http://a.example/{k}", "title": "T", "text": "some words " * 20} for k in range(3)]
    elastic = {"hits": {"hits": [{"_id": "1", "_index": "i", "_source": rows[0], "highlight": {"text": ["a"]}}]}}
    solr = {"response": {"docs": rows}, "highlighting": {"1": {"text": ["<em>some</em> words"]}}}
    grouped = {"grouped": {"url": {"groups": [{"doclist": {"docs": rows}}]}}}
    return [json.dumps(each).encode() for each in (rows, elastic, solr, grouped, [{"html": "<p>a \\u00e4"}])]


def results(_: Path) -> Target:
    """Result lists: the first byte chooses options."""
    from pagekin.duplicates.result_formats import Fields, read_results
    from pagekin.duplicates.result_list import group

    def target(data: bytes) -> None:
        fields = Fields.named("text" if data[:1] < b"\x40" else None, "a.b" if data[:1] > b"\xc0" else None)
        group(read_results(io.BytesIO(data[1:]), "input", fields), query="some" if data[:1] > b"\x80" else None)

    return [byte + each for byte in (b"\x00", b"\x60", b"\xa0", b"\xff") for each in _lists()], target


def bodies(home: Path) -> Target:
    """Bodies of HTTP requests: the first byte chooses the path. Every answer must be one of the API."""
    import asyncio

    from pagekin import sample_web
    from pagekin.pipeline import build
    from pagekin.serving.app import make_app
    from pagekin.serving.generations import CurrentGeneration

    build([sample_web.copy_to(home)], home / "sample.kin", processes=1)
    app, loop = make_app(CurrentGeneration(home / "sample.kin")), asyncio.new_event_loop()
    paths = ("/api/related", "/api/duplicates")

    def target(data: bytes) -> None:
        pieces = [data[1 : 1 + len(data) // 2], data[1 + len(data) // 2 :]]
        answered: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(message: dict[str, Any]) -> None:
            answered.append(message)

        path = paths[(data or b"a")[0] % len(paths)]
        headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
        scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
        loop.run_until_complete(app({**scope, "client": ("127.0.0.1", 1), "http_version": "1.1"}, receive, send))  # type: ignore[arg-type]
        status = answered[0]["status"]
        if status not in (200, 404, 422):
            raise AssertionError(f"status {status}")
        json.loads(b"".join(each.get("body", b"") for each in answered))

    questions = (
        {"urls": ["oak"], "limit": 3, "explain": True},
        {"text": "Jays bury acorns."},
        {"html": "<p>a <a href=b>c"},
    )
    return [b"\x00" + json.dumps(each).encode() for each in questions] + [b"\x01" + each for each in _lists()], target


def index(home: Path) -> Target:
    """Files of a store and its index: every five bytes say which file, where, and what is done to the byte there."""
    from pagekin import sample_web
    from pagekin.pipeline import build
    from pagekin.search.indexed_store import IndexedStore
    from pagekin.search.options import RelatedOptions

    whole = home / "whole.kin"
    build([sample_web.copy_to(home)], whole, processes=1, answers=5)
    files = [path.relative_to(whole) for path in sorted(whole.glob("*-*/*"))]
    options = RelatedOptions(min_similarity=0.0, limit=300, similarity="cosine", exclude_linked=True)

    def damage(store: Path, data: bytes) -> None:
        for k in range(0, min(len(data), 20) // 5 * 5, 5):
            file = store / files[data[k] % len(files)]
            content = bytearray(file.read_bytes())
            at = int.from_bytes(data[k + 1 : k + 4]) % max(1, len(content))
            if content:
                content[at] ^= data[k + 4]
            file.unlink()
            file.write_bytes(content)

    def target(data: bytes) -> None:
        store = home / "damaged.kin"
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(whole, store, copy_function=os.link)
        damage(store, data)
        indexed = IndexedStore.open(store)
        indexed.related("http://larder.example/")
        indexed.related("http://larder.example/", RelatedOptions(limit=5))  # kept answers
        indexed.related(["http://larder.example/", "http://nightsky.example/"], options)
        indexed.close()

    flips = [bytes([number, 0, 0, offset, 255]) for number in range(0, len(files), 5) for offset in (135, 143)]
    return [bytes(5), *flips], target


TARGETS: dict[str, Callable[[Path], Target]] = {
    "warc": warc,
    "wacz": wacz,
    "html": html,
    "urls": urls,
    "jsonl": jsonl,
    "notes": notes,
    "wiki": wiki,
    "crawls": crawls,
    "zim": zim,
    "crawler": crawler,
    "vectors": vectors,
    "site": site,
    "tools": tools,
    "results": results,
    "bodies": bodies,
    "index": index,
}


def _arguments() -> tuple[argparse.Namespace, list[str]]:
    """Ours, and after two dashes those of libFuzzer."""
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=SECONDS, help="for each target")
    parser.add_argument("--target", choices=TARGETS, help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(given[:end]), given[end + 1 :]


if __name__ == "__main__":
    given, options = _arguments()
    if given.target:
        run(given.target, given.home, options)
    figures, found = campaign(given.seconds)
    if figures:
        keep("fuzz", {"machine": facts("atheris"), "figures": kept(figures), "found": found, "seconds": given.seconds})
    sys.exit(bool(found))
