"""What was learned, in numbers: tables 1, 3, 4 and 5 of the paper, and files for other programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pagekin.learning.ranking import MEASURES, Ranker, RankingQueries
from pagekin.learning.wilcoxon import signed_rank
from pagekin.model.arrays import Floats

LEVEL = 0.05


def compared(one: Floats, other: Floats, names: tuple[str, str] = ("okapi", "linklearn")) -> dict[str, dict[str, Any]]:
    """By measure: the means of two systems over the same questions, the change, and whether chance could do it."""
    table = {}
    for k, name in enumerate(MEASURES):
        before, after = float(one[:, k].mean()), float(other[:, k].mean())
        p = signed_rank(one[:, k], other[:, k])
        better = after < before if name == MEASURES[0] else after > before
        table[name] = {
            names[0]: before,
            names[1]: after,
            "change": after / before - 1.0 if before else None,
            "p": p,
            "significantly_better": bool(better and p < LEVEL),
        }
    return table


def qrel_lines(queries: RankingQueries, asking: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """What is right, in the format of TREC."""
    for k in range(len(queries)):
        for page in queries.right[queries.right_offsets[k] : queries.right_offsets[k + 1]].tolist():
            yield f"{_word(asking[k])} 0 {_word(names[page])} 1"


def run_lines(ranker: Ranker, asking: Sequence[str], names: Sequence[str], tag: str) -> Iterator[str]:
    """The order of all pages that share something with each question, in the format of TREC.

    Programs that read it order by score alone, as numbers of 32 bits, and equal ones by name; so of equal scores each
    is written a trifle smaller than the one before.
    """
    for rows, scores in ranker.rows():
        for k, row in zip(rows.tolist(), scores, strict=True):
            if ranker.queries.pages[k] >= 0:
                row[ranker.queries.pages[k]] = 0.0
            order = np.argsort(-row, kind="stable")
            last = np.float32(np.inf)
            for rank, page in enumerate(order[row[order] > 0.0].tolist(), 1):
                last = min(np.float32(row[page]), np.nextafter(last, np.float32(-np.inf)))
                yield f"{_word(asking[k])} Q0 {_word(names[page])} {rank} {last:.9g} {tag}"


def _word(name: str) -> str:
    """A name without white space, which would part it.

    >>> _word("a page.html")
    'a%20page.html'
    """
    return "%20".join(name.split())
