"""Canonical text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.duplicates.chunks import canonical, canonical_stream, character_table
from pagekin.kernels import canonical as kernel
from reference import canonical as reference

# Few tokens in many orders: what numberings are made of, what is folded, and letters that grow in lower case.
TOKENS = ["a", "1", "23", "456", "7890", ".", ")", "(", "[", "]", "*", "+", "iv", "Xx", " ", "\t", "\n", "\r", "\x0b"]
TOKENS += ["\u2028", "É", "Ⱥ", "木", "😀", "\u00ad", "•", "–", ":", "’", "\0", "\u2003", "word", "1.", "a.1 ", "(b) "]
TOKENS += ["Words in a row ", "well-known", "K"]
SOUPS = st.lists(st.sampled_from(TOKENS), max_size=24).map("".join)
TEXTS = SOUPS | st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(TEXTS)
def test_canonical_text_is_that_of_the_reference(text: str) -> None:
    assert canonical(text.encode()).decode() == reference.canonical(text)


def test_the_table_has_the_canonical_form_of_every_character() -> None:
    assert character_table().tolist() == [reference.fold(chr(point)) for point in range(len(character_table()))]


@given(st.lists(TEXTS, max_size=6), st.data())
def test_pieces_do_not_matter(texts: list[str], data: st.DataObject) -> None:
    whole = "".join(texts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert b"".join(canonical_stream(pieces)) == canonical(whole)


@pytest.mark.parametrize("line_break", ["\n", "\r", "\u2028", "\x0b"])
def test_a_numbering_after_any_line_break_may_lie_in_two_pieces(line_break: str) -> None:
    whole = ("word" * 20 + line_break + "a.1 Birds").encode()
    for cut in range(len(whole)):
        assert b"".join(canonical_stream([whole[:cut], whole[cut:]])) == canonical(whole)


def test_pieces_of_a_long_line_do_not_matter() -> None:
    line = ("1. ü木 word " * 400).encode()
    for size in (1, 7, 64, 65, 1000):
        pieces = [line[k : k + size] for k in range(0, len(line), size)]
        assert b"".join(canonical_stream(pieces)) == canonical(line)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("The  Robin\n\tSINGS", "the robin sings"),
        ("a.1 Birds", "birds"),  # the paper's example
        ("1. Birds\n 2) Trees\n(c) Bees\n1.2.3 Ants\niv. Owls\n[7] Elms", "birds trees bees ants owls elms"),
        ("• Birds\n* Trees\n+ Bees\n- Ants\n– Owls", "birds trees bees ants owls"),
        ("1. (a) Birds", "birds"),
        ("1.5 litres\n23 birds\n2005. A year\nA dog\ne.g. this", "1.5 litres 23 birds 2005. a year a dog e.g. this"),
        ("12.\n3.\nx", "12. 3. x"),  # alone in a line, as in a table
        ("see 1. there", "see 1. there"),
        ("note: a–b, \"c\" 'd' “e” ‘f’ «g»", "note a b, c d e f g"),
        ("don't", "don t"),
        ("ÄÖÜ ΣΩ ЖЯ İ", "äöü σω жя i"),
        ("so\u00adft zero\u200bwidth", "soft zerowidth"),
        ("a\ufffdb\0c", "a b c"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_what_is_folded(text: str, folded: str) -> None:
    assert canonical(text.encode()).decode() == folded


def test_letters_that_grow_find_room() -> None:
    assert canonical(("Ⱥ" * 1000).encode()).decode() == "ⱥ" * 1000


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_have_a_canonical_form(data: bytes) -> None:
    folded = canonical(data)
    assert len(folded) <= 1.5 * len(data) and b"  " not in folded


@settings(deadline=None)
@given(TEXTS)
def test_a_line_that_is_canonical_stays_so_after_a_word(text: str) -> None:
    once = "word " + canonical(text.encode()).decode()
    assert canonical(once.encode()).decode() == once.rstrip(" ")


def test_flags_tell_the_next_piece_where_it_begins() -> None:
    def flags(text: bytes, before: int = kernel.AT_LINE_START) -> int:
        return kernel.canonical(np.frombuffer(text, np.uint8), character_table(), before)[1]

    assert flags(b"") == flags(b" ") == kernel.AT_LINE_START
    assert flags(b"x") == kernel.STARTED
    assert flags(b"x ") == kernel.STARTED | kernel.SPACE_DUE
    assert flags(b"x\n") == kernel.STARTED | kernel.SPACE_DUE | kernel.AT_LINE_START
    assert flags(b"", kernel.STARTED) == kernel.STARTED


BLOCKS = st.lists(st.tuples(TEXTS.map(lambda text: text + "\n"), st.booleans()), max_size=5)


@given(st.lists(BLOCKS, max_size=4), st.integers(0, 3))
def test_pages_without_silent_blocks_are_those_of_the_reference(pages: list[list[tuple[str, bool]]], gap: int) -> None:
    texts = ["".join(block for block, _ in page).encode() for page in pages]
    places = [np.cumsum([0, *(len(block.encode()) for block, _ in page)])[:-1] for page in pages]
    data, starts, stops = kernel.canonical_blocks(
        np.frombuffer(b"".join(texts), np.uint8),
        np.cumsum([0, *map(len, texts)]),
        np.cumsum([0, *map(len, pages)]),
        np.concatenate([np.empty(0, np.uint32), *places]).astype(np.uint32),
        np.array([quiet for page in pages for _, quiet in page], np.uint8),
        character_table(),
        gap,
    )
    for page, start, stop, before in zip(pages, starts.tolist(), stops.tolist(), [0, *stops.tolist()], strict=False):
        blocks, silent = [block for block, _ in page], [quiet for _, quiet in page]
        assert data[start:stop].tobytes().decode() == reference.canonical_blocks(blocks, silent)
        assert data[before:start].tolist() == [0] * gap


def test_places_of_blocks_that_are_none_lead_nowhere() -> None:
    text = np.frombuffer(b"wren\nrobin\n", np.uint8)
    places = np.array([0, 2**32 - 1], np.uint32)
    data, _, _ = kernel.canonical_blocks(
        text, np.array([0, 11]), np.array([0, 2]), places, np.zeros(2, np.uint8), character_table(), 0
    )
    assert data.tobytes() == b"wren robin"
