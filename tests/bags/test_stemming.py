"""What becomes of a word: stop lists and stems, in the language of its page."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bags.builders import ONE, TWO, Small, plain
from pagekin.bags.stemming import LANGUAGES, KnownTerms, language_of, stop_words, terms_of, vocabulary
from pagekin.errors import MisuseError
from pagekin.model.arrays import Strings, UInt32s
from pagekin.model.strategy import Strategy

P, T = ONE + "p.html", TWO + "t.html"
JA, DE = "http://ja.example/", "http://de.example/"

# "needing" and "goods" are not in the stop list, but "need" and "good" are. Porter: oaks -> oak, sailing -> sail.
ENGLISH = "<p>The oaks, an oak and OAKS; needing goods, sailing"


class GivenWords(NamedTuple):
    words: Strings
    word_of_form: UInt32s


SOME_WORDS = st.lists(st.sampled_from(["the", "oaks", "oak", "die", "needing", "日本", "house", "goods"]), unique=True)


@settings(deadline=None)
@given(SOME_WORDS, SOME_WORDS, st.sampled_from(["en", "de", ""]), st.sampled_from(["none", "stopstem"]))
def test_terms_of_an_earlier_build_change_nothing(
    words: list[str], before: list[str], language: str, stemming: str
) -> None:
    """Whichever words it had, and in whichever order."""
    packed, numbers = Strings.of(words), np.arange(len(words), dtype=np.uint32)
    terms = Strings.of(term for term in terms_of(before, stemming, language) if term is not None)
    for strings in (packed, terms):  # as in a store, for which the kernel is compiled
        strings.offsets.flags.writeable = False
    source = GivenWords(packed, numbers)
    found = vocabulary(source, [language], stemming, known=KnownTerms(terms, language, stemming))
    expected = vocabulary(source, [language], stemming)
    assert (list(found.name), found.of_form.tolist()) == (list(expected.name), expected.of_form.tolist())


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["the", "oaks", "oak", "die", "needing", "日本", "house"]), unique=True),
    st.permutations(["en", "de", ""]),
    st.sampled_from(["none", "stem", "stopstem"]),
)
def test_terms_are_numbered_as_they_come_language_after_language(
    words: list[str], languages: list[str], stemming: str
) -> None:
    numbers: dict[str | None, int] = {}
    rows = [
        [-1 if term is None else numbers.setdefault(term, len(numbers)) for term in terms_of(words, stemming, language)]
        for language in languages
    ]
    given = GivenWords(Strings.of(words), np.arange(len(words), dtype=np.uint32))
    with patch("pagekin.bags.stemming._WORDS", 3):
        found = vocabulary(given, languages, stemming)
    assert (list(found.name), found.of_form.tolist()) == (list(numbers), rows)


@pytest.mark.parametrize(
    ("stemming", "expected"),
    [
        ("none", {"oaks": 2, "oak": 1, "needing": 1, "goods": 1, "sailing": 1}),
        ("stem", {"oak": 3, "sail": 1}),
        ("stopstem", {"oaks": 2, "oak": 1, "sailing": 1}),
    ],
)
def test_a_word_stays_or_becomes_its_stem_or_is_stopped_by_it(
    tmp_path: Path, stemming: str, expected: dict[str, float]
) -> None:
    assert {"need", "good"} < stop_words("en")
    assert not {"needing", "goods"} & stop_words("en")
    assert Small.of(tmp_path, {P: ENGLISH}).bags(stemming=stemming).content(P) == expected


def test_windows_count_the_words_that_stemming_keeps(tmp_path: Path) -> None:
    html = f"<p>elm needing <a href={T}>oaks</a> goods ash"
    small = Small.of(tmp_path, {P: html})
    assert small.bags(window_width=1).around(T) == {"oaks": 1, "needing": 1, "goods": 1}
    assert small.bags(window_width=1, stemming="stopstem").around(T) == {"oaks": 1, "elm": 1, "ash": 1}
    assert small.bags(window_width=1, stemming="stem").around(T) == {"oak": 1, "elm": 1, "ash": 1}


def test_titles_are_stemmed_and_stopped(tmp_path: Path) -> None:
    small = Small.of(tmp_path, {P: "<title>The Goods of Oaks</title><p>elm"})
    assert small.bags(stemming="stem").around(P) == {"oak": 1}
    assert small.bags(stemming="stopstem").around(P) == {"oaks": 1}
    assert small.bags().around(P) == {"goods": 1, "oaks": 1}


def shown(small: Small, strategy: Strategy) -> dict[str, str]:
    made = small.bags(strategy)
    return dict(zip(made.terms.name, made.terms.shown, strict=True))


def test_a_stem_is_shown_as_its_commonest_word(tmp_path: Path) -> None:
    small = Small.of(tmp_path, {P: "<p>oaks oaks oak sailing sailed sailing"})
    assert shown(small, plain(stemming="stem")) == {"oak": "oaks", "sail": "sailing"}


def test_a_stem_is_shown_as_its_commonest_word_also_beside_a_page_without_stemmer(tmp_path: Path) -> None:
    small = Small.of(tmp_path, {P: "<p lang=en>oaks oaks oak", JA: "<html lang=ja><p>日本"})
    assert shown(small, plain(stemming="stem"))["oak"] == "oaks"


# --- languages ------------------------------------------------------------------------------------

MIXED = {
    P: "<html lang=en-GB><p>The houses die in the house",
    DE: "<html lang=de-AT><p>Die Häuser und das Haus",
    JA: f"<html lang=ja><p>日本語 the houses <a href={P}>日本</a>",
}


def test_every_page_follows_the_rules_of_its_language(tmp_path: Path) -> None:
    made = Small.of(tmp_path, MIXED).bags(stemming="stem")
    assert made.content(P) == {"hous": 2, "die": 1}
    assert made.content(DE) == {"haus": 2}
    # No spaces between words: every two neighbours. No stop list and no stemmer: all words stay as they are.
    assert made.content(JA) == {"日本": 2, "本語": 1, "the": 1, "houses": 1}


def test_without_stemming_every_page_has_the_stop_list_of_its_language(tmp_path: Path) -> None:
    made = Small.of(tmp_path, MIXED).bags()
    assert made.content(P) == {"houses": 1, "die": 1, "house": 1}
    assert made.content(DE) == {"häuser": 1, "haus": 1}
    assert made.content(JA) == {"日本": 2, "本語": 1, "the": 1, "houses": 1}


def test_a_window_follows_the_language_of_the_page_that_it_is_on(tmp_path: Path) -> None:
    made = Small.of(tmp_path, {DE: f"<html lang=de><p>Die <a href={P}>Häuser</a> und Bäume", P: MIXED[P]}).bags(
        stemming="stem", window_width=1
    )
    assert made.around(P) == {"haus": 1, "baum": 1}


def test_the_title_follows_the_language_of_its_page(tmp_path: Path) -> None:
    made = Small.of(tmp_path, {DE: "<html lang=de><title>Die Häuser</title><p>Haus", P: MIXED[P]}).bags(stemming="stem")
    assert made.around(DE) == {"haus": 1}


def test_the_strategy_names_the_language_of_pages_that_do_not(tmp_path: Path) -> None:
    pages = {P: "<p>die the Häuser", TWO: "<html lang=en><p>die the Häuser"}
    small = Small.of(tmp_path, pages)
    assert small.bags(language="de").content(P) == {"the": 1, "häuser": 1}
    assert small.bags(language="de").content(TWO) == {"die": 1, "häuser": 1}
    assert small.bags(language="en").content(P) == {"die": 1, "häuser": 1}


@pytest.mark.parametrize("language", ["ja", "", "english", "EN"])
def test_a_language_without_rules_is_misuse(tmp_path: Path, language: str) -> None:
    with pytest.raises(MisuseError, match=f"language '{language}' has no stemmer; choose one of ar, ca, da, de"):
        Small.of(tmp_path, {P: "<p>oak"}).bags(language=language)


@pytest.mark.parametrize(
    ("tag", "language"),
    [("en", "en"), ("en-us", "en"), ("nb", "no"), ("nn-no", "no"), ("pt-br", "pt"), ("", "fr"), ("ja", ""), ("zh", "")],
)
def test_the_first_part_of_a_tag_is_the_language(tag: str, language: str) -> None:
    assert language_of(tag, "fr") == language


# --- stop lists -----------------------------------------------------------------------------------


def test_the_english_stop_list_has_roughly_800_words() -> None:
    assert 780 <= len(stop_words("en")) <= 820


@pytest.mark.parametrize("language", sorted(LANGUAGES - {"en"}))
def test_the_other_stop_lists_have_120_to_250_words(language: str) -> None:
    assert 120 <= len(stop_words(language)) <= 250


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_stop_list_is_words_as_they_are_compared_sorted_and_unique_under_a_heading(language: str) -> None:
    import pagekin.bags

    path = Path(pagekin.bags.__file__).parent / "stopwords" / f"{language}.txt"
    lines = path.read_text("utf-8").rstrip("\n").split("\n")
    words = [line for line in lines if not line.startswith("#")]
    assert lines[0].startswith("# ")
    assert all(one < other for one, other in pairwise(words))
    assert [word for word in words if word != unicodedata.normalize("NFC", word).lower()] == []
    assert {unicodedata.category(character)[0] for word in words for character in word} <= {"L", "M"}


@pytest.mark.parametrize("stemming", ["none", "stem", "stopstem"])
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_stop_word_is_dropped_with_and_without_stemming(language: str, stemming: str) -> None:
    assert set(terms_of(sorted(stop_words(language)), stemming, language)) == {None}


@pytest.mark.parametrize(
    ("language", "word", "stem"),
    [
        ("en", "relational", "relat"),  # Porter's, not Snowball's English
        ("en", "skies", "ski"),
        ("de", "bäume", "baum"),
        ("fr", "maisons", "maison"),
        ("es", "casas", "cas"),
        ("it", "gatti", "gatt"),
        ("sv", "flickorna", "flick"),
        ("ru", "книги", "книг"),
    ],
)
def test_stems_are_those_of_the_language(language: str, word: str, stem: str) -> None:
    assert terms_of([word], "stem", language) == [stem]
    assert terms_of([word], "stopstem", language) == [word]
