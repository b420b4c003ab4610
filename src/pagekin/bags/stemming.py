"""Stop words and stemming, in the language of each page (paper, section 3.2)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from pagekin.errors import MisuseError
from pagekin.kernels.spans import strings_of
from pagekin.model.arrays import Array, Bools, Int32s, Int64s, Strings, UInt32s
from pagekin.store.stage_columns import gathered, ranges_of
from pagekin.store.stage_files import IN_MEMORY, Stages, strings_in

LANGUAGES = frozenset("ar ca da de el en es fi fr hu it nl no pt ro ru sv tr".split())  # with stemmer and stop list
Text = TypeVar("Text", str, bytes)
_ALIASES = {"nb": "no", "nn": "no"}
_WORDS = 1 << 16  # looked at in one job
_FORMS = 1 << 20  # the same, where they become the terms of their words
UNKNOWN = ""  # a language without stemmer and stop list: its words are not changed


def language_of(tag: str, fallback: str) -> str:
    """The language whose stemmer and stop list apply to a page with this tag.

    >>> language_of("de-at", "en"), language_of("", "en"), language_of("ja", "en")
    ('de', 'en', '')
    """
    primary = tag.partition("-")[0]
    primary = _ALIASES.get(primary, primary) or fallback
    return primary if primary in LANGUAGES else UNKNOWN


def check_language(language: str) -> None:
    """Raise MisuseError for a language without a stemmer."""
    if language not in LANGUAGES:
        raise MisuseError(f"language {language!r} has no stemmer; choose one of {', '.join(sorted(LANGUAGES))}")


@cache
def stop_words(language: str) -> frozenset[str]:
    if language == UNKNOWN:
        return frozenset()
    text = files("pagekin.bags").joinpath("stopwords", f"{language}.txt").read_text("utf-8")
    return frozenset(line for line in text.split("\n") if line and not line.startswith("#"))


def stemmer(language: str) -> Callable[[list[Text]], list[Text]]:
    """A function from words to their stems, as strings or in UTF-8."""
    if language == UNKNOWN:
        return lambda words: words
    from Stemmer import Stemmer

    name = "porter" if language == "en" else language  # Porter's own for English, as in the paper; else Snowball's
    # Cache size 0: each word comes once, and evicting entries takes longer than stemming.
    stems: Callable[[list[Text]], list[Text]] = Stemmer(name, 0).stemWords
    return stems


def terms_of(words: list[str], stemming: str, language: str) -> list[str | None]:
    """The term of each word, or None for a stop word.

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
    """The terms of a collection, and the term of every form in every language (-1 for a stop word)."""

    name: Strings
    shown: Strings
    of_form: Int32s

    def __len__(self) -> int:
        return len(self.name)


class Words(Protocol):
    """The words of a collection, the most frequent first, and the word of every form."""

    @property
    def words(self) -> Strings: ...
    @property
    def word_of_form(self) -> UInt32s: ...


def vocabulary(source: Words, languages: Sequence[str], stemming: str, stages: Stages = IN_MEMORY) -> TermVocabulary:
    """The terms of all words, computed once per distinct word and language.

    Words come most frequent first, so the first word with a term is the one to show for it.
    """
    if stemming == "stem":
        known = list(source.words)
        names, shown, rows = _stems(known, (terms_of(known, stemming, language) for language in languages))
        of_word = np.array(rows, np.int32).reshape(len(languages), len(known)).T
    else:
        names, of_word = _kept_words(_OwnTerms(source, languages, stemming), stages)
        shown = names
    forms = ranges_of(len(source.word_of_form), _FORMS)
    jobs = [(language, some) for language in range(len(languages)) for some in forms]
    of_form = gathered(stages, "forms", _terms_of_forms, (source, of_word), jobs)["term"]
    return TermVocabulary(names, shown, of_form.reshape(len(languages), len(source.word_of_form)))


def _terms_of_forms(terms: tuple[Words, Int32s], job: tuple[int, range]) -> dict[str, Array]:
    (source, of_word), (language, forms) = terms, job
    return {"term": of_word[source.word_of_form[forms.start : forms.stop], language]}


class _OwnTerms(NamedTuple):
    """Words that are their own terms, unless they are stopped in a language."""

    source: Words
    languages: Sequence[str]
    stemming: str


def _kept_words(kept: _OwnTerms, stages: Stages) -> tuple[Strings, Int32s]:
    """The terms, numbered as they come, language after language; and the term of each word in each language."""
    ranges = ranges_of(len(kept.source.words), _WORDS)
    found = gathered(stages, "kept", _kept, kept, ranges)
    counts = found["new"].T  # languages x ranges
    starts = (np.cumsum(counts).reshape(counts.shape) - counts).T
    jobs = list(zip(ranges, starts.tolist(), strict=True))
    of_word = gathered(stages, "terms", _numbers, found["kept"], jobs)["term"]
    of_language = [(language, some) for language in range(len(kept.languages)) for some in ranges]
    names = gathered(stages, "names", _names, (kept.source, found["kept"]), of_language)
    return strings_in(names, "name"), of_word


def _kept(kept: _OwnTerms, some: range) -> dict[str, Array]:
    """Whether each word is no stop word in each language, and how many words each language is the first to keep."""
    words = kept.source.words.part(some.start, some.stop).all_raw()
    columns = np.empty((len(words), len(kept.languages)), bool)
    for number, language in enumerate(kept.languages):
        stem = stemmer(UNKNOWN if kept.stemming == "none" else language)
        stopped = frozenset(base.encode() for base in stem(sorted(stop_words(language))))
        columns[:, number] = np.fromiter((base not in stopped for base in stem(words)), bool, len(words))
    first = _first_language(columns)
    return {"kept": columns, "new": np.bincount(first[first >= 0], minlength=len(kept.languages))[np.newaxis]}


def _first_language(kept: Bools) -> Int64s:
    """The number of the first language that keeps each word; -1 for none."""
    return np.where(kept.any(axis=1), kept.argmax(axis=1), -1)


def _numbers(kept: Bools, job: tuple[range, Sequence[int]]) -> dict[str, Array]:
    """The term of each word of a range in each language, given the first number of each language."""
    some, starts = job
    here = kept[some.start : some.stop]
    first, number = _first_language(here), np.full(len(here), -1, np.int32)
    for language, start in enumerate(starts):
        new = first == language
        number[new] = start + np.arange(np.count_nonzero(new))
    return {"term": np.where(here, number[:, np.newaxis], np.int32(-1))}


def _names(words: tuple[Words, Bools], job: tuple[int, range]) -> dict[str, Array]:
    """The words of a range that a language is the first to keep."""
    (source, kept), (language, some) = words, job
    which = some.start + np.flatnonzero(_first_language(kept[some.start : some.stop]) == language)
    names = strings_of(source.words.data, source.words.offsets[which], source.words.offsets[which + 1])
    return {"name.offsets": names.offsets, "name.data": names.data}


def _stems(words: list[str], terms: Iterable[list[str | None]]) -> tuple[Strings, Strings, list[list[int]]]:
    """(terms, the word shown for each, for each language the term of each word)."""
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
