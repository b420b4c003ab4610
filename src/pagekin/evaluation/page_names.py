"""Which page does a label, or a line of a run, mean?"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pagekin.evaluation.labels import Class, Label
from pagekin.evaluation.notes import LeftOut
from pagekin.urls import canonical_url, variants

UNMET = "labels that name no page of the collection"
Find = Callable[[str], int | None]


class PageNames:
    """Under which URLs and names of files the pages of a collection are known.

    >>> known = PageNames([("http://a.example/x.html", 7)], [("site/A%28b%29.htm", 8)])
    >>> known.find("HTTP://a.example/x.html#top"), known.find("A%28b%29.htm"), known.find("nowhere.htm")
    (7, 8, None)
    """

    def __init__(self, urls: Iterable[tuple[str, int]], files: Iterable[tuple[str, int]] = ()) -> None:
        self.urls: dict[str, int] = {}
        for url, page in urls:
            self.urls.setdefault(url, page)
        # A file is known by its path with and without the folder that was read; of two with one name neither is.
        self._files: dict[str, int | None] = {}
        for source, page in files:
            for name in {source, source.partition("/")[2] or source}:
                self._files[name] = page if self._files.get(name, page) == page else None

    def find(self, key: str) -> int | None:
        """The page of a URL, of a file's path as it is, or of a URL without its scheme."""
        key = key.removeprefix("./")
        page = self._files.get(key)
        if page is not None:
            return page
        url = canonical_url(key) or canonical_url(f"http://{key}")
        for each in (url, *variants(url)) if url is not None else ():
            if each in self.urls:
                return self.urls[each]
        return None


class NewPageNames(PageNames):
    """Addresses without a collection: whatever a hierarchy names is a page, numbered as it comes."""

    def __init__(self) -> None:
        super().__init__(())

    def take(self, key: str) -> int:
        """The page of a key, a new one if need be."""
        return self.urls.setdefault(canonical_url(key) or key, len(self.urls))

    def find(self, key: str) -> int | None:
        """The page of a key, if the hierarchy has named it."""
        return self.urls.get(canonical_url(key) or key)


def join(labels: Iterable[Label], find: Find, notes: LeftOut) -> dict[int, set[Class]]:
    """The classes of every page that labels speak of; nothing is kept of the other labels but their number."""
    classes: dict[int, set[Class]] = {}
    for key, path in labels:
        page = find(key)
        if page is None:
            notes.add(UNMET, key)
        else:
            classes.setdefault(page, set()).add(path)
    return classes
