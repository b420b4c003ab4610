"""The fragment of interest: the parts of a text around the words of a query (sections 2.3 and 3.3 of the paper)."""

import re

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s*")
_LONG_LINE = 1000  # characters; longer lines are split into sentences
_NEIGHBOURS = 1  # parts before and after each match


def words_of(query: str) -> frozenset[str]:
    r"""The words of a query.

    >>> sorted(words_of('"Emacs manual" OR wren\'s'))
    ['emacs', 'manual', 'or', 's', 'wren']
    """
    return frozenset(word.casefold() for word in _WORD.findall(query))


def fragment(text: str, words: frozenset[str]) -> str | None:
    r"""The lines with one of the words and the lines next to them; None without a match.

    Long lines are split into sentences, which count as lines.

    >>> fragment("menu\nall birds\nThe Wren sings.\nIt is small.\nshop\nimprint", frozenset(["wren"]))
    'all birds\nThe Wren sings.\nIt is small.'
    """
    lines = ([line] if len(line) <= _LONG_LINE else _SENTENCE_END.split(line) for line in text.split("\n"))
    parts = [part for line in lines for part in line if part]
    matches = [k for k, part in enumerate(parts) if not words.isdisjoint(map(str.casefold, _WORD.findall(part)))]
    near = {j for k in matches for j in range(max(0, k - _NEIGHBOURS), min(len(parts), k + _NEIGHBOURS + 1))}
    return "\n".join(parts[k] for k in sorted(near)) if near else None
