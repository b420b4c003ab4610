"""The names under which the pages of a collection are known: URLs, aliases and files."""

from collections.abc import Callable, Iterable

from pagekin.store.store import Store
from pagekin.urls import canonical_url, variants

Find = Callable[[str], int | None]  # the node that a name means


class PageNames:
    """The nodes of a collection by URL and by file name.

    >>> known = PageNames([("http://a.example/x.html", 7)], [("site/A%28b%29.htm", 8)])
    >>> known.find("HTTP://a.example/x.html#top"), known.find("A%28b%29.htm"), known.find("nowhere.htm")
    (7, 8, None)
    """

    def __init__(self, urls: Iterable[tuple[str, int]], files: Iterable[tuple[str, int]] = ()) -> None:
        self.urls: dict[str, int] = {}
        for url, node in urls:
            self.urls.setdefault(url, node)
        # A file is known by its path with and without the source folder; an ambiguous name means no page.
        self._files: dict[str, int | None] = {}
        for source, node in files:
            for name in {source, source.partition("/")[2] or source}:
                self._files[name] = node if self._files.get(name, node) == node else None

    def find(self, name: str) -> int | None:
        """The node of a file path, of a URL, or of a URL without its scheme."""
        name = name.removeprefix("./")
        node = self._files.get(name)
        if node is not None:
            return node
        url = canonical_url(name) or canonical_url(f"http://{name}")
        known = (self.urls.get(each) for each in ((url, *variants(url)) if url is not None else ()))
        return next((node for node in known if node is not None), None)


class NewPageNames(PageNames):
    """Names without a collection: every name that is added is a new page."""

    def __init__(self) -> None:
        super().__init__(())

    def take(self, name: str) -> int:
        """The number of a name, the next free one for a new name."""
        return self.urls.setdefault(canonical_url(name) or name, len(self.urls))

    def find(self, name: str) -> int | None:
        """The number of a name that was added."""
        return self.urls.get(canonical_url(name) or name)


def page_names_of(store: Store) -> PageNames:
    """The pages of a store by their URLs, their aliases, and the files that they were read from."""
    pages = "FROM pages ORDER BY row"
    urls = [
        *store.catalog.each("SELECT url, node FROM nodes WHERE first_row IS NOT NULL ORDER BY node"),
        *store.catalog.each(f"SELECT url, node {pages}"),
        *store.catalog.each(
            "SELECT a.url, a.node FROM aliases a JOIN nodes n ON n.node = a.node"
            " WHERE n.first_row IS NOT NULL ORDER BY a.url"
        ),
    ]
    files = store.catalog.each(f"SELECT source, node {pages}")
    return PageNames(((row[0], row[1]) for row in urls), ((row[0], row[1]) for row in files))
