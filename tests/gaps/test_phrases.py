"""Phrases in texts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagekin.gaps.phrases import LONGEST, PhraseTrie

WORD = st.integers(0, 3)


@given(st.lists(st.lists(WORD, max_size=LONGEST), max_size=8), st.lists(WORD, max_size=30), st.sets(st.integers(1, 30)))
def test_every_phrase_is_found_wherever_a_sentence_has_its_words(
    phrases: list[list[int]], text: list[int], cuts: set[int]
) -> None:
    rows = np.array([phrase + [-1] * (LONGEST - len(phrase)) for phrase in phrases]).reshape(-1, LONGEST)
    ends = sorted({*(cut for cut in cuts if cut < len(text)), len(text)})
    trie, number = PhraseTrie.of(rows)
    found = trie.occurrences(np.array(text, np.int64), np.array(ends))
    expected = set()
    for phrase, which in zip(phrases, number.tolist(), strict=True):
        for place in range(len(text) - len(phrase) + 1 if phrase else 0):
            crossed = any(place < end < place + len(phrase) for end in ends)
            if text[place : place + len(phrase)] == phrase and not crossed:
                expected.add((place, which))
    pairs = list(zip(found.place.tolist(), found.phrase.tolist(), strict=True))
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == expected


@given(st.lists(st.lists(WORD, min_size=1, max_size=3), min_size=1, max_size=8))
def test_equal_phrases_have_one_number_and_their_length(phrases: list[list[int]]) -> None:
    rows = np.array([phrase + [-1] * (LONGEST - len(phrase)) for phrase in phrases])
    trie, number = PhraseTrie.of(rows)
    assert len(set(number.tolist())) == len({tuple(phrase) for phrase in phrases})
    assert [trie.length[k] for k in number.tolist()] == [len(phrase) for phrase in phrases]
