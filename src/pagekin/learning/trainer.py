"""Stochastic descent with one page a step, and early stopping on valid (paper, 3.3).

Every 500 steps the average precision on valid is looked at. When it has not grown three times in a row, descent goes
back to the best parameters so far and goes on at half the rate; after the last halving it stops there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from pagekin.errors import MisuseError
from pagekin.kernels.linklearn import descend
from pagekin.learning.corpus import CorpusPart
from pagekin.learning.initial import FLAT, STARTS, start
from pagekin.learning.networks import Units, bases, laid_out, learned_of, scales_of
from pagekin.learning.ranking import AP, RankingQueries, measured
from pagekin.model.arrays import Floats
from pagekin.model.weighting import Learned, Okapi

MOST_UNITS = 200
MOST_RATE = 100.0
_LARGEST = 1e6  # a parameter beyond it has run away
Look = dict[str, Any]  # the measures on valid after so many steps, at which rate, and the mean loss of these steps


@dataclass(frozen=True)
class TrainingSettings:
    """How it goes down."""

    units: Units = (5, 10, 10)  # k_tf, k_idf, k_l; the paper's
    rate: float = 0.1
    begin: str = FLAT  # or near OKAPI
    seed: int = 2005
    most_steps: int = 54_000  # the paper's
    every: int = 500  # steps between two looks at valid
    patience: int = 3
    halvings: int = 4

    def __post_init__(self) -> None:
        tf, idf, length = self.units
        if not 1 <= min(tf, idf, length) <= max(tf, idf, length) <= MOST_UNITS:
            raise MisuseError(f"units are {self.units}; they must be three numbers from 1 to {MOST_UNITS}")
        if self.begin not in STARTS:
            raise MisuseError(f"begin is {self.begin!r}; it can be {', '.join(STARTS)}")
        if not 0.0 < self.rate <= MOST_RATE:
            raise MisuseError(f"rate is {self.rate}; it must be above 0 and at most {MOST_RATE:g}")
        if self.most_steps < 1:
            raise MisuseError(f"most_steps is {self.most_steps}; it must be at least 1")


@dataclass
class TrainingRun:
    """A descent under way: all that it takes to go on with it."""

    descent: TrainingSettings
    theta: list[float]
    rate: float
    steps: int = 0
    idle: int = 0  # looks at valid since the best one
    halved: int = 0
    best_theta: list[float] = field(default_factory=list)
    history: list[Look] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        """Whether it has stopped."""
        return self.halved > self.descent.halvings or self.steps >= self.descent.most_steps

    @property
    def best(self) -> Look:
        """The look at valid with most average precision."""
        return max(self.history, key=lambda look: (look[AP], -look["steps"]))

    def as_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        return asdict(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> TrainingRun:
        """From a checkpoint."""
        given = dict(facts)
        descent = given.pop("descent")
        run = cls(TrainingSettings(**{**descent, "units": tuple(descent["units"])}), **given)
        size = bases(run.descent.units)[-1]  # kernels trust it
        for theta in (run.theta, run.best_theta):
            if np.array(theta, np.float64).shape != (size,):
                raise ValueError(f"{size} parameters were expected")
        if not run.history or not all(np.isfinite(look[AP]) for look in run.history):
            raise ValueError("no look at valid")
        return run


def demand_examples(train: CorpusPart, queries: RankingQueries) -> None:
    """Refuse parts that there is nothing to learn from."""
    if not len(train.linked()) or not len(queries):
        raise MisuseError(
            "no page is linked with some pages of its part and not with others, so there is nothing to learn from"
        )
    if not len(train.counts.term):
        raise MisuseError("the pages of train share no terms, so there is nothing to weigh")


class Trainer:
    """Train and valid, ready for any number of descents. It knows nothing of test."""

    def __init__(self, train: CorpusPart, valid: CorpusPart, queries: RankingQueries, okapi: Okapi) -> None:
        self._train, self._valid, self._queries, self._okapi = train, valid, queries, okapi
        self._pages = train.linked()
        self.scales = scales_of(train)
        self._layout = laid_out(train)

    def begin(self, descent: TrainingSettings) -> TrainingRun:
        """A descent that has not made a step yet; the first look at valid is taken."""
        near = None if descent.begin == FLAT else self._okapi
        theta = start(self._train, self.scales, descent.units, descent.seed, near)
        run = TrainingRun(descent, theta.tolist(), descent.rate)
        self._look(run, theta)
        return run

    def advance(self, run: TrainingRun) -> None:
        """Some steps, and a look at valid; back to the best parameters if it has not got better for long."""
        descent = run.descent
        count = min(descent.every, descent.most_steps - run.steps)
        drawn = np.random.default_rng((descent.seed, 2, run.steps)).choice(self._pages, count)
        networks = self._layout.networks(self.scales, descent.units)
        theta = np.array(run.theta)
        loss = descend(drawn, run.rate, self._layout.corpus, *networks, theta, self._layout.workspace(networks))
        run.steps += count
        sound = bool(np.isfinite(theta).all() and (np.abs(theta) < _LARGEST).all())
        if sound:
            self._look(run, theta, loss / count)
        if not sound or run.idle >= descent.patience:
            run.theta, run.idle = list(run.best_theta), 0
            run.rate /= 2.0
            run.halved += 1

    def _look(self, run: TrainingRun, theta: Floats, loss: float | None = None) -> None:
        run.theta = theta.tolist()
        found = measured(self._valid, learned_of(theta, self.scales, run.descent.units), self._queries)
        better = not run.history or found[AP] > run.best[AP]
        run.history.append({"steps": run.steps, "rate": run.rate, "loss": loss, **found})
        run.idle = 0 if better else run.idle + 1
        if better:
            run.best_theta = list(run.theta)

    def learned(self, run: TrainingRun, facts: Mapping[str, Any]) -> Learned:
        """The weighting of the best look."""
        return learned_of(np.array(run.best_theta), self.scales, run.descent.units, facts)
