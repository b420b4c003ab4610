"""The progress of long work on standard error: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TypeVar

import click

import pagekin
from pagekin.cli.output import clean

T = TypeVar("T")
INTERVAL = 15.0  # seconds between two lines


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[pagekin.Progress], None]]:
    """A function that shows progress; `quiet` shows nothing."""
    if quiet:
        yield lambda _: None
    else:
        with _bar() if sys.stderr.isatty() else _lines() as show:
            yield show


def watched(items: Sequence[T], label: str, quiet: bool = False) -> Iterable[T]:
    """The items, with progress."""
    with progress_bar(quiet) as show:
        for done, item in enumerate(items):
            show(pagekin.Progress(label, done, len(items)))
            yield item


def progress_line(progress: pagekin.Progress, seconds: float) -> str:
    """The line of a moment.

    >>> progress_line(pagekin.Progress("reading", 1, 4), 31.4)
    'pagekin: reading, 25% after 31 s'
    """
    share = f", {progress.done / progress.total:.0%}" if progress.total else ""
    return f"pagekin: {clean(progress.stage)}{share} after {seconds:.0f} s"


@contextmanager
def _lines() -> Iterator[Callable[[pagekin.Progress], None]]:
    """A thread prints the lines, since a stage may take long without a sign of progress."""
    last, ended = [pagekin.Progress("working")], Event()

    def print_lines() -> None:
        begin = time.monotonic()
        while not ended.wait(INTERVAL):
            click.echo(progress_line(last[0], time.monotonic() - begin), err=True)

    def show(progress: pagekin.Progress) -> None:
        last[0] = progress

    thread = Thread(target=print_lines, daemon=True)
    thread.start()
    try:
        yield show
    finally:
        ended.set()
        thread.join()


@contextmanager
def _bar() -> Iterator[Callable[[pagekin.Progress], None]]:
    with click.progressbar(length=1, label="reading", file=sys.stderr, width=40) as bar:

        def draw(progress: pagekin.Progress) -> None:
            bar.label = clean(progress.stage)
            if progress.total:
                bar.length = progress.total
                bar.update(progress.done - bar.pos)
            bar.render_progress()

        yield draw
