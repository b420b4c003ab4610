"""Stop words and stemming, in the language of each page (paper, section 3.2)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np

from pagekin.errors import MisuseError
from pagekin.kernels.spans import strings_of
from pagekin.kernels.vocabulary import found_in_order
from pagekin.model.arrays import Bools, Int32s, Int64s, Strings, UInt32s
from pagekin.store.columns import string_ranges

LANGUAGES = frozenset("ar ca da de el en es fi fr hu it nl no pt ro ru sv tr".split())  # with stemmer and stop list
Text = TypeVar("Text", str, bytes)
_ALIASES = {"nb": "no", "nn": "no"}
_NEARLY = 64  # words by which the order of two builds may differ
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


class KnownTerms(NamedTuple):
    """The terms of an earlier build of nearly the same words, all in one language, most frequent first."""

    name: Strings
    language: str
    stemming: str


def vocabulary(
    words: Strings,
    word_of_form: UInt32s,
    languages: Sequence[str],
    stemming: str,
    known: KnownTerms | None = None,
) -> TermVocabulary:
    """The terms of all words, computed once per distinct word and language.

    `words` come most frequent first, so the first word with a term is the one to show for it.
    """
    rows: Sequence[Int32s | list[int]]
    if stemming == "stem":
        every = list(words)
        names, shown, rows = _stems(every, (terms_of(every, stemming, language) for language in languages))
    else:
        terms = None if known is None or [stemming, *languages] != [known.stemming, known.language] else known.name
        order, rows = _numbers(len(words), (_kept(words, stemming, language, terms) for language in languages))
        names = shown = strings_of(words.data, words.offsets[order], words.offsets[order + 1])
    of_word = np.array(rows, np.int32).reshape(len(languages), len(words))
    return TermVocabulary(names, shown, of_word[:, word_of_form])


def _kept(words: Strings, stemming: str, language: str, terms: Strings | None = None) -> Bools:
    """Whether each word, in UTF-8, is no stop word, where every word is its own term; some terms may be known."""
    if terms is not None:
        kept = found_in_order(words.data, words.offsets, terms.data, terms.offsets, _NEARLY)
        others = np.flatnonzero(~kept)
        starts, ends = words.offsets[others], words.offsets[others + 1]
        kept[others] = _kept(strings_of(words.data, starts, ends), stemming, language)
        return kept
    stem = stemmer(UNKNOWN if stemming == "none" else language)
    stopped = frozenset(base.encode() for base in stem(sorted(stop_words(language))))
    bases = chain.from_iterable(stem(_as_list(some)) for some in string_ranges(words))
    return ~np.fromiter(map(stopped.__contains__, bases), bool, len(words))


def _as_list(words: Strings) -> list[bytes]:
    """The bytes of every word, split at line breaks, which no word has; this is faster than `all_raw`."""
    return np.insert(words.data, words.offsets[1:], ord("\n")).tobytes().split(b"\n")[:-1]


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


def _numbers(words: int, kept_words: Iterable[Bools]) -> tuple[Int64s, list[Int32s]]:
    """The same where every word is its own term: (the word of each term, for each language the term of each word)."""
    number = np.full(words, -1, np.int32)
    order = np.empty(0, np.int64)
    rows = []
    for kept in kept_words:
        new = np.flatnonzero(kept & (number < 0))
        number[new] = np.arange(len(order), len(order) + len(new))
        order = np.concatenate([order, new])
        rows.append(np.where(kept, number, np.int32(-1)))
    return order, rows
