"""Words and sentence ends of a text, by two patterns over what its characters are.

Every character is written as one sign for its class, and words and stops are then found in these signs:

    Mr J. Hill (from Ayr!) drank 茶茶茶。
    ll lo llll ollll lll.) lllll ccc!
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pagekin.kernels import words as kernel
from pagekin.reading.markup import classes

_SIGNS = {
    kernel.OTHER: "o",
    kernel.LETTER: "l",
    kernel.MARK: "m",
    kernel.SPACELESS: "c",
    kernel.SPACE: " ",
    kernel.STOP: ".",
    kernel.FULL_STOP: "!",
    kernel.CLOSER: ")",
}
_RUN = re.compile(r"l[lm]*|(?:cm*)+")
_SPACELESS_CHARACTER = re.compile(r"cm*")
_SENTENCE_END = re.compile(r"!|\.[.)]*(?= |\Z)")
_INITIAL = re.compile(r"[A-Z]")


@dataclass(frozen=True)
class Words:
    """Words as spans of bytes; before which words a sentence ends; how many words were too long."""

    spans: list[tuple[int, int]]
    sentences: list[int]
    overlong: int


def split(text: str, longest: int) -> Words:
    """The words of `text` and its sentence ends.

    >>> split("Ah. Oh!", longest=10)
    Words(spans=[(0, 2), (4, 6)], sentences=[1, 2], overlong=0)
    """
    signs = [_SIGNS[int(classes()[ord(character)])] for character in text]
    spans: list[tuple[int, int]] = []
    overlong = 0
    for start, end in _words("".join(signs)):
        if _size(text[start:end]) > longest:
            overlong += 1
            continue
        spans.append((start, end))
        if _INITIAL.fullmatch(text, start, end) and signs[end : end + 1] == ["."]:
            signs[end] = "o"  # the stop of an initial, as in J. Smith, ends nothing
    ends = [match.start() for match in _SENTENCE_END.finditer("".join(signs))]
    words_before = {sum(end <= place for _, end in spans) for place in ends}
    return Words(
        spans=[(_size(text[:start]), _size(text[:end])) for start, end in spans],
        sentences=sorted(words_before - {0}),
        overlong=overlong,
    )


def _words(signs: str) -> list[tuple[int, int]]:
    """A run of letters is a word; a run of a script without spaces is as many as it has pairs of neighbours."""
    found = []
    for run in _RUN.finditer(signs):
        if run[0].startswith("l"):
            found.append(run.span())
            continue
        characters = [character.span() for character in _SPACELESS_CHARACTER.finditer(signs, *run.span())]
        seconds = characters[1:] or characters
        found += [(first[0], second[1]) for first, second in zip(characters, seconds, strict=False)]
    return found


def _size(text: str) -> int:
    return len(text.encode())
