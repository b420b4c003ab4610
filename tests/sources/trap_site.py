"""A site on loopback that has traps: endless calendars, sessions, huge files, rings of redirects."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic
from urllib.parse import parse_qs, urlsplit

PAGES = {
    "/": "<a href=/oak>oak</a> <a href=/cal?m=1>calendar</a> <a href=/s?sid=1>s</a> <a href=/ring/1>ring</a>"
    " <a href=/huge>huge</a> <a href=/deep/>deep</a> <a href=/private/x>private</a> <a href=/gone>gone</a>"
    " <a href=http://other.example/>other</a> <a href=/busy>busy</a>",
    "/oak": "<a href=/>home</a> <a href=/elm>elm</a>",
    "/elm": "no links",
    "/listed": "only in the sitemap",
    "/mapped": "only in a sitemap that robots.txt names",
}
_SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9"


class TrapSite(ThreadingHTTPServer):
    """The server; it counts the requests for each path."""

    def __init__(self, robots: str, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.robots, self.status = robots, status
        self.requests: Counter[str] = Counter()
        self.times: list[float] = []  # when pages were asked for
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    server: TrapSite

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        self.server.requests[self.path] += 1
        self.server.times.append(monotonic())
        if path == "/robots.txt":
            return self._send(self.server.robots.replace("{url}", self.server.url), "text/plain")
        if self.server.status != 200:
            return self._send("busy", status=self.server.status)
        if path == "/sitemap.xml":
            locs = "".join(f"<url><loc>{self.server.url}{name}</loc></url>" for name in ("listed", "oak"))
            return self._send(f"<urlset xmlns='{_SITEMAPS}'>{locs}</urlset>", "text/xml")
        if path == "/maps/index.xml":
            names = ("maps/pages.xml.gz", "maps/gone.xml", "maps/index.xml")
            locs = "".join(f"<sitemap><loc>{self.server.url}{name}</loc></sitemap>" for name in names)
            return self._send(f"<sitemapindex xmlns='{_SITEMAPS}'>{locs}</sitemapindex>", "text/xml")
        if path == "/maps/pages.xml.gz":
            locs = "".join(f"<url><loc>{loc}</loc></url>" for loc in (self.server.url + "mapped", "http://b.example/"))
            return self._send(
                gzip.compress(f"<urlset xmlns='{_SITEMAPS}'>{locs}</urlset>".encode()), "application/gzip"
            )
        if path == "/large":
            return self._send("<a href=/oak>oak</a>" + "x" * (1 << 20))
        if path == "/endless":
            return self._endless()
        if path == "/cal":
            month = int(query["m"][0])
            return self._send(f"month {month} <a href=/cal?m={month + 1}>next</a>")
        if path == "/s":
            return self._send(f"session <a href=/s?sid={self.server.requests.total()}>again</a>")
        if path.startswith("/ring/"):
            return self._send("", status=302, to="/ring/2" if path.endswith("1") else "/ring/1")
        if path == "/huge":
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(1 << 40))
            self.end_headers()
            return None
        if path.startswith("/deep/"):
            return self._send("<a href=x/>deeper</a>")
        if path == "/busy":
            return self._send("busy", status=503)
        return self._send(PAGES[path]) if path in PAGES else self._send("no such page", status=404)

    def _endless(self) -> None:
        """HTML without an end, until the client closes the connection."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(b"x" * (1 << 20))

    def _send(self, body: str | bytes, kind: str = "text/html", status: int = 200, to: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if to:
            self.send_header("Location", to)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode() if isinstance(body, str) else body)


@contextmanager
def trap_site(robots: str = "User-agent: *\nDisallow: /private/\n", status: int = 200) -> Iterator[TrapSite]:
    server = TrapSite(robots, status)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
