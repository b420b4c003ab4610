"""The process of a crawl: a Scrapy spider that keeps to one site and writes a WARC file.

Traps are bounded by rules that no honest page needs to break: a path has at most 100 queries, no part of a path
occurs more than twice, sessions are no part of a URL, and each URL is fetched once, which also ends rings of redirects.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import CloseSpider, StopDownload
from scrapy.http import HtmlResponse, Request, Response
from scrapy.utils.gz import gunzip
from scrapy.utils.sitemap import Sitemap
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import pagekin
from pagekin.sources.archives import read_records
from pagekin.sources.record import Record
from pagekin.urls import canonical_url, host_of, resolve_url

_HTML_TYPES = (b"text/html", b"application/xhtml+xml")
_XML_TYPES = (b"text/xml", b"application/xml", b"application/gzip", b"application/x-gzip", b"text/plain")
_LARGEST_PAGE = 16 << 20
_LONGEST_URL = 1000
_QUERIES_OF_A_PATH = 100
_REPEATED_PARTS = 2
_SITEMAPS = 50
_SESSION = re.compile(
    r"(?:;jsessionid=[^?/]*|(?<=[?&])(?:phpsessid|jsessionid|sessionid|session_id|sid)=[^&]*&?)", re.I
)
_FAILURES = {  # by the exceptions of Scrapy and Twisted
    "DownloadCancelledError": "page too large",
    "CannotResolveHostError": "host not found",
    "DNSLookupError": "host not found",
    "ConnectionRefusedError": "connection refused",
    "DownloadConnectionRefusedError": "connection refused",
    "DownloadTimeoutError": "no answer in time",
    "TimeoutError": "no answer in time",
    "TCPTimedOutError": "no answer in time",
}
_LEFT_OUT = ("content-encoding", "transfer-encoding", "content-length", "set-cookie")


class SiteSpider(scrapy.Spider):  # type: ignore[misc]
    """Fetches the pages of one site."""

    name = "pagekin"

    def __init__(self, job: dict[str, Any], known: list[Record], **keywords: Any) -> None:
        super().__init__(**keywords)
        self.job, self.known = job, known
        self.host = host_of(job["url"])
        self.seen: set[str] = set()
        self.queries: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.pages = self.fetched = self.bytes = self.sitemaps = 0
        self.ended, self.broken = "finished", ""
        self.file = Path(job["part"]).open("ab")  # noqa: SIM115, closed at the end of the crawl
        self.writer = WARCWriter(self.file, gzip=True)

    @classmethod
    def from_crawler(cls, crawler: Any, *arguments: Any, **keywords: Any) -> "SiteSpider":
        spider = super().from_crawler(crawler, *arguments, **keywords)
        crawler.signals.connect(spider.on_headers, signal=signals.headers_received)
        return spider  # type: ignore[no-any-return]

    async def start(self) -> AsyncIterator[Request]:
        for request in self._starts():
            yield request

    def _starts(self) -> Iterator[Request]:
        known, self.known = self.known, []
        if not known:
            about = {"software": f"pagekin/{pagekin.__version__}", "format": "WARC File Format 1.0"}
            about |= {"description": f"crawl of {self.job['url']}", "robots": "obey"}
            self.writer.write_record(self.writer.create_warcinfo_record(Path(self.job["part"]).name, about))
        for record in known:
            self.seen.add(canonical_url(record.url) or record.url)
            is_page = record.is_success
            self.pages += is_page
            self.bytes += len(record.payload) if is_page else 0
        for record in known:
            yield from self._follow(record.url, record.payload, record.http, record.header.get("pagekin-depth", "0"))
        yield from self._requests([self.job["url"]], 0)
        root = "/".join(self.job["url"].split("/", 3)[:3])
        yield Request(root + "/robots.txt", self.parse_robots, errback=self.ignore, priority=10)
        yield Request(root + "/sitemap.xml", self.parse_sitemap, errback=self.ignore, priority=5)

    def _follow(self, url: str, body: bytes, headers: dict[str, str], depth: str) -> Iterator[Request]:
        """Requests for the links of a page that an earlier run has fetched."""
        level = int(depth) if depth.isdecimal() else 0
        if headers.get("location"):
            return (yield from self._requests([resolve_url(url, headers["location"]) or ""], level + 1))
        response = HtmlResponse(url, body=body, headers={"Content-Type": headers.get("content-type", "")})
        return (yield from self._requests(self._links(response), level + 1))

    def on_headers(self, headers: Any, body_length: Any, request: Request, spider: Any) -> None:
        """Do not load what is no page."""
        kind = (headers.get("Content-Type") or b"").lower()
        wanted = _HTML_TYPES if request.callback == self.parse else (*_HTML_TYPES, *_XML_TYPES)
        if kind and not kind.startswith(wanted):
            if request.callback == self.parse:
                self.skipped["not HTML"] += 1
            raise StopDownload(fail=True)

    def _requests(self, urls: Iterable[str], depth: int) -> Iterator[Request]:
        for found in urls:
            url = canonical_url(_SESSION.sub("", found)) if found else None
            url = url.rstrip("?&") if url else None
            if url is None or url in self.seen or host_of(url) != self.host:
                continue
            self.seen.add(url)
            reason = self._trap(url, depth)
            if reason:
                self.skipped[reason] += 1
            else:
                meta = {"pagekin_depth": depth, "handle_httpstatus_all": True, "dont_redirect": True}
                yield Request(url, self.parse, errback=self.failed, meta=meta, priority=-depth, dont_filter=True)

    def _trap(self, url: str, depth: int) -> str:
        """Why a URL is not fetched, or ""."""
        path, question, _ = url.partition("?")
        parts = Counter(part for part in path.split("/")[3:] if part)
        if depth > self.job["max_depth"]:
            return "deeper than the limit"
        if len(url) > _LONGEST_URL:
            return "URL too long"
        if max(parts.values(), default=0) > _REPEATED_PARTS:
            return "path that repeats itself"
        if question:
            self.queries[path] += 1
            if self.queries[path] > _QUERIES_OF_A_PATH:
                return "too many queries of one path"
        return ""

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        depth = response.meta["pagekin_depth"]
        location = response.headers.get("Location")
        if 300 <= response.status < 400 and location:
            self._write(response, depth)
            target = resolve_url(response.url, location.decode("latin-1"))
            return (yield from self._requests([target or ""], depth + 1))
        if not 200 <= response.status < 300:
            self.skipped[f"HTTP status {response.status}"] += 1
            return None
        if not isinstance(response, HtmlResponse):
            self.skipped["not HTML"] += 1
            return None
        if self.pages >= self.job["max_pages"]:
            return None
        self._write(response, depth)
        self.pages += 1
        self.fetched += 1
        self.bytes += len(response.body)
        _tell(self.pages)
        if self.pages >= self.job["max_pages"]:
            self._close("number of pages")
        if self.bytes >= self.job["max_mebibytes"] << 20:
            self._close("size")
        return (yield from self._requests(self._links(response), depth + 1))

    def _close(self, limit: str) -> None:
        self.ended = f"limit: {limit}"
        raise CloseSpider(self.ended)

    def _write(self, response: Response, depth: int) -> None:
        try:
            self._write_record(response, depth)
        except OSError as error:
            self.broken = error.strerror or str(error)
            raise CloseSpider(self.broken) from error

    def _write_record(self, response: Response, depth: int) -> None:
        fields = [
            (_ascii(name), _ascii(value))
            for name, values in response.headers.items()
            for value in values
            if name.decode("latin-1").lower() not in _LEFT_OUT
        ]
        head = StatusAndHeaders(
            str(response.status), [*fields, ("Content-Length", str(len(response.body)))], "HTTP/1.1"
        )
        more = {"Pagekin-Depth": str(depth)}
        body = BytesIO(response.body)
        record = self.writer.create_warc_record(
            response.url, "response", body, http_headers=head, warc_headers_dict=more
        )
        self.writer.write_record(record)
        self.file.flush()

    def parse_robots(self, response: Response) -> Iterator[Request]:
        lines = [line.partition(":") for line in response.body.decode("utf-8", "replace").splitlines()]
        named = [value.strip() for field, _, value in lines if field.strip().lower() == "sitemap"]
        for url in self._here(resolve_url(response.url, each) or "" for each in named):
            yield Request(url, self.parse_sitemap, errback=self.ignore, priority=5)

    def _here(self, urls: Iterable[str]) -> list[str]:
        """The first of some URLs that are of this site: a site cannot let a crawl fetch from other machines."""
        canonical = (canonical_url(url) for url in urls)
        return [url for url in canonical if url is not None and host_of(url) == self.host][:_SITEMAPS]

    def parse_sitemap(self, response: Response) -> Iterator[Request]:
        self.sitemaps += 1
        body = response.body
        if self.sitemaps > _SITEMAPS or isinstance(response, HtmlResponse):
            return
        try:
            if body.startswith(b"\x1f\x8b"):
                body = gunzip(body, max_size=_LARGEST_PAGE)
            sitemap = Sitemap(body)
            urls = [entry["loc"] for entry, _ in zip(sitemap, range(50_000), strict=False) if "loc" in entry]
        except Exception:  # the parsers raise errors of many kinds
            self.skipped["sitemap that cannot be read"] += 1
            return
        if sitemap.type == "sitemapindex":
            yield from (Request(url, self.parse_sitemap, errback=self.ignore) for url in self._here(urls))
        else:
            yield from self._requests(urls, 1)

    def _links(self, response: HtmlResponse) -> list[str]:
        try:
            base = resolve_url(response.url, (response.css("base::attr(href)").get() or "").strip()) or response.url
            hrefs = response.css("a::attr(href), area::attr(href), link[rel=next]::attr(href)").getall()
        except ValueError:  # of the parser, such as an encoding that it cannot use for URLs
            self.skipped["page whose links cannot be read"] += 1
            return []
        return [url for href in hrefs[:50_000] if (url := resolve_url(base, href.strip()))]

    def failed(self, failure: Any) -> None:
        name = failure.type.__name__
        if name == "StopDownload":
            return
        is_forbidden = name == "IgnoreRequest" and "robots" in str(failure.value).lower()
        self.skipped["forbidden by robots.txt" if is_forbidden else _FAILURES.get(name, f"failed ({name})")] += 1

    def ignore(self, failure: Any) -> None:
        """A sitemap that does not exist is no failure."""

    def closed(self, reason: str) -> None:
        self.file.close()
        if reason == "shutdown":
            self.ended = "stopped"


def _ascii(header: bytes) -> str:
    r"""A name or value of a header with its other bytes percent-encoded, as in a URL.

    >>> _ascii(b"/caf\xe9 a")
    '/caf%E9 a'
    """
    return "".join(chr(byte) if 32 <= byte < 127 else f"%{byte:02X}" for byte in header)


def _known_pages(part: Path) -> Iterator[Record]:
    """What an earlier run has written; a record that it has not finished is cut off."""
    if not part.exists():
        return
    with part.open("rb") as file:
        records = list(read_records(file, _LARGEST_PAGE))
    for record in records:
        if not isinstance(record, Record):
            with part.open("rb+") as file:
                file.truncate(record.offset)
            return
        yield record


def _tell(value: object) -> None:
    """A line of JSON to the process that has started this one: the number of pages, and at last the report."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def main(job: dict[str, Any]) -> None:
    settings = {
        "ROBOTSTXT_OBEY": True,
        "USER_AGENT": f"pagekin/{pagekin.__version__}",
        "DOWNLOAD_DELAY": job["delay"],
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_MAXSIZE": _LARGEST_PAGE,
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_TIMEOUT": 60,
        "RETRY_TIMES": 2,
        "REDIRECT_ENABLED": False,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "CRITICAL",
    }
    known = list(_known_pages(Path(job["part"])))
    others = [record.url for record in known if host_of(canonical_url(record.url) or "http://") != host_of(job["url"])]
    if others:
        misuse = f"{job['part']} is from a crawl of another site ({others[0]}); name another output, or remove it"
        return _tell({"misuse": misuse})
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(SiteSpider)
    process.crawl(crawler, job=job, known=known)
    process.start()
    spider: Any = crawler.spider
    found = {name: getattr(spider, name) for name in ("pages", "fetched", "bytes", "ended")}
    if spider.broken or spider.ended == "stopped":
        sys.exit(spider.broken or "it was stopped")
    return _tell({**found, "skipped": dict(spider.skipped)})


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
