"""Descent: it learns, from its seed alone, and goes on where it was."""

from __future__ import annotations

import json

import numpy as np
import pytest

from learning.making import topical, whole
from pagekin.errors import MisuseError
from pagekin.kernels.linklearn import loss_gradient
from pagekin.learning.corpus import CorpusPart, split
from pagekin.learning.hyperparameters import Grid, SearchState, choose, fingerprint
from pagekin.learning.initial import FLAT, OKAPI, start
from pagekin.learning.networks import bases, laid_out, learned_of, scales_of
from pagekin.learning.okapi_tuning import BS, KS, tune_okapi
from pagekin.learning.ranking import AP, ERROR, Ranker, measured, questions_of
from pagekin.learning.trainer import Trainer, TrainingRun, TrainingSettings, demand_examples
from pagekin.model.weighting import Okapi

SHORT = TrainingSettings(units=(2, 3, 2), rate=0.1, every=50, most_steps=300)


@pytest.fixture(scope="module")
def parts() -> dict[str, CorpusPart]:
    return split(*topical(), seed=5)


@pytest.fixture(scope="module")
def trainer(parts: dict[str, CorpusPart]) -> Trainer:
    return Trainer(parts["train"], parts["valid"], questions_of(parts["valid"]), Okapi())


def finished(trainer: Trainer, descent: TrainingSettings) -> TrainingRun:
    run = trainer.begin(descent)
    while not run.is_done:
        trainer.advance(run)
    return run


def test_what_is_learned_orders_unseen_pages_better_than_the_flat_start(
    parts: dict[str, CorpusPart], trainer: Trainer
) -> None:
    run = finished(trainer, SHORT)
    test, asked = parts["test"], questions_of(parts["test"])
    theta = start(parts["train"], trainer.scales, SHORT.units, SHORT.seed)
    flat = measured(test, learned_of(theta, trainer.scales, SHORT.units), asked)
    learned = measured(test, trainer.learned(run, {}), asked)
    assert learned[AP] > 1.1 * flat[AP]
    assert learned[ERROR] < flat[ERROR]


def test_early_stopping_keeps_the_best_look(trainer: Trainer) -> None:
    run = finished(trainer, SHORT)
    assert run.best[AP] == max(look[AP] for look in run.history)
    again = measured(trainer._valid, trainer.learned(run, {}), questions_of(trainer._valid))
    assert again[AP] == run.best[AP]


def test_a_rate_that_runs_away_comes_back_and_is_halved(trainer: Trainer) -> None:
    run = trainer.begin(TrainingSettings(units=(2, 2, 2), rate=100.0, every=20, most_steps=100))
    for _ in range(4):
        trainer.advance(run)
    assert np.isfinite(run.best_theta).all()
    assert run.rate < 100.0


def test_the_seed_decides_all(trainer: Trainer) -> None:
    one, same = (finished(trainer, SHORT).as_dict() for _ in range(2))
    other = finished(trainer, TrainingSettings(**{**vars(SHORT), "seed": 6})).as_dict()
    assert one == same
    assert one["best_theta"] != other["best_theta"]


def test_interrupted_learning_ends_as_if_it_had_not_been(parts: dict[str, CorpusPart], trainer: Trainer) -> None:
    grid = Grid((FLAT, OKAPI), (0.1,), ((2, 3, 2), (1, 1, 1)), SHORT)
    whole_way = SearchState("x")
    best = choose(trainer, grid, whole_way)
    kept: list[str] = []

    class InterruptedError(Exception):
        pass

    def looked(state: SearchState) -> None:
        kept.append(json.dumps(state.as_dict()))
        if len(kept) == 5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        choose(trainer, grid, SearchState("x"), looked)
    resumed = SearchState.from_dict(json.loads(kept[-1]))
    assert choose(trainer, grid, resumed).as_dict() == best.as_dict()
    assert resumed.as_dict() == whole_way.as_dict()
    assert len(whole_way.done) == 3  # two starts, then other units from the better one


def test_a_state_belongs_to_its_pages_links_and_settings(parts: dict[str, CorpusPart]) -> None:
    train, valid, test = parts.values()
    mine = fingerprint(Grid(), train, valid)
    assert mine == fingerprint(Grid(), train, valid)
    assert len({mine, fingerprint(Grid(), test, valid), fingerprint(Grid(rates=(0.5,)), train, valid)}) == 3


