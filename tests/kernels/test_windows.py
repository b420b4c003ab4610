"""Anchor windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels import page_output
from pagekin.kernels.windows import (
    BASIC,
    SYNTACTIC,
    TOPICAL,
    Texts,
    block_at,
    blocks_at,
    distance_weight,
    ends_sentence,
    ends_window,
    window_bounds,
)
from reference import windows as reference
from reference.windows import Block

WINDOWS = [BASIC, SYNTACTIC, TOPICAL]
KINDS = st.sampled_from([0, 1, 2, 4, 8, 16, 32, 64]) | st.integers(0, 127)
BLOCKS = st.lists(st.builds(Block, KINDS, st.integers(0, 4)), min_size=1, max_size=8)


def bounds(
    start: int,
    end: int,
    blocks: Sequence[Block],
    sentences: Sequence[int],
    window: int,
    before: int = 0,
    trailing: bool = False,
    reach: int = 1000,
) -> tuple[int, int]:
    """The bounds for a page that comes after `before` blocks and sentence ends of another page."""
    others, tokens = [3] * before, sum(block.size for block in blocks)
    nothing = np.zeros(0, np.uint32)
    texts = Texts(
        token_offsets=np.array([0, before, before + tokens]),
        form=nothing,
        terms=np.zeros((0, 0), np.int32),
        language=np.zeros(2, np.uint8),
        block_offsets=np.array([0, before, before + len(blocks)]),
        block_token=np.array([*others, *reference.starts(blocks), 0, 9], np.uint32),
        block_kinds=np.array([127] * before + [block.kinds for block in blocks] + [127] * 2, np.uint8),
        block_excluded=np.zeros(0, np.uint8),
        sentence_offsets=np.array([0, before, before + len(sentences)]),
        sentence=np.array([*others, *sorted(sentences), 1, 2, 3], np.uint32),
        title_offsets=np.zeros(3, np.int64),
        title_form=nothing,
    )
    left, right = window_bounds(1, start, end, trailing, window, reach, texts)
    return int(left), int(right)


# --- distance weights ------------------------------------------------------------------------------------


def test_the_weight_is_log2_of_32_over_1_and_the_distance() -> None:
    assert [distance_weight(distance, True) for distance in (0, 1, 3, 7, 15, 31)] == [5, 4, 3, 2, 1, 0]


def test_the_weight_is_never_negative() -> None:
    assert distance_weight(32, True) == distance_weight(10**9, True) == 0


def test_without_distance_every_word_counts_one() -> None:
    assert distance_weight(0, False) == distance_weight(31, False) == distance_weight(1000, False) == 1


@settings(deadline=None)
@given(st.integers(0, 100), st.booleans())
def test_the_weight_is_that_of_the_reference(distance: int, by_distance: bool) -> None:
    assert distance_weight(distance, by_distance) == pytest.approx(
        reference.distance_weight(distance, by_distance), abs=2.0**-29
    )


# --- where windows end ---------------------------------------------------------------------------

# Words 0-1, 2-4, 5-7, 8-9; the anchor is word 3.
LENGTHS = [2, 3, 3, 2]


def around(kinds: Sequence[int], window: int, sentences: Sequence[int] = ()) -> tuple[int, int]:
    blocks = [Block(kind, size) for kind, size in zip(kinds, LENGTHS, strict=True)]
    return bounds(3, 4, blocks, sentences, window)


def test_a_basic_window_minds_no_boundary() -> None:
    assert around([0, 127, 127, 127], BASIC, [2, 5, 8]) == (0, 10)


@pytest.mark.parametrize("kind", [page_output.PARAGRAPH, page_output.CELL, page_output.ITEM])
def test_a_syntactic_window_ends_at_paragraphs_cells_and_items(kind: int) -> None:
    assert around([0, kind, kind, kind], SYNTACTIC) == (2, 5)
    assert around([0, 0, 0, kind], SYNTACTIC) == (0, 8)


def test_a_syntactic_window_ends_at_a_break_after_a_sentence_and_at_no_other() -> None:
    breaks = [0, page_output.BREAK, page_output.BREAK, page_output.BREAK]
    assert around(breaks, SYNTACTIC) == (0, 10)
    assert around(breaks, SYNTACTIC, [2]) == (2, 10)
    assert around(breaks, SYNTACTIC, [3, 4, 8]) == (0, 8)


def test_the_end_of_a_sentence_alone_ends_nothing() -> None:
    assert around([0, 0, 0, 0], SYNTACTIC, [2, 5, 8]) == (0, 10)


@pytest.mark.parametrize("kind", [page_output.HEADING, page_output.LIST_END, page_output.TABLE_END])
def test_a_topical_window_ends_at_headings_and_the_ends_of_lists_and_tables(kind: int) -> None:
    assert around([0, kind, 0, kind], TOPICAL) == (2, 8)


def test_a_topical_window_spans_the_items_under_a_heading() -> None:
    item, paragraph = page_output.ITEM, page_output.PARAGRAPH
    blocks = [Block(0, 2), Block(page_output.HEADING | paragraph, 2), Block(item, 2), Block(item, 2), Block(32, 2)]
    assert bounds(4, 6, blocks, [], TOPICAL) == bounds(6, 7, blocks, [], TOPICAL) == (2, 8)


def test_boundaries_inside_an_anchor_do_not_part_it() -> None:
    blocks = [Block(0, 2), Block(1, 2), Block(1, 2), Block(1, 2)]
    assert bounds(3, 5, blocks, [], SYNTACTIC) == (2, 6)


def test_the_boundary_of_a_block_without_words_counts() -> None:
    # As a paragraph "42" between "a b" and, after a break, "c d".
    blocks = [Block(0, 2), Block(page_output.PARAGRAPH, 0), Block(page_output.BREAK, 2)]
    assert bounds(0, 1, blocks, [], SYNTACTIC) == (0, 2)
    assert bounds(3, 4, blocks, [], SYNTACTIC) == (2, 4)


def test_an_anchor_without_words_has_the_window_of_its_block() -> None:
    blocks = [Block(0, 2), Block(page_output.ITEM, 3), Block(page_output.ITEM, 2)]
    assert bounds(3, 3, blocks, [], SYNTACTIC) == (2, 5)
    assert bounds(2, 2, blocks, [], SYNTACTIC) == (2, 5)
    assert bounds(7, 7, blocks, [], SYNTACTIC) == (5, 7)


def test_a_trailing_anchor_has_the_window_of_the_word_before() -> None:
    blocks = [Block(0, 2), Block(page_output.ITEM, 3), Block(page_output.ITEM, 2)]
    assert bounds(2, 2, blocks, [], SYNTACTIC, trailing=True) == (0, 2)
    assert bounds(5, 5, blocks, [], SYNTACTIC, trailing=True) == (2, 5)
    assert bounds(3, 3, blocks, [], SYNTACTIC, trailing=True) == (2, 5)


def test_a_window_reaches_over_a_bounded_number_of_blocks() -> None:
    """A page of a million line breaks would else be walked from end to end for each of its links."""
    blocks = [Block(page_output.BREAK, 1) for _ in range(10)]
    assert bounds(5, 6, blocks, [], SYNTACTIC) == (0, 10)
    assert bounds(5, 6, blocks, [], SYNTACTIC, reach=2) == (3, 8)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_page_without_words_has_an_empty_window(window: int) -> None:
    assert bounds(0, 0, [], [], window) == (0, 0)


# --- the reference ------------------------------------------------------------------------------------


@given(BLOCKS, st.sampled_from(WINDOWS), st.integers(0, 3), st.data())
def test_windows_are_those_of_the_reference(blocks: list[Block], window: int, before: int, data: st.DataObject) -> None:
    tokens = sum(block.size for block in blocks)
    start = data.draw(st.integers(0, tokens), label="start")
    end = data.draw(st.integers(start, tokens), label="end")
    trailing = start == end > 0 and data.draw(st.booleans(), label="trailing")
    sentences = sorted(data.draw(st.sets(st.integers(1, max(tokens, 1))), label="sentences"))
    found = bounds(start, end, blocks, sentences, window, before, trailing)
    assert found == reference.bounds(start, end, blocks, sentences, window, trailing)
    assert 0 <= found[0] <= start <= end <= found[1] <= tokens


@settings(deadline=None)
@given(BLOCKS, st.integers(0, 3), st.integers(0, 40))
def test_the_block_of_a_word_is_that_of_the_reference(blocks: list[Block], before: int, token: int) -> None:
    places = np.array([7] * before + reference.starts(blocks) + [0], np.uint32)
    assert block_at(places, before, before + len(blocks), token) - before == reference.block_at(blocks, token)


@given(st.lists(BLOCKS, min_size=1, max_size=4), st.data())
def test_blocks_of_tokens_of_many_pages_are_those_of_the_reference(
    pages: list[list[Block]], data: st.DataObject
) -> None:
    offsets = np.cumsum([0, *map(len, pages)])
    starts = np.array([start for blocks in pages for start in reference.starts(blocks)], np.uint32)
    for column in (offsets, starts):  # as in a store, for which the kernel is compiled
        column.flags.writeable = False
    places = data.draw(st.lists(st.tuples(st.integers(0, len(pages) - 1), st.integers(-1, 34))))
    page, token = np.array(places, np.int64).reshape(-1, 2).T.copy()
    expected = [offsets[row] + reference.block_at(pages[row], place) for row, place in places]
    assert blocks_at(offsets, starts, page, token).tolist() == expected


@settings(deadline=None)
@given(st.sets(st.integers(1, 12)), st.integers(0, 2), st.integers(0, 13))
def test_a_sentence_ends_where_it_is_listed(sentences: set[int], before: int, token: int) -> None:
    listed = np.array([5] * before + sorted(sentences) + [token], np.uint32)
    assert ends_sentence(listed, before, before + len(sentences), token) == (token in sentences)


@settings(deadline=None)
@given(KINDS, st.booleans(), st.sampled_from([SYNTACTIC, TOPICAL]))
def test_what_parts_is_as_in_the_reference(kinds: int, sentence_end: bool, window: int) -> None:
    assert ends_window(kinds, sentence_end, window) == reference.ends_window(kinds, sentence_end, window)
