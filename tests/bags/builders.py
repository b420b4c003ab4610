"""Bags of small collections, by words and URLs instead of by numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from pagekin.bags.build import fold_bags
from pagekin.bags.source import BagSource
from pagekin.model.arrays import offsets_of
from pagekin.model.bags import Bags, Terms
from pagekin.model.capture import ReadingSettings
from pagekin.model.strategy import Strategy
from pagekin.store.store import Store
from store.builders import Row, page, store_of

# Every option at its plainest: what a word counts can be seen with the naked eye.
PLAIN = Strategy(
    links=False,
    mix="sum",
    evidence=0.0,
    window_width=0,
    stemming="none",
    lead=0.0,
    distance_weight=False,
    frequency_weight="none",
    templates=True,
    template_links=True,
)
ONE, TWO = "http://one.example/", "http://two.example/"


def plain(**options: Any) -> Strategy:
    """The plainest strategy, but for these options."""
    return replace(PLAIN, **options)


def make_bags(collection: BagSource, strategy: Strategy) -> tuple[Bags, Terms]:
    """All bags at once."""
    with TemporaryFile() as file:
        folded = fold_bags(collection, strategy, file)
        pieces = list(folded.weighted())
    term, weight, content, around = (
        np.concatenate([np.empty(0, kind), *(getattr(piece, name) for piece in pieces)])
        for name, kind in (("term", np.uint32), ("weight", np.float32), ("content", np.uint32), ("around", np.float32))
    )
    offsets = offsets_of(np.concatenate([piece.lengths() for piece in pieces]))
    return Bags(offsets, term, weight, content, around), folded.terms


def collection_of(store: Store) -> BagSource:
    return BagSource.of(store)


@dataclass(frozen=True)
class Made:
    """The bags of a collection; a citing node is shown by its URL."""

    bags: Bags
    terms: Terms
    urls: list[str]

    def _column(self, url: str, column: str) -> dict[str, float]:
        row = self.bags.row(self.urls.index(url))
        words = len(self.terms.name)
        names = [self.terms.name[t] if t < words else self.urls[t - words] for t in self.bags.term[row].tolist()]
        assert len(set(names)) == len(names)
        return {
            name: value for name, value in zip(names, getattr(self.bags, column)[row].tolist(), strict=True) if value
        }

    def content(self, url: str) -> dict[str, float]:
        return self._column(url, "content")

    def around(self, url: str) -> dict[str, float]:
        return self._column(url, "around")

    def weight(self, url: str) -> dict[str, float]:
        return self._column(url, "weight")


@dataclass(frozen=True)
class Small:
    """A small collection that bags can be made of."""

    store: Store

    @classmethod
    def of(cls, folder: Path, pages: dict[str, str], chop_host: bool = False) -> Small:
        rows: list[Row] = [page(url, html) for url, html in pages.items()]
        return cls(store_of(folder, *rows, settings=ReadingSettings(chop_host=chop_host)))

    def bags(self, strategy: Strategy = PLAIN, **options: Any) -> Made:
        urls = [row["url"] for row in self.store.catalog.rows("SELECT url FROM nodes ORDER BY node")]
        return Made(*make_bags(collection_of(self.store), replace(strategy, **options)), urls)
