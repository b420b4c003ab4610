"""Near-duplicates of short texts: how many are found, and how many false matches large lists have.

`python -m benchmarks.short_texts` prints the figures and writes `results/short_texts.json`. Passages of real pages,
from 200 characters on, are compared with a copy that has one more sentence of another page, and with a copy in which
one word is replaced by one of another page. Large lists are the texts of many pages, and their beginnings of 200 to
1,200 characters. A pair that is found is a false match if fewer than half of the runs of three words of the shorter
text are in the longer one. Each figure is given with the n-grams of short texts, and with chunks alone. Arguments name
more folders of HTML; the length and the number of n-grams were chosen without them.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

from benchmarks.agreement import collections
from benchmarks.duplicates import texts_under
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.duplicates.chunks import canonical, chunks_of
from pagekin.duplicates.groups import Grouper
from pagekin.duplicates.settings import GroupSettings
from pagekin.duplicates.short_texts import sample_ngrams

LENGTHS = (200, 300, 500, 800, 1200, 2000, 3000, 5000)  # characters
TRIALS = 40 if QUICK else 400  # of each length and kind, over all collections
PAGES = 300 if QUICK else 2000  # of each collection
SNIPPETS = range(200, 1201, 100)  # characters
ROUNDS = 1 if QUICK else 3
_BATCH = 64  # as in a result list
_SENTENCE = re.compile(r"[A-Z][^.!?\n]{40,120}[.!?]")
_FOUND = 0.95
_TRUE = 0.5

Pairs = list[tuple[int, int]]


def main() -> None:
    """Measure edited passages of all collections at hand, and a large list of each."""
    folders = collections() | {"/".join(Path(name).parts[-2:]): Path(name) for name in sys.argv[1:]}
    texts = {name: texts_under(folder, PAGES) for name, folder in folders.items() if folder.is_dir()}
    found = list(edited([" ".join(text.decode().split()) for some in texts.values() for text in some]))
    show(found)
    figures = found
    for name, some in texts.items():
        found = [*false_matches(f"{name}, pages", some), *false_matches(f"{name}, beginnings", beginnings(some))]
        show(found)
        figures += found
    keep("short_texts", {"machine": facts(), "figures": kept(figures)})


def edited(texts: list[str]) -> Iterator[Figure]:
    """The share of edited passages that are found."""
    for length in LENGTHS:
        random = Random(length)
        long_enough = [text for text in texts if len(text) > 3 * length]
        for kind in ("one sentence added", "one word changed"):
            copies = []
            for _ in range(TRIALS):
                passage, other = passage_of(random.choice(long_enough), length, random), random.choice(texts)
                copies.append((passage, (with_sentence if "added" in kind else with_word)(passage, other, random)))
            for how, sampled in (("found", True), ("by chunks alone", False)):
                share = sum(bool(near([*pair], sampled)) for pair in copies) / TRIALS
                bar = _FOUND if sampled else None
                yield Figure(f"{length:,} characters, {kind}: {how}", round(share, 4), at_least=bar)


def passage_of(text: str, length: int, random: Random) -> str:
    """A passage of whole words, with at least `length` characters."""
    begin = text.find(" ", random.randrange(len(text) - 2 * length)) + 1
    end = text.find(" ", begin + length)
    return text[begin : end if end > 0 else len(text)]


def with_sentence(passage: str, other: str, random: Random) -> str:
    sentences = _SENTENCE.findall(other) or ["It was added by the editors of this page later on."]
    return f"{passage} {random.choice(sentences)}"


def with_word(passage: str, other: str, random: Random) -> str:
    words = passage.split(" ")
    words[random.randrange(len(words))] = random.choice(other.split() or ["other"])[:20]
    return " ".join(words)


def beginnings(texts: list[bytes]) -> list[bytes]:
    """What a search engine might show of each page."""
    return [text.decode()[: SNIPPETS[k % len(SNIPPETS)]].encode() for k, text in enumerate(texts)]


def near(texts: list[str], sampled: bool) -> Pairs:
    return pairs_of([canonical(text.encode()) for text in texts], sampled)


def pairs_of(texts: list[bytes], sampled: bool) -> Pairs:
    """The pairs of near-duplicates of a list of canonical texts, as a result list finds them."""
    grouper, pairs = Grouper(), []
    for start in range(0, len(texts), _BATCH):
        some = texts[start : start + _BATCH]
        pairs += grouper.add(chunks_of(some, GroupSettings()), sample_ngrams(some) if sampled else ()).tolist()
    return [(a, b) for a, b in pairs]


def false_matches(name: str, raw: list[bytes]) -> Iterator[Figure]:
    """What is found in a list, and how much of it is false."""
    texts = [canonical(text) for text in raw]
    runs = cache(lambda k: _runs(texts[k]))
    found: dict[bool, Pairs] = {}
    times: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(ROUNDS):
        for sampled, taken in times.items():  # in turns; the best round of each counts
            begin = time.perf_counter()
            found[sampled] = pairs_of(texts, sampled)
            taken.append(time.perf_counter() - begin)
    wrong = {how: sum(not _is_true(runs(a), runs(b)) for a, b in pairs) for how, pairs in found.items()}
    yield Figure(f"{name}: texts", len(texts))
    yield Figure(f"{name}: pairs found by chunks alone", len(found[False]))
    yield Figure(f"{name}: pairs found", len(found[True]))
    yield Figure(f"{name}: false matches by chunks alone", wrong[False])
    yield Figure(f"{name}: false matches", wrong[True], at_most=wrong[False])
    yield Figure(f"{name}: time a text", round(1e6 * min(times[True]) / len(texts)), "µs")
    yield Figure(f"{name}: time / that of chunks alone", round(min(times[True]) / min(times[False]), 2), "x")


def _runs(text: bytes) -> frozenset[bytes]:
    words = text.split()
    return frozenset(b" ".join(words[k : k + 3]) for k in range(max(1, len(words) - 2)))


def _is_true(a: frozenset[bytes], b: frozenset[bytes]) -> bool:
    return len(a & b) >= _TRUE * min(len(a), len(b))


if __name__ == "__main__":
    main()
