"""The links of test are never seen in training: what is learned does not depend on them.

The proof poisons the links among pages of test, and learns again. It would catch a leak: of a split that lets links of
test into train it says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from learning.making import topical
from pagekin.learning.choosing import Grid
from pagekin.learning.corpus import Counts, Links, Part, part_of, split
from pagekin.learning.notebook import Notebook
from pagekin.learning.training import Descent
from pagekin.lesson import Lesson, Outcome, learn_from

SEED = 5
Split = Callable[[Counts, Links, int], dict[str, Part]]


class Short(Lesson):
    """A few steps."""

    def grid(self) -> Grid:
        return Grid(("okapi",), (0.1,), ((2, 2, 2),), Descent((2, 2, 2), 0.1, "okapi", self.seed, 100, every=50))


def learned(counts: Counts, links: Links, splitting: Split) -> Outcome:
    return learn_from(splitting(counts, links, SEED), [], Short(SEED), Notebook(), lambda _: None)


def poisoned(links: Links, test: Part) -> Links:
    """Every link inside of test leads to another page of test; nothing else changes."""
    inside = np.isin(links.citing, test.pages) & np.isin(links.cited, test.pages)
    cited = links.cited.copy()
    cited[inside] = np.random.default_rng(1).permutation(cited[inside])
    assert (cited != links.cited).sum() > 50
    return Links(links.citing, cited)


def is_told_by_test(splitting: Split) -> bool:
    """Whether the weights change with the links of test."""
    counts, links = topical()
    test = split(counts, links, SEED)["test"]
    outcomes = [learned(counts, each, splitting) for each in (links, poisoned(links, test))]
    assert outcomes[0].report["test"] != outcomes[1].report["test"]  # the poison works
    texts = [replace(each.weighting, learned_from={}).as_text() for each in outcomes]
    return texts[0] != texts[1] or outcomes[0].okapi != outcomes[1].okapi


def test_what_is_learned_does_not_depend_on_the_links_of_test() -> None:
    assert not is_told_by_test(split)


def test_a_split_that_lets_links_of_test_into_train_is_found_out() -> None:
    def leaky(counts: Counts, links: Links, seed: int) -> dict[str, Part]:
        parts = split(counts, links, seed)
        pages = np.sort(np.concatenate([parts["train"].pages, parts["test"].pages[:20]]))
        return {**parts, "train": part_of(pages, counts, links)}

    assert is_told_by_test(leaky)


def test_a_split_that_chooses_on_test_is_found_out() -> None:
    def leaky(counts: Counts, links: Links, seed: int) -> dict[str, Part]:
        parts = split(counts, links, seed)
        return {**parts, "valid": parts["test"]}

    assert is_told_by_test(leaky)
