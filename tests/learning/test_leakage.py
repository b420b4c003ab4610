"""The links of test are never seen in training: what is learned does not depend on them.

The proof poisons the links among pages of test, and learns again. It would catch a leak: of a split that lets links of
test into train it says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from learning.builders import topical
from pagekin.learning import learn as options
from pagekin.learning import link_share
from pagekin.learning.corpus import CorpusCounts, CorpusLinks, CorpusPart, part_of, split
from pagekin.learning.learn import LearnResult, learn_from
from pagekin.learning.link_share import HiddenLinks, LinkShareTuner, SimilarTo, link_share_tuner, visible_similarity
from pagekin.learning.options import LearnOptions
from pagekin.learning.trainer import Checkpoint, Grid, TrainingSettings
from pagekin.links.link_graph import StoredLinks

SEED = 5
Split = Callable[[CorpusCounts, CorpusLinks, int], dict[str, CorpusPart]]


class Short(LearnOptions):
    """A few steps."""

    def grid(self) -> Grid:
        return Grid(
            ("okapi",),
            (0.1,),
            ((2, 2, 2),),
            TrainingSettings((2, 2, 2), 0.1, "okapi", self.seed, 100, validate_every=50),
        )


def learned(counts: CorpusCounts, links: CorpusLinks, splitting: Split) -> LearnResult:
    places = np.arange(len(links.citing))
    every = StoredLinks(links.citing, links.cited, places, np.ones(len(counts), bool), list)
    return learn_from(splitting(counts, links, SEED), every, [], Short(SEED), Checkpoint(), lambda _: None)


def poisoned(links: CorpusLinks, test: CorpusPart) -> CorpusLinks:
    """Every link inside of test leads to one of those pages of test that others link to most; nothing else changes."""
    to_test = np.isin(links.cited, test.pages)
    inside = np.isin(links.citing, test.pages) & to_test
    liked = np.argsort(-np.bincount(links.cited[~inside & to_test]), kind="stable")[:4]
    cited = links.cited.copy()
    cited[inside] = np.resize(liked, inside.sum())
    assert (cited != links.cited).sum() > 50
    return CorpusLinks(links.citing, cited)


def is_told_by_test(splitting: Split) -> bool:
    """Whether the weights change with the links of test."""
    counts, links = topical()
    test = split(counts, links, SEED)["test"]
    outcomes = [learned(counts, each, splitting) for each in (links, poisoned(links, test))]
    assert outcomes[0].report["test"] != outcomes[1].report["test"]  # the poison works
    told = [(replace(each.weighting, learned_from={}).as_text(), each.okapi, on_valid(each)) for each in outcomes]
    return told[0] != told[1]


def on_valid(outcome: LearnResult) -> dict[str, float]:
    """What the share of links was chosen by."""
    found: dict[str, float] = outcome.report["links"]["valid"]
    assert 0.0 < found["text"] < found["text_and_links"]  # there was something to choose
    return found


def test_what_is_learned_does_not_depend_on_the_links_of_test() -> None:
    assert not is_told_by_test(split)


def test_a_split_that_lets_links_of_test_into_train_is_found_out() -> None:
    def leaky(counts: CorpusCounts, links: CorpusLinks, seed: int) -> dict[str, CorpusPart]:
        parts = split(counts, links, seed)
        pages = np.sort(np.concatenate([parts["train"].pages, parts["test"].pages[:20]]))
        return {**parts, "train": part_of(pages, counts, links)}

    assert is_told_by_test(leaky)


def test_a_split_that_chooses_on_test_is_found_out() -> None:
    def leaky(counts: CorpusCounts, links: CorpusLinks, seed: int) -> dict[str, CorpusPart]:
        parts = split(counts, links, seed)
        return {**parts, "valid": parts["test"]}

    assert is_told_by_test(leaky)


def test_links_of_test_as_evidence_for_valid_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaky(links: StoredLinks, hidden: HiddenLinks, other: CorpusPart) -> SimilarTo:
        return visible_similarity(links, hidden, replace(other, pages=other.pages[:0]))

    monkeypatch.setattr(link_share, "visible_similarity", leaky)
    assert is_told_by_test(split)


def test_a_share_that_is_chosen_on_test_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaky(part: CorpusPart, other: CorpusPart, links: StoredLinks, seed: int, *rest: Any) -> LinkShareTuner:
        return link_share_tuner(other, part, links, seed, *rest)

    monkeypatch.setattr(options, "link_share_tuner", leaky)
    assert is_told_by_test(split)
