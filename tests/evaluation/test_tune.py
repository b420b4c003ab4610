"""Tuning the weights of the blend, where only titles tell the classes, and by judgements that tell nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.builders import CLASSES, build_titled
from pagekin.errors import MisuseError
from pagekin.evaluation.evaluate import evaluate
from pagekin.evaluation.evaluate_related import evaluate_related
from pagekin.evaluation.labels import LeftOut
from pagekin.evaluation.options import EvaluationOptions, RelatedEvaluationOptions, TuneOptions
from pagekin.evaluation.related_pairs import related_pairs
from pagekin.evaluation.tune import Candidates, JudgedByPairs, TuneReport, fit, tune
from pagekin.model.progress import Progress
from pagekin.model.strategy import Strategy, parse_blend, strategy_named
from pagekin.search.evidence import ALL_PAGES, SHORT_PAGES
from pagekin.search.indexed_store import IndexedStore


@pytest.fixture(scope="module")
def titled(tmp_path_factory: pytest.TempPathFactory) -> IndexedStore:
    return IndexedStore.open(build_titled(tmp_path_factory.mktemp("titled"), lead=20.0, silent=('"/quoted"',)))


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tuned(indexed: IndexedStore, labels: str | Path, output: Path | None = None, **options: int) -> TuneReport:
    chosen = replace(TuneOptions(folds=3, resamples=200), **options)  # type: ignore[arg-type]
    return tune(indexed, chosen, str(labels), output=output)


def share_of_titles(blend: str) -> float:
    weights = parse_blend(blend)
    return weights["title"] / (weights["title"] + sum(weights.get(name, 0.0) for name in ("text", "latent", "bm25")))


@pytest.mark.slow
def test_where_only_titles_tell_classes_they_gain_weight_and_held_out_pages_a_better_ranking(
    titled: IndexedStore,
) -> None:
    labels = titled.root.with_name("labels.tsv")
    seen: list[Progress] = []
    found = tune(titled, TuneOptions(folds=3, resamples=200), str(labels), None, Path("tuned.toml"), seen.append)
    assert (found.measure, found.sources, found.pages) == ("P@10", 100, 100)
    assert found.significant
    assert found.gain.value == pytest.approx(found.after.value - found.before.value)
    assert 0.0 < found.gain.low < found.gain.value < found.gain.high
    assert sum(fold.sources for fold in found.folds) == 100
    for name in ("before", "after"):
        mean = sum(getattr(fold, name) * fold.sources for fold in found.folds) / 100
        assert mean == pytest.approx(getattr(found, name).value)
    assert share_of_titles(found.blend) > 2 * share_of_titles(found.index_blend)
    assert all(share_of_titles(fold.blend) > share_of_titles(found.index_blend) for fold in found.folds)
    assert {each.stage for each in seen} == {"scoring pairs", "fitting"}

    own, written = titled.index.strategy, strategy_named("tuned.toml")
    assert written == replace(own, blend=found.blend, damping=found.damping)
    before, after = (
        evaluate(titled, str(labels), EvaluationOptions(resamples=10, strategy=strategy)).systems[0].precision.value
        for strategy in (None, "tuned.toml")
    )
    assert before == pytest.approx(found.before.value)  # all pages are sources, and all are candidates
    assert after > before + 0.5 * found.gain.value


@pytest.mark.slow
def test_judgements_at_random_gain_nothing(titled: IndexedStore) -> None:
    rng = np.random.default_rng(7)
    names = [CLASSES[k] for k in rng.integers(0, 5, 100)]
    Path("labels.tsv").write_text("".join(f"http://p.example/{k}\tTop/{name}\n" for k, name in enumerate(names)))
    found = tuned(titled, "labels.tsv")
    assert not found.significant
    assert found.gain.low <= 0.0
    assert found.output is None
    assert list(Path().iterdir()) == [Path("labels.tsv")]


@pytest.mark.slow
def test_pairs_of_equal_titles_raise_the_recall_of_held_out_pages(titled: IndexedStore) -> None:
    pairs = [(number, number + 5) for number in range(95)]
    lines = [f"http://p.example/{a}\thttp://p.example/{b}\n" for a, b in pairs]
    Path("pairs.tsv").write_text("".join(lines))
    found = tune(titled, TuneOptions(folds=2, resamples=100), related="pairs.tsv")
    assert (found.measure, found.sources) == ("R@10", 100)
    assert found.significant
    evaluated = evaluate_related(titled, "pairs.tsv", RelatedEvaluationOptions(resamples=10))
    assert found.before.value == pytest.approx(evaluated.systems[0].recall.value)


@pytest.mark.slow
def test_the_same_call_finds_the_same_and_fewer_sources_can_be_drawn(titled: IndexedStore) -> None:
    labels = titled.root.with_name("labels.tsv")
    found = [tuned(titled, labels, sources=30, folds=2) for _ in range(2)]
    assert found[0] == found[1]
    assert (found[0].sources, found[0].pages) == (30, 100)
    assert tuned(titled, labels, sources=30, folds=2, seed=1) != found[0]


def candidates(scores: list[list[list[float]]], relevant: list[list[bool]], **fields: object) -> Candidates:
    """Of two evidences, the second counts on short pages; by default all products of lengths are 10,000."""
    array, right = np.array(scores, np.float32), np.array(relevant)
    sources, width = right.shape
    page = np.broadcast_to(np.arange(10, 10 + width), right.shape)
    lengths, divisor = np.full(right.shape, 10_000, np.float32), np.full(sources, 10.0)
    by_length, none = np.array([ALL_PAGES, SHORT_PAGES]), np.zeros(right.shape, np.float32)
    every = {"divisor": divisor, "page": page, "lengths": lengths, "by_length": by_length, "popularity": none, **fields}
    return Candidates(np.arange(sources), scores=array, relevant=right, **every)  # type: ignore[arg-type]


SCORES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), min_size=10, max_size=25)


@given(SCORES)
def test_quality_is_the_share_of_right_pages_among_the_ten_best(pages: list[tuple[int, int, bool]]) -> None:
    """With a damping of 100 and pages of 100 words a damped evidence counts one half; ties come in order."""
    first, second, right = zip(*pages, strict=True)
    found = candidates([[list(first)], [list(second)]], [list(right)]).quality(np.array([2.0, 4.0, 100.0]))
    order = sorted(range(len(pages)), key=lambda k: (-(2 * first[k] + 4 * second[k] / 2), k))[:10]
    assert found.tolist() == [sum(right[k] and first[k] + second[k] > 0 for k in order) / 10]


def test_held_out_pages_are_neither_sources_nor_results_nor_wanted() -> None:
    """Page 0 is related to 12 and 13, page 1 to 12 alone; without 12, page 1 has nothing to be judged by."""
    related = related_pairs([(0, 12), (0, 13), (1, 12)], 25, LeftOut(), [""] * 25)
    scores = np.ones((2, 2, 10)).tolist()
    judged, right = JudgedByPairs(related), [[False] * 2 + [True] * 2 + [False] * 6] * 2
    held_out = np.zeros(25, np.bool_)
    whole = candidates(scores, right, divisor=judged.divisor(np.arange(2), held_out))
    assert whole.divisor.tolist() == [2.0, 1.0]
    held_out[12] = True
    part = whole.without(held_out, judged)
    assert (part.sources.tolist(), part.divisor.tolist()) == ([0], [1.0])
    assert np.flatnonzero(part.scores[0, 0] == 0.0).tolist() == [2]
    assert part.quality(np.array([1.0, 1.0, 100.0])).tolist() == [1.0]
    held_out[[0, 12]] = True, False
    assert whole.without(held_out, judged).sources.tolist() == [1]


def test_an_evidence_that_misleads_loses_weight_but_two_evidences_remain() -> None:
    """The first evidence ranks ten right pages first, the second ten wrong ones, for 40 sources."""
    scores = np.zeros((2, 40, 20))
    scores[0, :, 10:], scores[1, :, :10] = 1.0, 1.5
    found = candidates(scores.tolist(), [[False] * 10 + [True] * 10] * 40, lengths=np.zeros((40, 20), np.float32))
    start = np.array([1.0, 1.0, 350.0])
    assert found.quality(start).mean() == 0.0
    settings = fit(found, start)
    assert found.quality(settings).mean() == 1.0
    assert settings[0] > 1.5 * settings[1] > 0.0


def test_where_nothing_can_be_gained_the_weights_stay() -> None:
    scores = np.ones((2, 20, 12)).tolist()
    start = np.array([1.0, 0.5, 350.0])
    assert fit(candidates(scores, [[True] * 12] * 20), start).tolist() == start.tolist()


def test_misuse_is_told(titled: IndexedStore, tmp_path: Path) -> None:
    labels = titled.root.with_name("labels.tsv")
    with pytest.raises(MisuseError, match=r"there is no folder for .*; make it first"):
        tuned(titled, labels, tmp_path / "nowhere" / "tuned.toml")
    Path("few.tsv").write_text("http://p.example/1\tA/B\nhttp://p.example/2\tA/C\n")
    with pytest.raises(MisuseError, match="only 2 sources; 3 folds need at least 6"):
        tuned(titled, "few.tsv")
    with pytest.raises(MisuseError, match="only 5 sources; 3 folds need at least 6"):
        tuned(titled, labels, sources=5)
    with pytest.raises(MisuseError, match="folds"):
        TuneOptions(folds=1)


def test_an_index_with_one_evidence_has_no_weights_to_tune(tmp_path: Path) -> None:
    single = IndexedStore.open(build_titled(tmp_path, 20, blend="text=1"))
    with pytest.raises(MisuseError, match="does not rank by a blend of several evidences"):
        tuned(single, tmp_path / "labels.tsv")


def test_a_strategy_is_the_same_after_writing_it_as_toml() -> None:
    strategy = Strategy(silent=('a"b\\d', "\x7fü\t"), nmdf_center=4.5, anchors=False, blend="text=1e-07, title=2")
    assert Strategy.from_toml("\n".join(strategy.as_toml())) == strategy
