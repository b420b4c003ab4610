"""Words and sentence ends."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.words import split_words
from pagekin.reading.markup import classes
from reference import words as reference

LONGEST = 128
# A character of every class and of every length in UTF-8, and the ASCII capitals that may be initials.
ALPHABET = (
    "aZJé\u05d0𐐀"
    + "\u0301\u200d\u0e48"
    + "木ーกᄀ𠀀"
    + " \n\u00a0\u3000"
    + ".!?…।"
    + "。｡"
    + "\"')»”"
    + "7-,\0\u00ad€😀"
)
# Runs that are longer than what is classified at once, and what may interrupt them.
PIECES = ["word", "words in a row ", "J. ", ". ", "?!", '" ', "\n", "é", "木", "–", "a" * 31, "b" * 33]
PIECES += ["c" * 130, " " * 32]
TEXTS = (
    st.text(st.sampled_from(ALPHABET), max_size=40)
    | st.text(max_size=20)
    | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
)


def split(texts: list[str], longest: int = LONGEST) -> list[reference.Words]:
    """The kernel's answer in the shape of the reference's: places are within each text."""
    bodies = [text.encode() for text in texts]
    bounds = np.cumsum([0, *map(len, bodies)]).astype(np.int64)
    words = split_words(np.array(list(b"".join(bodies)), np.uint8), bounds, classes(), longest)
    answers = []
    for t in range(len(texts)):
        a, b = words.first[t : t + 2].tolist()
        c, d = words.first_sentence[t : t + 2].tolist()
        starts, ends = words.starts[a:b] - bounds[t], words.ends[a:b] - bounds[t]
        spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
        answers.append(reference.Words(spans, (words.sentences[c:d] - a).tolist(), int(words.overlong[t])))
    assert words.first[0] == words.first_sentence[0] == 0
    assert (len(words.starts), len(words.sentences)) == (words.first[-1], words.first_sentence[-1])
    return answers


def words_of(text: str, longest: int = LONGEST) -> list[str]:
    (answer,) = split([text], longest)
    return [text.encode()[start:end].decode() for start, end in answer.spans]


def sentence_ends(text: str) -> list[int]:
    return split([text])[0].sentences


# --- words ---------------------------------------------------------------------------------------


def test_words_are_runs_of_letters() -> None:
    assert words_of("Hello, world-wide web; 42 times B2B.") == ["Hello", "world", "wide", "web", "times", "B", "B"]


def test_a_text_without_letters_has_no_words() -> None:
    assert words_of("") == words_of(" 1, 2 … (3)\n") == []


def test_letters_of_all_alphabets_are_letters() -> None:
    assert words_of("naïve Ἑλλάς Москва עברית 한국어 𐐀𐐨") == ["naïve", "Ἑλλάς", "Москва", "עברית", "한국어", "𐐀𐐨"]


def test_a_mark_belongs_to_the_word_it_stands_in() -> None:
    assert words_of("e\u0301te\u0301 हिन्दी") == ["e\u0301te\u0301", "हिन्दी"]


def test_a_mark_without_a_letter_is_no_word() -> None:
    assert words_of("\u0301 \u0301a") == ["a"]


def test_a_joiner_does_not_part_a_persian_word() -> None:
    assert words_of("می\u200cخواهم") == ["می\u200cخواهم"]


def test_scripts_without_spaces_give_every_two_neighbours() -> None:
    assert words_of("日本語") == ["日本", "本語"]
    assert words_of("ラーメン") == ["ラー", "ーメ", "メン"]


def test_a_lone_character_of_a_script_without_spaces_is_a_word() -> None:
    assert words_of("木, 木") == ["木", "木"]


def test_scripts_part_words_where_they_meet() -> None:
    assert words_of("東京Tower前") == ["東京", "Tower", "前"]


def test_a_character_of_a_script_without_spaces_carries_its_marks() -> None:
    assert words_of("ก่าน") == ["ก่า", "าน"]
    assert words_of("ก่") == ["ก่"]


def test_a_word_that_is_too_long_is_counted_instead_of_kept() -> None:
    (answer,) = split(["four fives sixsix four"], longest=4)
    assert answer == reference.Words([(0, 4), (18, 22)], [], overlong=2)


def test_length_is_counted_in_bytes() -> None:
    assert words_of("éé ééé", longest=4) == ["éé"]
    assert split(["日本語 木"], longest=5) == [reference.Words([(10, 13)], [], overlong=2)]
    assert split(["木"], longest=2) == [reference.Words([], [], overlong=1)]


# --- sentences -----------------------------------------------------------------------------------


def test_a_sentence_ends_at_a_stop_before_a_space_or_the_end() -> None:
    assert sentence_ends("One two. Three? Four!") == [2, 3, 4]


def test_a_text_without_a_stop_has_no_sentence_end() -> None:
    assert sentence_ends("One two, three") == []


def test_a_stop_inside_a_number_or_a_name_ends_nothing() -> None:
    assert sentence_ends("About 3.5 of example.org now") == []


def test_an_initial_ends_nothing() -> None:
    assert sentence_ends("J. R. Smith left. So did A. N. Other") == [4]


def test_only_one_capital_is_an_initial() -> None:
    assert (
        sentence_ends("So it is. We go") == sentence_ends("So it Is. We go") == sentence_ends("So it Ä. We go") == [3]
    )


def test_closing_quotes_and_brackets_belong_to_the_sentence() -> None:
    assert sentence_ends('No. "Yes." (He left (at last!)) End') == [1, 2, 6]


def test_stops_in_a_row_end_one_sentence() -> None:
    assert sentence_ends("Wait... what?! Yes. . .") == [1, 2, 3]


def test_no_sentence_ends_before_the_first_word() -> None:
    assert sentence_ends("... ! Then") == []


def test_a_full_stop_of_cjk_needs_no_space() -> None:
    assert sentence_ends("行く。帰る。「木！」") == [1, 2, 3]


def test_words_that_were_not_kept_do_not_count() -> None:
    assert split(["toolong. a b."], longest=3) == [reference.Words([(9, 10), (11, 12)], [2], overlong=1)]


# --- bytes that are no text ----------------------------------------------------------------------


@given(st.lists(st.binary(max_size=12), max_size=5), st.integers(1, 8))
def test_bytes_that_are_no_text_give_words_that_are_in_order(texts: list[bytes], longest: int) -> None:
    bounds = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    words = split_words(np.array(list(b"".join(texts)), np.uint8), bounds, classes(), longest)
    assert (words.starts < words.ends).all() and (np.diff(words.starts) > 0).all()
    for t in range(len(texts)):
        mine = slice(words.first[t], words.first[t + 1])
        assert (bounds[t] <= words.starts[mine]).all() and (words.ends[mine] <= bounds[t + 1]).all()


# --- the reference ------------------------------------------------------------------------------------


@given(st.lists(TEXTS, max_size=4), st.integers(1, 12) | st.just(LONGEST))
def test_words_and_sentences_are_those_of_the_reference(texts: list[str], longest: int) -> None:
    assert split(texts, longest) == [reference.split(text, longest) for text in texts]


@settings(deadline=None, max_examples=20)
@given(st.lists(st.sampled_from(ALPHABET), max_size=3).map("".join), st.integers(1, 3))
def test_words_of_long_repetitions_fit_their_room(pattern: str, texts: int) -> None:
    text = pattern * 50
    assert split([text] * texts) == [reference.split(text, LONGEST)] * texts
