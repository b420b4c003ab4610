"""The comparison of two rankings (tables 4 and 5 of the paper), and rankings and qrels for files."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pagekin.learning.ranking import ERROR, MEASURES, Ranker, RankingQueries
from pagekin.model.arrays import Floats

LEVEL = 0.05  # of significance


def compare_measures(
    first: Floats, second: Floats, names: tuple[str, str] = ("okapi", "linklearn")
) -> dict[str, dict[str, Any]]:
    """For each measure: the means of two systems over the same queries, the change, and its significance."""
    table = {}
    for k, name in enumerate(MEASURES):
        before, after = float(first[:, k].mean()), float(second[:, k].mean())
        p = signed_rank(first[:, k], second[:, k])
        better = after < before if name == ERROR else after > before
        table[name] = {
            names[0]: before,
            names[1]: after,
            "change": after / before - 1.0 if before else None,
            "p": p,
            "significantly_better": bool(better and p < LEVEL),
        }
    return table


def signed_rank(first: Floats, second: Floats) -> float:
    """The two-sided p-value of the Wilcoxon signed-rank test, by the normal approximation (for 20 pairs or more).

    Pairs without a difference are dropped; tied differences share their mean rank.
    """
    difference = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    difference = difference[difference != 0.0]
    n = len(difference)
    if n == 0:
        return 1.0
    _, place, times = np.unique(np.abs(difference), return_inverse=True, return_counts=True)
    rank = (np.cumsum(times) - (times - 1) / 2.0)[place]
    positive = float(rank[difference > 0.0].sum())
    ties = float((times.astype(np.float64) ** 3 - times).sum())
    variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0
    return math.erfc(abs(positive - n * (n + 1.0) / 4.0) / math.sqrt(2.0 * variance))


def qrels_of(
    queries: RankingQueries, query_names: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, str, int]]:
    """(query, page, 1) for each relevant page."""
    for k, query in enumerate(query_names):
        yield from ((query, names[page], 1) for page in queries.relevant_to(k).tolist())


def rankings_of(
    ranker: Ranker, query_names: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """For each query: (page, score) of all pages that share a term with it, the highest score first."""
    for rows, scores in ranker.rows():
        for k, row in zip(rows.tolist(), scores, strict=True):
            if ranker.queries.pages[k] >= 0:
                row[ranker.queries.pages[k]] = 0.0
            order = np.argsort(-row, kind="stable")
            yield query_names[k], [(names[page], float(row[page])) for page in order[row[order] > 0.0].tolist()]
