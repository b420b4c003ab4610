"""The fragment of interest: the parts of a text around the words of a query (the paper, sections 2.3 and 3.3)."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s*")
_LONG = 1000  # characters of a line that is looked at sentence by sentence
AROUND = 1  # parts to either side


def words_of(query: str) -> frozenset[str]:
    r"""The words of a query.

    >>> sorted(words_of('"Emacs manual" OR wren\'s'))
    ['emacs', 'manual', 'or', 's', 'wren']
    """
    return frozenset(word.casefold() for word in _WORD.findall(query))


def fragment(text: str, words: frozenset[str]) -> str | None:
    r"""The lines of a text with one of these words, and the lines next to them; None if there are none.

    Of a long line its sentences, each like a line.

    >>> fragment("menu\nall birds\nThe Wren sings.\nIt is small.\nshop\nimprint", frozenset(["wren"]))
    'all birds\nThe Wren sings.\nIt is small.'
    """
    parts = [part for line in text.split("\n") for part in _parts(line) if part]
    has_one = [k for k, part in enumerate(parts) if not words.isdisjoint(map(str.casefold, _WORD.findall(part)))]
    near = sorted({j for k in has_one for j in range(max(0, k - AROUND), min(len(parts), k + AROUND + 1))})
    return "\n".join(parts[k] for k in near) if near else None


def _parts(line: str) -> list[str]:
    return [line] if len(line) <= _LONG else _SENTENCE.split(line)
