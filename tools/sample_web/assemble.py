"""All hosts of the sample web, with copies and inclusions filled in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from tools.sample_web.edits import edited, moved
from tools.sample_web.prose import Block
from tools.sample_web.text import Host, Page, read_host


@cache
def hosts() -> tuple[Host, ...]:
    """Return the hosts of the sample web, sorted by name."""
    return read_hosts(files(__package__) / "hosts")


def pages() -> tuple[Page, ...]:
    """Return the pages of all hosts, in the order of the sources."""
    return tuple(page for host in hosts() for page in host.pages)


def labels() -> list[tuple[str, str]]:
    """Return the hierarchy as sorted (url, "Top/Middle/Leaf") pairs. A page may have several labels or none."""
    return sorted((page.url, label) for page in pages() for label in page.labels)


def read_hosts(folder: Traversable) -> tuple[Host, ...]:
    """Read the hosts whose source texts are the .txt files of a folder."""
    sources = sorted((item for item in folder.iterdir() if item.name.endswith(".txt")), key=lambda item: item.name)
    return assembled([read_host(source.name, source.read_text("utf-8")) for source in sources])


def assembled(hosts: Iterable[Host]) -> tuple[Host, ...]:
    """Return the hosts with every copy and every inclusion replaced by its text."""
    hosts = tuple(hosts)
    originals = {page.url: page for host in hosts for page in host.pages if not page.copy}
    return tuple(replace(host, pages=tuple(_filled(page, originals) for page in host.pages)) for host in hosts)


def _filled(page: Page, originals: dict[str, Page]) -> Page:
    if page.copy:
        return _copied(page, originals)
    return replace(page, blocks=tuple(_included(page, originals)))


def _copied(page: Page, originals: dict[str, Page]) -> Page:
    original = _original(page, page.copy, originals)
    return replace(
        page,
        title=page.title or original.title,
        labels=page.labels or original.labels,
        blocks=edited(moved(original.blocks, original.host, page.place), page.edits),
    )


def _included(page: Page, originals: dict[str, Page]) -> Iterator[Block]:
    for block in page.blocks:
        if block.kind == "include":
            original = _original(page, block.source.removeprefix("<<< "), originals)
            yield from moved(original.blocks, original.host, page.place)
        else:
            yield block


def _original(page: Page, url: str, originals: dict[str, Page]) -> Page:
    found = originals.get(url)
    if found is None or not found.blocks or any(block.kind == "include" for block in found.blocks):
        raise page.place.error(f"{page.path} takes its text from {url}, which has none of its own")
    return found
