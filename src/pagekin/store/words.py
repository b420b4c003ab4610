"""Forms, as pages spell them, and the words that they are forms of."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pagekin.model.strings import Strings, word_of
from pagekin.store.columns import write_array, write_strings
from pagekin.store.merge import FormTable, Lexicon, commonest_first, inverse, join, pick

_LOWER = np.arange(256, dtype=np.uint8)
_LOWER[ord("A") : ord("Z") + 1] += ord("a") - ord("A")
_LAST_ASCII = 127


def write_vocabulary(folder: Path, forms: FormTable) -> None:
    """The forms with their counts, and the words."""
    write_strings(folder, "forms", forms.strings)
    write_array(folder, "forms.count", forms.counts)
    lexicon, words = Lexicon(), words_of(forms.strings)
    numbers = lexicon.enter(words, np.arange(len(words)))
    counts = np.bincount(numbers, weights=forms.counts, minlength=len(lexicon)).astype(np.int64)
    order = commonest_first(lexicon.strings(), counts)
    write_array(folder, "forms.word", inverse(order)[numbers])
    write_strings(folder, "words", pick(lexicon.strings(), order))
    write_array(folder, "words.count", counts[order])


def words_of(forms: Strings) -> Strings:
    """The word of each form. Those in ASCII, which most are, become words all at once.

    >>> list(words_of(Strings.of(["Oak", "OÄK", "oak"])))
    ['oak', 'oäk', 'oak']
    """
    beyond = np.flatnonzero(forms.data > _LAST_ASCII)
    others = np.unique(np.searchsorted(forms.offsets, beyond, side="right") - 1)
    which = np.arange(len(forms))
    which[others] = len(forms) + np.arange(len(others))
    lower = Strings(forms.offsets, _LOWER[forms.data])
    return pick(join(lower, Strings.of(word_of(forms[k]) for k in others.tolist())), which)
