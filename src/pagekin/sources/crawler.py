"""Crawl one site into a WARC file, politely, with Scrapy (extra `crawl`).

The crawl runs in a process of its own (`spider.py`), since Scrapy's event loop runs once in a process. It writes to
`OUTPUT.part`, record by record. A crawl that was stopped goes on from there: pages in the file are not fetched again,
and their links are followed. At the end the file gets its name.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pagekin.errors import FailureError, MisuseError, need
from pagekin.model.files import sync_file, sync_folder
from pagekin.model.options import check_options, option
from pagekin.urls import canonical_url

_SUFFIX = ".warc.gz"


@dataclass(frozen=True)
class CrawlOptions:
    """The limits of a crawl."""

    max_pages: int = option(1000, "Fetch at most this number of pages.", minimum=1)
    max_depth: int = option(20, "Fetch pages that are at most this number of links away from URL.", minimum=0)
    max_mebibytes: int = option(1024, "Stop when this much has been fetched; in MiB.", name="max_size", minimum=1)
    delay: float = option(1.0, "Wait this number of seconds between two requests.", minimum=0.0)

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class CrawlReport:
    """What a crawl has found."""

    url: str
    output: str
    pages: int
    fetched: int  # by this run; the others by an earlier run that was stopped
    bytes: int  # of the bodies of pages
    ended: str  # why: "finished", or the limit that was reached
    skipped: dict[str, int]  # by reason


def crawl(
    url: str,
    output: str | Path,
    options: CrawlOptions | None = None,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> CrawlReport:
    """Fetch the pages of the site of `url` into the WARC file `output`; a crawl that was stopped goes on.

    `progress` is called with the number of pages. Raise FailureError if there is no page.
    """
    need("scrapy", "warcio", what="a crawl", extra="crawl")
    start, path, options = canonical_url(url), Path(output), options or CrawlOptions()
    if start is None:
        raise MisuseError(f"{url!r} is no http or https URL; write it like https://example.org/")
    if not path.name.endswith(_SUFFIX):
        raise MisuseError(f"{path} should end in {_SUFFIX}, as a crawl is stored in a WARC file")
    if path.exists():
        raise MisuseError(f"{path} exists already; name another file, or remove it")
    part = path.with_name(path.name + ".part")
    result = _run({"url": start, "part": str(part), **asdict(options)}, progress)
    report = CrawlReport(start, str(path), **result)
    if not report.pages:
        part.unlink(missing_ok=True)
        raise FailureError(f"{start}: no page was fetched; {_why(report)}")
    try:
        sync_file(part)
        part.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise FailureError(f"{path} cannot be written: {error.strerror or error}; the pages are in {part}") from error
    return report


def _run(job: dict[str, Any], progress: Callable[[int], None]) -> dict[str, Any]:
    """Run the spider; return what it reports in its last line."""
    command = [sys.executable, "-m", "pagekin.sources.spider", json.dumps(job)]
    last = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            last = line
            if line.strip().isdigit():
                progress(int(line))
        errors = process.stderr.read()
    try:
        found: dict[str, Any] = json.loads(last)
        if process.returncode == 0 and isinstance(found, dict):
            if "misuse" in found:
                raise MisuseError(str(found["misuse"]))
            return found
    except ValueError:
        pass
    tail = errors.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
    raise FailureError(f"the crawl of {job['url']} has stopped ({tail[0][:300]}); run the command again to continue")


def _why(report: CrawlReport) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(report.skipped.items()))
    return f"skipped: {reasons}" if reasons else "the site did not answer"
