"""Training learns, is determined by its seed, and resumes from a checkpoint."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from learning.builders import topical, whole
from pagekin.errors import MisuseError
from pagekin.kernels.linklearn import loss_gradient
from pagekin.learning.corpus import CorpusPart, split
from pagekin.learning.networks import (
    initial_parameters,
    layout_of,
    parameter_offsets,
    scales_of,
    weighting_from,
)
from pagekin.learning.options import FLAT, OKAPI
from pagekin.learning.ranking import AP, ERROR, Ranker, page_queries
from pagekin.learning.trainer import (
    BS,
    KS,
    Grid,
    SearchState,
    Trainer,
    TrainingRun,
    TrainingSettings,
    require_examples,
    tune_okapi,
)
from pagekin.model.weighting import Okapi

SHORT = TrainingSettings(units=(2, 3, 2), rate=0.1, validate_every=50, max_steps=300)


@pytest.fixture(scope="module")
def parts() -> dict[str, CorpusPart]:
    return split(*topical(), seed=5)


@pytest.fixture(scope="module")
def trainer(parts: dict[str, CorpusPart]) -> Trainer:
    return Trainer(parts["train"], parts["valid"], page_queries(parts["valid"]), Okapi())


def finished(trainer: Trainer, settings: TrainingSettings) -> TrainingRun:
    run = trainer.begin(settings)
    while not run.is_done:
        trainer.advance(run)
    return run


def test_what_is_learned_orders_unseen_pages_better_than_the_flat_start(
    parts: dict[str, CorpusPart], trainer: Trainer
) -> None:
    run = finished(trainer, SHORT)
    test, asked = parts["test"], page_queries(parts["test"])
    parameters = initial_parameters(parts["train"], trainer.scales, SHORT.units, SHORT.seed)
    flat = Ranker(test, weighting_from(parameters, trainer.scales, SHORT.units), asked).means()
    learned = Ranker(test, trainer.learned(run, {}), asked).means()
    assert learned[AP] > 1.1 * flat[AP]
    assert learned[ERROR] < flat[ERROR]


def test_early_stopping_keeps_the_best_validation(trainer: Trainer) -> None:
    run = finished(trainer, SHORT)
    assert run.best[AP] == max(validation[AP] for validation in run.history)
    again = Ranker(trainer._valid, trainer.learned(run, {}), page_queries(trainer._valid)).means()
    assert again[AP] == run.best[AP]


def test_a_diverging_run_returns_to_its_best_parameters_at_half_the_rate(trainer: Trainer) -> None:
    run = trainer.begin(TrainingSettings(units=(2, 2, 2), rate=100.0, validate_every=20, max_steps=100))
    for _ in range(4):
        trainer.advance(run)
    assert np.isfinite(run.best_parameters).all()
    assert run.rate < 100.0


def test_the_seed_determines_everything(trainer: Trainer) -> None:
    one, same = (asdict(finished(trainer, SHORT)) for _ in range(2))
    other = asdict(finished(trainer, TrainingSettings(**{**vars(SHORT), "seed": 6})))
    assert one == same
    assert one["best_parameters"] != other["best_parameters"]


def test_resumed_learning_ends_as_if_uninterrupted(parts: dict[str, CorpusPart], trainer: Trainer) -> None:
    grid = Grid((FLAT, OKAPI), (0.1,), ((2, 3, 2), (1, 1, 1)), SHORT)
    whole_way = SearchState("x")
    best = grid.search(trainer, whole_way)
    kept: list[str] = []

    class InterruptedError(Exception):
        pass

    def looked(state: SearchState) -> None:
        kept.append(json.dumps(asdict(state)))
        if len(kept) == 5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        grid.search(trainer, SearchState("x"), looked)
    resumed = SearchState.from_dict(json.loads(kept[-1]))
    assert grid.search(trainer, resumed) == best
    assert resumed == whole_way
    assert len(whole_way.done) == 3  # two starts, then other units from the better one


def test_a_fingerprint_depends_on_pages_links_and_settings(parts: dict[str, CorpusPart]) -> None:
    train, valid, test = parts.values()
    mine = Grid().fingerprint(train, valid)
    assert mine == Grid().fingerprint(train, valid)
    assert len({mine, Grid().fingerprint(test, valid), Grid(rates=(0.5,)).fingerprint(train, valid)}) == 3


def test_a_damaged_state_is_not_resumed(trainer: Trainer) -> None:
    run = asdict(trainer.begin(SHORT))
    assert SearchState.from_dict({"fingerprint": "x", "done": [], "run": run}).run is not None
    broken: list[dict[str, object]] = [
        {"parameters": [1.0]},
        {"best_parameters": "x"},
        {"history": []},
        {"history": [{}]},
        {"settings": {}},
        {"more": 1},
    ]
    for wrong in broken:
        with pytest.raises(MisuseError, match="not a checkpoint of learning"):
            SearchState.from_dict({"fingerprint": "x", "done": [{**run, **wrong}], "run": None})


def test_training_and_answers_mean_the_same_scores(parts: dict[str, CorpusPart], trainer: Trainer) -> None:
    """The loss of the kernel is equation 4 over the scores by which pages are ordered."""
    train = parts["train"]
    parameters = np.random.default_rng(2).normal(0.0, 0.7, parameter_offsets(SHORT.units)[-1])
    layout, scales = layout_of(train), scales_of(train)
    networks = layout.networks(scales, SHORT.units)
    asked = page_queries(train)
    rows, scores = next(Ranker(train, weighting_from(parameters, scales, SHORT.units), asked).rows())
    for k in rows.tolist()[:10]:
        page = int(asked.pages[k])
        right = asked.relevant[asked.relevant_offsets[k] : asked.relevant_offsets[k + 1]]
        others = np.setdiff1d(np.arange(len(train)), [page, *right.tolist()])
        short = np.maximum(1.0 - scores[k][right][:, None] + scores[k][others][None], 0.0)
        loss = loss_gradient(
            page, layout.corpus, networks, parameters, layout.workspace(networks), np.zeros(len(parameters))
        )
        assert loss == pytest.approx(float(short.mean()), rel=1e-5)  # weights are kept in 32 bits


def test_near_okapi_pages_are_ordered_nearly_as_okapi_orders_them(parts: dict[str, CorpusPart]) -> None:
    """Not quite: there the terms of the page that asks count one each, here both pages weigh them."""
    train, valid = parts["train"], parts["valid"]
    scales = scales_of(train)
    okapi = Okapi(1.0, 0.5)
    asked = page_queries(valid)
    units = (5, 10, 10)
    starts = (initial_parameters(train, scales, units, 1, each) for each in (None, okapi))
    flat, near = (Ranker(valid, weighting_from(each, scales, units), asked).means() for each in starts)
    theirs = Ranker(valid, okapi, asked).means()
    assert near[AP] == pytest.approx(theirs[AP], rel=0.1)
    assert abs(near[AP] - theirs[AP]) < 0.5 * abs(flat[AP] - theirs[AP])


@pytest.mark.parametrize("near", [None, Okapi(), Okapi(1000.0, 0.0), Okapi(0.0, 1.0)])
def test_at_the_start_linked_pages_score_about_one(parts: dict[str, CorpusPart], near: Okapi | None) -> None:
    train = parts["train"]
    scales = scales_of(train)
    asked = page_queries(train)
    weighting = weighting_from(initial_parameters(train, scales, (5, 10, 10), 1, near), scales, (5, 10, 10))
    linked = [
        scores[k - rows[0]][asked.relevant[asked.relevant_offsets[k] : asked.relevant_offsets[k + 1]]]
        for rows, scores in Ranker(train, weighting, asked).rows()
        for k in rows.tolist()
    ]
    assert 0.5 < np.concatenate(linked).mean() < 2.0


def test_okapi_is_tuned_until_no_neighbour_is_better(parts: dict[str, CorpusPart]) -> None:
    valid = parts["valid"]
    asked = page_queries(valid)
    best, found = tune_okapi(valid, asked)
    assert found == Ranker(valid, best, asked).means()
    k, b = KS.index(best.k), BS.index(best.b)
    for near_k in KS[max(0, k - 1) : k + 2]:
        for near_b in BS[max(0, b - 1) : b + 2]:
            assert Ranker(valid, Okapi(near_k, near_b), asked).means()[AP] <= found[AP]
    assert Ranker(valid, Okapi(1.5, 0.6), asked).means()[AP] <= found[AP]


def test_nothing_to_learn_from_is_misuse() -> None:
    empty = whole([{}, {}, {}, {}], [(0, 1)])
    with pytest.raises(MisuseError, match="share no terms"):
        require_examples(empty, page_queries(empty))
    full = whole([{0: 2}, {0: 2}], [(0, 1)])
    with pytest.raises(MisuseError, match="nothing can be learned"):
        require_examples(full, page_queries(full))


@pytest.mark.parametrize(
    "wrong",
    [
        {"units": (0, 1, 1)},
        {"units": (1, 2, 999)},
        {"rate": 0.0},
        {"start": "up"},
        {"rate": float("nan")},
        {"max_steps": 0},
    ],
)
def test_settings_that_make_no_sense_are_misuse(wrong: dict[str, object]) -> None:
    with pytest.raises(MisuseError, match=next(iter(wrong))):
        TrainingSettings(**wrong)  # type: ignore[arg-type]
