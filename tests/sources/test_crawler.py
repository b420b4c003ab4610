"""A crawl keeps to one site and its rules, gets out of traps, and goes on where it was stopped."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Request, Response, TextResponse
from warcio.archiveiterator import ArchiveIterator

from cli.processes import in_this_process
from pagekin.errors import FailureError, MisuseError
from pagekin.model.capture import Capture
from pagekin.sources.crawler import CrawlOptions, crawl
from pagekin.sources.spider import SiteSpider
from sources.trap_site import trap_site
from sources.walk import file, items, redirects

pytestmark = pytest.mark.slow

SITE = "http://a.example/"
QUICK = CrawlOptions(delay=0.0, max_depth=10)


def test_a_crawl_finds_the_pages_of_a_site_and_ends(tmp_path: Path) -> None:
    """Pages: /, /oak, /elm, /listed, /s, /deep/, /deep/x/, /deep/x/x/, and the calendar of months 1 to 10."""
    with trap_site() as site:
        report = crawl(site.url, tmp_path / "site.warc.gz", QUICK)
    found = items(tmp_path / "site.warc.gz")
    names = {item.url.removeprefix(site.url) for item in found if isinstance(item, Capture)}
    assert names == {"", "oak", "elm", "listed", "s", "deep/", "deep/x/", "deep/x/x/"} | {
        f"cal?m={month}" for month in range(1, 11)
    }
    assert (report.pages, report.fetched, report.ended) == (18, 18, "finished")
    assert report.skipped == {
        "HTTP status 404": 1,
        "HTTP status 503": 1,
        "deeper than the limit": 1,
        "forbidden by robots.txt": 1,
        "not HTML": 1,
        "path that repeats itself": 1,
    }
    assert (site.url + "ring/1", site.url + "ring/2") in redirects(found)
    assert not any("private" in path for path in site.requests)
    assert max(site.requests.values()) == site.requests["/busy"] == 3  # fetched once, and tried twice again


def test_sitemaps_that_robots_names_are_followed(tmp_path: Path) -> None:
    """An index of sitemaps, which names itself, too; a gzipped one with a page of another site; and a missing one."""
    with trap_site("User-agent: *\nDisallow: /cal\nSitemap: {url}maps/index.xml\n") as site:
        crawl(site.url + "elm", tmp_path / "site.warc.gz", QUICK)
    names = {item.url.removeprefix(site.url) for item in items(tmp_path / "site.warc.gz") if isinstance(item, Capture)}
    assert names >= {"elm", "mapped", "listed"} and not any("b.example" in name for name in names)


def test_a_crawl_stops_after_its_bytes(tmp_path: Path) -> None:
    with trap_site() as site:
        report = crawl(site.url + "large", tmp_path / "site.warc.gz", CrawlOptions(delay=0.0, max_mebibytes=1))
    assert report.ended == "limit: size" and 1 << 20 <= report.bytes < 2 << 20


def test_a_page_without_an_end_is_left(tmp_path: Path) -> None:
    with trap_site() as site, pytest.raises(FailureError, match="1 page too large"):
        crawl(site.url + "endless", tmp_path / "site.warc.gz", CrawlOptions(delay=0.0, max_depth=0))


def test_a_crawl_waits_between_requests(tmp_path: Path) -> None:
    with trap_site() as site:
        crawl(site.url, tmp_path / "site.warc.gz", CrawlOptions(delay=0.2, max_pages=4))
    waited = [after - before for before, after in pairwise(site.times)]
    assert len(waited) >= 5 and sum(waited) >= 0.15 * len(waited)


def test_the_output_is_read_by_another_reader(tmp_path: Path) -> None:
    with trap_site() as site:
        crawl(site.url, tmp_path / "site.warc.gz", CrawlOptions(delay=0.0, max_depth=0))
    with (tmp_path / "site.warc.gz").open("rb") as stream:
        records = [(record.rec_type, record.rec_headers["WARC-Target-URI"]) for record in ArchiveIterator(stream)]
    assert records[0][0] == "warcinfo"
    assert ("response", site.url) in records


def test_a_stopped_crawl_goes_on(tmp_path: Path) -> None:
    output, part = tmp_path / "site.warc.gz", tmp_path / "site.warc.gz.part"
    with trap_site() as site:
        first = crawl(site.url, output, CrawlOptions(delay=0.0, max_pages=3))
        assert (first.pages, first.ended) == (3, "limit: number of pages")
        stored = ["/" + each.url.removeprefix(site.url) for each in items(output) if isinstance(each, Capture)]
        assert len(stored) == 3
        file(part, output.read_bytes() + b"\x1f\x8b\x08\x00 the beginning of a record")
        output.unlink()
        before = dict(site.requests)
        second = crawl(site.url, output, QUICK)
    assert (second.pages, second.fetched) == (18, 15)
    assert all(site.requests[path] == before[path] for path in stored)
    assert not part.exists()
    assert len({item.url for item in items(output) if isinstance(item, Capture)}) == 18


def test_a_site_that_forbids_everything_is_told(tmp_path: Path) -> None:
    with trap_site("User-agent: *\nDisallow: /\n") as site, pytest.raises(FailureError, match="forbidden by robots"):
        crawl(site.url, tmp_path / "site.warc.gz", QUICK)
    assert list(tmp_path.iterdir()) == []


def test_a_site_that_is_busy_is_told(tmp_path: Path) -> None:
    with (
        trap_site(status=503) as site,
        pytest.raises(FailureError, match="skipped: 1 HTTP status 503"),
    ):
        crawl(site.url, tmp_path / "site.warc.gz", QUICK)


def test_misuse_is_told(tmp_path: Path) -> None:
    other = file(tmp_path / "a.warc.gz", b"x")
    for url, output, said in (
        ("ftp://a.example/", "b.warc.gz", "is no http or https URL"),
        ("http://a.example/", "b.zip", "should end in .warc.gz"),
        ("http://a.example/", "a.warc.gz", "exists already"),
    ):
        with pytest.raises(MisuseError, match=said):
            crawl(url, tmp_path / output)
    assert other.read_bytes() == b"x"


def test_the_command_reports(tmp_path: Path) -> None:
    with trap_site() as site:
        done = in_this_process(
            "crawl", site.url, "-o", "a.warc.gz", "--delay", "0", "--max-pages", "2", folder=tmp_path
        )
    assert (done.code, done.out.splitlines()[0].partition(",")[0]) == (0, "a.warc.gz: 2 pages")
    assert "limit: number of pages" in done.out and "Try next:  pagekin build a.warc.gz -o a.kin" in done.out


@pytest.fixture
def spider(tmp_path: Path) -> Iterator[SiteSpider]:
    job = {"url": SITE, "part": str(tmp_path / "part"), "max_depth": 5, "max_pages": 9, "max_mebibytes": 1}
    spider = SiteSpider(job, [])
    yield spider
    spider.file.close()


def urls(requests: Iterable[Request]) -> list[str]:
    return [request.url for request in requests]


def test_sitemaps_of_other_machines_are_not_fetched(spider: SiteSpider) -> None:
    """A site could else let a crawl ask servers that only this machine reaches."""
    named = ("/a.xml", "http://169.254.169.254/", "nt: *", "http://a.example/b.xml", "http://b.example/c.xml")
    lines = "".join(f"Sitemap: {each}\n" for each in named)
    found = urls(spider.parse_robots(TextResponse(f"{SITE}robots.txt", body=lines.encode())))
    assert found == [f"{SITE}a.xml", f"{SITE}b.xml"]
    index = "".join(f"<sitemap><loc>{each}</loc></sitemap>" for each in (f"{SITE}d.xml", "http://b.example/e.xml"))
    body = f"<sitemapindex>{index}</sitemapindex>".encode()
    assert urls(spider.parse_sitemap(Response(f"{SITE}sitemap.xml", body=body))) == [f"{SITE}d.xml"]


@pytest.mark.parametrize("body", [b"", b"/", b"\x1f\x8b\x08"], ids=["empty", "no XML", "cut"])
def test_a_damaged_sitemap_is_counted(spider: SiteSpider, body: bytes) -> None:
    assert urls(spider.parse_sitemap(Response(f"{SITE}sitemap.xml", body=body))) == []
    assert spider.skipped == {"sitemap that cannot be read": 1}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # warcio's temporary files
def test_a_page_with_headers_that_are_not_ascii_is_stored(spider: SiteSpider, tmp_path: Path) -> None:
    headers = {"Content-Type": "text/html", "X-Author": "José".encode(), "Location": "/café".encode("latin-1")}
    meta = {"pagekin_depth": 0}
    page = HtmlResponse(SITE, headers=headers, body=b"<a href=b>b</a>", request=Request(SITE, meta=meta))
    assert urls(spider.parse(page)) == [f"{SITE}b"]
    moved = HtmlResponse(f"{SITE}c", 301, headers=headers, request=Request(f"{SITE}c", meta=meta))
    list(spider.parse(moved))
    spider.file.close()
    with (tmp_path / "part").open("rb") as stream:
        stored = [dict(record.http_headers.headers) for record in ArchiveIterator(stream)]
    assert [each["X-Author"] for each in stored] == ["Jos%C3%A9"] * 2
    assert stored[1]["Location"] == "/caf%E9"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_full_disk_ends_a_crawl(spider: SiteSpider, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spider.writer, "write_record", fail)
    with pytest.raises(CloseSpider):
        list(spider.parse(HtmlResponse(SITE, body=b"a", request=Request(SITE, meta={"pagekin_depth": 0}))))
    assert (spider.broken, spider.pages) == ("No space left on device", 0)
