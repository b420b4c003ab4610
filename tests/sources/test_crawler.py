"""A crawl keeps to one site and its rules, gets out of traps, and goes on where it was stopped."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from cli.processes import in_this_process
from pagekin.errors import FailureError, MisuseError
from pagekin.model.capture import Capture
from pagekin.sources.crawler import CrawlOptions, crawl
from sources.trap_site import trap_site
from sources.walk import file, items, redirects

pytestmark = pytest.mark.slow

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
