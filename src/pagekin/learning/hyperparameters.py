"""The search for hyper-parameters by validation (paper, 4.2): a grid for LinkLearn, hill climbing for OKAPI.

LinkLearn: first the start and the learning rate, then the hidden units. The state of the search is saved in a
checkpoint after each validation, so that an interrupted search resumes with the same result.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np

from pagekin.errors import MisuseError
from pagekin.learning.corpus import CorpusPart
from pagekin.learning.initial import STARTS
from pagekin.learning.networks import Units
from pagekin.learning.ranking import AP, RankingQueries, mean_measures
from pagekin.learning.trainer import Trainer, TrainingRun, TrainingSettings
from pagekin.model.files import written_whole
from pagekin.model.weighting import Okapi

_VERSION = 2  # of the training algorithm; a checkpoint of another version is not resumed
_MAX_CHECKPOINT = 1 << 26  # bytes
RATES = (0.1, 0.01)
UNITS: tuple[Units, ...] = ((5, 10, 10), (3, 5, 5), (10, 20, 20))
# The paper has K = 1.5 and B = 0.6. For long queries with binary term weights, far larger K can be best.
KS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 35.0, 60.0, 100.0, 180.0, 320.0, 560.0, 1000.0)
BS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Grid:
    """The values to try: all pairs of start and rate with the first units, then the other units with the best pair."""

    starts: tuple[str, ...] = STARTS
    rates: tuple[float, ...] = RATES
    units: tuple[Units, ...] = UNITS
    settings: TrainingSettings = field(default_factory=TrainingSettings)  # what all runs have in common

    def next(self, done: list[TrainingRun]) -> TrainingSettings | None:
        """The settings to try next; None if all were tried."""
        tried = [run.settings for run in done]
        for start, rate in product(self.starts, self.rates):
            settings = replace(self.settings, start=start, rate=rate, units=self.units[0])
            if settings not in tried:
                return settings
        best = best_run(done[: len(self.starts) * len(self.rates)]).settings
        untried = (replace(best, units=units) for units in self.units)
        return next((settings for settings in untried if settings not in tried), None)


def best_run(runs: list[TrainingRun]) -> TrainingRun:
    """The run with the highest average precision on the validation set; the first one of a tie."""
    return max(runs, key=lambda run: run.best[AP])


@dataclass
class SearchState:
    """The finished runs and the current run of a search. JSON preserves it to the last bit."""

    fingerprint: str
    done: list[TrainingRun] = field(default_factory=list)
    run: TrainingRun | None = None

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """The state from JSON; raise MisuseError if it is none."""
        try:
            run = facts["run"] and TrainingRun.from_dict(facts["run"])
            return cls(str(facts["fingerprint"]), [TrainingRun.from_dict(each) for each in facts["done"]], run)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise MisuseError(f"this is no checkpoint of learning ({error!r})") from error


@dataclass
class Checkpoint:
    """A file with the state of a search; without a path nothing is saved."""

    path: Path | None = None
    resumed: bool = field(default=False, init=False)

    def load(self, fingerprint: str) -> SearchState:
        """The saved state if it has this fingerprint, else an empty one."""
        # A file that cannot be read, or is no checkpoint, is overwritten by the next save.
        with suppress(OSError, ValueError, RecursionError, MisuseError):
            if self.path is not None and self.path.is_file() and self.path.stat().st_size <= _MAX_CHECKPOINT:
                state = SearchState.from_dict(json.loads(self.path.read_text("utf-8")))
                if state.fingerprint == fingerprint:
                    self.resumed = True
                    return state
        return SearchState(fingerprint)

    def save(self, state: SearchState) -> None:
        """Replace the file as a whole."""
        if self.path is None:
            return
        with written_whole(self.path) as path:
            path.write_text(json.dumps(asdict(state)), "utf-8")

    def remove(self) -> None:
        """Delete the file when learning is complete."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def fingerprint(grid: Grid, *parts: CorpusPart) -> str:
    """A digest of all that the result depends on: the settings, and the training and validation sets."""
    digest = hashlib.sha256(repr((_VERSION, grid)).encode())
    for part in parts:
        counts = part.counts
        for column in (part.pages, counts.offsets, counts.term, counts.count, part.link_offsets, part.link):
            digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def search(
    trainer: Trainer, grid: Grid, state: SearchState, on_validation: Callable[[SearchState], None] = lambda _: None
) -> TrainingRun:
    """Try the whole grid, starting from `state`, and return the best run."""
    while True:
        if state.run is None:
            settings = grid.next(state.done)
            if settings is None:
                return best_run(state.done)
            state.run = trainer.begin(settings)
        while not state.run.is_done:
            trainer.advance(state.run)
            on_validation(state)
        state.done.append(state.run)
        state.run = None


def tune_okapi(
    valid: CorpusPart, queries: RankingQueries, progress: Callable[[str], None] = lambda _: None
) -> tuple[Okapi, dict[str, float]]:
    """K and B by hill climbing on average precision, from the paper's values, with coarse and then fine steps.

    Also returns all measures there.
    """
    known: dict[tuple[int, int], dict[str, float]] = {}

    def precision(place: tuple[int, int]) -> float:
        if place not in known:
            k, b = KS[place[0]], BS[place[1]]
            known[place] = mean_measures(valid, Okapi(k, b), queries)
            progress(f"tuning OKAPI, K {k:g}, B {b:g}: AP {known[place][AP]:.4f}")
        return known[place][AP]

    best = (KS.index(1.5), BS.index(0.6))
    for step in (3, 1):
        while True:
            neighbours = [(k, b) for k in _around(best[0], step, len(KS)) for b in _around(best[1], step, len(BS))]
            candidate = max(neighbours, key=lambda place: (precision(place), place))
            if precision(candidate) <= precision(best):
                break
            best = candidate
    return Okapi(KS[best[0]], BS[best[1]]), known[best]


def _around(place: int, step: int, count: int) -> list[int]:
    return [near for near in (place - step, place, place + step) if 0 <= near < count]
