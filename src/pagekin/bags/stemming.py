"""Stop words and stemming, in the language of each page (paper, section 3.2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from pagekin.errors import MisuseError
from pagekin.kernels.vocabulary import found_in_order
from pagekin.model.arrays import Array, Bools, Bytes, Int32s, Int64s, Strings, UInt32s
from pagekin.store.columns import flat_columns
from pagekin.store.merge import inverse, order_of, pick
from pagekin.store.stage_columns import Sums, gathered, ranges_of
from pagekin.store.stage_files import IN_MEMORY, Stages, strings_in
from pagekin.store.stage_strings import STRINGS, NumberedPart, united

LANGUAGES = frozenset("ar ca da de el en es fi fr hu it nl no pt ro ru sv tr".split())  # with stemmer and stop list
Text = TypeVar("Text", str, bytes)
_ALIASES = {"nb": "no", "nn": "no"}
_NEARLY = 64  # words by which the order of two builds may differ
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


class KnownTerms(NamedTuple):
    """The terms of an earlier build of nearly the same words, all in one language, most frequent first."""

    name: Strings
    language: str
    stemming: str


class WordSource(Protocol):
    """The words of a collection, the most frequent first, and the word of every form."""

    @property
    def words(self) -> Strings: ...
    @property
    def word_of_form(self) -> UInt32s: ...


def vocabulary(
    source: WordSource,
    languages: Sequence[str],
    stemming: str,
    stages: Stages = IN_MEMORY,
    known: KnownTerms | None = None,
) -> TermVocabulary:
    """The terms of all words, computed once per distinct word and language.

    Words come most frequent first, so the first word with a term is the one to show for it.
    """
    found = None
    if stemming != "stem" and known is not None and [stemming, *languages] == [known.stemming, known.language]:
        words, terms = source.words, known.name
        found = found_in_order(words.data, words.offsets, terms.data, terms.offsets, _NEARLY)
    given = _Given(source, languages, stemming, found)
    names, shown, of_word = (_stems if stemming == "stem" else _own_terms)(given, stages)
    forms = ranges_of(len(source.word_of_form), _FORMS)
    jobs = [(language, some) for language in range(len(languages)) for some in forms]
    of_form = gathered(stages, "forms", _terms_of_forms, (source, of_word), jobs)["term"]
    return TermVocabulary(names, shown, of_form.reshape(len(languages), len(source.word_of_form)))


def _terms_of_forms(terms: tuple[WordSource, Int32s], job: tuple[int, range]) -> dict[str, Array]:
    (source, of_word), (language, forms) = terms, job
    return {"term": of_word[language, source.word_of_form[forms.start : forms.stop]]}


class _Given(NamedTuple):
    """What the terms of words depend on."""

    source: WordSource
    languages: Sequence[str]
    stemming: str
    kept: Bools | None = None  # words that are known to be kept in all languages

    def ranges(self) -> list[range]:
        return ranges_of(len(self.source.words), _WORDS)

    def jobs(self) -> list[tuple[int, range]]:
        """Ranges of words, language after language."""
        return [(language, some) for language in range(len(self.languages)) for some in self.ranges()]


def _own_terms(given: _Given, stages: Stages) -> tuple[Strings, Strings, Int32s]:
    """The terms, numbered as they come, language after language; the same as they are shown; and the term of each word
    in each language. Every word is its own term, unless it is stopped.
    """
    found = gathered(stages, "kept", _kept, given, given.ranges())
    counts = found["new"].T  # languages x ranges
    starts = (np.cumsum(counts).reshape(counts.shape) - counts).T.tolist()
    jobs = [(language, some, starts[k % len(starts)]) for k, (language, some) in enumerate(given.jobs())]
    of_word = gathered(stages, "terms", _numbers, found["kept"], jobs)["term"]
    names = strings_in(gathered(stages, "names", _names, (given.source, found["kept"]), given.jobs()), "name")
    return names, names, of_word.reshape(len(given.languages), len(given.source.words))


def _kept(given: _Given, some: range) -> dict[str, Array]:
    """Whether each word is no stop word in each language, and how many words each language is the first to keep."""
    words = given.source.words.part(some.start, some.stop)
    columns = np.ones((len(words), len(given.languages)), bool)
    others = np.arange(len(words))
    if given.kept is not None:
        others = np.flatnonzero(~given.kept[some.start : some.stop])
        words = pick(words, others)
    texts = _as_list(words)
    for number, language in enumerate(given.languages):
        stem = stemmer(UNKNOWN if given.stemming == "none" else language)
        stopped = frozenset(base.encode() for base in stem(sorted(stop_words(language))))
        columns[others, number] = ~np.fromiter(map(stopped.__contains__, stem(texts)), bool, len(texts))
    first = _first_language(columns)
    return {"kept": columns, "new": np.bincount(first[first >= 0], minlength=len(given.languages))[np.newaxis]}


def _as_list(words: Strings) -> list[bytes]:
    """The bytes of every word, split at line breaks, which no word has; this is faster than `all_raw`."""
    return np.insert(words.data, words.offsets[1:], ord("\n")).tobytes().split(b"\n")[:-1]


def _first_language(kept: Bools) -> Int64s:
    """The number of the first language that keeps each word; -1 for none."""
    return np.where(kept.any(axis=1), kept.argmax(axis=1), -1)


def _numbers(kept: Bools, job: tuple[int, range, Sequence[int]]) -> dict[str, Array]:
    """The term of each word of a range in a language, given the first number of each language."""
    language, some, starts = job
    here = kept[some.start : some.stop]
    first, number = _first_language(here), np.full(len(here), -1, np.int32)
    for each, start in enumerate(starts):
        new = first == each
        number[new] = start + np.arange(np.count_nonzero(new))
    return {"term": np.where(here[:, language], number, np.int32(-1))}


def _names(words: tuple[WordSource, Bools], job: tuple[int, range]) -> dict[str, Array]:
    """The words of a range that a language is the first to keep."""
    (source, kept), (language, some) = words, job
    which = some.start + np.flatnonzero(_first_language(kept[some.start : some.stop]) == language)
    return dict(flat_columns("name", pick(source.words, which)))


def _stems(given: _Given, stages: Stages) -> tuple[Strings, Strings, Int32s]:
    """The same where the stem of a word is its term, which is shown as its first word.

    A cell is a word in a language; the cells of a language follow those of the language before. A term comes when the
    first cell with its stem does.
    """
    words, jobs = len(given.source.words), given.jobs()
    begins = [language * words + some.start for language, some in jobs]
    stems, _, parts = united(stages, "stems", _stems_of_words, given, jobs)
    firsts = {"cell": Sums(len(stems), "stem", np.int64, first=True)}
    cell = gathered(stages, "stem-cells", _first_cells, None, list(zip(begins, parts, strict=True)), firsts)["cell"]
    cells = {"new": Sums(len(given.languages) * words, "cell", np.uint8)}
    new = gathered(stages, "stem-news", _new_cells, cell, ranges_of(len(stems), _FORMS), cells)["new"]
    ranges = [range(begin, begin + len(some)) for begin, (_, some) in zip(begins, jobs, strict=True)]
    counts = gathered(stages, "stem-counts", _count, new, ranges)["count"]
    numbered = list(zip(ranges, (np.cumsum(counts) - counts).tolist(), strict=True))
    number = gathered(stages, "stem-numbers", _number, new, numbered)["number"]
    of_word = gathered(stages, "terms", _terms_of_cells, (cell, number), parts)["term"]
    coming = [(some, begin, part) for (_, some), begin, part in zip(jobs, begins, parts, strict=True)]
    names = gathered(stages, "names", _names_of_stems, (given.source, stems, new), coming)
    return strings_in(names, "name"), strings_in(names, "shown"), of_word.reshape(len(given.languages), words)


def _stems_of_words(given: _Given, job: tuple[int, range]) -> dict[str, Array]:
    """The distinct stems of some words in a language, sorted; the stem of each word, the first word of each stem."""
    language, some = job
    words = list(given.source.words.part(some.start, some.stop))
    terms = terms_of(words, "stem", given.languages[language])
    numbers: dict[str, int] = {}  # of stems, in the order in which they come
    coming = (-1 if term is None else numbers.setdefault(term, len(numbers)) for term in terms)
    number, packed = np.fromiter(coming, np.int64, len(terms)), Strings.of(numbers)
    first = np.empty(len(packed), np.int64)
    kept = np.flatnonzero(number >= 0)[::-1]
    first[number[kept]] = kept  # of several places, the last one is written, which is the first
    order = order_of(packed)
    stem = np.full(len(terms), -1, np.int64)
    stem[kept] = inverse(order)[number[kept]]
    stems = dict(flat_columns(STRINGS, pick(packed, order)))
    return {**stems, f"{STRINGS}.count": np.ones(len(order), np.int64), "stem": stem, "first": first[order]}


def _first_cells(_: None, job: tuple[int, NumberedPart]) -> dict[str, Array]:
    """The stems of some cells, and the first of these cells with each."""
    begin, part = job
    columns, numbers = part.load()
    return {"stem": numbers.astype(np.int64), "cell": begin + columns["first"]}


def _new_cells(cell: Int64s, stems: range) -> dict[str, Array]:
    """The first cells of some stems."""
    return {"cell": cell[stems.start : stems.stop], "new": np.ones(len(stems), np.uint8)}


def _count(new: Bytes, cells: range) -> dict[str, Array]:
    return {"count": np.array([np.count_nonzero(new[cells.start : cells.stop])])}


def _number(new: Bytes, job: tuple[range, int]) -> dict[str, Array]:
    """The numbers of the terms that come in some cells, given the first of them."""
    cells, start = job
    here = new[cells.start : cells.stop]
    return {"number": (start - 1 + np.cumsum(here, dtype=np.int64)).astype(np.int32)}


def _terms_of_cells(numbers: tuple[Int64s, Int32s], part: NumberedPart) -> dict[str, Array]:
    """The terms of some cells; -1 for a stop word."""
    (cell, number), (columns, stems) = numbers, part.load()
    term, stem = np.full(len(columns["stem"]), -1, np.int32), columns["stem"]
    term[stem >= 0] = number[cell[stems[stem[stem >= 0]]]]
    return {"term": term}


def _names_of_stems(given: tuple[WordSource, Strings, Bytes], job: tuple[range, int, NumberedPart]) -> dict[str, Array]:
    """The terms that come in some cells, and the words that are shown for them."""
    (source, stems, new), (some, begin, part) = given, job
    columns, numbers = part.load()
    place = np.flatnonzero(new[begin : begin + len(some)])
    names, shown = pick(stems, numbers[columns["stem"][place]].astype(np.int64)), pick(source.words, some.start + place)
    return dict(chain(flat_columns("name", names), flat_columns("shown", shown)))
