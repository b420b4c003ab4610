"""Rows of many readings as one: the same as if plain lists and dicts had done it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.model.arrays import Strings, UInt32s
from pagekin.model.reading import Ragged, Reading, Tokens
from pagekin.store import merge
from pagekin.store.merge import (
    RankedStrings,
    Selection,
    join,
    merge_part,
    merge_ranked,
    merge_strings,
    objects_of,
    pick,
)

# A reading as plain Python has it: the words of each of its pages.
Plain = list[list[bytes]]
WORD = st.sampled_from([b"a", b"b", b"B", b"ab", b"", b"a\0", "ä".encode(), b"long-and-longer", b"long-and-long"])


@dataclass(frozen=True)
class PlacedTokens(Tokens):
    """Tokens with one more column, whose values are not renumbered."""

    place: UInt32s


@dataclass(frozen=True)
class Small:
    """What merging looks at of a reading."""

    forms: Strings
    tokens: PlacedTokens
    title: Strings  # one a page

    def __len__(self) -> int:
        return len(self.title)


def small(pages: Plain) -> Small:
    words = [word for page in pages for word in page]
    forms = list(dict.fromkeys([b"on no page", *words]))
    numbers = np.array([forms.index(word) for word in words], np.uint32)
    offsets = np.cumsum([0, *map(len, pages)])
    titles = Strings.of(b" ".join(page) for page in pages)
    return Small(Strings.of(forms), PlacedTokens(offsets, numbers, numbers + 100), titles)


def with_forms(pages: Plain, forms: Strings) -> Small:
    """The same with these forms, which are all words of the pages."""
    numbers = {form: number for number, form in enumerate(forms.all_raw())}
    plain = small(pages)
    form = np.array([numbers[word] for page in pages for word in page], np.uint32)
    return replace(plain, forms=forms, tokens=replace(plain.tokens, form=form))


def ranked_strings(counts: Counter[bytes]) -> RankedStrings:
    """Words as an earlier build has them, read-only as in its files."""
    words = sorted(counts, key=lambda word: (-counts[word], word))
    strings = Strings.of(words)
    strings.offsets.flags.writeable = False
    return RankedStrings(strings, np.array([counts[word] for word in words], np.int64))


def tokens(reading: Reading) -> Ragged:
    return reading.tokens


@st.composite
def selections(draw: st.DrawFn) -> tuple[list[Plain], list[tuple[int, int]]]:
    """A few readings, and some of their rows in any order."""
    readings = draw(st.lists(st.lists(st.lists(WORD, max_size=5), max_size=4), max_size=4))
    rows = [(number, row) for number, pages in enumerate(readings) for row in range(len(pages))]
    return readings, [row for row in draw(st.permutations(rows)) if draw(st.booleans())]


def selection_of(readings: list[Plain], rows: list[tuple[int, int]]) -> Selection:
    table = np.array(rows, np.int64).reshape(-1, 2)
    return Selection(cast(Any, [small(pages) for pages in readings]), table[:, 0].copy(), table[:, 1].copy())


@given(selections(), st.booleans(), st.sampled_from([1, 20, 1 << 20]), st.sampled_from([8, 24, 1 << 20]))
def test_a_united_vocabulary_is_that_of_a_dict(
    case: tuple[list[Plain], list[tuple[int, int]]], frequent: bool, piece: int, run: int
) -> None:
    readings, rows = case
    selection = selection_of(readings, rows)
    words = [word for number, row in rows for word in readings[number][row]]
    counts = Counter(words)
    united = merge_strings(selection, "forms", {"tokens": "form"}, frequent)
    expected = sorted(counts, key=lambda word: (-counts[word] if frequent else 0, word))
    assert united.strings.all_raw() == expected
    assert united.counts.tolist() == [counts[word] for word in expected]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge, "_PIECE", piece)
        patch.setattr(merge, "_RUN", run)
        kinds: dict[str, type[np.generic]] = {"form": np.uint32, "place": np.uint32}
        offsets = selection.offsets({"tokens": tokens})["tokens"]
        pieces = list(merge_part(selection, offsets, "tokens", kinds, {"form": united.tables}))
    assert [expected[form] for forms, _ in pieces for form in forms.tolist()] == words
    plain = [[small(pages).tokens.place[small(pages).tokens.row(row)].tolist() for row in range(len(pages))]
             for pages in readings]  # fmt: skip
    assert [p for _, places in pieces for p in places.tolist()] == [p for n, row in rows for p in plain[n][row]]


@given(selections(), st.sampled_from([0.0, 100.0]))
def test_a_vocabulary_that_begins_with_a_ranked_one_is_that_of_a_dict(
    case: tuple[list[Plain], list[tuple[int, int]]], few: float
) -> None:
    """Whether the places of the strings that moved are searched, or all strings are sorted."""
    readings, rows = case[0] or [[]], case[1]
    before = Counter(word for page in readings[0] for word in page)
    ranked = ranked_strings(before)
    smalls = [with_forms(readings[0], ranked.strings), *map(small, readings[1:])]
    table = np.array(rows, np.int64).reshape(-1, 2)
    selection = Selection(cast(Any, smalls), table[:, 0].copy(), table[:, 1].copy())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge, "_FEW", few)
        united, origin = merge_ranked(selection, "forms", {"tokens": "form"}, ranked)
    expected = ranked_strings(Counter(word for number, row in rows for word in readings[number][row]))
    words, numbers = expected.strings.all_raw(), range(len(before))
    assert (united.strings.all_raw(), united.counts.tolist()) == (words, expected.counts.tolist())
    assert [k if k in numbers else None for k in origin.tolist()] == [
        ranked.strings.all_raw().index(word) if word in before else None for word in words
    ]
    for number, row in rows:
        forms = smalls[number].tokens.form[smalls[number].tokens.row(row)]
        assert [words[form] for form in united.tables[number][forms].tolist()] == readings[number][row]


@given(selections())
def test_columns_are_those_of_the_rows_in_their_order(case: tuple[list[Plain], list[tuple[int, int]]]) -> None:
    readings, rows = case
    selection = selection_of(readings, rows)
    titles = selection.strings({"title": lambda reading: cast(Small, reading).title})["title"]
    assert titles.all_raw() == [b" ".join(readings[number][row]) for number, row in rows]
    lengths = selection.values({"length": lambda reading: reading.tokens.lengths()})["length"]
    assert lengths.tolist() == [len(readings[number][row]) for number, row in rows]


@given(st.lists(WORD), st.lists(WORD), st.data())
def test_strings_can_be_joined_and_picked_and_looked_at_a_few_at_a_time(
    one: list[bytes], other: list[bytes], data: st.DataObject
) -> None:
    both = join(Strings.of(one), Strings.of(other))
    assert both.all_raw() == one + other
    which = data.draw(st.lists(st.integers(0, len(both) - 1))) if len(both) else []
    picked = pick(both, np.array(which, np.int64))
    assert picked.all_raw() == [(one + other)[k] for k in which]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge, "_OBJECTS", 3)
        assert list(objects_of(both)) == [word.decode() for word in one + other]
        assert list(objects_of(np.array(which, np.int64))) == which
