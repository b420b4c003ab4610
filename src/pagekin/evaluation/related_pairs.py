"""Related pairs as truth: files of pairs of pages, and the measures of how early a ranking has the related pages."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pagekin.errors import MisuseError
from pagekin.evaluation.judge import CUTOFF, System, judge_batches
from pagekin.evaluation.labels import LeftOut, lines_of
from pagekin.evaluation.measures import NDCG, Ratios
from pagekin.evaluation.population import ComparedPages
from pagekin.kernels.rankings import rank_relevant
from pagekin.model.arrays import Bools, Floats, Int64s, UInt32s, offsets_of
from pagekin.model.reading import Ragged
from pagekin.store.catalog import Find

MISSING = "pages of related pairs that the collection does not have"
RELATED_MEASURES = RECALL, MRR, AP, _ = f"R@{CUTOFF}", "MRR", "AP", NDCG


@dataclass(frozen=True)
class RelatedPairs(Ragged):
    """The related pages of each page, ascending. A pair counts in both directions."""

    page: UInt32s

    @property
    def count(self) -> int:
        """The number of pairs."""
        return len(self.page) // 2

    def of(self, sources: Int64s) -> tuple[Int64s, UInt32s]:
        """The related pages of some sources: offsets, and pages."""
        return offsets_of(self.lengths()[sources]), self.page[self.places(sources)[1]]

    def without(self, linked: Int64s, left_out: LeftOut, urls: list[str]) -> "RelatedPairs":
        """The pairs whose keys (see `pair_keys`) are not among those of linked pairs."""
        row = np.repeat(np.arange(len(self)), self.lengths())
        keys = pair_keys(row, self.page.astype(np.int64), len(self))
        kept = ~np.isin(keys, linked)
        dropped = np.unique(keys[~kept])
        first = " ".join(urls[page] for page in divmod(int(dropped[0]), len(self))) if len(dropped) else ""
        left_out.add("related pairs in which a page links to the other", first, len(dropped))
        return RelatedPairs(offsets_of(np.bincount(row[kept], minlength=len(self))), self.page[kept])


def pair_keys(a: Int64s, b: Int64s, pages: int) -> Int64s:
    """A number for each pair of pages, whatever its order.

    >>> pair_keys(np.array([2, 5]), np.array([5, 2]), 10).tolist()
    [25, 25]
    """
    keys: Int64s = np.minimum(a, b) * pages + np.maximum(a, b)
    return keys


def related_pairs(pairs: Iterable[tuple[int, int]], pages: int, left_out: LeftOut, urls: list[str]) -> RelatedPairs:
    """The related pages of each of `pages` pages; pairs of a page with itself, and repeated pairs, are counted."""
    a, b = np.array(list(pairs), np.int64).reshape(-1, 2).T
    left_out.add_all("pairs of a page with itself", [urls[page] for page in a[a == b].tolist()])
    keys, times = np.unique(pair_keys(a[a != b], b[a != b], pages), return_counts=True)
    left_out.add("pairs that occur more than once, in either order", "", int(times.sum()) - len(keys))
    first, second = keys // max(1, pages), keys % max(1, pages)
    both = np.sort(np.concatenate([keys, second * pages + first]))
    return RelatedPairs(
        offsets_of(np.bincount(both // max(1, pages), minlength=pages)), (both % max(1, pages)).astype(np.uint32)
    )


def read_pairs(file: Path, find: Find, left_out: LeftOut) -> Iterator[tuple[int, int]]:
    """The pairs of nodes of a file with lines of `page<TAB>page`; `find` gives the node that a name means."""
    missing: dict[str, None] = {}
    pairs = 0
    for number, line in lines_of(file, left_out):
        names = [name.strip() for name in line.split("\t")[:2]]
        if len(names) < 2 or not all(names):
            left_out.add("lines that are no pair", f"line {number} of {file}")
            continue
        pairs += 1
        nodes = [(name, find(name)) for name in names]
        unknown = [name for name, node in nodes if node is None]
        if unknown:
            missing |= dict.fromkeys(unknown)
            left_out.add("pairs with a page that the collection does not have", "\t".join(names).replace("\t", " "))
        else:
            yield tuple(node for _, node in nodes)  # type: ignore[misc]
    left_out.add_all(MISSING, list(missing))
    if not pairs:
        raise MisuseError(f"{file} has no pairs; a line is a page, a tab and a related page")


@dataclass(frozen=True)
class RelatedJudgement:
    """How early a system has the related pages of each source."""

    table: Ratios
    answered: Bools  # whether the system ranks any page for the source


def judge_related(
    system: System,
    pages: ComparedPages,
    related: RelatedPairs,
    sources: Int64s,
    threads: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> RelatedJudgement:
    """Rank all pages for every source. Equal scores are ordered by URL, as in answers."""

    def judge_batch(batch: Int64s, scores: Floats) -> tuple[Int64s, Bools]:
        offsets, page = related.of(batch)
        places = np.empty(len(page), np.int64)
        rank_relevant(batch, offsets, page, scores, places)
        listed = (scores > -np.inf).sum(axis=1) - (scores[np.arange(len(batch)), batch] > -np.inf)
        return places, listed > 0

    judged = judge_batches(judge_batch, system, pages, sources, threads, progress)
    places, answered = (np.concatenate(column) for column in zip(*judged, strict=True))
    return RelatedJudgement(related_ratios(places, related.lengths()[sources]), answered)


def related_ratios(places: Int64s, counts: Int64s) -> Ratios:
    """R@10, MRR, AP and nDCG@10 of each source with `counts` related pages, given their places in the ranking.

    Places are from 1, ascending for each source; 0, at the end, for pages that the ranking does not list.

    >>> related_ratios(np.array([2, 20, 0]), np.array([3])).values()["MRR"]
    0.5
    """
    row, begin = np.repeat(np.arange(len(counts)), counts), np.cumsum(counts) - counts
    found, top = places > 0, (places > 0) & (places <= CUTOFF)
    place = np.where(found, places, 1)
    precision = (np.arange(len(places)) - begin[row] + 1) / place
    ideal = np.cumsum(1.0 / np.log2(np.arange(2, CUTOFF + 2)))[np.minimum(counts, CUTOFF) - 1]

    def total(values: Floats, where: Bools) -> Floats:
        return np.bincount(row[where], values[where], len(counts)).astype(np.float64)

    columns = (
        total(np.ones(len(places)), top) / counts,
        np.where(found[begin], 1.0 / place[begin], 0.0),
        total(precision, found) / counts,
        total(1.0 / np.log2(1 + place), top) / ideal,
    )
    return Ratios(list(RELATED_MEASURES), np.column_stack(columns), np.ones((len(counts), len(columns))))
