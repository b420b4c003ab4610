"""Which hyper-parameters? First where to begin and the rate, then the units: each is tried, valid decides (paper, 4.2).

All that is known so far can be kept, and gone on with: `State` goes through JSON without losing a bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from pagekin.errors import MisuseError
from pagekin.learning.corpus import CorpusPart
from pagekin.learning.initial import STARTS
from pagekin.learning.networks import Units
from pagekin.learning.ranking import AP
from pagekin.learning.trainer import Trainer, TrainingRun, TrainingSettings

_VERSION = 2  # of the way down; a state of another cannot be gone on with
RATES = (0.1, 0.01)
UNITS: tuple[Units, ...] = ((5, 10, 10), (3, 5, 5), (10, 20, 20))


@dataclass(frozen=True)
class Grid:
    """What is tried: every start with every rate at the first units, then the other units at the best of these."""

    starts: tuple[str, ...] = STARTS
    rates: tuple[float, ...] = RATES
    units: tuple[Units, ...] = UNITS
    descent: TrainingSettings = field(default_factory=TrainingSettings)  # what they have in common

    def next(self, done: list[TrainingRun]) -> TrainingSettings | None:
        """What to try next, if anything."""
        tried = [run.descent for run in done]
        for begin, rate in product(self.starts, self.rates):
            wanted = replace(self.descent, begin=begin, rate=rate, units=self.units[0])
            if wanted not in tried:
                return wanted
        best = best_of(done[: len(self.starts) * len(self.rates)]).descent
        for units in self.units:
            wanted = replace(best, units=units)
            if wanted not in tried:
                return wanted
        return None


def best_of(runs: list[TrainingRun]) -> TrainingRun:
    """The run with most average precision on valid; of equal ones the first."""
    return max(runs, key=lambda run: run.best[AP])


@dataclass
class SearchState:
    """Descents that have stopped, and the one under way."""

    fingerprint: str
    done: list[TrainingRun] = field(default_factory=list)
    run: TrainingRun | None = None

    def as_dict(self) -> dict[str, Any]:
        """For a file."""
        return {
            "fingerprint": self.fingerprint,
            "done": [run.as_dict() for run in self.done],
            "run": self.run and self.run.as_dict(),
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> SearchState:
        """From a file."""
        try:
            run = facts["run"] and TrainingRun.from_dict(facts["run"])
            return cls(str(facts["fingerprint"]), [TrainingRun.from_dict(each) for each in facts["done"]], run)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise MisuseError(f"this is no state of learning ({error!r})") from error


def fingerprint(grid: Grid, *parts: CorpusPart) -> str:
    """What a state belongs to: the settings, and every number that is learned from."""
    digest = hashlib.sha256(repr((_VERSION, grid)).encode())
    for part in parts:
        for column in (
            part.pages,
            part.counts.offsets,
            part.counts.term,
            part.counts.count,
            part.link_offsets,
            part.link,
        ):
            digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def choose(
    trainer: Trainer, grid: Grid, state: SearchState, looked: Callable[[SearchState], None] = lambda _: None
) -> TrainingRun:
    """Try all of the grid, going on from `state`, and give the best run; `looked` is called at each look at valid."""
    while True:
        if state.run is None:
            descent = grid.next(state.done)
            if descent is None:
                return best_of(state.done)
            state.run = trainer.begin(descent)
        while not state.run.is_done:
            trainer.advance(state.run)
            looked(state)
        state.done.append(state.run)
        state.run = None
