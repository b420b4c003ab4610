"""Words -> terms: stop words go, stems stand for their words, in each page's own language (paper, 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import MisuseError
from pagekin.model.arrays import Int64s, UInt32s
from pagekin.model.strings import Strings

# The paper's stemmer for English; Snowball's for the others.
STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "porter",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
_SAME = {"nb": "no", "nn": "no"}
UNKNOWN = ""  # a language without stemmer and stop list: its words stay as they are


def language_of(tag: str, fallback: str) -> str:
    """The language whose rules a page with this tag follows.

    >>> language_of("de-at", "en"), language_of("", "en"), language_of("ja", "en")
    ('de', 'en', '')
    """
    primary = tag.partition("-")[0]
    primary = _SAME.get(primary, primary) or fallback
    return primary if primary in STEMMERS else UNKNOWN


def check_language(language: str) -> None:
    """Refuse a language that there are no rules for."""
    if language not in STEMMERS:
        raise MisuseError(f"language {language!r} has no stemmer; there are {', '.join(sorted(STEMMERS))}")


@cache
def stop_words(language: str) -> frozenset[str]:
    """The words of a language that say nothing of a page's topic."""
    if language == UNKNOWN:
        return frozenset()
    text = files("pagekin.bags").joinpath("stopwords", f"{language}.txt").read_text("utf-8")
    return frozenset(line for line in text.split("\n") if line and not line.startswith("#"))


def stemmer(language: str) -> Callable[[list[str]], list[str]]:
    """A function from words to their stems."""
    if language == UNKNOWN:
        return lambda words: words
    from Stemmer import Stemmer

    # Without its memory of words: each comes once, and to forget the oldest takes longer than to stem.
    stems: Callable[[list[str]], list[str]] = Stemmer(STEMMERS[language], 0).stemWords
    return stems


def terms_of(words: list[str], stemming: str, language: str) -> list[str | None]:
    """The term of each word, or None for one that is dropped.

    >>> terms_of(["the", "oaks", "having"], "stem", "en")
    [None, 'oak', None]
    >>> terms_of(["the", "oaks", "having"], "stopstem", "en")
    [None, 'oaks', None]
    """
    stop = stop_words(language)
    if stemming == "none":
        return [None if word in stop else word for word in words]
    stem = stemmer(language)
    stopped = frozenset(stem(sorted(stop)))
    stems = stem(words)
    kept = stems if stemming == "stem" else words
    return [None if base in stopped else term for base, term in zip(stems, kept, strict=True)]


@dataclass(frozen=True)
class TermVocabulary:
    """The terms of a collection, and the term of every form in every language (-1 for none)."""

    name: Strings
    shown: Strings
    languages: tuple[str, ...]
    of_form: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.name)


def vocabulary(words: Strings, word_of_form: UInt32s, languages: Sequence[str], stemming: str) -> TermVocabulary:
    """Decide once per distinct word and language what its term is.

    `words` come commonest first, so that the first word with a term is the one to show for it.
    """
    known = list(words)
    terms = (terms_of(known, stemming, language) for language in languages)
    names, shown, rows = (_stems if stemming == "stem" else _words)(known, terms)
    of_word = np.array(rows, np.int32).reshape(len(languages), len(known))
    return TermVocabulary(names, shown, tuple(languages), of_word[:, word_of_form])


def _stems(words: list[str], terms: Iterable[list[str | None]]) -> tuple[Strings, Strings, list[list[int]]]:
    """Terms, what is shown for them, and for each language the term of each word."""
    numbers: dict[str, int] = {}
    shown: list[str] = []
    rows = []
    for of_language in terms:
        row = []
        for word, term in zip(words, of_language, strict=True):
            number = -1 if term is None else numbers.setdefault(term, len(numbers))
            if number == len(shown):
                shown.append(word)
            row.append(number)
        rows.append(row)
    return Strings.of(numbers), Strings.of(shown), rows


def _words(words: list[str], terms: Iterable[list[str | None]]) -> tuple[Strings, Strings, list[Int64s]]:
    """The same where words are their own terms, so that there is nothing to look up."""
    number = np.full(len(words), -1)
    names: list[str] = []
    rows = []
    for of_language in terms:
        kept = np.array([term is not None for term in of_language], bool)
        new = np.flatnonzero(kept & (number < 0))
        number[new] = np.arange(len(names), len(names) + len(new))
        names += [words[k] for k in new.tolist()]
        rows.append(np.where(kept, number, -1))
    packed = Strings.of(names)
    return packed, packed, rows
