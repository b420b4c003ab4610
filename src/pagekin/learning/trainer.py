"""Stochastic gradient descent, one page per step, with early stopping on the validation set (paper, 3.3).

Average precision is validated every 500 steps. After three validations without improvement, training returns to the
best parameters and continues at half the learning rate; after the last halving it stops.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from pagekin.errors import MisuseError
from pagekin.kernels.linklearn import descend
from pagekin.learning.corpus import CorpusPart
from pagekin.learning.initial import FLAT, STARTS, initial_parameters
from pagekin.learning.networks import Units, layout_of, parameter_offsets, scales_of, weighting_from
from pagekin.learning.ranking import AP, RankingQueries, mean_measures
from pagekin.model.arrays import Floats
from pagekin.model.weighting import Learned, Okapi

MAX_UNITS = 200
MAX_RATE = 100.0
_MAX_PARAMETER = 1e6  # a larger parameter means divergence
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
        """Whether training has stopped."""
        return self.halved > self.settings.halvings or self.steps >= self.settings.max_steps

    @property
    def best(self) -> Validation:
        """The validation with the highest average precision; the earliest one of a tie."""
        return max(self.history, key=lambda validation: (validation[AP], -validation["steps"]))

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """The run from JSON."""
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
    """Raise MisuseError if there is nothing to learn from."""
    if not len(train.linked()) or not len(queries):
        raise MisuseError(
            "no page is linked with some pages of its part and not with others, so there is nothing to learn from"
        )
    if not len(train.counts.term):
        raise MisuseError("the pages of the training set share no terms, so there is nothing to weigh")


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
        measures = mean_measures(self._valid, weighting, self._queries)
        better = not run.history or measures[AP] > run.best[AP]
        run.history.append({"steps": run.steps, "rate": run.rate, "loss": loss, **measures})
        run.since_best = 0 if better else run.since_best + 1
        if better:
            run.best_parameters = list(run.parameters)

    def learned(self, run: TrainingRun, facts: Mapping[str, Any]) -> Learned:
        """The weighting of the best validation."""
        return weighting_from(np.array(run.best_parameters), self.scales, run.settings.units, facts)
