"""A generated web of any size: Zipf words, topics, skewed links. The same seed gives the same bytes.

`python -m benchmarks.generated PAGES FILE.jsonl` writes one.

Half of a page's words are its topic's, so that it has kin; the others are anybody's. Topics and hosts are many in
a large web and few in a small one, and a few of them are large. The kin of a page are on all hosts, so they lie
scattered in a store. Most links stay within the topic, some lead to what everybody links to, some lead outside.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from pagekin.pipeline import build

Ints = NDArray[np.int64]

_STEP = 10_000  # pages drawn at a time
_FEWEST, _MOST = 60, 150  # words of a page
_LINKS = 9  # in the mean; from 3 to 15
_PAGES_A_TOPIC = 100
_PAGES_A_HOST = 500
_WORDS_OF_TOPIC = 150
_TOPIC_SHARE = 0.5  # of the words of a page
_KIN_SHARE, _OUTSIDE_SHARE = 0.6, 0.05  # of its links; the rest leads to what everybody links to
_WORDS = 1_000_000  # in the language
_COMMON = 1000  # the commonest of them are in no topic
_SCATTER = 15_485_863  # a prime, so that numbers that follow one another do not lie side by side
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwxyz", "aeiou"


@dataclass(frozen=True)
class Web:
    """A generated web."""

    pages: int
    seed: int = 2002

    @property
    def hosts(self) -> int:
        """How many hosts there are."""
        return max(1, self.pages // _PAGES_A_HOST)

    @cached_property
    def topic_starts(self) -> Ints:
        """The first page of every topic, and the end: topic k of n is about 1/sqrt(k) large."""
        topics = max(1, self.pages // _PAGES_A_TOPIC)
        return np.unique((self.pages * np.sqrt(np.arange(topics + 1) / topics)).astype(np.int64))

    def lines(self) -> Iterator[str]:
        """Every page as a line of JSON."""
        words = vocabulary()
        for first in range(0, self.pages, _STEP):
            yield from _lines(self, first, min(first + _STEP, self.pages), words)


def vocabulary() -> list[str]:
    """The words of the language, the commonest first and shortest."""
    syllables = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]
    pairs = [a + b for a in syllables for b in syllables]
    return (pairs + [a + b for a in pairs for b in syllables])[:_WORDS]


def write(path: Path, web: Web) -> None:
    """Write a web as JSON lines."""
    with path.open("w", encoding="ascii") as file:
        file.writelines(web.lines())


def _skewed(random: np.random.Generator, count: int, below: int | Ints, power: float) -> Ints:
    """Numbers from 0, small ones oftener: number k about k ** (1 / power - 1) times as often as the first."""
    return np.asarray(np.minimum((below * random.random(count) ** power).astype(np.int64), np.subtract(below, 1)))


def _zipf(random: np.random.Generator, count: int, below: int) -> Ints:
    """Numbers from 0; number k about 1/(k+1) times as often as the first."""
    return np.asarray(np.minimum(np.exp(random.random(count) * np.log(below)).astype(np.int64), below) - 1)


def _topic_words(topic: Ints, place: Ints) -> Ints:
    """The words of topics, by their place in the topic: any but the commonest; topics share some by chance."""
    mixed = (topic * _WORDS_OF_TOPIC + place) * _SCATTER
    # The square makes words of many topics and words of few.
    return _COMMON + (((mixed % 1_000_003) / 1_000_003) ** 2 * (_WORDS - _COMMON)).astype(np.int64)


def _lines(web: Web, first: int, last: int, vocabulary: list[str]) -> Iterator[str]:
    random = np.random.default_rng((web.seed, first))
    page = np.arange(first, last)
    topic = np.searchsorted(web.topic_starts, page, side="right") - 1
    lengths = random.integers(_FEWEST, _MOST + 1, len(page))
    ends = np.cumsum(lengths)
    owner = np.repeat(topic, lengths)
    is_topical = random.random(len(owner)) < _TOPIC_SHARE
    words = _zipf(random, len(owner), _WORDS)
    words[is_topical] = _topic_words(owner, _zipf(random, len(owner), _WORDS_OF_TOPIC))[is_topical]
    degrees = random.integers(3, 2 * _LINKS - 2, len(page))
    targets = _targets(web, random, np.repeat(topic, degrees))
    hosts = targets * _SCATTER % web.hosts
    word_list, link_list = words.tolist(), list(zip(targets.tolist(), hosts.tolist(), strict=True))
    begin = link = 0
    own_hosts = (page * _SCATTER % web.hosts).tolist()
    for k, (number, end, degree) in enumerate(zip(page.tolist(), ends.tolist(), degrees.tolist(), strict=True)):
        text = [vocabulary[word] for word in word_list[begin:end]]
        title = " ".join(text[:3])
        stride = (end - begin) // degree
        for place, (target, host) in enumerate(link_list[link : link + degree]):
            text[place * stride] = f"<a href={_url(target, host, web.pages)}>{text[place * stride]}</a>"
        half = (end - begin) // 2
        body = f"<p>{' '.join(text[:half])}.<p>{' '.join(text[half:])}.<p>all rights of host {own_hosts[k]}"
        url = _url(number, own_hosts[k], web.pages)
        yield f'{{"url":"{url}","html":"<html lang=en><title>{title}</title>{body}"}}\n'
        begin = end
        link += degree


def _targets(web: Web, random: np.random.Generator, topic: Ints) -> Ints:
    """Where links lead, from pages of these topics; numbers beyond the pages are outside."""
    count = len(topic)
    starts = web.topic_starts
    indexed = starts[topic] + _skewed(random, count, starts[topic + 1] - starts[topic], 2.0)
    known = _skewed(random, count, web.pages, 4.0) * _SCATTER % web.pages
    outside = web.pages + _skewed(random, count, web.pages, 2.0)
    kind = random.random(count)
    return np.where(kind < _KIN_SHARE, indexed, np.where(kind < 1.0 - _OUTSIDE_SHARE, known, outside))


def _url(number: int, host: int, pages: int) -> str:
    return f"http://h{host}.example/{number}" if number < pages else f"http://outside.example/{number}"


@contextmanager
def store(pages: int, arguments: Sequence[str], description: str) -> Iterator[Path]:
    """The store that `--store` names, which stays, or a temporary one; it is built if it does not exist."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--store", type=Path, help="store of the generated web; it is built if it does not exist")
    named: Path | None = parser.parse_args(arguments).store
    with TemporaryDirectory() as place:
        file, built = Path(place) / "web.jsonl", named or Path(place) / "web.kin"
        if not built.exists():
            write(file, Web(pages))
            build([file], built)
        yield built


if __name__ == "__main__":
    write(Path(sys.argv[2]), Web(int(sys.argv[1])))
