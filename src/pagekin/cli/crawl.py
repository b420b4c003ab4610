"""`pagekin crawl`: the pages of one site as a WARC file."""

from __future__ import annotations

import shlex

import click

import pagekin
from pagekin.cli.options import json_option, options_from
from pagekin.cli.output import counted, print_result, print_table
from pagekin.cli.progress import progress_bar
from pagekin.sources.crawler import CrawlOptions


@click.command(short_help="Fetch the pages of a site into a WARC file.")
@click.argument("url")
@click.option("-o", "--output", required=True, metavar="FILE.warc.gz", help="The WARC file to write.")
@options_from(CrawlOptions)
@click.option("-q", "--quiet", is_flag=True, help="Print no progress bar and no report.")
@json_option
def crawl(url: str, output: str, options: CrawlOptions, quiet: bool, json: bool) -> None:
    """Fetch the pages of the site of URL into a WARC file; needs pagekin[crawl].

    robots.txt is obeyed, and one page is fetched at a time. Pages are those of the host of URL, found by links and by
    sitemaps. A crawl that was stopped goes on if the command is given again.
    """
    with progress_bar(quiet or json) as show:
        report = pagekin.crawl(
            url, output, options, progress=lambda pages: show(pagekin.Progress("crawling", pages, options.max_pages))
        )
    if json or not quiet:
        print_result(report, json, print_report)


def print_report(report: pagekin.CrawlReport) -> None:
    earlier = report.pages - report.fetched
    before = f", {earlier:,} of them by an earlier run" if earlier else ""
    click.echo(f"{report.output}: {counted(report.pages, 'page')}{before}, {report.bytes / 1e6:.1f} MB; {report.ended}")
    if report.skipped:
        click.echo("Skipped:")
        print_table([(n, reason) for reason, n in sorted(report.skipped.items(), key=lambda item: (-item[1], item[0]))])
    store = report.output.removesuffix(".warc.gz") + ".kin"
    click.echo("Try next:  " + shlex.join(["pagekin", "build", report.output, "-o", store]))
