"""OKAPI at its best: K and B that do best on valid, found on a grid that is walked uphill."""

from __future__ import annotations

from collections.abc import Callable

from pagekin.learning.corpus import CorpusPart
from pagekin.learning.ranking import AP, RankingQueries, measured
from pagekin.model.weighting import Okapi

# The paper has 1.5 and 0.6. Where pages ask, and the terms of a question count one each, far larger K can be best.
KS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 35.0, 60.0, 100.0, 180.0, 320.0, 560.0, 1000.0)
BS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def tune_okapi(
    valid: CorpusPart, queries: RankingQueries, progress: Callable[[str], None] = lambda _: None
) -> tuple[Okapi, dict[str, float]]:
    """The K and B of most average precision, and all measures there. The walk begins at the paper's values."""
    known: dict[tuple[int, int], dict[str, float]] = {}

    def at(k: int, b: int) -> float:
        if (k, b) not in known:
            known[k, b] = measured(valid, Okapi(KS[k], BS[b]), queries)
            progress(f"tuning OKAPI, K {KS[k]:g}, B {BS[b]:g}: AP {known[k, b][AP]:.4f}")
        return known[k, b][AP]

    place = (KS.index(1.5), BS.index(0.6))
    for step in (3, 1):
        while True:
            near = [(k, b) for k in range(place[0] - step, place[0] + step + 1, step) for b in _around(place[1], step)]
            best = max((each for each in near if 0 <= each[0] < len(KS)), key=lambda each: (at(*each), each))
            if at(*best) <= at(*place):
                break
            place = best
    return Okapi(KS[place[0]], BS[place[1]]), known[place]


def _around(place: int, step: int) -> list[int]:
    return [b for b in range(place - step, place + step + 1, step) if 0 <= b < len(BS)]