def test_a_state_that_is_not_whole_is_not_gone_on_with(trainer: Trainer) -> None:
    run = trainer.begin(SHORT).as_dict()
    assert SearchState.from_dict({"fingerprint": "x", "done": [], "run": run}).run is not None
    broken: list[dict[str, object]] = [
        {"theta": [1.0]},
        {"best_theta": "x"},
        {"history": []},
        {"history": [{}]},
        {"descent": {}},
        {"more": 1},
    ]
    for wrong in broken:
        with pytest.raises(MisuseError, match="no state of learning"):
            SearchState.from_dict({"fingerprint": "x", "done": [{**run, **wrong}], "run": None})


def test_training_and_answers_mean_the_same_scores(parts: dict[str, CorpusPart], trainer: Trainer) -> None:
    """The loss of the kernel is equation 4 over the scores by which pages are ordered."""
    train = parts["train"]
    theta = np.random.default_rng(2).normal(0.0, 0.7, bases(SHORT.units)[-1])
    layout, scales = laid_out(train), scales_of(train)
    networks = layout.networks(scales, SHORT.units)
    asked = questions_of(train)
    rows, scores = next(Ranker(train, learned_of(theta, scales, SHORT.units), asked).rows())
    for k in rows.tolist()[:10]:
        page = int(asked.pages[k])
        right = asked.right[asked.right_offsets[k] : asked.right_offsets[k + 1]]
        others = np.setdiff1d(np.arange(len(train)), [page, *right.tolist()])
        short = np.maximum(1.0 - scores[k][right][:, None] + scores[k][others][None], 0.0)
        loss = loss_gradient(page, layout.corpus, *networks, theta, layout.workspace(networks), np.zeros(len(theta)))
        assert loss == pytest.approx(float(short.mean()), rel=1e-5)  # weights are kept in 32 bits


def test_near_okapi_pages_are_ordered_nearly_as_okapi_orders_them(parts: dict[str, CorpusPart]) -> None:
    """Not quite: there the terms of the page that asks count one each, here both pages weigh them."""
    train, valid = parts["train"], parts["valid"]
    scales = scales_of(train)
    okapi = Okapi(1.0, 0.5)
    asked = questions_of(valid)
    flat, near = (
        measured(valid, learned_of(start(train, scales, (5, 10, 10), 1, each), scales, (5, 10, 10)), asked)
        for each in (None, okapi)
    )
    theirs = measured(valid, okapi, asked)
    assert near[AP] == pytest.approx(theirs[AP], rel=0.1)
    assert abs(near[AP] - theirs[AP]) < 0.5 * abs(flat[AP] - theirs[AP])


@pytest.mark.parametrize("near", [None, Okapi(), Okapi(1000.0, 0.0), Okapi(0.0, 1.0)])
def test_at_the_start_linked_pages_score_about_one(parts: dict[str, CorpusPart], near: Okapi | None) -> None:
    train = parts["train"]
    scales = scales_of(train)
    asked = questions_of(train)
    weighting = learned_of(start(train, scales, (5, 10, 10), 1, near), scales, (5, 10, 10))
    linked = [
        scores[k - rows[0]][asked.right[asked.right_offsets[k] : asked.right_offsets[k + 1]]]
        for rows, scores in Ranker(train, weighting, asked).rows()
        for k in rows.tolist()
    ]
    assert 0.5 < np.concatenate(linked).mean() < 2.0


def test_okapi_is_tuned_until_no_neighbour_is_better(parts: dict[str, CorpusPart]) -> None:
    valid = parts["valid"]
    asked = questions_of(valid)
    best, found = tune_okapi(valid, asked)
    assert found == measured(valid, best, asked)
    k, b = KS.index(best.k), BS.index(best.b)
    for near_k in KS[max(0, k - 1) : k + 2]:
        for near_b in BS[max(0, b - 1) : b + 2]:
            assert measured(valid, Okapi(near_k, near_b), asked)[AP] <= found[AP]
    assert measured(valid, Okapi(1.5, 0.6), asked)[AP] <= found[AP]


def test_nothing_to_learn_from_is_misuse() -> None:
    empty = whole([{}, {}, {}, {}], [(0, 1)])
    with pytest.raises(MisuseError, match="share no terms"):
        demand_examples(empty, questions_of(empty))
    full = whole([{0: 2}, {0: 2}], [(0, 1)])
    with pytest.raises(MisuseError, match="nothing to learn from"):
        demand_examples(full, questions_of(full))


@pytest.mark.parametrize(
    "wrong",
    [
        {"units": (0, 1, 1)},
        {"units": (1, 2, 999)},
        {"rate": 0.0},
        {"begin": "up"},
        {"rate": float("nan")},
        {"most_steps": 0},
    ],
)
def test_settings_that_make_no_sense_are_misuse(wrong: dict[str, object]) -> None:
    with pytest.raises(MisuseError, match=next(iter(wrong))):
        TrainingSettings(**wrong)  # type: ignore[arg-type]
