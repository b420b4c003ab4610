"""Small collections for tests: pages as counts of terms, and links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pagekin.learning.corpus import CorpusCounts, CorpusLinks, CorpusPart, part_of
from pagekin.model.arrays import offsets_of


def counted(pages: Sequence[Mapping[int, int]]) -> CorpusCounts:
    """Pages given as term -> count."""
    rows = [sorted(page.items()) for page in pages]
    pairs = [pair for row in rows for pair in row]
    return CorpusCounts(
        offsets_of(np.array([len(row) for row in rows], np.int64)),
        np.array([term for term, _ in pairs], np.uint32),
        np.array([count for _, count in pairs], np.uint32),
    )


def links(pairs: Iterable[tuple[int, int]]) -> CorpusLinks:
    """Links given as (citing, cited)."""
    columns = np.array(list(pairs), np.int64).reshape(-1, 2)
    return CorpusLinks(columns[:, 0].copy(), columns[:, 1].copy())


def whole(pages: Sequence[Mapping[int, int]], pairs: Iterable[tuple[int, int]]) -> CorpusPart:
    """All pages as one part; no term is in so many that it says nothing."""
    return part_of(np.arange(len(pages)), counted(pages), links(pairs))


def topical(pages: int = 240, topics: int = 8, seed: int = 1) -> tuple[CorpusCounts, CorpusLinks]:
    """A web with something to learn: rare words tell the topic, links stay within it, middling words are noise."""
    random = np.random.default_rng(seed)
    topic = random.integers(0, topics, pages)
    rows: list[dict[int, int]] = []
    for page in range(pages):
        own = 1000 + 40 * topic[page] + random.integers(0, 40, random.integers(3, 9))
        noise = random.integers(0, 300, random.integers(20, 90))
        terms, counts = np.unique(np.concatenate([own, noise]), return_counts=True)
        rows.append(dict(zip(terms.tolist(), (counts * random.integers(1, 3, len(counts))).tolist(), strict=True)))
    citing = np.repeat(np.arange(pages), 5)
    cited = random.integers(0, pages, len(citing))
    indexed = random.random(len(citing)) < 0.9
    members = [np.flatnonzero(topic == each) for each in range(topics)]
    cited[indexed] = [int(random.choice(members[topic[page]])) for page in citing[indexed]]
    return counted(rows), CorpusLinks(citing, cited)
