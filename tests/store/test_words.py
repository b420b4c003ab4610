"""What word a form is of."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.model.arrays import Strings, word_of
from pagekin.store.write import words_of

FORM = st.text(st.sampled_from("aZ9_É\u0301éßİ\u212aΣ日"), max_size=4)  # with a kelvin sign, which is a k


@settings(deadline=None)
@given(st.lists(FORM))
def test_the_words_of_forms_are_those_of_each(forms: list[str]) -> None:
    assert list(words_of(Strings.of(forms))) == [word_of(form) for form in forms]


def test_letters_are_composed_and_in_lower_case() -> None:
    assert list(words_of(Strings.of(["OAK", "", "E\u0301T\u00c9", "\u212a9"]))) == ["oak", "", "\u00e9t\u00e9", "k9"]
