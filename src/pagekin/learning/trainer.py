"""Stochastic gradient descent, one page per step, with early stopping on the validation set (paper, 3.3).

Average precision is validated every 500 steps. After three validations without improvement, training returns to the
best parameters and continues at half the learning rate; after the last halving it stops.

Validation also chooses the hyper-parameters (paper, 4.2): from a grid for LinkLearn, first the start and the learning
rate, then the hidden units; by hill climbing for OKAPI. The state of the search is saved in a checkpoint after each
validation, so that an interrupted search resumes with the same result.
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
from pagekin.kernels.linklearn import descend
from pagekin.learning.corpus import CorpusPart
from pagekin.learning.networks import initial_parameters, layout_of, parameter_offsets, scales_of, weighting_from
from pagekin.learning.options import FLAT, STARTS, LearnOptions, Units
from pagekin.learning.ranking import AP, Ranker, RankingQueries
from pagekin.model.arrays import Floats
from pagekin.model.files import written_whole
from pagekin.model.weighting import Learned, Okapi

MAX_UNITS = 200
MAX_RATE = 100.0
_MAX_PARAMETER = 1e6  # a larger parameter means divergence
_VERSION = 2  # of the training algorithm; a checkpoint of another version is not resumed
_MAX_CHECKPOINT = 1 << 26  # bytes
RATES = (0.1, 0.01)
UNITS: tuple[Units, ...] = ((5, 10, 10), (3, 5, 5), (10, 20, 20))
# The paper has K = 1.5 and B = 0.6. For long queries with binary term weights, far larger K can be best.
KS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 35.0, 60.0, 100.0, 180.0, 320.0, 560.0, 1000.0)
BS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
Validation = dict[str, Any]  # measures on the validation set, with the steps so far, the rate, and the mean loss


@dataclass(frozen=True)
class TrainingSettings:
    """The hyper-parameters of a training run."""

    units: Units = (5, 10, 10)  # hidden units of the tf, idf and length networks, as in the paper
    rate: float = 0.1  # learning rate
    start: str = FLAT
    seed: int = 2005
    max_steps: int = 54_000  # as in the paper
    validate_every: int = 500  # steps
    patience: int = 3  # validations without improvement before the rate is halved
    halvings: int = 4

    def __post_init__(self) -> None:
        if not 1 <= min(self.units) <= max(self.units) <= MAX_UNITS:
            raise MisuseError(f"units are {self.units}; they must be three numbers from 1 to {MAX_UNITS}")
        if self.start not in STARTS:
            raise MisuseError(f"start is {self.start!r}; it can be {', '.join(STARTS)}")
        if not 0.0 < self.rate <= MAX_RATE:
            raise MisuseError(f"rate is {self.rate}; it must be above 0 and at most {MAX_RATE:g}")
        if self.max_steps < 1:
            raise MisuseError(f"max_steps is {self.max_steps}; it must be at least 1")


@dataclass
class TrainingRun:
    """A training run, with all that is needed to continue it."""

    settings: TrainingSettings
    parameters: list[float]
    rate: float
    steps: int = 0
    since_best: int = 0  # validations
    halved: int = 0
    best_parameters: list[float] = field(default_factory=list)
    history: list[Validation] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        return self.halved > self.settings.halvings or self.steps >= self.settings.max_steps

    @property
    def best(self) -> Validation:
        """The validation with the highest average precision; the earliest one of a tie."""
        return max(self.history, key=lambda validation: (validation[AP], -validation["steps"]))

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        given = dict(facts)
        settings = given.pop("settings")
        run = cls(TrainingSettings(**{**settings, "units": tuple(settings["units"])}), **given)
        size = parameter_offsets(run.settings.units)[-1]  # kernels do not check it
        for parameters in (run.parameters, run.best_parameters):
            if np.array(parameters, np.float64).shape != (size,):
                raise ValueError(f"{size} parameters were expected")
        if not run.history or not all(np.isfinite(validation[AP]) for validation in run.history):
            raise ValueError("no validation")
        return run


def require_examples(train: CorpusPart, queries: RankingQueries) -> None:
    if not len(train.linked()) or not len(queries):
        raise MisuseError(
            "the training or the validation set has no page with both linked and unlinked pages in its set, so nothing"
            " can be learned; learn from a collection with more pages and links"
        )
    if not len(train.counts.term):
        raise MisuseError(
            "the pages of the training set share no terms, so no weights can be learned; learn from a collection with"
            " more text"
        )


class Trainer:
    """The training and validation sets, ready for any number of runs. It has no access to the test set."""

    def __init__(self, train: CorpusPart, valid: CorpusPart, queries: RankingQueries, okapi: Okapi) -> None:
        self._train, self._valid, self._queries, self._okapi = train, valid, queries, okapi
        self._pages = train.linked()
        self.scales = scales_of(train)
        self._layout = layout_of(train)

    def begin(self, settings: TrainingSettings) -> TrainingRun:
        """A run before its first step; its initial parameters are validated."""
        okapi = None if settings.start == FLAT else self._okapi
        parameters = initial_parameters(self._train, self.scales, settings.units, settings.seed, okapi)
        run = TrainingRun(settings, parameters.tolist(), settings.rate)
        self._validate(run, parameters)
        return run

    def advance(self, run: TrainingRun) -> None:
        """Train until the next validation; return to the best parameters if patience is exhausted."""
        settings = run.settings
        count = min(settings.validate_every, settings.max_steps - run.steps)
        drawn = np.random.default_rng((settings.seed, 2, run.steps)).choice(self._pages, count)
        networks = self._layout.networks(self.scales, settings.units)
        parameters = np.array(run.parameters)
        loss = descend(drawn, run.rate, self._layout.corpus, networks, parameters, self._layout.workspace(networks))
        run.steps += count
        converges = bool(np.isfinite(parameters).all() and (np.abs(parameters) < _MAX_PARAMETER).all())
        if converges:
            self._validate(run, parameters, loss / count)
        if not converges or run.since_best >= settings.patience:
            run.parameters, run.since_best = list(run.best_parameters), 0
            run.rate /= 2.0
            run.halved += 1

    def _validate(self, run: TrainingRun, parameters: Floats, loss: float | None = None) -> None:
        run.parameters = parameters.tolist()
        weighting = weighting_from(parameters, self.scales, run.settings.units)
        measures = Ranker(self._valid, weighting, self._queries).means()
        better = not run.history or measures[AP] > run.best[AP]
        run.history.append({"steps": run.steps, "rate": run.rate, "loss": loss, **measures})
        run.since_best = 0 if better else run.since_best + 1
        if better:
            run.best_parameters = list(run.parameters)

    def learned(self, run: TrainingRun, facts: Mapping[str, Any]) -> Learned:
        return weighting_from(np.array(run.best_parameters), self.scales, run.settings.units, facts)


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
            raise MisuseError(f"this is not a checkpoint of learning ({error!r})") from error


@dataclass(frozen=True)
class Grid:
    """The values to try: all pairs of start and rate with the first units, then the other units with the best pair."""

    starts: tuple[str, ...] = STARTS
    rates: tuple[float, ...] = RATES
    units: tuple[Units, ...] = UNITS
    settings: TrainingSettings = field(default_factory=TrainingSettings)  # what all runs have in common

    @classmethod
    def of(cls, options: LearnOptions) -> Self:
        starts = STARTS if options.start is None else (options.start,)
        rates = RATES if options.rate is None else (options.rate,)
        units = UNITS if options.units is None else (options.units,)
        settings = TrainingSettings(units[0], rates[0], starts[0], options.seed, options.max_steps)
        return cls(starts, rates, units, settings)

    def next(self, done: list[TrainingRun]) -> TrainingSettings | None:
        tried = [run.settings for run in done]
        for start, rate in product(self.starts, self.rates):
            settings = replace(self.settings, start=start, rate=rate, units=self.units[0])
            if settings not in tried:
                return settings
        best = best_run(done[: len(self.starts) * len(self.rates)]).settings
        untried = (replace(best, units=units) for units in self.units)
        return next((settings for settings in untried if settings not in tried), None)

    def fingerprint(self, *parts: CorpusPart) -> str:
        """A digest of all that the result depends on: the settings, and the training and validation sets."""
        digest = hashlib.sha256(repr((_VERSION, self)).encode())
        for part in parts:
            counts = part.counts
            for column in (part.pages, counts.offsets, counts.term, counts.count, part.link_offsets, part.link):
                digest.update(np.ascontiguousarray(column).tobytes())
        return digest.hexdigest()

    def search(
        self, trainer: Trainer, state: SearchState, on_validation: Callable[[SearchState], None] = lambda _: None
    ) -> TrainingRun:
        while True:
            if state.run is None:
                settings = self.next(state.done)
                if settings is None:
                    return best_run(state.done)
                state.run = trainer.begin(settings)
            while not state.run.is_done:
                trainer.advance(state.run)
                on_validation(state)
            state.done.append(state.run)
            state.run = None


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
        if self.path is not None:
            with written_whole(self.path) as path:
                path.write_text(json.dumps(asdict(state)), "utf-8")

    def remove(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)


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
            known[place] = Ranker(valid, Okapi(k, b), queries).means()
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
