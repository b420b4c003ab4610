"""Short texts: near-duplicates are found from 200 characters on, in lists of texts and of files."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duplicates.test_result_list import named, prose
from pagekin.duplicates.result_list import files, group
from pagekin.duplicates.short_texts import LEVELS, MAX_BYTES, MIN_BYTES, sample_ngrams

LENGTHS = (200, 220, 300, 500, 800, 1200, 2000, 3550, 5000)
TRIALS = 40
FEWEST = 32  # elements of a sample


def passage(seed: int, length: int) -> str:
    return prose(seed, length)[:length]


def with_a_sentence(text: str, seed: int) -> str:
    return f"{text} {prose(seed, 12)}"


def with_another_word(text: str, seed: int) -> str:
    words = text.split(" ")
    words[Random(seed).randrange(len(words))] = "another"
    return " ".join(words)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("edit", [with_a_sentence, with_another_word])
def test_an_edited_copy_is_found_in_nineteen_of_twenty_trials(length: int, edit: object) -> None:
    """All trials are one list, so a copy must also not be taken for one of another text."""
    assert callable(edit)
    originals = [passage(seed, length) for seed in range(TRIALS)]
    rows = [{"id": f"{k}", "text": text} for k, text in enumerate(originals)]
    rows += [{"id": f"{k} edited", "text": edit(text, 1000 + k)} for k, text in enumerate(originals)]
    groups = named(group(rows))
    assert all(len({name.split()[0] for name in names}) == 1 for names in groups)
    assert sum(len(names) == 2 for names in groups) >= 0.95 * TRIALS


def test_a_member_has_the_similarity_of_its_ngrams() -> None:
    """The longer text has all n-grams of the shorter one."""
    text = passage(1, 250)
    ((member,), *_) = (each.members for each in group([{"text": text}, {"text": with_a_sentence(text, 2)}]).groups())
    assert member.overlap.similarity == member.overlap.share_of_b == 1.0
    assert member.overlap.b_in_a and not member.overlap.a_in_b
    assert 0.6 < member.overlap.share_of_a < 0.8  # 250 bytes of about 330


def test_short_files_are_compared_like_short_texts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(passage(1, 300))
    (tmp_path / "b.txt").write_text(with_a_sentence(passage(1, 300), 2))
    assert len(named(group(files([tmp_path / "a.txt", tmp_path / "b.txt"])))) == 1


def test_a_repetitive_text_has_no_sample() -> None:
    """It has 26 n-grams, which another text of stock phrases may have by chance."""
    assert not any(len(sample.elements) for sample in sample_ngrams([bytes(range(97, 123)) * 20]))


def test_texts_outside_the_limits_have_no_sample() -> None:
    texts = [np.random.default_rng(1).bytes(size) for size in (0, 1, MIN_BYTES - 1, MAX_BYTES + 1)]
    assert not any(len(sample.elements) for sample in sample_ngrams(texts))
    assert [len(sample) for sample in sample_ngrams([])] == [0] * LEVELS


@given(st.lists(st.integers(MIN_BYTES, MAX_BYTES), min_size=1, max_size=5), st.integers(0, 9))
@example([225], 7)  # too few
def test_a_text_has_two_levels_and_the_next_is_a_part_of_its_own(sizes: list[int], seed: int) -> None:
    """The level doubles where the size does: one n-gram of 2^L is kept of a text of up to 224 * 2^L bytes.

    Chance may leave too few n-grams for the next level.
    """
    random = np.random.default_rng(seed)
    samples = sample_ngrams([random.bytes(size) for size in sizes])
    for row, size in enumerate(sizes):
        found = {
            level: set(sample.rows(np.array([row])).elements.tolist())
            for level, sample in enumerate(samples)
            if sample.lengths()[row]
        }
        own = next(level for level in range(LEVELS) if size <= 224 << level)
        half = {each for each in found[own] if each < 1 << (63 - own)}
        assert found == {own: found[own]} | ({own + 1: half} if own + 1 < LEVELS and len(half) >= FEWEST else {})


def test_the_sample_of_a_text_does_not_depend_on_the_texts_beside_it() -> None:
    texts = [passage(seed, 300 + 100 * seed).encode() for seed in range(8)]
    together = sample_ngrams(texts)
    for row, text in enumerate(texts):
        for all_texts, alone in zip(together, sample_ngrams([text]), strict=True):
            assert all_texts.rows(np.array([row])).elements.tolist() == alone.elements.tolist()
