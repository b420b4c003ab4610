"""A map of the collection: a point for every page, near to those of similar pages."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from pagekin.errors import FailureError, MisuseError
from pagekin.latent.layout import layout
from pagekin.model.arrays import Int64s
from pagekin.model.options import option
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.views.names import clean_line, name_from_url

MOST = 20_000  # pages on a map; of a larger collection they are spread evenly
_SIDE = 65_535  # coordinates are whole numbers up to this
COLOURS = 8  # the largest groups have colours of their own
COLOUR_BY = ("host", "folder", "language")
_COLUMNS = "n.node, n.id, n.url, n.title, n.host, p.language"


class PageMap(NamedTuple):
    """Where the pages are: nodes, and a row of two coordinates for each."""

    nodes: Int64s
    places: Int64s
    without: int  # pages that have no vector, such as those without text
    total: int


class Point(NamedTuple):
    """A page on the map."""

    x: int
    y: int
    id: str
    title: str
    url: str
    host: str
    language: str


@dataclass(frozen=True)
class MapView:
    """The part of a map that is in view, in its coordinates."""

    left: int = option(0, "The smallest x.")
    top: int = option(0, "The smallest y.")
    right: int = option(_SIDE, "The largest x.")
    bottom: int = option(_SIDE, "The largest y.")


def page_map(indexed: IndexedStore, over: Callable[[Any], Iterable[Any]] = iter) -> PageMap:
    """Lay out the pages by their latent vectors."""
    try:
        vectors = indexed.latent.take(np.arange(len(indexed.nodes) - 1))
    except MisuseError as error:
        raise FailureError(f"A map needs latent vectors: {error}") from error
    known = np.flatnonzero(vectors.norm > 0.0)
    shown = known[:: max(1, -(-len(known) // MOST))]
    points = layout(vectors.take(shown).row.astype(np.float32), over) if len(shown) else np.empty((0, 2))
    places = np.rint(points * _SIDE).astype(np.int64)
    return PageMap(shown, places, len(vectors.norm) - len(known), len(known))


def map_points(indexed: IndexedStore, found: PageMap, by: str) -> dict[str, Any]:
    """Return the points as columns, and the groups that give them colours.

    The page with most in-links that count is the first, so that it gets the first label.
    """
    points = list(_points(indexed, found))
    columns = {name: [getattr(each, name) for each in points] for name in ("x", "y", "id", "title")}
    groups = [{"host": each.host, "folder": _folder(each.url), "language": each.language}[by] for each in points]
    largest = sorted(Counter(groups).items(), key=lambda item: (-item[1], item[0]))[:COLOURS]
    number = {name: k for k, (name, _) in enumerate(largest)}
    colour = [number.get(name, COLOURS) for name in groups]
    return {**columns, "group": colour, "groups": [clean_line(name, 60) for name, _ in largest], "side": _SIDE}


def pages_in_view(indexed: IndexedStore, found: PageMap, view: MapView) -> list[dict[str, Any]]:
    """Return title, URL and place of the pages in a part of the map, in the order of `map_points`."""
    return [
        {"title": each.title, "url": each.url, "x": each.x, "y": each.y}
        for each in _points(indexed, found)
        if view.left <= each.x <= view.right and view.top <= each.y <= view.bottom
    ]


def _points(indexed: IndexedStore, found: PageMap) -> Iterator[Point]:
    degree = indexed.link_scorers.scorer.links.in_degree.tolist()
    rows = list(indexed.catalog.each(f"SELECT {_COLUMNS} FROM nodes n JOIN pages p ON p.row = n.first_row"))
    rows.sort(key=lambda row: (-degree[row[0]], row[0]))
    place_of = dict(zip(found.nodes.tolist(), found.places.tolist(), strict=True))
    for node, id, url, title, host, language in rows:
        if node in place_of:
            shown = clean_line(title) or clean_line(name_from_url(url))
            x, y = place_of[node]
            yield Point(x, y, id, shown, url, host, language or "unknown")


def _folder(url: str) -> str:
    """Return the host of a URL and the first folder of its path.

    >>> _folder("http://a.example/doc/en/x.html"), _folder("http://a.example/x.html")
    ('a.example/doc', 'a.example')
    """
    parts = urlsplit(url)
    folder = parts.path.lstrip("/").partition("/")
    return f"{parts.netloc}/{folder[0]}" if folder[1] else parts.netloc
